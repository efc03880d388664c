"""The plugin projects below ``tests/packages``: what each is, and what a host should make of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

ROOT = Path(__file__).parent / "packages"


class Kind(Enum):
    """What sort of project it is."""

    GOOD = "good"
    """Installs, activates and works."""
    LIBRARY = "libraries"
    """Holds no plugin; good plugins depend on it."""
    BAD = "bad"
    """Goes wrong at :attr:`Package.stage`."""


class Stage(Enum):
    """When a bad package shows what it is."""

    INSTALL = "install"
    """Refused while it is installed; nothing of it stays."""
    ACTIVATE = "activate"
    """Installs; activating it is refused, and the registry status says why."""
    CALL = "call"
    """Installs and activates; its hooks fail when they are called, and nobody else notices."""


class Tampering(Enum):
    """What is done to a wheel after it was built properly."""

    SLIP = "members that leave the folder"
    CHANGED = "a member that differs from RECORD"
    UNLISTED = "a member that RECORD does not name"
    NO_RECORD = "RECORD is missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """One project."""

    name: str
    """Name of its folder; version included where there are several."""
    kind: Kind
    distribution: str
    version: str = "1.0"
    keys: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    """Names of packages of this catalogue that an index must offer beside it."""
    stage: Stage | None = None
    cause: str = ""
    """Part of the message that tells why, in lower case."""
    tampering: Tampering | None = None

    @property
    def folder(self) -> Path:
        """The folder with its ``pyproject.toml``."""
        return ROOT / self.kind.value / self.name


def _good(
    name: str,
    *,
    distribution: str = "",
    version: str = "1.0",
    keys: tuple[str, ...] = (),
    actions: tuple[str, ...] = (),
    requires: tuple[str, ...] = (),
) -> Package:
    return Package(
        name=name,
        kind=Kind.GOOD,
        distribution=distribution or f"plugyard-{name}",
        version=version,
        keys=keys or (name,),
        actions=actions,
        requires=requires,
    )


def _library(name: str, version: str) -> Package:
    return Package(name=f"{name}-{version}", kind=Kind.LIBRARY, distribution=name, version=version)


def _bad(
    name: str,
    stage: Stage,
    cause: str,
    *,
    keys: tuple[str, ...] | None = None,
    tampering: Tampering | None = None,
) -> Package:
    return Package(
        name=name,
        kind=Kind.BAD,
        distribution=f"plugyard-{name}",
        keys=(name,) if keys is None else keys,
        stage=stage,
        cause=cause,
        tampering=tampering,
    )


_ALL = (
    # Two versions that differ in a submodule: the action answers "dim" and "bright".
    _good("lamp-1.0", distribution="plugyard-lamp", keys=("lamp",), actions=("lamp.switch",)),
    _good("lamp-1.1", distribution="plugyard-lamp", version="1.1", keys=("lamp",), actions=("lamp.switch",)),
    # A module of functions.
    _good("greeter", version="0.3", actions=("greet",)),
    # An instance.
    _good("beacon", version="2.0.1"),
    # Static files and features.
    _good("dashboard-kit", version="1.4"),
    # Settings, user settings, an administration page; answers to its own key.
    _good("thermostat", actions=("thermostat",)),
    _good("depends-on-helper", actions=("depends-on-helper.version",), requires=("helper-lib-1.0",)),
    # Each is fine alone; together they want two versions of one library.
    _good("needs-helper-1", actions=("needs-helper-1.version",), requires=("helper-lib-1.0",)),
    _good("needs-helper-2", actions=("needs-helper-2.version",), requires=("helper-lib-2.0",)),
    # Hooks that are coroutines.
    _good("async-lamp", actions=("async-lamp.switch",)),
    # Two plugins that share the action "brew"; the distribution's name is not in its canonical form.
    _good(
        "two-in-one",
        distribution="Plugyard.Two_In_One",
        keys=("coffee", "tea"),
        actions=("brew", "coffee.brew", "tea.brew"),
    ),
    # A compiled module: a running process cannot load another version.
    _good("native", actions=("native.count",)),
    # Tables; 1.1 adds a column.
    _good("shelf-1.0", distribution="plugyard-shelf", keys=("shelf",), actions=("shelf.add", "shelf.count")),
    _good(
        "shelf-1.1",
        distribution="plugyard-shelf",
        version="1.1",
        keys=("shelf",),
        actions=("shelf.add", "shelf.count"),
    ),
    # Routes that answer, raise, exit and block.
    _good("router"),
    # Hears `listener.*` and `plugin.*`; "listener.heard" tells of them, "listener.say" emits `listener.said`.
    _good("listener", actions=("listener.heard", "listener.say")),
    # Prints while it is imported, made and asked.
    _good("chatty", actions=("chatty.talk",)),
    _library("helper-lib", "1.0"),
    _library("helper-lib", "2.0"),
    # Refused while they are installed.
    _bad("no-plugin", Stage.INSTALL, "plugin", keys=()),
    _bad("bad-key", Stage.INSTALL, "bad key", keys=("Bad Key",)),
    _bad("takes-key", Stage.INSTALL, "inventory", keys=("inventory",)),
    _bad("wants-old-starlette", Stage.INSTALL, "starlette"),
    _bad("wants-newer-host", Stage.INSTALL, "plugyard"),
    _bad("wants-newer-python", Stage.INSTALL, "python"),
    _bad("wants-the-unknown", Stage.INSTALL, "plugyard-nowhere-to-be-found"),
    _bad("zip-slip", Stage.INSTALL, "outside", tampering=Tampering.SLIP),
    _bad("broken-record", Stage.INSTALL, "record", tampering=Tampering.CHANGED),
    _bad("unlisted-file", Stage.INSTALL, "record", tampering=Tampering.UNLISTED),
    _bad("no-record", Stage.INSTALL, "record", tampering=Tampering.NO_RECORD),
    # Installed, never active.
    _bad("syntax-error", Stage.ACTIVATE, "syntaxerror"),
    _bad("import-error", Stage.ACTIVATE, "no_such_library"),
    _bad("exits-at-import", Stage.ACTIVATE, "exit"),
    _bad("dies-at-import", Stage.ACTIVATE, "7"),
    _bad("loops-at-import", Stage.ACTIVATE, "took longer"),
    _bad("bloats-at-import", Stage.ACTIVATE, "memory"),
    _bad("wrong-signature", Stage.ACTIVATE, "perform_action(action: str, data: json, user: user)"),
    # Only the host notices this one; a type checker lets names of positional arguments differ.
    _bad("renamed-argument", Stage.ACTIVATE, "perform_action(action: str, data: json, user: user)"),
    _bad("misspelt-hook", Stage.ACTIVATE, "perform_action"),
    _bad("wraps-others", Stage.ACTIVATE, "wrapper"),
    _bad("missing-attribute", Stage.ACTIVATE, "nowhere"),
    _bad("takes-model-type", Stage.ACTIVATE, "part"),
    _bad("takes-table", Stage.ACTIVATE, "plugin_config"),
    _bad("constructor-raises", Stage.ACTIVATE, "the filament is broken"),
    _bad("bad-settings", Stage.ACTIVATE, "lower case"),
    _bad("start-raises", Stage.ACTIVATE, "the device does not answer"),
    _bad("kills-in-start", Stage.ACTIVATE, "start"),
    # Active until they are asked. Each answers to the action of its name and to "wrong".
    _bad("raises-in-hook", Stage.CALL, "the fuse has blown"),
    _bad("exits-in-hook", Stage.CALL, "good bye"),
    _bad("sleeps-in-hook", Stage.CALL, "did not answer within"),
    _bad("spins-in-hook", Stage.CALL, "did not answer within"),
    _bad("wrong-shapes", Stage.CALL, "actionresult"),
)

PACKAGES: dict[str, Package] = {package.name: package for package in _ALL}
"""Name → package."""


def packages(kind: Kind, stage: Stage | None = None) -> list[Package]:
    """Return the packages of a kind, and of a stage where one is given."""
    return [package for package in _ALL if package.kind is kind and stage in {None, package.stage}]
