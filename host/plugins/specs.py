"""The table of hook specifications, made from the families of the contract."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

import pluggy

from host.contract.markers import PROJECT, HookInfo, hook_info
from host.contract.plugin import FAMILIES

_MAYBE_AWAITABLE = re.compile(r"MaybeAwaitable\[(.*)\]")


@dataclass(frozen=True, slots=True)
class Spec:
    """One hook that plugins may implement."""

    name: str
    family: type
    info: HookInfo
    signature: str
    """As a plugin author writes it: ``perform_action(action: str, data: Json, user: User) -> ActionResult | None``."""
    argnames: tuple[str, ...]
    documentation: str

    @property
    def key(self) -> str:
        """The key of its family, as in ``mixins``."""
        return str(vars(self.family)["key"])

    @property
    def human_name(self) -> str:
        """The name of its family for people."""
        return str(vars(self.family)["human_name"])


@cache
def specs() -> Mapping[str, Spec]:
    """Return every hook by its name, family by family, in the order of their definition."""
    return MappingProxyType({spec.name: spec for family in FAMILIES for spec in _specs_of(family)})


def new_manager() -> pluggy.PluginManager:
    """Return a plugin manager that knows every hook and no plugin."""
    manager = pluggy.PluginManager(PROJECT)
    for family in FAMILIES:
        manager.add_hookspecs(family)
    return manager


def render(name: str, signature: inspect.Signature) -> str:
    """Return a signature in the way people write it, annotations included."""
    text = str(
        signature.replace(
            parameters=[
                parameter.replace(annotation=_Verbatim.of(parameter.annotation))
                for parameter in signature.parameters.values()
            ],
            return_annotation=_Verbatim.of(signature.return_annotation),
        )
    )
    return name + text


class _Verbatim:
    # inspect shows an annotation that is text in quotes; this one shows it as it stands in the source.
    def __init__(self, text: str) -> None:
        if text[:1] in {"'", '"'} and text[-1:] == text[:1]:  # quoted, although annotations are text anyway
            text = text[1:-1]
        whole = _MAYBE_AWAITABLE.fullmatch(text)
        self._text = whole.group(1) if whole else text

    def __repr__(self) -> str:
        return self._text

    @classmethod
    def of(cls, annotation: object) -> object:
        if annotation is inspect.Parameter.empty:
            return annotation
        return cls(annotation if isinstance(annotation, str) else inspect.formatannotation(annotation))


def _specs_of(family: type) -> list[Spec]:
    return [
        _spec(family, name, function, info)
        for name, function in vars(family).items()
        if inspect.isfunction(function) and (info := hook_info(function)) is not None
    ]


def _spec(family: type, name: str, function: Callable[..., Any], info: HookInfo) -> Spec:
    full = inspect.signature(function)
    signature = full.replace(parameters=list(full.parameters.values())[1:])
    documentation = inspect.getdoc(function) or ""
    return Spec(name, family, info, render(name, signature), tuple(signature.parameters), documentation)
