"""Unpacking a wheel writes inside its folder, and only what it says."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from host.packages.failures import PackageRefusedError
from host.packages.unpack import inspect_wheel, unpack_wheel
from tests.packages_area.wheelhouse import write_wheel


def test_everything_stays_in_the_folder(tmp_path: Path):
    """Modules stand at the root, scripts and data below the data folder, no launchers are made, RECORD lists all."""
    wheel = write_wheel(
        tmp_path, "lamp", entry_points="[console_scripts]\nlamp = lamp:main\n[plugyard]\nlamp = lamp:Lamp\n",
        files={
            "lamp/__init__.py": "", "lamp/__pycache__/x.pyc": "", "lamp-1.0.data/scripts/run": "#!python\n",
            "lamp-1.0.data/data/etc/lamp.conf": "", "lamp-1.0.data/purelib/shade.py": "",
        },
    )  # fmt: skip
    folder = tmp_path / "unpacked"

    content = inspect_wheel(wheel)
    unpack_wheel(wheel, folder, direct_url={"url": "https://x.example"}, requested=True)

    assert content.entry_points == {"console_scripts": ("lamp",), "plugyard": ("lamp",)}
    found = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert found == [
        *(f"lamp-1.0.data/{name}" for name in ("data/etc/lamp.conf", "scripts/run")),
        *(f"lamp-1.0.dist-info/{name}" for name in
          ("INSTALLER", "METADATA", "RECORD", "REQUESTED", "WHEEL", "direct_url.json", "entry_points.txt")),
        "lamp/__init__.py",
        "shade.py",
    ]  # fmt: skip
    with (folder / "lamp-1.0.dist-info/RECORD").open(newline="") as file:
        assert sorted(row[0] for row in csv.reader(file)) == found


@pytest.mark.parametrize(
    ("details", "reason"),
    [
        pytest.param({"files": {"../x.py": ""}}, "outside its folder", id="a way up"),
        pytest.param({"files": {"a/../../x.py": ""}}, "outside its folder", id="a hidden way up"),
        pytest.param({"files": {"/tmp/x.py": ""}}, "outside its folder", id="an absolute path"),
        pytest.param({"files": {"C:/x.py": ""}}, "outside its folder", id="a drive"),
        pytest.param({"files": {"a\\..\\x.py": ""}}, "outside its folder", id="backslashes"),
        pytest.param({"symlink": "lamp/passwd"}, "symbolic link", id="a link"),
        pytest.param({"record": {"lamp/__init__.py": "sha256=AAAA"}}, "didn't match RECORD", id="a wrong hash"),
        pytest.param({"entry_points": "no section\n"}, "broken", id="entry points that cannot be read"),
        pytest.param({"version": "one"}, "broken", id="no version"),
    ],
)
def test_a_hostile_or_damaged_wheel_is_refused(tmp_path: Path, details, reason):
    """The refusal names the wheel, and nothing is written."""
    wheel = write_wheel(tmp_path / "wheels", "lamp", **details)

    with pytest.raises(PackageRefusedError, match=r"The wheel .*\.whl is broken") as refused:
        inspect_wheel(wheel)
    assert reason in refused.value.sentence
    assert [path.name for path in tmp_path.iterdir()] == ["wheels"]


def test_a_cut_off_download_is_refused(tmp_path: Path):
    """Half a wheel is no wheel."""
    wheel = write_wheel(tmp_path, "lamp")
    wheel.write_bytes(wheel.read_bytes()[:300])

    with pytest.raises(PackageRefusedError, match="broken"):
        inspect_wheel(wheel)
