"""What holds for every plugin that comes with the host."""

from __future__ import annotations

import importlib
import inspect
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from host import UIContext, UIFeature
from host.contract.markers import hook_info
from host.contract.plugin import FAMILIES
from host.contract.ui import UIHooks
from host.plugins.manifest import Distribution, EntryPoint, Origin
from host.plugins.manifests import Composer, ManifestStore
from host.plugins.probing import Probing

ROOT = Path(__file__).parents[2]
ENTRY_POINTS: dict[str, str] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"][
    "plugyard"
]
SCRIPTS = sorted(
    script
    for folder in ("builtin_plugins", "sample_plugins", "tests/packages/good")
    for script in (ROOT / folder).rglob("*.js")
)
UI_HOOKS = [name for name in vars(UIHooks) if name.startswith("ui_")]

# The function that a client calls when a source names none.
DEFAULT_FUNCTIONS = {
    "panel": "renderPanel",
    "dashboard": "renderDashboardItem",
    "template_editor": "getFeature",
    "template_preview": "getFeature",
    "spotlight_action": "executeAction",
}


def plugin_of(entry_point: str) -> Any:
    module, _, name = entry_point.partition(":")
    found: Any = importlib.import_module(module)
    found = getattr(found, name) if name else found
    return found() if inspect.isclass(found) else found


def features_of(plugin: Any, user: Any) -> list[UIFeature]:
    asked = [
        UIContext(feature_type=kind, user=user, query={"target_model": model, "target_id": "1"})
        for kind in ("any", "sample")
        for model in ("part", "stocklocation")
    ]
    hooks = [getattr(plugin, hook) for hook in UI_HOOKS if hasattr(plugin, hook)]
    return [feature for context in asked for hook in hooks for feature in hook(context)]


def static_folder_of(plugin: Any) -> Path:
    if hasattr(plugin, "static_folder"):
        return Path(plugin.static_folder())
    return Path(inspect.getfile(plugin if inspect.ismodule(plugin) else type(plugin))).parent / "static"


@pytest.mark.parametrize("key", ENTRY_POINTS)
def test_a_plugin_is_named_and_described(key):
    """A title and a description tell apart plugins that share one distribution."""
    plugin = plugin_of(ENTRY_POINTS[key])

    assert plugin.title
    assert plugin.description
    assert ENTRY_POINTS[key].startswith("sample_plugins.") is key.startswith("sample-")


def test_every_hook_has_a_user():
    """Each hook of the contract is implemented by a built-in or sample plugin, so that there is an example of it."""
    plugins = [plugin_of(entry_point) for entry_point in ENTRY_POINTS.values()]
    hooks = {name for family in FAMILIES for name, member in vars(family).items() if _is_hook(member)}

    assert {name for name in hooks if not any(hasattr(plugin, name) for plugin in plugins)} == set()


def _is_hook(member: object) -> bool:
    return inspect.isfunction(member) and hook_info(member) is not None


def test_the_probe_finds_nothing_wrong(tmp_path):
    """Each plugin can be described without a database, and belongs to the families that it is an example of."""
    distribution = Distribution(
        name="plugyard",
        version="0",
        origin=Origin.HOST,
        path=ROOT,
        info=tmp_path,
        fingerprint="bundled",
        entry_points=tuple(EntryPoint(key, value) for key, value in ENTRY_POINTS.items()),
    )
    store = ManifestStore(tmp_path / "manifests", host_version="0")
    probing = Probing(store=store, composer=Composer(samples=True), environment=[ROOT])

    (manifest,) = probing.manifests([distribution], [])

    assert [plugin.failure for plugin in manifest.plugins if plugin.failure] == []
    assert {plugin.key: set(plugin.mixins) - {"base"} for plugin in manifest.plugins} == {
        "audit-log": {"app", "events", "settings", "ui", "urls"},
        "core-navigation": {"ui"},
        "exchange-rates": {"currencyexchange", "settings"},
        "exporter": {"export"},
        "inventory": {"app"},
        "sample-action": {"action"},
        "sample-admin": {"admin"},
        "sample-currency": {"currencyexchange"},
        "sample-events": {"events"},
        "sample-exports": {"export"},
        "sample-icons": {"icon_pack"},
        "sample-locate": {"locate"},
        "sample-mail": {"mail", "settings", "urls"},
        "sample-routes": {"urls"},
        "sample-schedules": {"schedule"},
        "sample-settings": {"action", "settings", "usersettings"},
        "sample-sign-in": {"auth", "settings"},
        "sample-stockroom": {"action", "app", "import", "locate", "ui", "urls"},
        "sample-ui": {"ui"},
        "sms-log": {"auth"},
        "tabler-icons": {"icon_pack"},
    }


@pytest.mark.parametrize("key", ENTRY_POINTS)
def test_sources_name_what_is_there(key, load, superuser):
    """Each feature's module exists and exports the function that the client will call."""
    plugin = plugin_of(ENTRY_POINTS[key])
    if not inspect.ismodule(plugin):
        load(plugin, key)

    for feature in features_of(plugin, superuser):
        if feature.source is None:
            continue
        file, _, function = feature.source.partition(":")
        script = (static_folder_of(plugin) / file).read_text()
        wanted = function or DEFAULT_FUNCTIONS[feature.feature_type]
        assert re.search(rf"^export (async )?function {wanted}\(", script, re.MULTILINE), feature.source


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: f"{script.parent.parent.name}/{script.name}")
def test_scripts_are_modules(script, tmp_path):
    """Each script is an ES module without mistakes of syntax."""
    module = shutil.copy(script, tmp_path / "script.mjs")

    checked = subprocess.run(["node", "--check", module], capture_output=True, text=True, check=False)

    assert checked.returncode == 0, checked.stderr
