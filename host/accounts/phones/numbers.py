"""The phone number of an account: set, verify and remove it, and whose it is.

Every function joins the caller's transaction; events and messages are the caller's.
"""

from __future__ import annotations

import re
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select
from sqlalchemy.exc import IntegrityError

from host.accounts.account import USERS, no_account
from host.accounts.phones.table import PHONES, Phone, read_phones
from host.accounts.problems import Problem, RefusedValuesError, refuse
from host.storage.tables import now

_E164 = re.compile(r"\+[1-9][0-9]{5,14}")


def clean_phone(text: str) -> str:
    """Return the number as it is kept."""
    return text.strip()


def phone_problems(number: str) -> list[Problem]:
    """List what is wrong with a cleaned number; an empty one is the caller's affair."""
    if _E164.fullmatch(number):
        return []
    message = "Enter a phone number with its country code and without blanks, such as +441632960123."
    return [Problem("invalid_phone", message)]


def list_of(connection: Connection, user_id: int) -> list[Phone]:
    """Return the account's number, in a list of one or none."""
    return read_phones(connection, PHONES.c.user_id == user_id)


def find_verified(connection: Connection, number: str) -> Phone | None:
    """Return the row of the one account that has proved the number; ``None`` when nobody has."""
    return next(iter(read_phones(connection, PHONES.c.phone == clean_phone(number), PHONES.c.verified.is_(True))), None)


def is_taken(connection: Connection, number: str, *, but: int | None = None) -> bool:
    """Tell whether an account has proved the number, ``but`` left aside."""
    owner = find_verified(connection, number)
    return owner is not None and owner.user_id != but


def owner_for_login(connection: Connection, number: str, *, active_only: bool = False) -> int | None:
    """Return the account that somebody means who signs in with a number.

    Whoever has proved it comes first; else the only account that claims it. Where several do it is nobody.

    Args:
        connection: reads.
        number: as typed.
        active_only: an account that is switched off counts as none, as for codes; otherwise it is returned where no
            active one comes as close.

    """
    claims = connection.execute(
        select(PHONES.c.user_id, PHONES.c.verified, USERS.c.is_active)
        .join(USERS, USERS.c.id == PHONES.c.user_id)
        .where(PHONES.c.phone == clean_phone(number))
    ).all()
    for claim in claims:
        if claim.verified:
            return int(claim.user_id) if claim.is_active or not active_only else None
    active = [claim for claim in claims if claim.is_active]
    closest = active if active or active_only else claims
    return int(closest[0].user_id) if len(closest) == 1 else None


def check_new(connection: Connection, user_id: int, number: str) -> str:
    """Return the number as it would be kept, when it can take the place of the account's present one.

    A foreign number is accepted: whoever asks is not to learn of it. It can never be verified.

    Raises:
        RefusedValuesError: required, invalid_phone or same_as_current, under ``phone``.

    """
    cleaned = clean_phone(number)
    refuse({"phone": phone_problems(cleaned) if cleaned else [Problem("required", "Enter a phone number.")]})
    if any(one.phone == cleaned and one.verified for one in list_of(connection, user_id)):
        message = "This is your phone number already. Enter another one."
        raise RefusedValuesError({"phone": [Problem("same_as_current", message)]})
    return cleaned


def set_phone(connection: Connection, user_id: int, number: str, *, moment: datetime | None = None) -> Phone:
    """Make this, still to be verified, the number of an account, in the place of any other.

    Raises:
        NotFoundError: there is no such account.
        RefusedValuesError: as :func:`check_new`.

    """
    _lock(connection, user_id)
    cleaned = check_new(connection, user_id, number)
    return _replace(connection, user_id, cleaned, verified=False, moment=moment)


def mark_verified(
    connection: Connection, user_id: int, number: str, *, member: str = "code", moment: datetime | None = None
) -> Phone:
    """Make a number that the account has proved its own, in the place of any other.

    Args:
        connection: of the caller's transaction.
        user_id: who proved it.
        number: the number.
        member: the member of the input to which a refusal belongs.
        moment: the time of the change.

    Raises:
        NotFoundError: there is no such account.
        RefusedValuesError: phone_taken, when another account has proved it, also at this very moment.

    """
    _lock(connection, user_id)
    cleaned = clean_phone(number)
    owner = find_verified(connection, cleaned)
    if owner is not None:
        if owner.user_id == user_id:
            return owner
        raise phone_taken(member)
    try:
        with connection.begin_nested():
            return _replace(connection, user_id, cleaned, verified=True, moment=moment)
    except IntegrityError:
        raise phone_taken(member) from None


def remove(connection: Connection, user_id: int) -> Phone | None:
    """Take the number away from an account, and return what it was."""
    had = next(iter(list_of(connection, user_id)), None)
    connection.execute(delete(PHONES).where(PHONES.c.user_id == user_id))
    return had


def phone_taken(member: str) -> RefusedValuesError:
    """Say that a number is somebody else's."""
    message = "Another account has this phone number. Enter another one."
    return RefusedValuesError({member: [Problem("phone_taken", message)]})


def _lock(connection: Connection, user_id: int) -> None:
    # Two changes of one account's number run one after the other.
    if connection.execute(select(USERS.c.id).where(USERS.c.id == user_id).with_for_update()).first() is None:
        raise no_account(user_id)


def _replace(connection: Connection, user_id: int, number: str, *, verified: bool, moment: datetime | None) -> Phone:
    connection.execute(delete(PHONES).where(PHONES.c.user_id == user_id))
    row = {"user_id": user_id, "phone": number, "verified": verified, "created": moment or now()}
    connection.execute(insert(PHONES).values(**row))
    return Phone(user_id=user_id, phone=number, verified=verified)
