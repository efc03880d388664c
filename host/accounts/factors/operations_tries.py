"""How often second factors may be tried."""

from __future__ import annotations

from host.accounts.area import Area
from host.accounts.limits import TooManyError
from host.accounts.problems import Problem, RefusedValuesError
from host.accounts.sessions.state import Caller

_ACTION = "second_factor"


class Tries:
    """Counts what was tried and failed, by codes and keys alike."""

    def __init__(self, area: Area) -> None:
        self._limits = area.limits

    def admit(self, caller: Caller, member: str, user_id: int | None = None) -> None:
        """Count a try before it is checked, so that many at the same time cannot all slip through.

        Args:
            caller: who is asking.
            member: of the input, where a refusal stands.
            user_id: whose factor is tried, where that is known beforehand.

        Raises:
            RefusedValuesError: there were too many.

        """
        try:
            self._limits.consume(_ACTION, address=caller.address, user_id=user_id)
        except TooManyError:
            message = "There were too many failed attempts. Wait some minutes before the next one."
            raise RefusedValuesError({member: [Problem("too_many_login_attempts", message)]}) from None

    def succeeded(self, caller: Caller, user_id: int | None = None) -> None:
        """Take the try back; what was counted for the account is forgotten, too."""
        self._limits.take_back(_ACTION, address=caller.address, user_id=user_id)
        if user_id is not None:
            self._limits.clear(_ACTION, user_id=user_id)
