"""Whose an e-mail address is: proved, claimed, or written in the mail field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, select

from host.accounts.account import USERS
from host.accounts.addresses import clean_email, email_problems
from host.accounts.emails.table import EMAILS, EmailAddress, read_address
from host.accounts.problems import Problem, RefusedValuesError, refuse


def find_verified(connection: Connection, address: str) -> EmailAddress | None:
    """Return the row of the one account that has proved the address; ``None`` when nobody has."""
    return read_address(connection, EMAILS.c.email == clean_email(address), EMAILS.c.verified.is_(True))


def find_own(connection: Connection, user_id: int, address: str) -> EmailAddress:
    """Return one of the account's own addresses.

    Raises:
        RefusedValuesError: required, max_length, invalid or unknown_email, under ``email``.

    """
    cleaned = clean_email(address)
    refuse({"email": email_problems(cleaned) if cleaned else [Problem("required", "Enter an e-mail address.")]})
    row = read_address(connection, EMAILS.c.user_id == user_id, EMAILS.c.email == cleaned)
    if row is None:
        message = "Your account has no such e-mail address. Choose one of the list."
        raise RefusedValuesError({"email": [Problem("unknown_email", message)]})
    return row


def is_known(connection: Connection, address: str, *, but: int | None = None) -> bool:
    """Tell whether an account has the address, proved or not, ``but`` left aside."""
    cleaned = clean_email(address)
    claimed = select(EMAILS.c.user_id).where(EMAILS.c.email == cleaned)
    written = select(USERS.c.id).where(USERS.c.email == cleaned)
    if but is not None:
        claimed, written = claimed.where(EMAILS.c.user_id != but), written.where(USERS.c.id != but)
    return any(connection.execute(statement.limit(1)).first() for statement in (claimed, written))


def owner_for_login(connection: Connection, address: str, *, active_only: bool = False) -> int | None:
    """Return the account that somebody means who signs in with an address.

    Whoever has proved it comes first; else the only account that claims it, one of which it is the primary address
    before others; else the only one that has it in its mail field. Where several come equally close it is nobody: one
    of them could have claimed the address to catch the other's mail.

    Args:
        connection: reads.
        address: as typed.
        active_only: for codes and resets, which whoever reads the mail can use: an account that is switched off counts
            as none, and so does one that has proved other addresses and merely wrote this one in its mail field, which
            needs no proof. Otherwise one that is switched off is returned where no active one comes as close.

    """
    cleaned = clean_email(address)
    if not cleaned:
        return None
    claims = _claims(connection, cleaned) or _mail_fields(connection, cleaned, by_mail=active_only)
    for claim in claims:
        if claim.verified:
            return claim.user_id if claim.is_active or not active_only else None
    active = [claim for claim in claims if claim.is_active]
    candidates = active if active or active_only else claims
    closest = [claim for claim in candidates if claim.primary] or candidates
    return closest[0].user_id if len(closest) == 1 else None


class _Claim(NamedTuple):
    user_id: int
    is_active: bool
    verified: bool = False
    primary: bool = False


def _claims(connection: Connection, cleaned: str) -> Sequence[_Claim]:
    statement = (
        select(EMAILS.c.user_id, USERS.c.is_active, EMAILS.c.verified, EMAILS.c.primary)
        .join(USERS, USERS.c.id == EMAILS.c.user_id)
        .where(EMAILS.c.email == cleaned)
    )
    return [_Claim(*row) for row in connection.execute(statement)]


def _mail_fields(connection: Connection, cleaned: str, *, by_mail: bool) -> Sequence[_Claim]:
    statement = select(USERS.c.id, USERS.c.is_active).where(USERS.c.email == cleaned)
    if by_mail:
        # Else a token, which can write the field but change no password, would lead to a new one.
        proved = select(EMAILS.c.id).where(EMAILS.c.user_id == USERS.c.id, EMAILS.c.verified.is_(True))
        statement = statement.where(~proved.exists())
    return [_Claim(*row) for row in connection.execute(statement)]
