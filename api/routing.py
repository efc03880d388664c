"""Routing: from a path to its endpoint, in time that does not grow with the number of endpoints."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from starlette.types import ASGIApp, Receive, Scope, Send

from api.fields import INT64_MAX


class HasPath(Protocol):
    """An ASGI application that knows its own path."""

    @property
    def path(self) -> str:
        """The template."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""


def _text(segment: str) -> str | None:
    return None if "\0" in segment else segment


def _integer(segment: str) -> int | None:
    if not (segment.isascii() and segment.isdigit()):
        return None
    number = int(segment[:20])
    return number if number <= INT64_MAX else None


def _uuid(segment: str) -> str | None:
    try:
        return str(uuid.UUID(segment))
    except ValueError:
        return None


_CONVERTERS: Mapping[str, Callable[[str], Any]] = {"str": _text, "int": _integer, "uuid": _uuid}


@dataclass(slots=True)
class _Node:
    app: ASGIApp | None = None
    fixed: dict[str, _Node] = field(default_factory=dict)
    variable: list[tuple[str, str, _Node]] = field(default_factory=list)


class Routes:
    """An ASGI application that hands each request to the endpoint of its path.

    A fixed segment wins over a parameter: ``/api/plugins/install/`` is never the plugin ``install``. A path without
    its slash at the end, and a parameter of the wrong type, are unknown paths.
    """

    def __init__(self, endpoints: Iterable[HasPath], *, otherwise: ASGIApp, below: Mapping[str, ASGIApp]) -> None:
        self._root = _Node()
        self._otherwise = otherwise
        self._below = tuple(below.items())
        for endpoint in endpoints:
            self._add(endpoint)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand over one request."""
        path: str = scope["path"]
        for prefix, app in self._below:
            if path.startswith(prefix):
                await app(scope, receive, send)
                return
        parameters: dict[str, Any] = {}
        app = _find(self._root, path.split("/"), 1, parameters) or self._otherwise
        scope["path_params"] = parameters
        await app(scope, receive, send)

    def _add(self, endpoint: HasPath) -> None:
        node = self._root
        for segment in endpoint.path.split("/")[1:]:
            if segment.startswith("{"):
                name, _, kind = segment[1:-1].partition(":")
                node = _variable(node, name, kind or "str")
            else:
                node = node.fixed.setdefault(segment, _Node())
        if node.app is not None:
            msg = f"two endpoints have the path {endpoint.path}"
            raise ValueError(msg)
        node.app = endpoint


def _variable(node: _Node, name: str, kind: str) -> _Node:
    for known, known_kind, child in node.variable:
        if (known, known_kind) == (name, kind):
            return child
    child = _Node()
    node.variable.append((name, kind, child))
    return child


def _find(node: _Node, segments: list[str], index: int, parameters: dict[str, Any]) -> ASGIApp | None:
    if index == len(segments):
        return node.app
    segment = segments[index]
    child = node.fixed.get(segment)
    if child is not None:
        found = _find(child, segments, index + 1, parameters)
        if found is not None:
            return found
    if segment:
        for name, kind, other in node.variable:
            value = _CONVERTERS[kind](segment)
            if value is None:
                continue
            found = _find(other, segments, index + 1, parameters)
            if found is not None:
                parameters[name] = value
                return found
    return None
