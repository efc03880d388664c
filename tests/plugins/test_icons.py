"""Icon packs: what they may hold, and how the host collects them."""

from __future__ import annotations

import gzip
from hashlib import sha256
from typing import Any

import orjson
import pytest

from host import Icon, IconPack, hookimpl
from host.plugins.icons import Icons
from tests.plugins.bench import Bench

FONT = {"woff2": "signs.woff2"}
STOP = Icon(name="Stop", category="Roads", tags=["halt"], variants={"filled": "e001"})


class Signs:
    """Brings packs; the font is in its static folder."""

    def __init__(self, folder: Any, *packs: Any, fails: int = 0) -> None:
        self._folder = folder
        self.packs = list(packs)
        self.fails = fails
        self.asked = 0

    @hookimpl
    def static_folder(self):
        return self._folder

    @hookimpl
    def icon_packs(self):
        self.asked += 1
        if self.asked <= self.fails:
            msg = "not yet"
            raise RuntimeError(msg)
        return self.packs


class Unchecked(IconPack):
    """Leaves out the checks."""

    def __post_init__(self) -> None:
        """Accept anything."""


def pack(prefix: str = "signs", **members: Any) -> IconPack:
    return IconPack(**{"name": "Signs", "prefix": prefix, "fonts": FONT, "icons": {"stop": STOP}, **members})


@pytest.fixture
def folder(tmp_path):
    """A static folder with a font."""
    (tmp_path / "signs.woff2").write_bytes(b"glyphs")
    return tmp_path


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def icons(bench) -> Icons:
    return Icons(bench, bench.calls, bench.report)


@pytest.mark.parametrize(
    "members",
    [
        pytest.param({"prefix": "Signs"}, id="prefix in capitals"),
        pytest.param({"prefix": "a:b"}, id="colon in the prefix"),
        pytest.param({"prefix": ""}, id="no prefix"),
        pytest.param({"prefix": "s" * 21}, id="long prefix"),
        pytest.param({"fonts": {}}, id="no font"),
        pytest.param({"icons": {"stop:now": STOP}}, id="colon in a name"),
        pytest.param({"icons": {"": STOP}}, id="icon without a name"),
        pytest.param({"icons": dict.fromkeys(map(str, range(20_001)), STOP)}, id="too many icons"),
    ],
)
def test_a_pack_without_use_is_refused(members):
    """References to its icons would not work."""
    with pytest.raises(ValueError, match="icon"):
        pack(**members)


@pytest.mark.parametrize(
    "variants",
    [
        pytest.param({}, id="none"),
        pytest.param({"a:b": "e001"}, id="colon"),
        pytest.param({"filled": "U+E001"}, id="not hexadecimal"),
        pytest.param({"filled": "d800"}, id="half a pair"),
        pytest.param({"filled": "110000"}, id="beyond all characters"),
        pytest.param({"filled": "0"}, id="zero"),
        pytest.param({"filled": 0xE001}, id="number"),
    ],
)
def test_an_icon_that_cannot_be_shown_is_refused(variants):
    """The message names the icon."""
    with pytest.raises(ValueError, match="'Stop'"):
        Icon(name="Stop", variants=variants)


def test_packs_are_encoded_as_clients_get_them(bench, icons, folder):
    """Fonts get the address under which they are served, with the version of their content."""
    bench.load({"signs": Signs(folder, pack()), "more": Signs(folder, pack("more", name="More"))})

    found = icons.packs()

    first, second = orjson.loads(found.whole)
    assert first == {
        "name": "Signs",
        "prefix": "signs",
        "fonts": {"woff2": f"/static/plugins/signs/signs.woff2?v={sha256(b'glyphs').hexdigest()[:16]}"},
        "icons": {"stop": {"name": "Stop", "category": "Roads", "tags": ["halt"], "variants": {"filled": "e001"}}},
    }
    assert second["name"] == "More"
    assert gzip.decompress(found.gzipped) == found.whole
    assert [orjson.loads(one)["prefix"] for one in found.packs] == ["signs", "more"]
    assert not bench.reports


def test_plugins_are_asked_once_for_each_registry(bench, icons, folder):
    """A plugin that is gone takes its packs along."""
    signs = Signs(folder, pack())
    bench.load({"signs": signs})

    before = icons.packs()
    assert icons.packs() is before
    bench.load({})

    assert icons.packs().whole == b"[]"
    assert icons.packs().digest != before.digest
    assert signs.asked == 1


def test_a_plugin_that_failed_is_asked_again_after_a_minute(bench, folder):
    """Others are shown meanwhile."""
    moment = [0.0]
    icons = Icons(bench, bench.calls, bench.report, clock=lambda: moment[0])
    late = Signs(folder, pack("late"), fails=1)
    bench.load({"late": late, "signs": Signs(folder, pack())})

    shown = []
    for moment[0] in (0.0, 59.0, 61.0, 1e9):
        shown.append([one["prefix"] for one in orjson.loads(icons.packs().whole)])

    assert shown == [["signs"], ["signs"], ["late", "signs"], ["late", "signs"]]
    assert late.asked == 2
    assert bench.reported == ["plugin.late.icon_packs"]


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        pytest.param(pack("first"), "prefix 'first' is taken", id="prefix of another"),
        pytest.param(pack("bad", fonts={"woff2": "none.woff2"}), "no file 'none.woff2'", id="no such font"),
        pytest.param(pack("bad", fonts={"woff2": "../secret"}), "names no file", id="outside of the folder"),
        pytest.param(pack("bad", fonts={"woff2": "/x');evil('"}), "style sheet", id="breaks out of the style"),
        pytest.param(pack("bad", fonts={"Woff 2": "signs.woff2"}), "font format", id="no format"),
        pytest.param(pack("bad", name="\ud800"), "surrogates", id="half a character"),
        pytest.param(pack("bad", name=7), "should be text", id="number as name"),
        pytest.param(pack("bad", name="n" * 2**23), "at most 8388608 can be sent", id="too large"),
        pytest.param(pack("bad", icons={"stop": "Stop"}), "AttributeError", id="no icon"),
        pytest.param(
            Unchecked(name="x", prefix="bad", fonts=FONT, icons=None),  # type: ignore[arg-type]  # what a plugin may do
            "AttributeError",
            id="no icons",
        ),
        pytest.param("bad", "returned a list with 'bad'", id="no pack"),
    ],
)
def test_a_bad_pack_is_left_out_with_a_report(bench, icons, folder, bad, why):
    """The other packs are shown, those of the same plugin too."""
    good = pack("good", fonts={"truetype": "https://cdn.example.org/signs.ttf"})
    bench.load({"first": Signs(folder, pack("first")), "second": Signs(folder, bad, good)})

    shown = orjson.loads(icons.packs().whole)

    assert [one["prefix"] for one in shown] == ["first", "good"]
    assert shown[1]["fonts"] == {"truetype": "https://cdn.example.org/signs.ttf"}
    ((path, info, _),) = bench.reports
    assert path == "plugin.second.icon_packs"
    assert why in info
