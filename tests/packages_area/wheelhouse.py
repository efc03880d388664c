"""Small wheels, made in a moment, and a folder of them."""

from __future__ import annotations

import base64
import hashlib
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

_EXTRA = re.compile(r"extra *== *'([a-z]+)'")
PLUGIN = "[plugyard]\n{key} = {module}:Plugin\n"


def write_wheel(
    folder: Path,
    name: str,
    version: str = "1.0",
    *,
    requires: Sequence[str] = (),
    plugin: bool = False,
    entry_points: str = "",
    files: Mapping[str, str] | None = None,
    requires_python: str = "",
    symlink: str = "",
    record: Mapping[str, str] | None = None,
) -> Path:
    """Write a wheel; ``record`` replaces hashes in RECORD by wrong ones."""
    module = name.lower().replace("-", "_").replace(".", "_")
    info = f"{module}-{version}.dist-info"
    contents = dict({f"{module}/__init__.py": f"VERSION = {version!r}\n"} if files is None else files)
    metadata = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"]
    metadata += [f"Requires-Dist: {one}\n" for one in requires]
    metadata += [f"Provides-Extra: {extra}\n" for extra in sorted(set(_EXTRA.findall(" ".join(requires))))]
    metadata += [f"Requires-Python: {requires_python}\n"] if requires_python else []
    contents[f"{info}/METADATA"] = "".join(metadata)
    contents[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    points = entry_points or (PLUGIN.format(key=module.replace("_", "-"), module=module) if plugin else "")
    if points:
        contents[f"{info}/entry_points.txt"] = points
    lines = [
        f"{path},{(record or {}).get(path, _digest(text))},{len(text.encode())}" for path, text in contents.items()
    ]
    contents[f"{info}/RECORD"] = "\n".join([*lines, f"{info}/RECORD,,", ""])
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{module}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in contents.items():
            # The same content makes the same wheel, whenever it is made.
            entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, text)
        if symlink:
            entry = zipfile.ZipInfo(symlink, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = 0o120777 << 16
            archive.writestr(entry, "/etc/passwd")
    return wheel


def _digest(text: str) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
    return f"sha256={digest}"
