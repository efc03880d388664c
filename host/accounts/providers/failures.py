"""Why a login through a provider comes to nothing."""

from __future__ import annotations

from enum import StrEnum

from host.errors import RefusedError


class Failure(StrEnum):
    """What the page that a login returns to is told; the words are those of the account interface."""

    UNKNOWN = "unknown"
    CANCELLED = "cancelled"
    DENIED = "denied"
    PERMISSION_DENIED = "permission_denied"
    SIGNUP_CLOSED = "signup_closed"
    REAUTHENTICATION_REQUIRED = "reauthentication_required"
    CONNECTED_OTHER = "connected_other"


class ProviderError(RefusedError):
    """A provider did not vouch for anybody: it is down, refused, or answered what cannot be trusted."""

    def __init__(self, message: str, failure: Failure = Failure.UNKNOWN) -> None:
        self.failure = failure
        super().__init__(message)
