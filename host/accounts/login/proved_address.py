"""What a code or a link proves besides who somebody is: that the address it was sent to is theirs."""

from __future__ import annotations

from host.accounts.area import Area
from host.accounts.emails.proving import prove_email
from host.accounts.phones.proving import prove_phone
from host.accounts.sessions.visit import Work


def mark_proved(area: Area, work: Work, user_id: int, *, email: str = "", phone: str = "") -> None:
    """Write down that an account has proved an address or a number.

    Raises:
        RefusedValuesError: another account has proved it meanwhile.

    """
    if email:
        prove_email(area, work, user_id, email)
    if phone:
        prove_phone(work, user_id, phone)
