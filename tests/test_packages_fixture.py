"""The plugin projects that other tests install are what the catalogue says of them."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import subprocess
import sys
import zipfile

import httpx2
import pytest
from packaging.metadata import Metadata
from packaging.utils import canonicalize_name

from tests.packages_catalogue import PACKAGES, ROOT, Kind, Stage, Tampering, packages

IMPORT_ALL = """
import importlib, os, sys
os.dup2(2, 1)  # some of them print
for name, wheel in [argument.split("=") for argument in sys.argv[1:]]:
    sys.path.append(wheel)
for name, wheel in [argument.split("=") for argument in sys.argv[1:]]:
    module, _, attribute = name.partition(":")
    found = importlib.import_module(module)
    plugin = getattr(found, attribute)() if attribute[:1].isupper() else getattr(found, attribute or "__name__")
    print(plugin)
"""


def text_of(wheel, ending):
    with zipfile.ZipFile(wheel) as opened:
        names = [name for name in opened.namelist() if name.endswith(ending)]
        return opened.read(names[0]).decode() if names else ""


def entry_points_of(wheel):
    group = text_of(wheel, "entry_points.txt").partition("[plugyard]\n")[2].partition("\n[")[0]
    return dict(line.split(" = ") for line in group.splitlines() if line)


def test_the_catalogue_lists_every_project():
    """Whoever adds a folder says what it is."""
    folders = {path.parent for path in ROOT.glob("*/*/pyproject.toml")}

    assert {package.folder for package in PACKAGES.values()} == folders


@pytest.mark.parametrize("name", PACKAGES)
def test_a_wheel_is_what_the_catalogue_says(wheels, name):
    """Distribution, version and keys agree."""
    package = PACKAGES[name]

    metadata = Metadata.from_email(text_of(wheels[name], ".dist-info/METADATA"))

    assert canonicalize_name(metadata.name) == canonicalize_name(package.distribution)
    assert str(metadata.version) == package.version
    assert sorted(entry_points_of(wheels[name])) == sorted(package.keys)
    assert (package.stage is not None) is (package.kind is Kind.BAD)


def test_good_plugins_can_be_imported(wheels):
    """What goes wrong with a good package in another test is the host's fault."""
    imported = [
        f"{value}={wheels[package.name]}"
        for package in packages(Kind.GOOD)
        for value in entry_points_of(wheels[package.name]).values()
    ]
    helper = f"helper_lib={wheels['helper-lib-1.0']}"

    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", IMPORT_ALL, helper, *imported],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("package", [one for one in PACKAGES.values() if one.tampering], ids=lambda one: one.name)
def test_tampering_shows_in_record(wheels, package):
    """Each spoilt wheel is wrong in exactly one way."""
    with zipfile.ZipFile(wheels[package.name]) as opened:
        members = {name: opened.read(name) for name in opened.namelist()}
    record = next((members.pop(name) for name in list(members) if name.endswith("/RECORD")), b"").decode()
    listed = {row[0]: row[1] for row in csv.reader(io.StringIO(record)) if row[1]}

    wrong = {name for name, digest in listed.items() if _digest(members[name]) != digest}

    assert bool(wrong) is (package.tampering is Tampering.CHANGED)
    assert (not record) is (package.tampering is Tampering.NO_RECORD)
    assert any(".." in name for name in members) is (package.tampering is Tampering.SLIP)
    assert bool(record and set(members) - set(listed)) is (package.tampering is Tampering.UNLISTED)


def _digest(content):
    encoded = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
    return f"sha256={encoded.rstrip(b'=').decode()}"


def test_wheels_are_built_alike_each_time(wheels, tmp_path):
    """The same sources give the same bytes, so hashes can be compared between tests."""
    again = type(wheels)(tmp_path)

    assert again["lamp-1.0"].read_bytes() == wheels["lamp-1.0"].read_bytes()


def test_bad_packages_cover_every_stage():
    """There is a bad package for each moment at which something can go wrong."""
    assert all(packages(Kind.BAD, stage) for stage in Stage)
    assert all(package.cause for package in packages(Kind.BAD))


def test_pip_reads_the_index(index, tmp_path):
    """The tool finds the newest version that this Python can run, and checks its hash."""
    offered = index("lamp-1.0", "lamp-1.1", "wants-newer-python")
    command = [sys.executable, "-m", "pip", "--isolated", "download", "--no-cache-dir", "--disable-pip-version-check"]
    options = ["--index-url", offered.url, "--no-deps", "--dest", str(tmp_path)]

    done = subprocess.run([*command, *options, "Plugyard_Lamp"], capture_output=True, text=True, check=False)
    refused = subprocess.run(
        [*command, *options, "plugyard-wants-newer-python"], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["plugyard_lamp-1.1-py3-none-any.whl"]
    assert offered.requests[:2] == ["/simple/plugyard-lamp/", "/files/plugyard_lamp-1.1-py3-none-any.whl"]
    assert refused.returncode != 0
    assert ">=3.99" in refused.stderr


def test_an_index_can_change_and_be_switched_off(index):
    """Packages come and go; a stopped index refuses connections."""
    offered = index("greeter")
    offered.add("lamp-1.0")
    offered.remove("greeter")

    page = httpx2.get(f"{offered}plugyard-lamp/").text
    gone = httpx2.get(f"{offered}plugyard-greeter/").text
    unknown = httpx2.get(f"{offered}nobody/")
    offered.stop()

    assert "plugyard_lamp-1.0-py3-none-any.whl#sha256=" in page
    assert ".whl" not in gone
    assert unknown.status_code == 404
    assert len(offered.requests) == 3
    with pytest.raises(httpx2.ConnectError):
        httpx2.get(offered.url)
