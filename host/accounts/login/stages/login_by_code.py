"""The stage at which a login waits for a code that was sent to the account's address or number."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from host.accounts.account import Account
from host.accounts.area import Area
from host.accounts.codes import Codes, CodeState
from host.accounts.emails import owners
from host.accounts.frontend_urls import SIGNUP, FrontendUrls
from host.accounts.phones import numbers
from host.accounts.sessions.state import Pending
from host.accounts.sessions.visit import Work

_LOG = logging.getLogger("plugyard.accounts")

_PURPOSE = "login"


class LoginByCode:
    """Sends login codes and compares them.

    What a login remembers here is ``code``, and ``email`` or ``phone`` where it went.

    Args:
        area: what account services share.
        urls: the pages of the web client.

    """

    flow = "login_by_code"
    conflicts = True

    def __init__(self, area: Area, urls: FrontendUrls) -> None:
        self._area = area
        self._urls = urls
        self._codes = Codes(area.seals, area.clock)

    def enter(self, work: Work, login: Pending, account: Account) -> dict[str, Any] | None:
        """Wait where the configuration asks for a code and the last proof was none."""
        by_code = bool(login.methods) and login.methods[-1]["method"] == "code"
        if by_code or not self._area.options.account_login_by_code_required:
            return None
        return self.begin(work, account, self._reach(work, account))

    def describe(self, login: Pending) -> Mapping[str, Any]:
        """Return nothing more than that it waits."""
        del login
        return {}

    def begin(self, work: Work, account: Account | None, to: Mapping[str, str]) -> dict[str, Any]:
        """Send a code, and return what to remember of it.

        Args:
            work: the transaction.
            account: whose login; without one, nothing that anybody could type will match.
            to: ``email`` or ``phone``, as it was asked for.

        """
        text, code = self._codes.issue(_PURPOSE, seconds=self._area.options.account_login_by_code_timeout)
        if account is None or not to:
            code = self._codes.fake(_PURPOSE, seconds=self._area.options.account_login_by_code_timeout)
        self._send(work, text, code, to, is_known=account is not None)
        return {"code": code, **to}

    def repeat(self, work: Work, login: Pending) -> dict[str, Any]:
        """Send another code in place of the first, and return what to remember of it."""
        to = sent_to(login)
        text, code = self._codes.reissue(login.state["code"])
        if login.user_id is None or not to:
            code = self._codes.refake(login.state["code"])
        self._send(work, text, code, to, is_known=login.user_id is not None)
        return {"code": code, **to}

    def is_live(self, login: Pending) -> bool:
        """Tell whether the code has not expired."""
        return self._codes.is_live(login.state["code"])

    def matches(self, login: Pending, text: str) -> bool:
        """Tell whether somebody typed the code that was sent."""
        return self._codes.matches(login.state["code"], text) and login.user_id is not None

    def failed(self, login: Pending) -> bool:
        """Count a wrong code, and tell whether another one may be tried."""
        code = self._codes.failed(login.state["code"])
        login.state = {**login.state, "code": code}
        return bool(code["attempts"] < self._area.options.account_login_by_code_max_attempts)

    def _reach(self, work: Work, account: Account) -> dict[str, str]:
        if account.email:
            return {"email": account.email}
        found = numbers.list_of(work.connection, account.id)
        if found:
            return {"phone": found[0].phone}
        _LOG.warning(
            "A login of account %s waits for a code, but the account has no address to send it to. Give it one.",
            account.id,
        )
        return {}

    def _send(self, work: Work, text: str, code: CodeState, to: Mapping[str, str], *, is_known: bool) -> None:
        if "email" in to:
            self._mail(work, text, code, to["email"], is_known=is_known)
        elif "phone" in to and is_known:
            message = f"{text} is your code to sign in to {self._area.instance}. Give it to nobody."
            work.after(lambda: self._area.sms(to["phone"], message))

    def _mail(self, work: Work, text: str, code: CodeState, address: str, *, is_known: bool) -> None:
        area = self._area
        options = area.options
        is_owned = is_known or owners.is_known(work.connection, address)
        if not is_owned and options.account_email_unknown_accounts and code["resends"] == 0:
            link = self._urls.url(SIGNUP, work.caller.mail_origin) if options.login_enable_reg else ""
            context = {"email": address, "link": link}
            area.mail(work.session, to=address, template="unknown_account", context=context)
            return
        # For an address that gets no code the same is done and then undone, so that the time tells nothing.
        with work.session.begin_nested() as point:
            expires = datetime.fromtimestamp(code["expires_at"], UTC)
            code_context = {"code": text, "expires": expires}
            area.mail(work.session, to=address, template="login_code", context=code_context, secrets=(text,))
            if not is_known:
                point.rollback()


def sent_to(login: Pending) -> dict[str, str]:
    """Return where a code went: ``email`` or ``phone``."""
    return {name: login.state[name] for name in ("email", "phone") if name in login.state}
