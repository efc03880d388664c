"""What stands between a password that comes with a request itself, as by HTTP Basic, and its account."""

from __future__ import annotations

from host.accounts.area import Area
from host.accounts.factors.factors import Factors
from host.accounts.factors.offered import asks_for_factor, offered_types
from host.accounts.limits import TooManyError
from host.errors import NotSignedInError

_ACTION = "basic_failed"
_LONGEST_NOTED = 254


class PasswordGuard:
    """Counts wrong passwords, and asks whether a right one is enough.

    Args:
        area: what account services share.
        factors: what accounts own.

    """

    def __init__(self, area: Area, factors: Factors) -> None:
        self._area = area
        self._factors = factors

    def admit(self, address: str, name: str) -> None:
        """Let a password be checked, unless too many were wrong lately.

        Raises:
            NotSignedInError: too many were, from this address or for this name.

        """
        if not self._area.limits.is_open(_ACTION, address=address, key=name):
            raise _too_many()

    def note_failure(self, address: str, name: str, user_id: int | None) -> None:
        """Count a wrong password, and tell of it.

        Raises:
            NotSignedInError: too many were wrong, of those that were checked at the same time.

        """
        area = self._area
        try:
            area.limits.consume(_ACTION, address=address, key=name)
        except TooManyError:
            raise _too_many() from None
        data = {"address": address, "user_agent": "", "username": name[:_LONGEST_NOTED]}
        with area.database.write() as session:
            area.emit(session, "user.login_failed", data, user_id)

    def demand_nothing_more(self, user_id: int) -> None:
        """Let a right password be enough where no login of the account would ask for a second factor.

        Raises:
            NotSignedInError: one would.

        """
        with self._area.database.read() as connection:
            types = offered_types(self._factors, self._area.options, connection, user_id)
        if asks_for_factor(types):
            raise NotSignedInError(
                "This account has a second factor, so its password alone is not enough. Use a token, or sign in."
            )


def _too_many() -> NotSignedInError:
    return NotSignedInError("There were too many wrong passwords. Wait some minutes before the next one.")
