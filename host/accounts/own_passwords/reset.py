"""Replacing a forgotten password, by a link or by a code that is sent to an e-mail address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from host.accounts.account import USERS, Account, find_account, get_account
from host.accounts.addresses import clean_email, email_problems
from host.accounts.area import Area
from host.accounts.emails import owners
from host.accounts.emails.addresses import list_of
from host.accounts.frontend_urls import SIGNUP, FrontendUrls
from host.accounts.login.logins import Logins
from host.accounts.login.recency import entry
from host.accounts.notices import notify
from host.accounts.own_passwords.replacing import end_sessions, replace_password
from host.accounts.own_passwords.reset_codes import ResetCodes
from host.accounts.own_passwords.reset_links import ResetLinks
from host.accounts.persons import Problems
from host.accounts.problems import Problem, RefusedValuesError, refuse
from host.accounts.refusals import ClosedError
from host.accounts.sessions.visit import Visit, Work


class Means(Protocol):
    """By what people prove that they read the mail of an account."""

    def send(self, work: Work, account: Account, address: str) -> None:
        """Mail it."""

    def demand(self, visit: Visit) -> None:
        """Let only those pass who could use it now; raises ConflictError."""

    def check(self, visit: Visit, key: str) -> Account:
        """Return the account whose password a key replaces; raises RefusedValuesError and ConflictError."""

    def use(self, work: Work, key: str) -> tuple[Account, str]:
        """Use a key up, and return the account with the address that was proved; raises as ``check`` does."""


class PasswordReset:
    """Lets people choose a new password who prove that they read the mail of an account.

    Args:
        area: what account services share.
        logins: sign in those whose reset shall do so.
        urls: the pages that mails lead to.

    """

    def __init__(self, area: Area, logins: Logins, urls: FrontendUrls) -> None:
        self._area = area
        self._logins = logins
        self._urls = urls
        self._codes = ResetCodes(area) if area.options.account_password_reset_by_code_enabled else None
        self._means: Means = self._codes or ResetLinks(area, urls)

    def request(self, visit: Visit, email: str) -> None:
        """Mail the means to choose a new password.

        Unless the configuration allows it, nothing tells the caller whether an account has the address.

        Raises:
            TooManyError: too many requests came from there, or for this address.
            RefusedValuesError: the address is missing or malformed, or unknown where that may be told.
            ClosedError: forgotten passwords cannot be replaced here.

        """
        area, address = self._area, clean_email(email)
        area.limits.consume("reset_password", address=visit.caller.address, key=address)
        refuse({"email": email_problems(address) if address else [Problem("required", "Enter your e-mail address.")]})
        if not area.options.login_enable_pwd_forgot:
            raise ClosedError
        with visit.work() as work:
            owner = owners.owner_for_login(work.connection, address, active_only=True)
            account = find_account(work.connection, USERS.c.id == owner) if owner is not None else None
            if account is not None:
                self._means.send(work, account, address)
                return
            if area.options.account_prevent_enumeration == "false":
                message = "No account has this e-mail address. Check the spelling, or sign up."
                raise RefusedValuesError({"email": [Problem("unknown_email", message)]})
            if self._codes is not None:
                self._codes.pretend(work, address)
            self._tell_unknown(work, address)

    def show(self, visit: Visit, key: str) -> Account:
        """Return the account whose password a key replaces; a right code proves its address besides.

        Raises:
            RefusedValuesError: the key is missing or wrong.
            ConflictError: a code is needed, and no reset is under way in this session.

        """
        self._means.demand(visit)
        refuse({"key": _missing(key, "Give the key of the link, or the code.")})
        return self._means.check(visit, key)

    def reset(self, visit: Visit, key: str, password: str) -> None:
        """Put a new password in the place of a forgotten one, and end all sessions of its account.

        Raises:
            RefusedValuesError: under ``key`` and ``password``.
            ConflictError: a code is needed, and no reset is under way in this session.

        """
        self._means.demand(visit)
        problems: Problems = {"key": list(_missing(key, "Give the key of the link, or the code."))}
        account: Account | None = None
        if key:
            try:
                account = self._means.check(visit, key)
            except RefusedValuesError as error:
                problems |= error.problems
        problems["password"] = list(_missing(password, "Enter a new password."))
        if account is not None:
            problems["password"] = self._area.users.rules.check(password, account.own_data(), user=account.as_user())
        refuse(problems)
        password_hash = self._area.passwords.hash(password)
        with visit.work() as work:
            # Once more: of two that come with one key at once, the first has made it void.
            found, address = self._means.use(work, key)
            self._replace(work, found, password_hash, address)

    def _replace(self, work: Work, account: Account, password_hash: str, address: str) -> None:
        replace_password(work.connection, account.id, password_hash, work.now)
        end_sessions(work.connection, account.id)
        if work.account is not None and work.account.id == account.id:
            work.forget()
        elif work.pending is not None:
            work.state.pending = None
        work.emit("user.password_reset", user_id=account.id)
        notify(work, "password_reset_done", to=account.email)
        names = {account.username, account.email, *(one.email for one in list_of(work.connection, account.id))}
        work.after(lambda: self._forgive(names - {""}))
        if self._area.options.account_login_on_password_reset:
            method = entry("password_reset", work.now, email=address or None)
            facts = {"email": address} if address else {}
            self._logins.begin(work, get_account(work.connection, account.id), method, **facts)

    def _forgive(self, names: set[str]) -> None:
        for name in names:
            self._area.limits.clear("login_failed", key=name.lower())

    def _tell_unknown(self, work: Work, address: str) -> None:
        area = self._area
        link = self._urls.url(SIGNUP, work.caller.mail_origin) if area.options.login_enable_reg else ""
        context = {"email": address, "link": link}
        # An account may have the address without being the one that is meant, or be switched off.
        is_told = area.options.account_email_unknown_accounts and not owners.is_known(work.connection, address)
        with work.session.begin_nested() as attempt:
            area.mail(work.session, to=address, template="unknown_account", context=context)
            if not is_told:
                # Written all the same and thrown away, so that the time tells nothing of the address.
                attempt.rollback()


def _missing(text: str, message: str) -> Sequence[Problem]:
    return [] if text else [Problem("required", message)]
