"""The reference page of the hooks, made from their specifications."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from host.contract.plugin import FAMILIES
from host.plugins.results import expected
from host.plugins.specs import Spec, specs
from tests.checks import docstrings
from tests.checks.markdown import slug

SECTIONS = ("When", "Return", "Failure", "Since")
"""What the documentation of every hook says."""

_INTRODUCTION = """\
A plugin implements the hooks it needs and marks each with [`hookimpl`](names.md#hookimpl). A function or method may
leave out arguments that it does not need, and may be `def` or `async def`. Types in the signatures are those of
[the names to import](names.md).

What every hook call has in common (time limits, errors, quarantine) is told in
[Isolation and deadlines](../explanation/isolation-and-deadlines.md).
"""


def render() -> str:
    """Return the page."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield "# Hooks\n"
    yield _INTRODUCTION
    yield "| family | `mixins` key | hooks |"
    yield "|---|---|---|"
    for family in FAMILIES:
        heading = _heading(family)
        hooks = ", ".join(f"[`{spec.name}`](#{slug(spec.name)})" for spec in _specs_of(family))
        yield f"| [{_human(family)}](#{slug(heading)}) | `{_key(family)}` | {hooks} |"
    yield ""
    for family in FAMILIES:
        yield f"## {_heading(family)}\n"
        yield f"{docstrings.markdown(inspect.getdoc(family) or '')}\n"
        for spec in _specs_of(family):
            yield from _hook(spec)


def _hook(spec: Spec) -> Iterator[str]:
    summary, found = docstrings.sections(spec.documentation)
    yield f"### `{spec.name}`\n"
    yield f"```python\n{_definition(spec)}\n```\n"
    yield f"{summary}\n"
    for name in SECTIONS:
        if name in found:
            yield f"- **{name}:** {found[name]}"
    yield f"- **Asked:** {spec.info.asked.value}."
    yield f"- **Checked:** the answer must be {expected(spec.info)}."
    yield ""


def _definition(spec: Spec) -> str:
    _, _, rest = spec.signature.partition("(")
    separator = "" if rest.startswith(")") else ", "
    return f"def {spec.name}(self{separator}{rest}"


def _specs_of(family: type) -> list[Spec]:
    return [spec for spec in specs().values() if spec.family is family]


def _heading(family: type) -> str:
    return f"{_human(family)} (`{_key(family)}`)"


def _human(family: type) -> str:
    return str(vars(family)["human_name"])


def _key(family: type) -> str:
    return str(vars(family)["key"])
