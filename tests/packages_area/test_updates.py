"""Updates of packages: what is told of, and that looking changes nothing."""

from __future__ import annotations

from host.packages.updates import Update, UpdateCheck
from tests.packages_area.yard import Yard


def test_what_could_be_installed_is_told_of(yard: Yard):
    """A newer version that would not fit is no update, nor is anything of a package that came from an address."""
    yard.wheel("plug-old")
    yard.wheel("plug-same")
    kept = yard.wheel("plug-file")
    yard.install("plug-old")
    yard.install("plug-same")
    yard.install(str(kept))
    yard.wheel("plug-old", "1.5")
    yard.wheel("plug-old", "2.0", requires=["plug-same>=9"])
    yard.wheel("plug-file", "2.0")
    before = yard.versions
    told: list[Update] = []

    found = UpdateCheck(yard.packages, tell=told.append, report=lambda *report: yard.reports.append(report)).run()

    assert found == told == [Update("plug-old", "1.0", "1.5")]
    assert yard.versions == before
    assert yard.reports == []


def test_what_cannot_be_found_out_is_reported(yard: Yard):
    """The report names the package and the reason."""
    yard.wheel("plug-a")
    yard.install("plug-a")
    yard.write("plug-a\nplug-nowhere==7\n")
    reports: list[tuple[str, str]] = []

    found = UpdateCheck(yard.packages, tell=lambda _: None, report=lambda *report: reports.append(report)).run()

    assert found == []
    [(path, text)] = reports
    assert path == "packages:update_check"
    assert "plug-a" in text


def test_nothing_is_asked_where_nothing_is_installed(yard: Yard):
    """A fresh host has no packages."""
    assert UpdateCheck(yard.packages, tell=lambda _: None, report=lambda *_: None).run() == []
