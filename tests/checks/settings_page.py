"""The reference page of the configuration, made from its model."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from host.config import FILE_VARIABLE, PREFIX, Config

_INTRODUCTION = f"""\
The host is configured by environment variables, all of which begin with `{PREFIX}`. The same settings may stand in a
TOML file, by the name in the column *in the file*; the environment wins. The file is the one that `{FILE_VARIABLE}`
names, else `plugyard.toml` in the current folder if there is one.

`GET /api/admin/config/` shows to superusers where each value came from, and never the value. An empty variable counts
as not set, unless its type is text.

```toml title="plugyard.toml"
instance = "Workshop"
find_links = ["wheels"]

[hook_deadlines]
ui = 2.0

[plugin_settings.thermostat]
ROOMS = 4
```

| variable | in the file | type | default | meaning |
|---|---|---|---|---|"""
_NAMES: Mapping[object, str] = {
    Path: "path",
    SecretStr: "text, secret",
    str: "text",
    bool: "`true` or `false`",
    int: "whole number",
    float: "number",
}


def render() -> str:
    """Return the page."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield "# Settings\n"
    yield _INTRODUCTION
    for name, field in Config.model_fields.items():
        default = _default(field)
        shown = f"`{default}`" if default else ""
        text = (field.description or "").replace("|", "\\|")
        yield f"| `{PREFIX}{name.upper()}` | `{name}` | {_kind(field)} | {shown} | {text} |"
    yield ""


def _kind(field: FieldInfo) -> str:
    bounds = [
        f"{word} {getattr(one, attribute):g}"
        for one in field.metadata
        for attribute, word in (("ge", "at least"), ("gt", "more than"), ("le", "at most"))
        if hasattr(one, attribute)
    ]
    return ", ".join([_named(field.annotation), *bounds])


def _named(annotation: Any) -> str:
    origin = get_origin(annotation)
    if origin in {Union, types.UnionType}:
        return _named(next(one for one in get_args(annotation) if one is not types.NoneType))
    if origin is tuple:
        return "texts, separated by commas"
    if origin is Literal:
        return " or ".join(f"`{one}`" for one in get_args(annotation))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return "JSON object"
    return _NAMES[annotation]


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    if value is None or value is PydanticUndefined or value in ((), {}):
        return ""
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ",".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)
