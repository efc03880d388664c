"""Write a new plugin project."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from string import Template

from host.cli.output import CommandError

_TEMPLATES = Path(__file__).parent / "templates"
_PREFIX = "plugyard-"
_KEY = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")
_LONGEST_KEY = 100


class Kind(StrEnum):
    """What a new plugin can do; the names are those of the hook families."""

    ACTION = "action"
    APP = "app"
    EVENTS = "events"
    LOCATE = "locate"
    SETTINGS = "settings"
    UI = "ui"
    URLS = "urls"


_DOES: Mapping[Kind, str] = {
    Kind.ACTION: "answers an action by name",
    Kind.APP: "keeps records of its own",
    Kind.EVENTS: "reacts to what happens in the host",
    Kind.LOCATE: "shows where stock items and locations are",
    Kind.SETTINGS: "has settings for the host and for each user",
    Kind.UI: "adds a panel and a dashboard tile to the web client",
    Kind.URLS: "answers HTTP requests of its own",
}


@dataclass(frozen=True, slots=True)
class Project:
    """A plugin project that was written."""

    key: str
    distribution: str
    package: str
    folder: Path
    files: tuple[str, ...]


def write_project(name: str, *, kind: Kind, parent: Path) -> Project:
    """Write a project folder for a plugin, below ``parent``.

    Raises:
        CommandError: the name cannot be a plugin's key, or the folder exists already.

    """
    key = name.strip().removeprefix(_PREFIX)
    if not _KEY.fullmatch(key) or len(key) > _LONGEST_KEY:
        msg = (
            f"'{name}' cannot name a plugin: use lower case letters, digits and single hyphens or underscores, "
            f"beginning with a letter, as in 'shelf-lamp'."
        )
        raise CommandError(msg)
    distribution = _PREFIX + key.replace("_", "-")
    folder = parent / distribution
    if folder.exists():
        msg = (
            f"{folder} exists already, and nothing is overwritten. Choose another name, or another folder with --path."
        )
        raise CommandError(msg)
    package = distribution.replace("-", "_")
    words = re.split(r"[-_]", key)
    values = {
        "key": key,
        "distribution": distribution,
        "package": package,
        "class_name": "".join(word.capitalize() for word in words) + "Plugin",
        "title": " ".join(words).capitalize(),
        "table_prefix": key.replace("-", "_"),
        "does": _DOES[kind],
        "host_version": version("plugyard"),
    }
    files = _render(kind, package, values)
    try:
        _write(folder, files)
    except OSError as error:
        msg = f"{folder} cannot be written: {error.strerror}. Choose another folder with --path."
        raise CommandError(msg) from error
    return Project(key, distribution, package, folder, tuple(sorted(files)))


def _render(kind: Kind, package: str, values: Mapping[str, str]) -> dict[str, str]:
    files = {f"src/{package}/__init__.py": "", f"src/{package}/py.typed": ""}
    for template in [*(_TEMPLATES / "common").iterdir(), *(_TEMPLATES / kind).iterdir()]:
        target = _target(template.name.removesuffix(".in"), package)
        files[target] = Template(template.read_text("utf-8")).substitute(values)
    return files


def _target(name: str, package: str) -> str:
    if name == "gitignore":
        return ".gitignore"
    if name.startswith("test_"):
        return f"tests/{name}"
    if name.endswith(".py"):
        return f"src/{package}/{name}"
    if name.endswith(".js"):
        return f"src/{package}/static/{name}"
    return name


def _write(folder: Path, files: Mapping[str, str]) -> None:
    folder.mkdir(parents=True)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
