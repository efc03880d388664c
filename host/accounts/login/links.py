"""Signing in by a link that is sent to an e-mail address."""

from __future__ import annotations

import secrets
from datetime import timedelta

from sqlalchemy import Connection, select
from sqlalchemy.orm import Session

from host.accounts.account import USERS, Account, find_account
from host.accounts.addresses import clean_email, email_problems
from host.accounts.area import Area
from host.accounts.digests import same_digest
from host.accounts.emails import addresses, owners
from host.accounts.limits import TooManyError
from host.accounts.login.logins import Logins
from host.accounts.login.proved_address import mark_proved
from host.accounts.login.recency import entry
from host.accounts.problems import RefusedValuesError
from host.accounts.sessions.state import Caller
from host.accounts.sessions.visit import Visit

SECONDS = 300
"""How long a link signs in."""

_PURPOSE = "sign-in link"
_DIGITS = 32
_NOBODY = 0


class LinkLogin:
    """Signs in by links, which may be opened more than once while they live and die with the password.

    Args:
        area: what account services share.
        logins: takes logins through their stages: a link is no more than a first proof.

    """

    def __init__(self, area: Area, logins: Logins) -> None:
        self._area = area
        self._logins = logins

    def send(self, caller: Caller, text: str, address: str) -> None:
        """Send a link to the account that has an address; nothing tells the caller whether there is one.

        Args:
            caller: who asks.
            text: the address as it was typed; anything at all.
            address: where links lead; the secret is put behind it.

        """
        email = clean_email(text)
        try:
            self._area.limits.consume("request_login_code", address=caller.address, key=email)
        except TooManyError:
            return
        if email_problems(email):
            return
        with self._area.database.read() as connection:
            account = self._find(connection, email)
            secret = self._secret(connection, account, email)
        with self._area.database.write() as session, session.begin_nested() as point:
            self._mail(session, email, address + secret)
            # For an address without an account the same is done and then undone, so that the time tells nothing.
            if account is None:
                point.rollback()

    def sign_in(self, visit: Visit, secret: str) -> None:
        """Begin a login by what stands in a link; nothing happens when it is no good, or somebody is signed in."""
        if visit.account is not None:
            return
        number, _, mark = (self._area.seals.read(_PURPOSE, secret, SECONDS) or "").partition(".")
        if not mark:
            return
        with visit.work() as work:
            if work.account is not None:
                return
            account = find_account(work.connection, USERS.c.id == int(number), USERS.c.is_active.is_(True))
            email = self._proved(work.connection, account, mark) if account else ""
            if account is None or not email:
                return
            try:
                mark_proved(self._area, work, account.id, email=email)
            except RefusedValuesError:
                return
            self._logins.begin(work, account, entry("code", work.now, email=email), email=email, by_code=True)

    def _find(self, connection: Connection, email: str) -> Account | None:
        owner = owners.owner_for_login(connection, email, active_only=True)
        return find_account(connection, USERS.c.id == owner) if owner is not None else None

    def _mail(self, session: Session, to: str, link: str) -> None:
        context = {"link": link, "expires": self._area.clock() + timedelta(seconds=SECONDS)}
        self._area.mail(session, to=to, template="sign_in_link", context=context, secrets=(link,))

    def _secret(self, connection: Connection, account: Account | None, email: str) -> str:
        user_id = account.id if account else _NOBODY
        return self._area.seals.sign(_PURPOSE, f"{user_id}.{self._mark(connection, user_id, email)}")

    def _proved(self, connection: Connection, account: Account, mark: str) -> str:
        own = {one.email for one in addresses.list_of(connection, account.id)} | {clean_email(account.email)}
        fitting = (email for email in own if email and same_digest(mark, self._mark(connection, account.id, email)))
        return next(fitting, "")

    def _mark(self, connection: Connection, user_id: int, email: str) -> str:
        """Return what changes with the password."""
        stored = connection.execute(
            select(USERS.c.password_hash, USERS.c.password_changed).where(USERS.c.id == user_id)
        )
        password_hash, changed = stored.first() or (secrets.token_hex(8), None)
        facts = (str(user_id), email, password_hash or "", changed.isoformat() if changed else "")
        return self._area.seals.digest(_PURPOSE, *facts)[:_DIGITS]
