"""A loaded plugin has its services before it starts, and what it declares is in the registry."""

from __future__ import annotations

import sys

import pytest

from tests.plugins.assembly import Host
from tests.plugins.distributions import write_distribution, write_plugin


@pytest.fixture
def host(tmp_path, sqlite_url):
    """A host without plugins."""
    modules, path = set(sys.modules), list(sys.path)
    host = Host(tmp_path, sqlite_url)
    sys.path.append(str(host.site))
    yield host
    host.close()
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def test_a_plugin_is_bound_then_started_then_asked(host):
    """So `start` can read settings, and declarations can depend on what it prepared."""
    code = """
        from host import Plugin, Setting, hookimpl
        class LampPlugin(Plugin):
            @hookimpl
            def plugin_settings(self):
                return [Setting(key="COLOR", name="Color", default="red")]
            @hookimpl
            def start(self, services):
                assert services is self.services
                self.names = [f"light-{name}" for name in self.settings]
            @hookimpl
            def action_names(self):
                return self.names
            @hookimpl
            async def event_patterns(self):
                return ["user.*"]
            @hookimpl
            def on_event(self, event):
                pass
    """
    write_plugin(host.site, "lampl", code)
    host.registries.boot()
    host.plugins.activate("lampl")

    plugin = host.current.loaded("lampl")
    assert list(plugin.settings) == ["COLOR"]
    assert plugin.services.identity.key == "lampl"
    assert (plugin.actions, plugin.event_patterns) == (("light-COLOR",), ("user.*",))
    assert host.current.actions == {"light-COLOR": ("lampl",)}


def test_what_a_plugin_does_not_declare_has_a_default(host):
    """The action is called after the key, every event is wanted, the static folder lies beside the module."""
    code = """
        from host import hookimpl
        @hookimpl
        def perform_action(action): pass
        @hookimpl
        def on_event(event): pass
    """
    files = {"lampm/__init__.py": code, "lampm/static/panel.js": ""}
    write_distribution(host.site, "acme", files, {"lamp-m": "lampm"})
    host.registries.boot()
    host.plugins.activate("lamp-m")

    plugin = host.current.loaded("lamp-m")
    assert (plugin.actions, plugin.event_patterns) == (("lamp-m",), ("*",))
    assert plugin.static_folder == host.site / "lampm" / "static"


def test_plugins_that_perform_the_same_action_are_listed_by_key(host):
    """The one with the smaller key is asked first."""
    code = "from host import hookimpl\nclass LampPlugin:\n    @hookimpl\n    def action_names(self): return ['go']"
    for key in ("zl", "al", "ml"):
        write_plugin(host.site, key, code)
    host.registries.boot()
    for key in ("zl", "al", "ml"):
        host.plugins.activate(key)

    assert host.current.actions == {"go": ("al", "ml", "zl")}
    assert [one.plugin for one in host.current.hooks["action_names"]] == ["al", "ml", "zl"]


def test_a_plugin_that_hangs_while_it_is_made_in_the_host_is_given_up(host):
    """The probe cannot tell what happens only here; the others are loaded."""
    code = """
        import os, time
        class LampPlugin:
            def __init__(self):
                if os.environ.get("PLUGYARD_TEST_HANG"):
                    time.sleep(60)
    """
    write_plugin(host.site, "hangs", code)
    write_plugin(host.site, "works")
    host.registries.boot()
    host.plugins.activate("works")
    host.loader._seconds = 0.2
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLUGYARD_TEST_HANG", "1")
        with pytest.raises(Exception, match=r"did not come back within 0\.2 s while being set up"):
            host.plugins.activate("hangs")

    assert list(host.current.plugins) == ["works"]
