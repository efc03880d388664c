"""Signing in by a code that is sent to an e-mail address or a phone number."""

from __future__ import annotations

from collections.abc import Mapping

from host.accounts.account import USERS, Account, find_account
from host.accounts.addresses import clean_email, email_problems
from host.accounts.area import Area
from host.accounts.emails import owners
from host.accounts.limits import TooManyError
from host.accounts.login.logins import Logins
from host.accounts.login.proved_address import mark_proved
from host.accounts.login.recency import entry
from host.accounts.login.stages.login_by_code import LoginByCode, sent_to
from host.accounts.persons import Problems
from host.accounts.phones import numbers
from host.accounts.problems import Problem, RefusedValuesError, refuse
from host.accounts.refusals import ConflictError
from host.accounts.sessions.state import Pending
from host.accounts.sessions.visit import Visit, Work

_MOST_RESENDS = 2


class CodeLogin:
    """Signs in by code.

    Args:
        area: what account services share.
        logins: takes logins through their stages.
        stage: sends the codes.

    """

    def __init__(self, area: Area, logins: Logins, stage: LoginByCode) -> None:
        self._area = area
        self._logins = logins
        self._stage = stage

    def request(self, visit: Visit, values: Mapping[str, str]) -> None:
        """Send a code and let a login wait for it; for an address without an account nothing else can be seen.

        Whoever is signed in already stays so, and no code is sent.

        Args:
            visit: the request's view of its session.
            values: ``email`` or, where people sign in by phone number, ``phone``.

        Raises:
            RefusedValuesError: the input is wrong, or codes were asked for too often.

        """
        name, text = self._check(values)
        if visit.account is not None:
            return
        self._admit(visit, name, text)
        account = self._find(name, text)
        if account is None and self._area.options.account_prevent_enumeration == "false":
            message = "There is no account with this. Check the spelling, or sign up."
            raise RefusedValuesError(
                {name: [Problem("unknown_email" if name == "email" else "invalid_login", message)]}
            )
        with visit.work() as work:
            if work.account is not None:
                return
            state = self._stage.begin(work, account, {name: text})
            user_id = account.id if account else None
            self._logins.wait(work, self._stage.flow, user_id=user_id, state=state)

    def confirm(self, visit: Visit, text: str) -> None:
        """Go on with the login that waits for a code.

        Raises:
            ConflictError: none waits, or its code has expired.
            RefusedValuesError: the code is missing or wrong; too many of these end the login.

        """
        self._logins.waiting(visit, self._stage.flow)
        with visit.work() as work:
            login = self._logins.waiting(work.visit, self._stage.flow)
            if not self._stage.is_live(login):
                work.state.pending = None
                work.refuse(ConflictError())
            elif self._stage.matches(login, text):
                self._pass(work, login)
            else:
                if not self._stage.failed(login):
                    work.state.pending = None
                work.emit("user.login_failed", login.user_id, method="code")
                problem = Problem("incorrect_code", "This is not the code. Compare it with the message.")
                problem = problem if text else Problem("required", "Enter the code that was sent.")
                work.refuse(RefusedValuesError({"code": [problem]}))

    def resend(self, visit: Visit) -> None:
        """Send another code in place of the first; wrong attempts and time go on counting.

        Raises:
            ConflictError: no login waits for a code, its code has expired or was sent again too often, or the
                configuration does not allow it.

        """
        self._logins.waiting(visit, self._stage.flow)
        with visit.work() as work:
            login = self._logins.waiting(work.visit, self._stage.flow)
            allowed = self._area.options.account_login_by_code_supports_resend
            if not allowed or not self._stage.is_live(login) or login.state["code"]["resends"] >= _MOST_RESENDS:
                raise ConflictError
            login.state = self._stage.repeat(work, login)

    def _check(self, values: Mapping[str, str]) -> tuple[str, str]:
        names = ["email", "phone"] if "phone" in self._area.options.account_login_methods else ["email"]
        given = [name for name in names if values.get(name)]
        if len(given) > 1:
            message = "Give an e-mail address or a phone number, not both."
            raise RefusedValuesError({"non_field_errors": [Problem("select_only_one", message)]})
        if not given:
            missing = "email" if len(names) == 1 else "non_field_errors"
            message = f"Enter {' or '.join(_NOUNS[name] for name in names)}."
            raise RefusedValuesError({missing: [Problem("required", message)]})
        name, problems = given[0], Problems()
        text = clean_email(values[name]) if name == "email" else numbers.clean_phone(values[name])
        problems[name] = email_problems(text) if name == "email" else numbers.phone_problems(text)
        refuse(problems)
        return name, text

    def _admit(self, visit: Visit, name: str, text: str) -> None:
        try:
            self._area.limits.consume("request_login_code", address=visit.caller.address, key=text)
        except TooManyError:
            message = "Codes were asked for too often. Wait a minute before you ask for the next one."
            raise RefusedValuesError({name: [Problem("too_many_login_attempts", message)]}) from None

    def _find(self, name: str, text: str) -> Account | None:
        place = owners if name == "email" else numbers
        with self._area.database.read() as connection:
            owner = place.owner_for_login(connection, text, active_only=True)
            return find_account(connection, USERS.c.id == owner) if owner is not None else None

    def _pass(self, work: Work, login: Pending) -> None:
        to = sent_to(login)
        account = find_account(work.connection, USERS.c.id == login.user_id, USERS.c.is_active.is_(True))
        if account is None:
            work.state.pending = None
            work.refuse(ConflictError())
            return
        try:
            mark_proved(self._area, work, account.id, **to)
        except RefusedValuesError:
            # Somebody else proved the same address while this code was on its way.
            work.state.pending = None
            work.refuse(ConflictError())
            return
        method = entry("code", work.now, **to)
        if login.methods:
            self._logins.passed(work, method)
        else:
            self._logins.begin(work, account, method, **to, by_code=True)


_NOUNS = {"email": "an e-mail address", "phone": "a phone number"}
