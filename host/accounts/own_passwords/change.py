"""Changing one's own password."""

from __future__ import annotations

from host.accounts.area import Area
from host.accounts.notices import notify
from host.accounts.own_passwords.replacing import end_sessions, lock_active, replace_password, stored_password
from host.accounts.persons import Problems
from host.accounts.problems import Problem, refuse
from host.accounts.refusals import SignInNeededError
from host.accounts.sessions.visit import Visit


class PasswordChange:
    """Gives the account that is signed in another password, or its first one."""

    def __init__(self, area: Area) -> None:
        self._area = area

    def change(self, visit: Visit, current: str, new: str) -> None:
        """Put a new password in the place of the old one.

        Afterwards nobody is signed in to the account any more; where a new password need not end the session that set
        it, that one goes on.

        Args:
            visit: the request's view of its session.
            current: the old password; an account without one needs none.
            new: the new one; the same again is fine.

        Raises:
            SignInNeededError: nobody is signed in, or the password was replaced meanwhile.
            RefusedValuesError: under ``current_password`` and ``new_password``.

        """
        area, account = self._area, visit.signed_in
        with area.database.read() as connection:
            stored = stored_password(connection, account.id)
        problems: Problems = {}
        if stored is not None and not current:
            problems["current_password"] = [Problem("required", "Enter your current password.")]
        elif stored is not None and not area.passwords.check(stored, current):
            problems["current_password"] = [Problem("enter_current_password", "This is not your current password.")]
        problems["new_password"] = area.users.rules.check(new, account.own_data(), user=account.as_user())
        refuse(problems)
        self._replace(visit, area.passwords.hash(new))

    def _replace(self, visit: Visit, new_hash: str) -> None:
        area, before = self._area, visit.signed_in
        with visit.work() as work:
            account = lock_active(work.connection, visit.signed_in.id)
            # Of two changes at once, the second was allowed by a password that is none any more.
            if account is None or account.id != before.id or account.password_changed != before.password_changed:
                work.forget()
                raise SignInNeededError
            replace_password(work.connection, account.id, new_hash, work.now)
            work.emit("user.password_changed", was_set=not account.has_usable_password)
            template = "password_changed" if account.has_usable_password else "password_set"
            notify(work, template, to=account.email)
            if area.options.account_logout_on_password_change:
                end_sessions(work.connection, account.id)
                work.forget()
            else:
                end_sessions(work.connection, account.id, but=work.state.id)
                work.outlive_password()
