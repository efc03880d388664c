"""Writing down that an account has proved a phone number."""

from __future__ import annotations

from host.accounts.phones import numbers
from host.accounts.sessions.visit import Work


def prove_phone(work: Work, user_id: int, phone: str, *, member: str = "code") -> None:
    """Make a number the proved one of an account, in the place of any other, and tell of it.

    Args:
        work: the transaction.
        user_id: who proved it.
        phone: the number.
        member: the member of the input to which a refusal belongs.

    Raises:
        NotFoundError: there is no such account.
        RefusedValuesError: another account has proved it.

    """
    before = next(iter(numbers.list_of(work.connection, user_id)), None)
    proved = numbers.mark_verified(work.connection, user_id, phone, member=member, moment=work.now)
    if proved != before:
        former = before.phone if before is not None and before.verified else ""
        work.emit("user.phone_changed", user_id, phone=proved.phone, former=former)
