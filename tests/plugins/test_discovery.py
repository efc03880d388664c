"""Discovery reads metadata files, imports nothing, and reads nothing twice."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from host.plugins.discovery import Discovery
from host.plugins.manifest import Origin
from tests.plugins.distributions import GOOD, write_distribution, write_plugin


@pytest.fixture
def site(tmp_path):
    """A folder like ``site-packages``."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    return folder


def discovery(*environment: Path, store: tuple[Path, ...] = (), cache: Path | None = None) -> Discovery:
    return Discovery(store_folders=lambda: store, cache=cache, environment=environment)


def settle(*folders: Path) -> None:
    """Let folders have changed long ago."""
    for folder in folders:
        os.utime(folder, ns=(10**18, 10**18))


def test_a_distribution_is_described_from_its_metadata_alone(site):
    """Name, texts and entry points are known although the module would fail when imported."""
    headers = (
        "Author-email: Ada Example <ada@example.org>\nLicense-Expression: MIT\n"
        "Project-URL: Changelog, https://example.org/changes\nProject-URL: Homepage, https://example.org/\n"
    )
    modules = {"acme_lamp.py": "raise SystemExit"}
    write_distribution(site, "Acme-Lamp", modules, {"lamp": "acme_lamp:Lamp"}, headers=headers)

    (found,) = discovery(site).find().distributions

    assert (found.name, found.version, found.summary) == ("Acme-Lamp", "1.0", "What Acme-Lamp does")
    assert (found.author, found.website, found.license) == ("Ada Example", "https://example.org/", "MIT")
    assert [(entry.key, entry.value) for entry in found.entry_points] == [("lamp", "acme_lamp:Lamp")]
    assert (found.origin, found.editable, found.has_extensions) == (Origin.ENVIRONMENT, False, False)
    assert "acme_lamp" not in sys.modules


def test_distributions_without_plugins_are_left_out(site):
    """Other packages in the folder are none of discovery's business."""
    info = write_distribution(site, "other", {}, {})
    (info / "entry_points.txt").write_text("[console_scripts]\nplugyard = x:y\n", encoding="utf-8")

    found = discovery(site).find()

    assert (found.distributions, found.failures) == ((), ())


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        pytest.param("Lamp", "lamp:Lamp", "a key is 1 to 255 lower case letters", id="upper case"),
        pytest.param("-lamp", "lamp:Lamp", "a key is 1 to 255 lower case letters", id="begins with a hyphen"),
        pytest.param("l" * 256, "lamp:Lamp", "a key is 1 to 255 lower case letters", id="too long"),
        pytest.param("lamp", "lamp Lamp", "is no entry point", id="no entry point"),
    ],
)
def test_an_entry_point_that_breaks_a_rule_is_a_failure_that_names_the_rule(site, key, value, said):
    """The plugin beside it is found all the same."""
    write_distribution(site, "acme", {}, {key: value, "good": "acme:Good"})

    found = discovery(site).find()

    assert [entry.key for one in found.distributions for entry in one.entry_points] == ["good"]
    (failure,) = found.failures
    assert failure.stage == "discovery"
    assert said in failure.message


@pytest.mark.parametrize("broken", ["entry_points.txt", "METADATA", "RECORD", "direct_url.json"])
def test_undecodable_metadata_is_a_failure_and_hides_nothing_else(site, broken):
    """A damaged distribution is named; the others are found."""
    info = write_plugin(site, "broken")
    write_plugin(site, "whole")
    (info / broken).write_bytes(b"\xff\xfe\x00 plugyard")

    found = discovery(site).find()

    assert [one.name for one in found.distributions] == ["acme-whole"]
    assert [(one.stage, one.name) for one in found.failures] == [("discovery", "acme-broken")]


def test_metadata_without_a_name_is_a_failure(site):
    """Such a distribution cannot be spoken of."""
    info = write_plugin(site, "lamp")
    (info / "METADATA").write_text("Metadata-Version: 2.1\n\n", encoding="utf-8")

    found = discovery(site).find()

    assert found.distributions == ()
    assert "names neither" in found.failures[0].message


def test_an_egg_info_folder_is_understood(site):
    """Older installers leave PKG-INFO instead of METADATA and no RECORD."""
    info = site / "acme_lamp-2.0-py3.11.egg-info"
    info.mkdir()
    (info / "PKG-INFO").write_text("Name: acme-lamp\nVersion: 2.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[plugyard]\nlamp = lamp\n", encoding="utf-8")

    (found,) = discovery(site).find().distributions

    assert (found.name, found.version, found.entry_points[0].module) == ("acme-lamp", "2.0", "lamp")
    assert len(found.fingerprint) == 64


