# /// script
# requires-python = ">=3.11"
# dependencies = ["brotli>=1.1", "fonttools>=4.55"]
# ///
"""Renew the icons that come with Plugyard from a release of Tabler Icons.

Call it as `uv run .ci/tabler-icons.py 3.49.0`, with npm on the path. The release has one font for outlines and one for
filled glyphs, with different code points. Clients load one font for each pack, so both become one file here; the
ligatures and glyph names, which nobody uses, are left out.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from fontTools.merge import Merger
from fontTools.ttLib import TTFont

_PLUGIN = Path(__file__).parents[1] / "builtin_plugins" / "tabler_icons"
_UNUSED = ("GSUB", "GPOS", "GDEF", "FFTM")
_STYLES = ("outline", "filled")


def _release(package: str, version: str, folder: Path) -> tarfile.TarFile:
    subprocess.run(["npm", "pack", "--silent", f"{package}@{version}"], cwd=folder, check=True, stdout=sys.stderr)  # noqa: S607 - npm is where the developer has it
    (archive,) = folder.glob(f"{package.strip('@').replace('/', '-')}-{version}.tgz")
    return tarfile.open(archive)


def _read(release: tarfile.TarFile, path: str) -> bytes:
    file = release.extractfile(f"package/{path}")
    if file is None:
        raise SystemExit(f"The release has no file {path}.")
    return file.read()


def _font(release: tarfile.TarFile, folder: Path) -> TTFont:
    parts = []
    for name in ("tabler-icons", "tabler-icons-filled"):
        font = TTFont(io.BytesIO(_read(release, f"dist/fonts/{name}.ttf")))
        for table in _UNUSED:
            if table in font:
                del font[table]
        parts.append(folder / f"{name}.ttf")
        font.save(parts[-1])
    merged = Merger().merge([str(part) for part in parts])
    merged["post"].formatType = 3.0
    merged.flavor = "woff2"
    return merged


def _lines(icons: dict[str, dict], known: dict[int, str]) -> list[str]:
    lines = []
    for name in sorted(icons):
        icon = icons[name]
        points = [icon["styles"].get(style, {}).get("unicode", "") for style in _STYLES]
        missing = [point for point in points if point and int(point, 16) not in known]
        if missing:
            raise SystemExit(f"The font has no glyph {', '.join(missing)}, which {name} needs.")
        tags = [str(tag) for tag in icon["tags"] if tag is not None]
        lines.append("\t".join([name, icon["category"], *points, ",".join(tags)]))
    return lines


def main(version: str) -> None:
    """Fetch a release and write font, names and licence."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        fonts = _release("@tabler/icons-webfont", version, work)
        icons = json.loads(_read(_release("@tabler/icons", version, work), "icons.json"))
        font = _font(fonts, work)
        lines = _lines(icons, font.getBestCmap())
        font.save(_PLUGIN / "static" / "tabler-icons.woff2")
        (_PLUGIN / "icons.tsv").write_text("\n".join([f"# Tabler Icons {version}", *lines, ""]), "utf-8")
        (_PLUGIN / "LICENSE.txt").write_bytes(_read(fonts, "LICENSE"))


if __name__ == "__main__":
    main(*sys.argv[1:])
