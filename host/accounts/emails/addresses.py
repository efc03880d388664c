"""The e-mail addresses of one account: add, verify, make primary and remove.

Every function joins the caller's transaction. What it did is returned, so that the caller can tell of it: events and
mails are the caller's.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from host.accounts.account import USERS, no_account
from host.accounts.addresses import clean_email, email_problems
from host.accounts.emails.owners import find_own, find_verified, is_known, owner_for_login
from host.accounts.emails.table import EMAILS, EmailAddress, read_address, read_addresses
from host.accounts.problems import Problem, RefusedValuesError, refuse
from host.config.accounts import AccountOptions
from host.storage.tables import now

__all__ = [
    "EmailAddress",
    "PrimaryChange",
    "Verification",
    "add",
    "check_new",
    "email_taken",
    "find",
    "find_own",
    "find_verified",
    "is_known",
    "keep_mail_field",
    "list_of",
    "make_primary",
    "mark_verified",
    "owner_for_login",
    "primary_of",
    "remove",
    "sync_mail_field",
]


UNVERIFIED_PRIMARY = Problem(
    "unverified_primary_email", "Verify this e-mail address first; then it can become the primary one."
)
"""Why an address does not become the primary one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What became of an address that was proved."""

    address: EmailAddress
    newly: bool
    """False when it had been proved before; then nothing was changed."""
    became_primary: bool
    replaced: tuple[str, ...]
    """The account's other addresses, which went, where a new address replaces the old one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrimaryChange:
    """Another primary address."""

    address: EmailAddress
    former: str | None
    """The primary address before; the same one when nothing was changed."""

    @property
    def changed(self) -> bool:
        """Whether it is another one now."""
        return self.former != self.address.email


def list_of(connection: Connection, user_id: int) -> list[EmailAddress]:
    """Return an account's addresses, oldest first."""
    return read_addresses(connection, EMAILS.c.user_id == user_id)


def primary_of(connection: Connection, user_id: int) -> EmailAddress | None:
    """Return an account's primary address."""
    return read_address(connection, EMAILS.c.user_id == user_id, EMAILS.c.primary.is_(True))


def find(connection: Connection, user_id: int, address: str) -> EmailAddress | None:
    """Return an address of this account, however its letters are written."""
    return read_address(connection, EMAILS.c.user_id == user_id, EMAILS.c.email == clean_email(address))


def check_new(
    connection: Connection, user_id: int, address: str, options: AccountOptions, *, blocked: bool = False
) -> str:
    """Return the address as it would be kept, when the account may have it besides its others.

    Args:
        connection: reads.
        user_id: whose address it shall be.
        address: as typed.
        options: decide on the number of addresses, and whether foreign ones are refused.
        blocked: the account has a second factor and addresses are verified by link, so it can get no new one.

    Raises:
        RefusedValuesError: required, max_length, invalid, duplicate_email, add_email_blocked, max_email_addresses or
            email_taken, under ``email``.

    """
    cleaned = clean_email(address)
    refuse({"email": email_problems(cleaned) if cleaned else [Problem("required", "Enter an e-mail address.")]})
    own = list_of(connection, user_id)
    if any(one.email == cleaned for one in own):
        raise _refused("duplicate_email", "Your account has this e-mail address already. Enter another one.")
    if blocked:
        raise _refused(
            "add_email_blocked", "An account with a second factor cannot get another address. Remove the factor first."
        )
    limit = options.account_max_email_addresses
    if limit and len(own) >= limit and not options.account_change_email:
        raise _refused("max_email_addresses", f"An account has at most {limit} e-mail addresses. Remove one first.")
    if options.account_prevent_enumeration == "false" and is_known(connection, cleaned, but=user_id):
        raise email_taken("email")
    return cleaned


def add(
    connection: Connection,
    user_id: int,
    address: str,
    options: AccountOptions,
    *,
    blocked: bool = False,
    moment: datetime | None = None,
) -> EmailAddress:
    """Give an account another address, to be verified.

    Where a new address replaces the old one, it takes the place of an earlier one that waits to be verified.

    Raises:
        NotFoundError: there is no such account.
        RefusedValuesError: as :func:`check_new`.

    """
    _lock(connection, user_id)
    cleaned = check_new(connection, user_id, address, options, blocked=blocked)
    if options.account_change_email:
        waiting = (EMAILS.c.verified.is_(False), EMAILS.c.primary.is_(False))
        connection.execute(delete(EMAILS).where(EMAILS.c.user_id == user_id, *waiting))
    return _insert(connection, user_id, cleaned, moment=moment)


