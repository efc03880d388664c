"""The icons that come with the host, and the references to them."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from builtin_plugins.tabler_icons import plugin as tabler
from builtin_plugins.tabler_icons.plugin import TablerIcons
from host import IconPack
from sample_plugins.icons.plugin import SampleIcons
from tests.plugins_builtin.test_bundled import ENTRY_POINTS, features_of, plugin_of

WOFF2 = b"wOF2"


@pytest.fixture(scope="module")
def pack() -> IconPack:
    """The pack."""
    (found,) = TablerIcons().icon_packs()
    return found


def test_the_pack_is_whole(pack):
    """Each icon has a category and an outline; many are there filled as well, and each glyph is used once."""
    points = [point for icon in pack.icons.values() for point in icon.variants.values()]

    assert (pack.name, pack.prefix) == ("Tabler Icons", "ti")
    assert len(pack.icons) > 5000
    assert all("outline" in icon.variants and icon.category for icon in pack.icons.values())
    assert sum("filled" in icon.variants for icon in pack.icons.values()) > 1000
    assert len(set(points)) == len(points)
    assert pack.icons["plug"].variants == {"outline": "ebd9"}
    assert "power" in pack.icons["plug"].tags


@pytest.mark.parametrize("plugin", [TablerIcons(), SampleIcons()], ids=["tabler", "sample"])
def test_the_font_is_there(plugin):
    """It is the file that the pack names, and of the kind that it says."""
    (pack,) = plugin.icon_packs()
    folder = Path(inspect.getfile(type(plugin))).parent / "static"

    assert {form: (folder / name).read_bytes()[:4] for form, name in pack.fonts.items()} == {"woff2": WOFF2}


def test_the_licence_comes_along():
    """Whoever passes the icons on has to pass it on too."""
    text = Path(tabler.__file__).with_name("LICENSE.txt").read_text("utf-8")

    assert text.startswith("MIT License")
    assert "Paweł Kuna" in text


@pytest.mark.parametrize("key", ENTRY_POINTS)
def test_icons_that_are_referred_to_exist(key, load, superuser, pack):
    """Features of the plugins that come with the host are shown with the icon that they name."""
    plugin = plugin_of(ENTRY_POINTS[key])
    if hasattr(plugin, "bind"):
        load(plugin, key)

    for feature in features_of(plugin, superuser):
        if feature.icon:
            prefix, name, variant = feature.icon.split(":")
            assert prefix == pack.prefix
            assert variant in pack.icons[name].variants, feature.icon
