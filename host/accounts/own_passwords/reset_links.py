"""Resetting a password by a link."""

from __future__ import annotations

import re
import string
from datetime import datetime, timedelta

from sqlalchemy import Connection

from host.accounts.account import USERS, Account, find_account
from host.accounts.area import Area
from host.accounts.digests import same_digest
from host.accounts.emails.addresses import list_of
from host.accounts.frontend_urls import RESET_FROM_KEY, FrontendUrls
from host.accounts.own_passwords.replacing import lock_active, stored_password
from host.accounts.problems import Problem, RefusedValuesError
from host.accounts.sessions.visit import Visit, Work

_PURPOSE = "password-reset-link"
_SIGNATURE_LENGTH = 32
_ALPHABET = string.digits + string.ascii_lowercase
_KEY = re.compile(r"([0-9a-z]{1,13})-([0-9a-z]{1,9})-([0-9a-f]{32})")
_LARGEST_ID = 2**63 - 1


class ResetLinks:
    """Sends links and checks the keys in them.

    Nothing is stored of a key: it is signed over what a reset changes, so it dies with its first use, and also when the
    account signs in, gets another password, or other addresses.
    """

    def __init__(self, area: Area, urls: FrontendUrls) -> None:
        self._area = area
        self._urls = urls
        self._lifetime = timedelta(seconds=area.options.password_reset_timeout)

    def send(self, work: Work, account: Account, address: str) -> None:
        """Mail a link."""
        key = self.key(work.connection, account, work.now)
        link = self._urls.url(RESET_FROM_KEY, work.caller.mail_origin, key=key)
        context = {"link": link, "username": account.username, "expires": work.now + self._lifetime}
        self._area.mail(work.session, to=address, template="password_reset", context=context, secrets=(key,))

    def demand(self, visit: Visit) -> None:
        """Let everybody pass: a link works on any device."""

    def check(self, visit: Visit, key: str) -> Account:
        """Return the account whose password the key replaces.

        Raises:
            RefusedValuesError: the key is wrong.

        """
        with self._area.database.read() as connection:
            account = find_account(connection, USERS.c.id == account_id(key), USERS.c.is_active.is_(True))
            return self._checked(connection, account, key, visit.area.clock())

    def use(self, work: Work, key: str) -> tuple[Account, str]:
        """Return the account and the address to which the link was sent, as far as that is known.

        Raises:
            RefusedValuesError: the key is wrong, or was used.

        """
        account = self._checked(work.connection, lock_active(work.connection, account_id(key)), key, work.now)
        return account, account.email

    def key(self, connection: Connection, account: Account, now: datetime) -> str:
        """Return a key for an account."""
        made = _base36(int(now.timestamp()))
        return f"{_base36(account.id)}-{made}-{self._signature(connection, account, made)}"

    def _checked(self, connection: Connection, account: Account | None, key: str, now: datetime) -> Account:
        found = _KEY.fullmatch(key)
        if account is not None and found is not None and found[1] == _base36(account.id):
            expired = now.timestamp() - int(found[2], 36) > self._lifetime.total_seconds()
            if same_digest(found[3], self._signature(connection, account, found[2])) and not expired:
                return account
        message = "This link is no longer good. Ask for a new one."
        raise RefusedValuesError({"key": [Problem("invalid_password_reset", message)]})

    def _signature(self, connection: Connection, account: Account, made: str) -> str:
        last_login = account.last_login.isoformat() if account.last_login else ""
        addresses = sorted(one.email for one in list_of(connection, account.id))
        password = stored_password(connection, account.id) or ""
        parts = (str(account.id), made, password, last_login, account.email, *addresses)
        return self._area.seals.digest(_PURPOSE, *parts)[:_SIGNATURE_LENGTH]


def account_id(key: str) -> int:
    """Return the id that a key names, which nobody has vouched for; 0, which no account has, where it is no key."""
    found = _KEY.fullmatch(key)
    number = int(found[1], 36) if found else 0
    return number if number <= _LARGEST_ID else 0


def _base36(number: int) -> str:
    text = ""
    while number:
        number, digit = divmod(number, 36)
        text = _ALPHABET[digit] + text
    return text or "0"
