"""What can go wrong in a service. Nothing here knows of HTTP; ``api/errors.py`` maps each class to an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


class HostError(Exception):
    """Base of all errors that a service reports on purpose; its text names the thing and the remedy."""


class NotFoundError(HostError):
    """There is no such thing, or the caller may not know of it."""


class NotSignedInError(HostError):
    """The caller is nobody, or could not prove who they are."""


class NotAllowedError(HostError):
    """The caller is known and lacks the right."""


class InvalidInputError(HostError):
    """The input is refused.

    ``fields`` maps a member of the input to its messages; messages that belong to no member stand under
    ``non_field_errors``.
    """

    def __init__(self, fields: Mapping[str, Sequence[str]]) -> None:
        self.fields: dict[str, list[str]] = {name: list(messages) for name, messages in fields.items()}
        super().__init__("; ".join(f"{name}: {' '.join(messages)}" for name, messages in self.fields.items()))

    @classmethod
    def of(cls, *messages: str) -> InvalidInputError:
        """Refuse the input as a whole."""
        return cls({"non_field_errors": messages})


class RefusedError(HostError):
    """The request is refused as a whole, for the one reason that its text gives; no member of the input is to blame."""


class BusyError(HostError):
    """Something else is at work on the same thing; trying again later can succeed."""


class UnavailableError(HostError):
    """A part that the operation needs is out of order or switched off for now."""
