"""A type checker tells an author what the host would refuse."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

from tests.packages_catalogue import PACKAGES, Kind, packages

# The older of two versions of the same modules.
LEFT_OUT = {"lamp-1.0", "shelf-1.0"}


def test_mypy_accepts_good_plugins_and_names_the_wrong_hook(tmp_path):
    """In strict mode, every good plugin is free of errors, and a hook with an argument too many is one.

    All is one run of mypy: starting it takes longer than the check.
    """
    good = [package for package in packages(Kind.GOOD) if package.name not in LEFT_OUT]
    for package in (*good, PACKAGES["helper-lib-1.0"], PACKAGES["wrong-signature"]):
        ignored = shutil.ignore_patterns("pyproject.toml", "hatch_build.py", "__pycache__")
        shutil.copytree(package.folder, tmp_path, ignore=ignored, dirs_exist_ok=True)

    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--config-file=", "--output=json", "."],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )

    assert done.stderr == ""
    errors = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(error["file"], error["code"]) for error in errors] == [("wrong_signature.py", "override")], errors
    assert 'incompatible with supertype "host.contract.actions.ActionHooks"' in errors[0]["message"]
    assert "data: Json" in errors[0]["hint"]
