"""Check a plugin's hook implementations before they are used, without calling any of its code.

Works on a class before it is instantiated, on an instance and on a module. Everything is looked up statically, so that
no property of the plugin runs.
"""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import MethodType
from typing import Any

from host.contract.markers import PROJECT
from host.contract.plugin import BaseHooks
from host.plugins.specs import Spec, render, specs

_MARK = f"{PROJECT}_impl"
_MISSING = object()


def validate(plugin: object, name: str) -> list[str]:
    """Return what is wrong with the hook implementations of a plugin; nothing when it can be used.

    Args:
        plugin: a class, an instance or a module.
        name: the plugin's key, for the messages.

    """
    return [f"plugin '{name}': {problem}" for marked in _marked(plugin) for problem in _problems(marked)]


def hooks_of(plugin: object) -> tuple[str, ...]:
    """Return the names of the hooks that a plugin implements, in the order of the contract."""
    found = {marked.hook for marked in _marked(plugin)}
    return tuple(name for name in specs() if name in found)


def mixins_of(hooks: Iterable[str]) -> dict[str, str]:
    """Return family key → human name of every family that one of these hooks belongs to, and of the base family."""
    implemented = set(hooks)
    found = {spec.key: spec.human_name for spec in specs().values() if spec.name in implemented}
    return {BaseHooks.key: BaseHooks.human_name, **found}


def unmarked_hooks(plugin: object) -> tuple[str, ...]:
    """Return functions of the plugin that are named like a hook but lack ``@hookimpl``: probably forgotten."""
    attributes = {name: inspect.getattr_static(plugin, name, None) for name in dir(plugin)}
    return tuple(
        name for name in specs() if inspect.isroutine(found := attributes.get(name)) and _mark_of(found) is None
    )


@dataclass(frozen=True, slots=True)
class _Marked:
    attribute: str
    hook: str
    options: dict[str, Any]
    found: object
    """As it is stored: a function, a ``staticmethod``, a property …"""
    bound: bool
    """The host calls it as it is; otherwise its first parameter is the plugin itself."""


def _marked(plugin: object) -> Iterator[_Marked]:
    own = {} if inspect.isclass(plugin) or inspect.ismodule(plugin) else getattr(plugin, "__dict__", {})
    for attribute in dir(plugin):
        found = inspect.getattr_static(plugin, attribute, None)
        options = _mark_of(found)
        if options is not None:
            hook = options.get("specname") or attribute
            bound = inspect.ismodule(plugin) or attribute in own or isinstance(found, (staticmethod, MethodType))
            yield _Marked(attribute, hook, options, found, bound)


def _mark_of(found: object) -> dict[str, Any] | None:
    if isinstance(found, property):
        candidates: tuple[object, ...] = (found.fget,)
    elif isinstance(found, (functools.cached_property, functools.partial)):
        candidates = (found, found.func)
    elif isinstance(found, (staticmethod, classmethod)) or inspect.ismethod(found):
        candidates = (found, found.__func__)
    else:
        candidates = (found,)
    for candidate in candidates:
        options = inspect.getattr_static(candidate, _MARK, _MISSING)
        if isinstance(options, dict):
            return options
    return None


def _problems(marked: _Marked) -> Iterator[str]:
    spec = specs().get(marked.hook)
    if spec is None:
        if not marked.options.get("optionalhook"):
            yield _unknown(marked.hook)
        return
    function = _function_of(marked.found)
    if function is None:
        yield f"{marked.attribute} is marked with @hookimpl but is no function or method"
        return
    if marked.options.get("wrapper") or marked.options.get("hookwrapper"):
        yield f"hook {marked.hook} is a wrapper; the host asks each plugin by itself and knows no wrappers"
        return
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        yield f"hook {marked.hook} is a generator; return a list instead of using yield"
        return
    yield from _signature_problems(spec, marked, function)


def _unknown(hook: str) -> str:
    near = difflib.get_close_matches(hook, specs(), n=1)
    hint = f"did you mean {near[0]}?" if near else "see the list of hooks, or mark it optionalhook=True"
    return f"unknown hook {hook}; {hint}"


def _function_of(found: object) -> Callable[..., Any] | None:
    if isinstance(found, (staticmethod, classmethod)):
        found = found.__func__
    return found if inspect.isfunction(found) or inspect.ismethod(found) else None


def _signature_problems(spec: Spec, marked: _Marked, function: Callable[..., Any]) -> Iterator[str]:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as error:
        yield f"hook {spec.name} has no readable signature: {error}"
        return
    parameters = list(signature.parameters.values())
    fault = ""
    if not marked.bound:
        first = parameters[0] if parameters else None
        if first is None or first.kind is inspect.Parameter.KEYWORD_ONLY or first.name in spec.argnames:
            fault = "it lacks self"
        elif first.kind is not inspect.Parameter.VAR_POSITIONAL:
            parameters = parameters[1:]
    fault = fault or _fault(spec, parameters)
    if fault:
        found = render(marked.attribute, signature.replace(parameters=parameters))
        yield f"hook {spec.name} has the wrong signature, {fault}; expected {spec.signature}, found {found}"


def _fault(spec: Spec, parameters: list[inspect.Parameter]) -> str:
    for parameter in parameters:
        if parameter.kind in {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}:
            stars = "*" if parameter.kind is inspect.Parameter.VAR_POSITIONAL else "**"
            return (
                f"{stars}{parameter.name} would get nothing: name the arguments that are wanted "
                "(and wrap with functools.wraps where a decorator hides them)"
            )
    known = set(spec.argnames)
    unknown = [item for item in parameters if item.name not in known and item.default is inspect.Parameter.empty]
    if unknown:
        return f"nothing is passed for {', '.join(item.name for item in unknown)}"
    return ""
