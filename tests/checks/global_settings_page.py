"""The reference page of the global settings and of the users' settings, made from their definitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from host.config import PREFIX
from host.contract.settings import Setting
from host.settings import global_definitions, user_definitions
from host.settings.checks import Bounds
from host.settings.options import OPTIONS

_INTRODUCTION = f"""\
Staff change these while the host runs, with `PATCH /api/settings/global/<key>/`; everybody who is signed in may read
them. A change acts at once in every process of a machine, and within a second on other machines.
[How to change them](../how-to/change-settings.md).

The configuration wins: a value that it gives is `read_only`, and writing it has no effect. Some settings have a
[variable](settings.md) of their own, as shown; all can be fixed with `{PREFIX}GLOBAL_SETTINGS`.
"""
_USERS = """\
Each user has own values, read and changed at `/api/settings/user/<key>/`. They are for clients: the host itself does
nothing with them.
"""


def render() -> str:
    """Return the page."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield "# Global settings and user settings\n"
    yield "## Global settings\n"
    yield _INTRODUCTION
    yield "| key | type | default | meaning | fixed by |"
    yield "|---|---|---|---|---|"
    codes = next(one.default for one in global_definitions.definitions({}, str) if one.key == "CURRENCY_CODES")
    for setting in global_definitions.definitions({}, lambda _key: str(codes)):
        option = OPTIONS.get(setting.key)
        yield f"{_row(setting)} {f'`{PREFIX}{option.upper()}`' if option else ''} |"
    yield "\n## User settings\n"
    yield _USERS
    yield "| key | type | default | meaning |"
    yield "|---|---|---|---|"
    for setting in user_definitions.definitions():
        yield _row(setting)
    yield ""


def _row(setting: Setting) -> str:
    shown = str(setting.default).lower() if setting.type == "boolean" else str(setting.default)
    default = f"`{shown}`" if shown else ""
    unit = f" {setting.units}" if setting.units else ""
    return f"| `{setting.key}` | {_kind(setting)} | {default}{unit if default else ''} | {setting.description} |"


def _kind(setting: Setting) -> str:
    choices: Sequence[tuple[object, str]] = () if callable(setting.choices) else setting.choices
    if choices and setting.type == "integer":
        return " or ".join(f"`{value}` ({label})" for value, label in choices)
    if choices:
        return " or ".join(f"`{value}`" for value, _ in choices)
    bounds = [f"{check.least} to {check.most}" for check in setting.validators if isinstance(check, Bounds)]
    name = {"boolean": "`true` or `false`", "integer": "whole number", "float": "number", "string": "text"}
    return ", ".join([name[setting.type], *bounds])
