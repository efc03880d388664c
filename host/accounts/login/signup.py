"""Signing up: making one's own account."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from sqlalchemy import Connection, insert, select
from sqlalchemy.exc import IntegrityError

from host.accounts.account import Account, get_account
from host.accounts.area import Area
from host.accounts.changes import explain_clash, insert_account
from host.accounts.emails import addresses
from host.accounts.emails.table import EmailAddress
from host.accounts.groups import GROUPS, MEMBERSHIPS
from host.accounts.login.free_username import free_username
from host.accounts.login.logins import Logins
from host.accounts.login.signup_form import Form, SignupForm
from host.accounts.phones import numbers
from host.accounts.refusals import ClosedError, ConflictError
from host.accounts.sessions.visit import Visit, Work
from host.accounts.usernames import fold_username

_LOG = logging.getLogger("plugyard.accounts")

OnCreated = Callable[[Work, Account], None]


class EmailProofs(Protocol):
    """Asks for the proof of addresses."""

    def send(self, work: Work, address: EmailAddress) -> object:
        """Mail a link or a code for which no login waits."""

    def pretend(self, work: Work, email: str) -> object:
        """Let a login wait for an address that somebody else has, as one of a new account would, and tell its owner."""


class PhoneProofs(Protocol):
    """Asks for the proof of numbers."""

    def pretend(self, work: Work, phone: str, *, email: str) -> object:
        """Let a login wait for a number, and after it for an address that somebody else has, though none is made."""


class Signup:
    """Makes accounts for those who ask for one.

    Args:
        area: what account services share.
        logins: sign the new account in.
        emails: ask for the proof of addresses.
        phones: ask for the proof of numbers.

    """

    def __init__(
        self,
        area: Area,
        logins: Logins,
        *,
        emails: EmailProofs,
        phones: PhoneProofs,
    ) -> None:
        self._area = area
        self._logins = logins
        self._emails = emails
        self._phones = phones
        self._form = SignupForm(area)

    def sign_up(
        self,
        visit: Visit,
        values: Mapping[str, str],
        *,
        with_password: bool = True,
        on_created: OnCreated | None = None,
        **facts: Any,
    ) -> None:
        """Make an account, and begin its first login.

        Args:
            visit: the request's view of its session.
            values: the members that the configuration asks for, of ``username``, ``email``, ``phone`` and ``password``.
            with_password: the account gets a password; without, it signs in by other means.
            on_created: called with the new account, in the transaction that makes it.
            facts: what stages need to know of the login, such as ``passkey`` and ``by_provider``.

        Raises:
            RefusedValuesError: the input is wrong.
            ConflictError: somebody is signed in already.
            ClosedError: nobody may sign up, or not in this way.
            TooManyError: a message to prove the address or the number cannot be sent yet; then no account is made.

        """
        area = self._area
        form = self._form.check(values, with_password=with_password)
        if visit.account is not None:
            raise ConflictError
        self._demand_open(by_provider=bool(facts.get("by_provider")))
        # Also for an address that is taken, so that the time tells nothing of it.
        password_hash = area.passwords.hash(form.password) if form.password else None
        try:
            with visit.work() as work:
                if work.account is not None:
                    raise ConflictError
                if self._form.has_hidden_clash(work.connection, form):
                    self._pretend(work, form)
                    return
                self._form.check_free(work.connection, form)
                account = self._create(work, form, password_hash)
                if on_created is not None:
                    on_created(work, account)
                self._ask_for_proof(work, account)
                account = get_account(work.connection, account.id)
                self._logins.begin(work, account, None, signup=True, **form.reach(), **facts)
        except IntegrityError as error:
            raise explain_clash(error, form.username) from None

    def _demand_open(self, *, by_provider: bool) -> None:
        options = self._area.options
        by_that = options.login_enable_sso and options.login_enable_sso_reg
        if not (by_that if by_provider else options.login_enable_reg):
            raise ClosedError

    def _create(self, work: Work, form: Form, password_hash: str | None) -> Account:
        connection, options = work.connection, self._area.options
        username = form.username or free_username(
            connection,
            [form.email],
            blacklist=options.account_username_blacklist,
            min_length=options.account_username_min_length,
        )
        person = {"username": username, "username_folded": fold_username(username), "email": form.email}
        account = insert_account(connection, person, {}, password_hash)
        if form.phone:
            numbers.set_phone(connection, account.id, form.phone, moment=work.now)
        self._join_group(connection, account.id)
        work.emit("user.signed_up", user_id=account.id, username=username, **form.reach())
        return account

    def _join_group(self, connection: Connection, user_id: int) -> None:
        name = self._area.options.signup_group
        if not name:
            return
        group_id = connection.execute(select(GROUPS.c.id).where(GROUPS.c.name == name)).scalar()
        if group_id is None:
            _LOG.error(
                "PLUGYARD_SIGNUP_GROUP names the group '%s', which does not exist. Make it, or name another.", name
            )
            return
        connection.execute(insert(MEMBERSHIPS).values(user_id=user_id, group_id=group_id))

    def _ask_for_proof(self, work: Work, account: Account) -> None:
        # Where the proof comes first, the login waits for it and asks for it itself.
        if self._area.options.account_email_verification != "optional":
            return
        address = addresses.primary_of(work.connection, account.id)
        if address is not None and not address.verified:
            self._emails.send(work, address)

    def _pretend(self, work: Work, form: Form) -> None:
        if form.phone:
            self._phones.pretend(work, form.phone, email=form.email)
        else:
            self._emails.pretend(work, form.email)
