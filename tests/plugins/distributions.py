"""Little plugin distributions, written into folders as an installer would leave them."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

GOOD = """
    from host import ActionResult, Plugin, Setting, hookimpl

    class LampPlugin(Plugin):
        title = "A lamp"

        @hookimpl
        def plugin_settings(self):
            return [Setting(key="COLOR", name="Color", default="red")]

        @hookimpl
        def action_names(self):
            return ["light"]

        @hookimpl
        def perform_action(self, action, data, user):
            return ActionResult(result="on")
"""


def write_distribution(
    folder: Path,
    name: str,
    modules: Mapping[str, str],
    entry_points: Mapping[str, str],
    *,
    version: str = "1.0",
    headers: str = "",
    editable: Path | None = None,
    extra_record: tuple[str, ...] = (),
) -> Path:
    """Write modules and metadata into a folder on the path, and return the ``.dist-info`` folder."""
    folder.mkdir(parents=True, exist_ok=True)
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    listed = []
    for path, code in modules.items():
        file = (editable or folder) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(code), encoding="utf-8")
        listed.append(f"{path},sha256={_digest(file)},{file.stat().st_size}")
    lines = "\n".join(f"{key} = {value}" for key, value in entry_points.items())
    (info / "entry_points.txt").write_text(f"[console_scripts]\nx = y:z\n\n[plugyard]\n{lines}\n", encoding="utf-8")
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nSummary: What {name} does\n{headers}\n"
    (info / "METADATA").write_text(metadata, encoding="utf-8")
    if editable is not None:
        told = {"url": editable.as_uri(), "dir_info": {"editable": True}}
        (info / "direct_url.json").write_text(json.dumps(told), encoding="utf-8")
        listed = []
    record = "\n".join([*listed, *(f"{path},," for path in extra_record), f"{info.name}/METADATA,,", ""])
    (info / "RECORD").write_text(record, encoding="utf-8")
    return info


def write_plugin(folder: Path, key: str, code: str = GOOD, *, version: str = "1.0", cls: str = "LampPlugin") -> Path:
    """Write a distribution with one module and one plugin, both called after the key."""
    module = key.replace("-", "_")
    return write_distribution(folder, f"acme-{key}", {f"{module}.py": code}, {key: f"{module}:{cls}"}, version=version)


def _digest(file: Path) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(file.read_bytes()).digest()).rstrip(b"=").decode()
