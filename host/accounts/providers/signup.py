"""The first login of somebody whom a provider vouches for: an account is made, at once or after some questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import update

from host.accounts.account import USERS, Account
from host.accounts.area import Area
from host.accounts.emails import addresses
from host.accounts.login.flows import PROVIDER_SIGNUP
from host.accounts.login.free_username import free_username
from host.accounts.login.proved_address import mark_proved
from host.accounts.login.signup import Signup
from host.accounts.problems import RefusedValuesError
from host.accounts.providers import accounts
from host.accounts.providers.client import Providers
from host.accounts.providers.identity import Identity
from host.accounts.refusals import ClosedError, ConflictError
from host.accounts.sessions.visit import Visit, Work
from host.config.accounts import required_fields

Kept = Mapping[str, Any]
"""What a session keeps of a sign-up that is under way: ``identity``, and ``at`` in seconds since 1970."""

_TRIES = 3


class ProviderSignup:
    """Makes accounts for those whom providers vouch for.

    Args:
        area: what account services share.
        signup: makes accounts.

    """

    def __init__(self, area: Area, signup: Signup) -> None:
        self._area = area
        self._signup = signup

    def demand_open(self) -> None:
        """Let only those pass who could sign up.

        Raises:
            ClosedError: nobody can through a provider.

        """
        options = self._area.options
        if not (options.login_enable_sso and options.login_enable_sso_reg):
            raise ClosedError

    def begin(self, visit: Visit, identity: Identity) -> bool:
        """Make an account if the provider says enough for one; else let the sign-up wait for the rest.

        Returns:
            False when somebody else has just connected an account to the same one at the provider: of two first logins
            at the same moment, one makes the account and the other one has to look for it again.

        Raises:
            ClosedError: nobody can sign up through a provider.

        """
        self.demand_open()
        if self._says_enough(identity) and self._make_at_once(visit, identity):
            return True
        with visit.work() as work:
            if accounts.find(work.connection, identity.provider, identity.uid) is not None:
                return False
            work.state.pending = None
            work.keep(PROVIDER_SIGNUP, {"identity": asdict(identity), "at": work.now.timestamp()})
        return True

    def waiting(self, visit: Visit) -> Identity:
        """Return whose sign-up waits in this session.

        Raises:
            ConflictError: none does.

        """
        kept = visit.state.data.get(PROVIDER_SIGNUP) if visit.state else None
        if kept is None or visit.account is not None or not is_alive(self._area, kept):
            raise ConflictError
        return Identity(**kept["identity"])

    def sign_up(self, visit: Visit, values: Mapping[str, str]) -> None:
        """Make the account of a sign-up that waits, and begin its first login.

        Args:
            visit: the request's view of its session.
            values: the members of a sign-up, without a password; a missing address is the one that the provider told.

        Raises:
            ConflictError: no sign-up waits, or somebody else has just completed it.
            RefusedValuesError: the input is wrong.
            ClosedError: nobody may sign up through a provider.

        """
        identity = self.waiting(visit)
        kept = visit.state.data[PROVIDER_SIGNUP] if visit.state else None

        def claim(work: Work) -> None:
            if work.data(PROVIDER_SIGNUP) != kept:
                raise ConflictError

        self._make(visit, identity, {**values, "email": values.get("email") or identity.email}, claim)

    def _make_at_once(self, visit: Visit, identity: Identity) -> bool:
        for _ in range(_TRIES):
            try:
                self._make(visit, identity, {"username": self._username(identity), "email": identity.email})
            except RefusedValuesError as error:
                if "username" not in error.problems:
                    return False
                # Somebody else took the name meanwhile.
            else:
                return True
        return False

    def _make(
        self, visit: Visit, identity: Identity, values: Mapping[str, str], claim: Callable[[Work], None] | None = None
    ) -> None:
        def connect(work: Work, account: Account) -> None:
            if claim is not None:
                claim(work)
            work.keep(PROVIDER_SIGNUP, None)
            connection, user_id = work.connection, account.id
            names = {"first_name": identity.first_name, "last_name": identity.last_name}
            connection.execute(update(USERS).where(USERS.c.id == user_id).values(**names))
            made, _ = accounts.connect(connection, user_id, identity, work.now)
            accounts.touch(connection, made.id, identity, work.now)
            note_address(self._area, work, user_id, identity)
            work.emit("user.provider_connected", user_id, provider=identity.provider, uid=identity.uid)

        self._signup.sign_up(visit, values, with_password=False, on_created=connect, by_provider=True)
        if visit.state is not None and PROVIDER_SIGNUP in visit.state.data:
            # An account only seemed to be made, because the address has one; the two must look alike.
            with visit.work() as work:
                work.keep(PROVIDER_SIGNUP, None)

    def _says_enough(self, identity: Identity) -> bool:
        options = self._area.options
        required = {name for name, must in required_fields(options.account_signup_fields).items() if must}
        if not options.account_phone_enabled:
            required.discard("phone")
        return (
            options.socialaccount_auto_signup
            and "phone" not in required
            and (bool(identity.email) or "email" not in required)
        )

    def _username(self, identity: Identity) -> str:
        options = self._area.options
        wishes = (identity.username, identity.email, f"{identity.first_name}{identity.last_name}")
        with self._area.database.read() as connection:
            return free_username(
                connection,
                wishes,
                blacklist=options.account_username_blacklist,
                min_length=options.account_username_min_length,
            )


def note_address(area: Area, work: Work, user_id: int, identity: Identity) -> None:
    """Write down that an address of an account needs no further proof, as the provider has one."""
    if not identity.email_verified or addresses.find(work.connection, user_id, identity.email) is None:
        return
    try:
        mark_proved(area, work, user_id, email=identity.email)
    except RefusedValuesError:
        # Somebody else has proved it here; then it stays a claim.
        return


def is_alive(area: Area, kept: Kept) -> bool:
    """Tell whether a sign-up that waits may still be completed."""
    moment: datetime = area.clock()
    return moment.timestamp() - float(kept["at"]) < area.options.account_login_timeout


def describe_waiting(area: Area, providers: Providers, kept: Kept) -> dict[str, Any]:
    """Return the provider of a sign-up that waits; nothing once it is too late to complete it."""
    return dict(providers.describe(kept["identity"]["provider"])) if is_alive(area, kept) else {}
