"""From what went wrong to an answer: one table for all errors that services report, one shape for all others."""

from __future__ import annotations

import errno
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from api.answers import Json, Refusal
from api.shapes import InvalidBodyError
from host.accounts.limits import TooManyError
from host.accounts.refusals import FactorNeededError
from host.errors import (
    BusyError,
    HostError,
    InvalidInputError,
    NotAllowedError,
    NotFoundError,
    NotSignedInError,
    RefusedError,
    UnavailableError,
)
from host.plugins.failures import PluginFailedError
from host.plugins.lifecycle import PluginInUseError
from host.plugins.models import ModelsError
from host.settings.values import ConfirmationNeededError
from host.storage.engine import is_out_of_order
from host.storage.files import FilesFailedError

if TYPE_CHECKING:
    from api.request import ApiRequest

SIGN_IN: Final = ((b"www-authenticate", b"Token"),)
"""Header of every 401."""

_NO_DATABASE: Final = (
    "The database cannot serve this request now: it is busy, full, read only or gone. Try again later; "
    "the administrator finds the reason in the error reports and by running 'plugyard doctor'."
)

_NO_DISK: Final = (
    "The server's disk is full or cannot be written, so this could not be done. Try again later; the administrator "
    "finds the folder by running 'plugyard doctor'."
)
_NO_FILES: Final = (
    "The place where files are kept cannot be used now. Try again later; the administrator finds the reason in the log "
    "and by running 'plugyard doctor'."
)
_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO})

_Error = TypeVar("_Error", bound=HostError)


@dataclass(frozen=True, slots=True)
class Rule(Generic[_Error]):
    """How one class of errors is answered."""

    status: int
    body: Callable[[_Error], Any]
    headers: tuple[tuple[bytes, bytes], ...] = ()


def _detail(error: HostError) -> dict[str, str]:
    return {"detail": str(error)}


def _fields(error: InvalidInputError) -> dict[str, list[str]]:
    return error.fields


RULES: dict[type[HostError], Rule[Any]] = {
    NotFoundError: Rule(404, _detail),
    NotSignedInError: Rule(401, _detail, SIGN_IN),
    FactorNeededError: Rule(401, lambda error: {"id": "mfa_register", "error": str(error)}, SIGN_IN),
    NotAllowedError: Rule(403, _detail),
    InvalidInputError: Rule(400, _fields),
    RefusedError: Rule(400, _detail),
    ConfirmationNeededError: Rule(400, lambda error: {"manual_confirm": error.text}),
    PluginInUseError: Rule(400, lambda error: {"detail": [str(error)]}),
    PluginFailedError: Rule(400, _detail),
    ModelsError: Rule(400, _detail),
    BusyError: Rule(409, _detail),
    TooManyError: Rule(429, _detail),
    # Where it is, and what its address is, is not for everybody.
    FilesFailedError: Rule(503, lambda _error: {"detail": _NO_FILES}),
    UnavailableError: Rule(503, _detail),
}
"""Error class → answer. A subclass is answered like the nearest base that stands here."""


def rule_for(error: type[HostError]) -> Rule[Any] | None:
    """Return how a class of errors is answered, or ``None`` when nobody said."""
    for base in error.__mro__:
        rule = RULES.get(base)
        if rule is not None:
            return rule
    return None


def refused(error: Exception) -> Json | None:
    """Answer an error that someone raised on purpose; ``None`` when it is none of those."""
    if isinstance(error, Refusal):
        return error.answer()
    if isinstance(error, InvalidBodyError):
        return Json(error.faults, 400)
    if isinstance(error, HostError):
        rule = rule_for(type(error))
        if rule is not None:
            return Json(rule.body(error), rule.status, rule.headers)
    return None


def answer_to(error: Exception, request: ApiRequest) -> Json:
    """Answer any error; one that nobody raised on purpose is recorded and answered with 500."""
    known = refused(error)
    if known is not None:
        return known
    context = request.context
    record(context.report, request.path, error)
    obstacle = obstacle_of(error)
    if obstacle is not None:
        return Json({"detail": obstacle}, 503)
    return crashed(error, request.path, debug=context.options.debug)


def obstacle_of(error: Exception) -> str | None:
    """Say what is out of order around the host, where that and no fault of ours is behind an error."""
    if is_out_of_order(error):
        return _NO_DATABASE
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        return _NO_DISK
    return None


def crashed(error: Exception, path: str, *, debug: bool) -> Json:
    """Answer an error of our own. Only debug mode says what it was about."""
    kind = type(error)
    return Json(
        {
            "error": kind.__name__,
            "error_class": str(kind),
            "detail": str(error) if debug else "The server could not answer this request. The error was recorded.",
            "path": path,
            "status_code": 500,
        },
        500,
    )


def record(report: Callable[[str, str, str], object], path: str, error: Exception) -> None:
    """Keep an error report of an unexpected error."""
    report(path, f"{type(error).__name__}: {error}", "".join(traceback.format_exception(error)))