def test_the_first_distribution_of_a_name_on_the_path_counts(tmp_path):
    """So it is for imports; another one of the same name is not in use, with plugins or without."""
    first, second = tmp_path / "first", tmp_path / "second"
    write_plugin(first, "lamp", version="1.0")
    write_plugin(second, "lamp", version="2.0")
    info = write_distribution(first, "acme-desk", {}, {})
    (info / "entry_points.txt").unlink()
    write_plugin(second, "desk")

    found = discovery(first, store=(second,)).find()

    assert [(one.name, one.version) for one in found.distributions] == [("acme-lamp", "1.0")]


def test_compiled_modules_are_seen_in_the_record(site):
    """They decide whether a reload can take up new code."""
    write_distribution(site, "acme", {}, {"lamp": "lamp"}, extra_record=("lamp.cpython-311-x86_64-linux-gnu.so",))

    assert discovery(site).find().distributions[0].has_extensions


def test_the_fingerprint_of_an_editable_install_follows_its_sources(tmp_path, site):
    """RECORD says nothing of them; only a fresh look reads their times."""
    source = tmp_path / "checkout"
    write_distribution(site, "acme-lamp", {"src/lamp.py": GOOD}, {"lamp": "lamp:LampPlugin"}, editable=source)
    settle(site)
    finder = discovery(site)
    (before,) = finder.find().distributions
    os.utime(source / "src/lamp.py", (2_000_000_000, 2_000_000_000))

    (warm,) = finder.find().distributions
    (fresh,) = finder.find(fresh=True).distributions

    assert before.editable
    assert before.source == source
    assert warm.fingerprint == before.fingerprint
    assert fresh.fingerprint != before.fingerprint


def test_what_has_not_changed_is_not_read_again(tmp_path, site, monkeypatch):
    """Neither in the same process nor in the next one, which finds the cache."""
    write_plugin(site, "lamp")
    settle(site)
    cache = tmp_path / "cache" / "discovery.json"
    first = discovery(site, cache=cache)
    before = first.find()
    monkeypatch.setattr("host.plugins.discovery.describe", None)

    assert first.find() == before
    assert discovery(site, cache=cache).find() == before


@pytest.mark.parametrize("damage", [b"", b"{", b'{"format": 1, "folders": {"x": {}}}', b'{"format": 0}', b"[]"])
def test_a_damaged_cache_is_ignored(tmp_path, site, damage):
    """It is made anew."""
    write_plugin(site, "lamp")
    settle(site)
    cache = tmp_path / "discovery.json"
    expected = discovery(site, cache=cache).find()
    cache.write_bytes(damage)

    assert discovery(site, cache=cache).find() == expected
    assert cache.read_bytes() != damage


def test_installed_upgraded_and_removed_distributions_are_noticed(site):
    """Each changes the folder."""
    finder = discovery(site)
    assert finder.find().distributions == ()
    info = write_plugin(site, "lamp")
    assert [one.version for one in finder.find().distributions] == ["1.0"]
    settle(site)
    finder.find()

    for file in info.iterdir():
        file.unlink()
    info.rmdir()
    write_plugin(site, "lamp", version="2.0")
    assert [one.version for one in finder.find().distributions] == ["2.0"]


def test_entry_points_that_change_in_place_are_noticed(site):
    """The folder's time stays the same then."""
    info = write_plugin(site, "lamp")
    settle(site)
    finder = discovery(site)
    finder.find()

    (info / "entry_points.txt").write_text("[plugyard]\nlantern = lamp:LampPlugin\n", encoding="utf-8")
    settle(site)

    assert [entry.key for entry in finder.find().distributions[0].entry_points] == ["lantern"]


def test_a_folder_that_does_not_exist_holds_nothing(tmp_path):
    """A store folder may be gone."""
    assert discovery(tmp_path / "nowhere").find().distributions == ()


def test_the_environment_of_this_interpreter_is_found_by_default():
    """The host's own distribution is in it, as far as it declares plugins."""
    finder = Discovery(store_folders=tuple)

    assert any("site-packages" in str(folder) for folder in finder.environment)
    assert all(one.origin is Origin.HOST for one in finder.find().distributions if one.name == "plugyard")
