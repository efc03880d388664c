"""Licences of installed distributions and of what is served."""

from __future__ import annotations

from pathlib import Path

import pytest

from host.plugins.registry import Registry
from host.release.licences import Licence, LicenceReader
from tests.records.registries import FixedRegistry, loaded, registry_of


def install(site: Path, name: str, headers: str = "", **files: bytes) -> Path:
    """Lay down the metadata of a distribution; ``a__b`` names the file ``b`` in the folder ``a``."""
    info = site / f"{name}-1.0.dist-info"
    metadata = f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\n{headers}\n"
    for file, content in {"METADATA": metadata.encode(), **files}.items():
        path = info / file.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return info


def read(*folders: Path) -> list[Licence]:
    """Return the licences of what lies in some folders."""
    return list(LicenceReader(FixedRegistry(Registry()), lambda: folders, host="plugyard").read().backend)


@pytest.mark.parametrize(
    ("headers", "terms"),
    [
        pytest.param("License-Expression: MIT OR Apache-2.0\nLicense: other", "MIT OR Apache-2.0", id="expression"),
        pytest.param("License: BSD", "BSD", id="one line"),
        pytest.param(
            "License: Permission is\n        hereby granted\nClassifier: License :: OSI Approved :: MIT License",
            "MIT License",
            id="classifier beside the whole text",
        ),
        pytest.param("License: UNKNOWN", "Unknown", id="unknown"),
        pytest.param("", "Unknown", id="nothing"),
    ],
)
def test_terms(tmp_path: Path, headers: str, terms: str):
    """The best of what the metadata say counts."""
    install(tmp_path, "lamp", headers)

    (found,) = read(tmp_path)

    assert (found.name, found.version, found.license) == ("lamp", "1.0", terms)


@pytest.mark.parametrize(
    ("headers", "files", "text"),
    [
        pytest.param("License-File: LICENSE", {"licenses__LICENSE": b"new"}, "new", id="where it belongs"),
        pytest.param("License-File: LICENSE", {"LICENSE": b"old"}, "old", id="where it once belonged"),
        pytest.param("", {"COPYING.txt": b"\xef\xbb\xbfplain\r\nlines\r\n"}, "plain\nlines", id="not named"),
        pytest.param("", {"LICENSE": "© é".encode("latin-1")}, "© é", id="not UTF-8"),
        pytest.param("", {"LICENSE": b"a\0b"}, "ab", id="null"),
        pytest.param("License-File: GONE", {}, "", id="missing"),
        pytest.param("License: first\n        second", {}, "first\n        second", id="in the metadata"),
        pytest.param(
            "License-File: A\nLicense-File: x/A",
            {"licenses__A": b"one", "licenses__x__A": b"two"},
            "A\n\none\n\nx/A\n\ntwo",
            id="several",
        ),
    ],
)
def test_texts(tmp_path: Path, headers: str, files: dict[str, bytes], text: str):
    """Licence files are found wherever builders put them, in whatever encoding."""
    install(tmp_path, "lamp", headers, **files)

    (found,) = read(tmp_path)

    assert found.licensetext == text


@pytest.mark.parametrize("named", ["../../secret.txt", "/etc/hostname", "link", "licenses", ".", "a" * 5000])
def test_no_other_file_can_be_named(tmp_path: Path, named: str):
    """The metadata of a package cannot show files that are not its licences."""
    (tmp_path / "secret.txt").write_text("the password")
    info = install(tmp_path / "site", "thief", f"License-File: {named}", licenses__x=b"")
    (info / "licenses" / "link").symlink_to(tmp_path / "secret.txt")
    (info / "LICENSE").symlink_to(tmp_path / "secret.txt")

    (found,) = read(tmp_path / "site")

    assert found.licensetext == ""


def test_broken_distributions(tmp_path: Path):
    """What cannot be read is left out or unknown; the others are there all the same, each once, by name."""
    install(tmp_path, "Zebra")
    install(tmp_path, "ant", LICENSE=b"x" * 300_000)
    (tmp_path / "empty-1.0.dist-info").mkdir()
    (tmp_path / "file-1.0.dist-info").write_bytes(b"\xff\xfe")
    (tmp_path / "old-1.0.egg-info").write_text("Name: old\nVersion: 2\nLicense: ZPL\n")
    (tmp_path / "bad-1.0.dist-info").mkdir()
    (tmp_path / "bad-1.0.dist-info" / "METADATA").write_bytes(b"Name: b\xffd\nLicense: \x00\n")
    install(tmp_path / "later", "zebra", "License: other")

    found = read(tmp_path, tmp_path / "later", tmp_path / "nowhere")

    assert [one.name for one in found] == ["ant", "bÿd", "old", "Zebra"]
    assert len(found[0].licensetext) < 101_000
    assert found[2].license == "ZPL"
    assert found[3].license == "Unknown"


def test_what_browsers_get(tmp_path: Path):
    """The host itself, plugins that serve files, and the foreign files that a built-in one brings along."""
    for name in ("plugyard", "lamp-kit", "silent"):
        install(tmp_path / "site", name, "License: MIT")
    (tmp_path / "icons" / "static").mkdir(parents=True)
    (tmp_path / "icons" / "LICENSE.txt").write_text("\nFree License\n\nFor all.\n")
    (tmp_path / "kit" / "static").mkdir(parents=True)
    (tmp_path / "kit" / "LICENSE").write_text("of the package, not of what it serves")
    registries = FixedRegistry(
        registry_of(
            loaded("icons", static_folder=tmp_path / "icons" / "static", is_builtin=True),
            loaded("lamp", static_folder=tmp_path / "kit" / "static", distribution="Lamp_Kit"),
            loaded("silent", distribution="silent"),
        )
    )
    reader = LicenceReader(registries, lambda: [tmp_path / "site"], host="plugyard")

    served = reader.read().frontend

    assert [(one.name, one.license) for one in served] == [
        ("Icons", "Free License"),
        ("lamp-kit", "MIT"),
        ("plugyard", "MIT"),
    ]
    assert served[0].licensetext == "Free License\n\nFor all."
    assert reader.read().frontend is served
    registries.current = registry_of()
    assert [one.name for one in reader.read().frontend] == ["plugyard"]
