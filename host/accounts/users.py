"""Making, changing and deleting accounts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import delete, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from host.accounts.account import USERS, Account, find_account, get_account, no_account
from host.accounts.changes import (
    checked_flags,
    checked_groups,
    differences,
    explain_clash,
    has_username,
    insert_account,
    keep_an_administrator,
    lock_account,
    lock_administrators,
    profile_columns,
    set_groups,
)
from host.accounts.emails.addresses import keep_mail_field
from host.accounts.events import Emit, emit_nothing
from host.accounts.password_rules import PasswordRules
from host.accounts.passwords import Passwords
from host.accounts.persons import Problems, check_person
from host.accounts.problems import refuse
from host.accounts.sessions.table import PENDING
from host.accounts.usernames import fold_username, username_taken
from host.contract.values import Json, User
from host.storage.engine import Database
from host.storage.tables import now


class Users:
    """The service that writes accounts.

    Args:
        database: where they are.
        passwords: hashes and checks.
        rules: for new passwords.
        username_blacklist: usernames that nobody may take.
        emit: sends ``user.created``, ``user.changed``, ``user.deleted`` and ``user.password_changed``, where an
            administrator does it: what people do themselves is told by those who let them.

    """

    def __init__(
        self,
        database: Database,
        passwords: Passwords,
        rules: PasswordRules | None = None,
        *,
        username_blacklist: Iterable[str] = (),
        emit: Emit = emit_nothing,
    ) -> None:
        self._database = database
        self._passwords = passwords
        self._blacklist = tuple(username_blacklist)
        self._emit = emit
        self.rules = rules or PasswordRules()

    def get(self, user_id: int) -> Account:
        """Return an account.

        Raises:
            NotFoundError: there is no such account.

        """
        with self._database.read() as connection:
            return get_account(connection, user_id)

    def user(self, user_id: int) -> User | None:
        """Return an active account as the rest of the host sees it; ``None`` when there is none."""
        with self._database.read() as connection:
            account = find_account(connection, USERS.c.id == user_id, USERS.c.is_active.is_(True))
        return account.as_user() if account else None

    def create(
        self,
        values: Mapping[str, object],
        *,
        password: str | None = None,
        flags: Mapping[str, bool] | None = None,
        check_rules: bool = True,
        compare: bool = True,
        verified: bool = False,
        by: User | None = None,
    ) -> Account:
        """Make an account.

        Args:
            values: username (required), email, first_name, last_name, group_ids; others are ignored.
            password: without one, the account cannot sign in by password.
            flags: is_active (default true), is_staff, is_superuser.
            check_rules: apply the password rules.
            compare: also refuse a password that resembles the person's own data.
            verified: the e-mail address needs no proof.
            by: the administrator who makes it for somebody; without one, no event tells of it.

        Raises:
            RefusedValuesError: naming everything that is wrong, also a username that is taken, and a verified address
                that another account has proved.

        """
        problems: Problems = {}
        person = check_person({"username": "", **values}, problems, blacklist=self._blacklist)
        with self._database.read() as connection:
            if "username" in person and has_username(connection, person["username_folded"]):
                problems["username"] = [username_taken(person["username"])]
            groups = checked_groups(connection, values, problems)
        if password is not None and check_rules:
            problems["password"] = self.rules.check(password, person if compare else None)
        refuse(problems)
        password_hash = self._passwords.hash(password) if password is not None else None
        try:
            with self._database.write() as session:
                connection = session.connection()
                account = insert_account(connection, person, flags or {}, password_hash, verified=verified)
                self._tell(session, "user.created", account, by)
                if not groups:
                    return account
                set_groups(connection, account.id, groups)
                return get_account(connection, account.id)
        except IntegrityError as error:
            raise explain_clash(error, person["username"]) from None

    def change(
        self, user_id: int, values: Mapping[str, object], *, complete: bool = False, by: User | None = None
    ) -> Account:
        """Change an account as administrators may.

        Args:
            user_id: whose account.
            values: any of username, email, first_name, last_name, is_active, is_staff, is_superuser and group_ids;
                others are ignored.
            complete: refuse an input without a username.
            by: the administrator; without one, no event tells of it.

        Raises:
            NotFoundError: there is no such account.
            RefusedValuesError: naming everything that is wrong. The last active superuser can neither be switched off
                nor lose that flag.

        """
        return self._change(user_id, values, complete=complete, by_administrator=True, by=by)

    def change_own(self, user_id: int, values: Mapping[str, object], *, complete: bool = False) -> Account:
        """Change what everybody may of themselves: username, email, first_name and last_name; the rest is ignored.

        Raises:
            NotFoundError: there is no such account.
            RefusedValuesError: naming everything that is wrong.

        """
        return self._change(user_id, values, complete=complete, by_administrator=False)

    def change_profile(self, user_id: int, values: Mapping[str, object]) -> Account:
        """Change members of an account's profile; others are ignored.

        Raises:
            NotFoundError: there is no such account.
            RefusedValuesError: naming everything that is wrong. The primary group must be one of the account's groups.

        """
        problems: Problems = {}
        with self._database.write() as session:
            connection = session.connection()
            columns = profile_columns(lock_account(connection, user_id), values, problems)
            refuse(problems)
            connection.execute(update(USERS).where(USERS.c.id == user_id).values(**columns))
            return get_account(connection, user_id)

    def deactivate(self, user_id: int) -> Account:
        """Switch an account off: it can no longer sign in and its tokens are refused, but nothing is deleted.

        Raises:
            NotFoundError: there is no such account.
            RefusedValuesError: it is the last active superuser.

        """
        return self.change(user_id, {"is_active": False})

    def delete(self, user_id: int, *, by: User | None = None) -> None:
        """Delete an account with its tokens and memberships.

        Args:
            user_id: whose account.
            by: the administrator; without one, no event tells of it.

        Raises:
            NotFoundError: there is no such account.
            RefusedValuesError: it is the last active superuser.

        """
        with self._database.write() as session:
            connection = session.connection()
            lock_administrators(connection)
            account = lock_account(connection, user_id)
            connection.execute(delete(USERS).where(USERS.c.id == user_id))
            keep_an_administrator(connection, account)
            self._tell(session, "user.deleted", account, by)

    def set_password(
        self, user_id: int, password: str | None, *, override_rules: bool = False, by: User | None = None
    ) -> None:
        """Give an account a new password; ``None`` leaves it without one. Its sessions end.

        Args:
            user_id: whose account.
            password: as it will be kept.
            override_rules: take a weak one.
            by: the administrator; without one, no event tells of it.

        Raises:
            NotFoundError: there is no such account.
            RefusedValuesError: the password is empty or no text, or breaks a rule that is not overridden.

        """
        account = self.get(user_id)
        if password is not None:
            problems = self.rules.check(password, account.own_data(), user=account.as_user(), ask=not override_rules)
            if override_rules:
                problems = [problem for problem in problems if not problem.code.startswith("password_")]
            refuse({"password": problems})
        values = {
            "password_hash": self._passwords.hash(password) if password is not None else None,
            "password_changed": now(),
        }
        with self._database.write() as session:
            changed = session.connection().execute(update(USERS).where(USERS.c.id == user_id).values(**values))
            if not changed.rowcount:
                raise no_account(user_id)
            # Logins that are under way were begun with the old one.
            session.connection().execute(delete(PENDING).where(PENDING.c.user_id == user_id))
            self._tell(session, "user.password_changed", account, by)

    def check_password(self, user_id: int, password: str) -> bool:
        """Tell whether this is the account's password; always a full check, to confirm who is there."""
        with self._database.read() as connection:
            stored = connection.execute(select(USERS.c.password_hash).where(USERS.c.id == user_id)).scalar()
        return self._passwords.check(stored, password)

    def has_username(self, name: str) -> bool:
        """Tell whether somebody has the username, in any spelling."""
        with self._database.read() as connection:
            return has_username(connection, fold_username(name))

    def _tell(
        self, session: Session, name: str, account: Account, by: User | None, changed: Sequence[str] | None = None
    ) -> None:
        if by is not None:
            more: dict[str, Json] = {} if changed is None else {"changed": list(changed)}
            self._emit(session, name, {"user": account.id, "username": account.username, **more}, by.id)

    def _change(
        self,
        user_id: int,
        values: Mapping[str, object],
        *,
        complete: bool,
        by_administrator: bool,
        by: User | None = None,
    ) -> Account:
        if complete:
            values = {"username": "", **values}
        problems: Problems = {}
        person = check_person(values, problems, blacklist=self._blacklist)
        flags = checked_flags(values, problems) if by_administrator else {}
        columns = {**person, **flags}
        try:
            with self._database.write() as session:
                connection = session.connection()
                if False in flags.values():
                    lock_administrators(connection)
                account = lock_account(connection, user_id)
                groups = checked_groups(connection, values, problems) if by_administrator else None
                if "username" in person and has_username(connection, person["username_folded"], but=user_id):
                    problems["username"] = [username_taken(person["username"])]
                refuse(problems)
                if columns:
                    connection.execute(update(USERS).where(USERS.c.id == user_id).values(**columns))
                keep_mail_field(connection, user_id, person.get("email", ""))
                if groups is not None:
                    set_groups(connection, user_id, groups)
                keep_an_administrator(connection, account)
                after = get_account(connection, user_id)
                if changed := differences(account, after):
                    self._tell(session, "user.changed", after, by, changed)
                return after
        except IntegrityError as error:
            raise explain_clash(error, person.get("username", "")) from None
