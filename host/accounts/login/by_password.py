"""Signing in by password."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select, update

from host.accounts.account import USERS, Account
from host.accounts.area import Area
from host.accounts.limits import TooManyError
from host.accounts.login.logins import Logins
from host.accounts.login.lookup import check_identifier, find_by
from host.accounts.login.recency import entry
from host.accounts.own_passwords.replacing import lock_active
from host.accounts.persons import Problems
from host.accounts.problems import Problem, RefusedValuesError, refuse
from host.accounts.refusals import ConflictError
from host.accounts.sessions.visit import Visit

_LONGEST_NOTED = 254


class PasswordLogin:
    """Signs in by password, and proves again by password who somebody is."""

    def __init__(self, area: Area, logins: Logins) -> None:
        self._area = area
        self._logins = logins

    def sign_in(self, visit: Visit, values: Mapping[str, str]) -> None:
        """Begin a login by password.

        Args:
            visit: the request's view of its session.
            values: exactly one of ``username``, ``email`` and ``phone``, and ``password``.

        Raises:
            RefusedValuesError: the input is wrong, the pair is, or there were too many failures.
            ConflictError: somebody is signed in already.
            TooManyError: a message that a stage of the login needs cannot be sent yet.

        """
        problems: Problems = {}
        name, text = check_identifier(values, self._area.options.account_login_methods, problems)
        password = values.get("password", "")
        if not password:
            problems["password"] = [Problem("required", "Enter a password.")]
        refuse(problems)
        # A wrong password is wrong input, which comes before the conflict of somebody who is signed in already.
        account = self._checked(visit, name, text, password)
        if visit.account is not None:
            raise ConflictError
        try:
            self._begin(visit, account, name, text)
        except TooManyError as error:
            if name != "email" or not error.action.startswith("confirm_email"):
                raise
            message = "A code was mailed to this address a moment ago. Wait some seconds before the next try."
            raise RefusedValuesError({"non_field_errors": [Problem("too_many_login_attempts", message)]}) from None

    def prove(self, visit: Visit, password: str) -> None:
        """Prove by password that it is still the one who is signed in.

        Raises:
            SignInNeededError: nobody is signed in.
            RefusedValuesError: the password is missing or wrong, or there were too many failures.

        """
        account = visit.signed_in
        if not password:
            raise RefusedValuesError({"password": [Problem("required", "Enter your password.")]})
        key = account.email or account.username
        self._admit(visit, key, member="password")
        if not self._area.users.check_password(account.id, password):
            with self._area.database.write() as session:
                self._area.emit(session, "user.login_failed", {"address": visit.caller.address}, account.id)
            raise RefusedValuesError({"password": [Problem("incorrect_password", "This is not your password.")]})
        self._take_back(visit, key)
        with visit.work() as work:
            visit.signed_in  # noqa: B018 - it may have ended meanwhile
            work.state.methods.append(entry("password", work.now, reauthenticated=True))
            work.emit("user.reauthenticated", method="password")

    def _begin(self, visit: Visit, account: Account, name: str, text: str) -> None:
        with visit.work() as work:
            if visit.account is not None:
                raise ConflictError
            current = lock_active(work.connection, account.id)
            if current is None:  # it is switched off, which nobody is told
                if work.pending is not None:
                    work.state.pending = None
                return
            if current.password_changed != account.password_changed:
                raise _mismatch(name)
            credential: dict[str, Any] = {} if name == "phone" else {name: text}
            self._logins.begin(work, current, entry("password", work.now, **credential), **{name: text})

    def _checked(self, visit: Visit, name: str, text: str, password: str) -> Account:
        self._admit(visit, text)
        with self._area.database.read() as connection:
            account = find_by(connection, name, text)
        if account is None:
            self._area.passwords.check(None, password)
        elif self._matches(account, password):
            self._take_back(visit, text)
            return account
        self._note_failure(visit, account, **{name: text})
        raise _mismatch(name)

    def _matches(self, account: Account, password: str) -> bool:
        area = self._area
        with area.database.read() as connection:
            stored = connection.execute(select(USERS.c.password_hash).where(USERS.c.id == account.id)).scalar()
        if not area.passwords.check(stored, password):
            return False
        if stored and area.passwords.needs_rehash(stored):
            renewed = area.passwords.hash(password)
            with area.database.write() as session:
                unchanged = (USERS.c.id == account.id) & (USERS.c.password_hash == stored)
                session.connection().execute(update(USERS).where(unchanged).values(password_hash=renewed))
        return True

    def _admit(self, visit: Visit, key: str, *, member: str = "non_field_errors") -> None:
        # Counted before the check, so that attempts at the same time cannot all slip through.
        try:
            self._area.limits.consume("login_failed", address=visit.caller.address, key=key.lower())
        except TooManyError:
            message = "There were too many failed attempts. Wait some minutes before the next one."
            raise RefusedValuesError({member: [Problem("too_many_login_attempts", message)]}) from None

    def _take_back(self, visit: Visit, key: str) -> None:
        self._area.limits.take_back("login_failed", address=visit.caller.address, key=key.lower())

    def _note_failure(self, visit: Visit, account: Account | None, **identifier: str) -> None:
        typed = {name: text[:_LONGEST_NOTED] for name, text in identifier.items()}
        data = {"address": visit.caller.address, "user_agent": visit.caller.user_agent[:200], **typed}
        with self._area.database.write() as session:
            self._area.emit(session, "user.login_failed", data, account.id if account else None)


def _mismatch(name: str) -> RefusedValuesError:
    message = f"The {_NOUNS[name]} and the password do not belong together."
    return RefusedValuesError({"password": [Problem(f"{name}_password_mismatch", message)]})


_NOUNS = {"username": "username", "email": "e-mail address", "phone": "phone number"}
