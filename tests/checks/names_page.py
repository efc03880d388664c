"""The reference page of what plugins import from ``host``, made from the objects themselves."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import host
from tests.checks import docstrings

_INTRODUCTION = """\
Everything that a plugin may rely on is imported from `host` itself: `from host import Plugin, hookimpl`. Modules below
`host` are not part of the contract and may change at any time.
"""
_WRITTEN_HERE = {
    "Json": "Anything that JSON can say: `bool`, `int`, `float`, `str`, `None`, and sequences and mappings of these.",
    "hookimpl": (
        "Mark a function or method as the implementation of the hook of the same name. Options: `tryfirst=True` and "
        "`trylast=True` move it to the front or the end of those that are asked; `optionalhook=True` allows a hook "
        "that this version of the host does not know. Wrappers (`wrapper=True`, `hookwrapper=True`) are refused."
    ),
}
"""What has no docstring of its own, or not all that a plugin author has to know."""


@dataclass(frozen=True, slots=True)
class _Member:
    name: str
    annotation: str
    default: str
    documentation: str


def render() -> str:
    """Return the page."""
    return "\n".join(_lines())


def documentation(name: str) -> str:
    """Return what is said of a public name; empty where nothing is."""
    if name in _WRITTEN_HERE:
        return _WRITTEN_HERE[name]
    found = getattr(host, name)
    own = vars(found).get("__doc__") if inspect.isclass(found) else found.__doc__
    # Without a docstring a dataclass gets its signature as one.
    return docstrings.markdown(inspect.cleandoc(own)) if own and not own.startswith(f"{name}(") else ""


def _lines() -> Iterator[str]:
    yield "# Names to import\n"
    yield _INTRODUCTION
    for name in host.__all__:
        found = getattr(host, name)
        yield f"## `{name}`\n"
        yield f"{documentation(name)}\n"
        if name in _WRITTEN_HERE:
            continue
        if inspect.isclass(found):
            yield from _class(found)
        elif inspect.isfunction(found):
            yield f"```python\n{_signature(found)}\n```\n"


def _class(found: type) -> Iterator[str]:
    members = list(_fields(found).values())
    if members:
        yield "| member | type | default | |"
        yield "|---|---|---|---|"
        for member in members:
            default = f"`{member.default}`" if member.default else ""
            annotation = member.annotation.replace("|", "\\|")
            yield f"| `{member.name}` | `{annotation}` | {default} | {member.documentation} |"
        yield ""
    for name, value in vars(found).items():
        function = value.fget if isinstance(value, property) else value
        if name.startswith("_") or not inspect.isfunction(function) or not function.__doc__:
            continue
        shown = f"{name}: {_returned(function)}" if isinstance(value, property) else _signature(function)
        yield f"```python\n{shown}\n```\n"
        yield f"{docstrings.markdown(inspect.cleandoc(function.__doc__))}\n"


def _fields(found: type) -> Mapping[str, _Member]:
    """Collect the fields of a class and of its bases, with the texts that follow them in the source."""
    members: dict[str, _Member] = {}
    if not (dataclasses.is_dataclass(found) or found is host.Plugin):
        return members
    for base in reversed(found.__mro__):
        if base.__module__.startswith("host."):
            members |= {member.name: member for member in _written_in(base)}
    return members


def _written_in(found: type) -> Iterator[_Member]:
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(found))).body
    assert isinstance(tree, ast.ClassDef)
    for node, following in zip(tree.body, [*tree.body[1:], None], strict=True):
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name) or node.target.id[0] == "_":
            continue
        text = ""
        if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            text = docstrings.inline(str(following.value.value))
        yield _Member(node.target.id, ast.unparse(node.annotation), _default(node.value), text)


def _default(value: ast.expr | None) -> str:
    if value is None:
        return ""
    text = ast.unparse(value)
    for keyword in value.keywords if isinstance(value, ast.Call) and text.startswith("field(") else ():
        return {"dict": "{}", "list": "[]"}.get(ast.unparse(keyword.value), ast.unparse(keyword.value))
    return text.replace("'", '"')


def _signature(function: object) -> str:
    assert inspect.isfunction(function)
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(tree, ast.FunctionDef)
    returned = f" -> {ast.unparse(tree.returns)}" if tree.returns else ""
    return f"def {tree.name}({ast.unparse(tree.args)}){returned}".replace("'", '"').replace("=None", " = None")


def _returned(function: object) -> str:
    return _signature(function).rpartition(" -> ")[2]