def mark_verified(
    connection: Connection,
    user_id: int,
    address: str,
    options: AccountOptions,
    *,
    member: str = "email",
    moment: datetime | None = None,
) -> Verification:
    """Write down that an account has proved an address; an address that it does not have yet is added.

    The address becomes the primary one when there is none. Where a new address replaces the old one, it becomes primary
    in any case and the others go.

    Args:
        connection: of the caller's transaction.
        user_id: who proved it.
        address: the address.
        options: say whether it replaces the others.
        member: the member of the input to which a refusal belongs.
        moment: the time of adding.

    Raises:
        NotFoundError: there is no such account.
        RefusedValuesError: email_taken, when another account has proved it, also at this very moment.

    """
    _lock(connection, user_id)
    row = find(connection, user_id, address)
    if row is not None and row.verified:
        return Verification(address=row, newly=False, became_primary=False, replaced=())
    if find_verified(connection, address) is not None:
        raise email_taken(member)
    try:
        with connection.begin_nested():
            if row is None:
                row = _insert(connection, user_id, clean_email(address), verified=True, moment=moment)
            else:
                connection.execute(update(EMAILS).where(EMAILS.c.id == row.id).values(verified=True))
    except IntegrityError:
        raise email_taken(member) from None
    replaced: tuple[str, ...] = ()
    if options.account_change_email:
        others = (EMAILS.c.user_id == user_id, EMAILS.c.id != row.id)
        replaced = tuple(sorted(connection.execute(delete(EMAILS).where(*others).returning(EMAILS.c.email)).scalars()))
    becomes_primary = not row.primary and primary_of(connection, user_id) is None
    if becomes_primary:
        connection.execute(update(EMAILS).where(EMAILS.c.id == row.id).values(primary=True))
    sync_mail_field(connection, user_id)
    return Verification(address=_get(connection, row.id), newly=True, became_primary=becomes_primary, replaced=replaced)


def make_primary(connection: Connection, user_id: int, address: str) -> PrimaryChange:
    """Make one of an account's addresses the primary one.

    Raises:
        NotFoundError: there is no such account.
        RefusedValuesError: unknown_email, or unverified_primary_email, under ``email``.

    """
    _lock(connection, user_id)
    row = find_own(connection, user_id, address)
    former = primary_of(connection, user_id)
    if not row.primary:
        if not row.verified:
            raise RefusedValuesError({"email": [UNVERIFIED_PRIMARY]})
        connection.execute(update(EMAILS).where(EMAILS.c.user_id == user_id).values(primary=False))
        connection.execute(update(EMAILS).where(EMAILS.c.id == row.id).values(primary=True))
    sync_mail_field(connection, user_id)
    return PrimaryChange(address=_get(connection, row.id), former=former.email if former else None)


def remove(connection: Connection, user_id: int, address: str, options: AccountOptions) -> EmailAddress:
    """Take an address away from an account, and return what it was.

    Raises:
        NotFoundError: there is no such account.
        RefusedValuesError: unknown_email; or cannot_remove_primary_email, for the primary address while there are
            others and for the only one where people sign in by address alone. Both under ``email``.

    """
    _lock(connection, user_id)
    row = find_own(connection, user_id, address)
    has_others = len(list_of(connection, user_id)) > 1
    if has_others and row.primary:
        raise _refused(
            "cannot_remove_primary_email", "The primary e-mail address cannot go. Make another one primary first."
        )
    if not has_others and set(options.account_login_methods) == {"email"}:
        raise _refused(
            "cannot_remove_primary_email", "Without this e-mail address you could not sign in. Add another one first."
        )
    connection.execute(delete(EMAILS).where(EMAILS.c.id == row.id))
    connection.execute(update(USERS).where(USERS.c.id == user_id, USERS.c.email == row.email).values(email=""))
    sync_mail_field(connection, user_id)
    return row


def keep_mail_field(
    connection: Connection, user_id: int, address: str, *, verified: bool = False, moment: datetime | None = None
) -> None:
    """Make what stands in the mail field the first, primary address of an account that has none yet."""
    if address and not list_of(connection, user_id):
        _insert(connection, user_id, address, verified=verified, primary=True, moment=moment)


def sync_mail_field(connection: Connection, user_id: int) -> None:
    """Write the primary address, where there is one, into the mail field of the account."""
    primary = primary_of(connection, user_id)
    if primary is not None:
        connection.execute(update(USERS).where(USERS.c.id == user_id).values(email=primary.email))


def email_taken(member: str) -> RefusedValuesError:
    """Say that an address is somebody else's."""
    message = "Another account has this e-mail address. Enter another one."
    return RefusedValuesError({member: [Problem("email_taken", message)]})


def _lock(connection: Connection, user_id: int) -> None:
    # Two changes of one account's addresses run one after the other, or limits and the primary one could slip.
    if connection.execute(select(USERS.c.id).where(USERS.c.id == user_id).with_for_update()).first() is None:
        raise no_account(user_id)


def _get(connection: Connection, row_id: int) -> EmailAddress:
    (row,) = read_addresses(connection, EMAILS.c.id == row_id)
    return row


def _insert(
    connection: Connection,
    user_id: int,
    email: str,
    *,
    verified: bool = False,
    primary: bool = False,
    moment: datetime | None = None,
) -> EmailAddress:
    row = {"user_id": user_id, "email": email, "verified": verified, "primary": primary, "created": moment or now()}
    return _get(connection, connection.execute(insert(EMAILS).values(**row).returning(EMAILS.c.id)).scalar_one())


def _refused(code: str, message: str) -> RefusedValuesError:
    return RefusedValuesError({"email": [Problem(code, message)]})
