"""Operations: what one method of one path takes, does and answers, said once."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from api.answers import JSON_TYPE
from api.fields import Field, FieldError, Schema
from api.request import ApiRequest
from api.shapes import InvalidBodyError, Shape
from host.contract.values import Access

if TYPE_CHECKING:
    from api.exporting import ListExport

Handler: TypeAlias = Callable[[ApiRequest], Response]


@dataclass(frozen=True, slots=True)
class PageOf:
    """What a list answers: a page of records, or without ``limit`` an array of all; or else one other shape."""

    shape: Shape
    other: Shape | None = None


Content: TypeAlias = Shape | Field | PageOf | Schema | None
"""What an answer holds: a shape, a field (for lists and texts), a list's page, a JSON schema, or nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A query parameter; a ``lenient`` one with a bad value counts as absent."""

    name: str
    field: Field
    lenient: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method of one path.

    ``handler`` is a plain function that runs in a worker thread; ``stream`` is a coroutine instead, for answers that
    go on. The handler's docstring describes the operation.
    """

    summary: str
    access: Access
    handler: Handler | None = None
    stream: Callable[[ApiRequest], Awaitable[Response]] | None = None
    body: Shape | None = None
    takes: Shape | None = None
    """Describes a body that the handler itself reads from ``request.sent``."""
    partial: bool = False
    """Only what is sent is changed."""
    answers: Mapping[int, Content] = field(default_factory=lambda: {200: None})
    """Successes: status → content."""
    faults: Mapping[int, str] = field(default_factory=dict)
    """Further errors beyond those that every operation can answer: status → when."""
    fault_shapes: Mapping[int, Content] = field(default_factory=dict)
    """Content of errors whose body is not the usual one."""
    parameters: Sequence[Parameter] = ()
    right: Callable[[ApiRequest], bool] | None = None
    """A right beyond ``access``; without it the caller gets 403."""
    produces: Sequence[str] = (JSON_TYPE,)
    calls_plugins: bool = False
    """Runs where a plugin that is stuck can be given up with its thread."""
    replays: bool = False
    """May run again without the stuck plugin: changes nothing before it asks plugins."""
    id: str = ""
    """``operationId``; made of method and path when empty."""
    hidden: bool = False
    """Left out of the OpenAPI document."""
    envelope: bool = False
    """Answers in the envelope of the account interface; ``faults`` are all that there are, and bodies are JSON."""
    writes: Shape | None = None
    """Shape that OPTIONS shows for forms, where it is not ``body``."""
    export: ListExport | None = None
    """Writes the list to a file instead, where that is asked for."""

    @property
    def description(self) -> str:
        """What the handler's docstring says."""
        return inspect.getdoc(self.handler or self.stream) or ""


class Described(Protocol):
    """An ASGI application for one path that says what it does."""

    @property
    def path(self) -> str:
        """The template."""

    @property
    def tag(self) -> str:
        """Groups it in the documentation."""

    @property
    def description(self) -> str:
        """For people."""

    @property
    def operations(self) -> Mapping[str, Operation]:
        """Method → operation."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""


def read_parameters(query: Mapping[str, str], parameters: Sequence[Parameter]) -> dict[str, Any]:
    """Check and clean the declared query parameters.

    Raises:
        InvalidBodyError: naming everything that is wrong at once.

    """
    cleaned: dict[str, Any] = {}
    faults: dict[str, Any] = {}
    for parameter in parameters:
        name = parameter.name
        try:
            if name in query:
                cleaned[name] = parameter.field.parse(query[name], form=True)
            elif parameter.field.must_be_given:
                faults[name] = ["This field is required."]
        except FieldError as error:
            if not parameter.lenient:
                faults[name] = error.faults
    if faults:
        raise InvalidBodyError(faults=faults)
    return cleaned
