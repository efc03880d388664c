"""The connections of one account to providers: list them, make them, end them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection

from host.accounts.account import get_account
from host.accounts.area import Area
from host.accounts.changes import lock_account
from host.accounts.emails import addresses
from host.accounts.login.flows import Flows
from host.accounts.notices import notify
from host.accounts.problems import Problem, RefusedValuesError, refuse
from host.accounts.providers import accounts
from host.accounts.providers.client import Providers
from host.accounts.providers.identity import Identity
from host.accounts.refusals import SignInNeededError
from host.accounts.sessions.visit import Visit


class ProviderConnections:
    """Connects the account that is signed in to providers, and disconnects it.

    Args:
        area: what account services share.
        providers: all providers.
        flows: ask for a fresh proof where the configuration does.

    """

    def __init__(self, area: Area, providers: Providers, flows: Flows) -> None:
        self._area = area
        self._providers = providers
        self._flows = flows

    def list(self, visit: Visit) -> list[Mapping[str, Any]]:
        """List the connections in the form of the interface, the oldest first.

        Raises:
            SignInNeededError: nobody is signed in.

        """
        user_id = visit.signed_in.id
        with self._area.database.read() as connection:
            mine = accounts.list_of(connection, user_id)
        return [self.show(one.provider, one.uid, one.display) for one in mine]

    def show(self, provider_id: str, uid: str, display: str) -> Mapping[str, Any]:
        """Return an account at a provider in the form of the interface."""
        return {"uid": uid, "provider": self._providers.describe(provider_id), "display": display}

    def demand(self, visit: Visit) -> int:
        """Return the id of the account that is signed in, where it may change its connections now.

        Raises:
            SignInNeededError: nobody is signed in.
            ProofNeededError: the last proof is too old.

        """
        self._flows.demand_proof_if_required(visit)
        return visit.signed_in.id

    def connect(self, visit: Visit, identity: Identity, *, user_id: int) -> None:
        """Connect an account to somebody at a provider; once more does no harm.

        Args:
            visit: the request's view of its session.
            identity: who was proved to sit there.
            user_id: the account for which that was begun.

        Raises:
            SignInNeededError: nobody is signed in any more, or somebody else.
            ProofNeededError: the last proof is too old.
            RefusedValuesError: somebody else has connected the same account of the provider.

        """
        self.demand(visit)
        name = self._name(identity.provider)
        with visit.work() as work:
            if visit.signed_in.id != user_id:
                raise SignInNeededError
            lock_account(work.connection, user_id)
            _, is_new = accounts.connect(work.connection, user_id, identity, work.now)
            if is_new:
                work.emit("user.provider_connected", provider=identity.provider, uid=identity.uid)
                notify(work, "provider_connected", provider=name)

    def disconnect(self, visit: Visit, provider_id: str, uid: str) -> None:
        """End a connection.

        Raises:
            SignInNeededError: nobody is signed in.
            RefusedValuesError: there is no such connection, or nobody could sign in without it any more.
            ProofNeededError: the last proof is too old.

        """
        given = {"provider": provider_id, "account": uid}
        refuse({name: [Problem("required", f"Give the {name}.")] for name, value in given.items() if not value})
        # Before the question for a proof, as all faults of the input; asked again with the account locked.
        user_id = visit.signed_in.id
        with self._area.database.read() as connection:
            self._find(connection, user_id, provider_id, uid)
        self.demand(visit)
        name = self._name(provider_id)
        with visit.work() as work:
            if visit.signed_in.id != user_id:
                raise SignInNeededError
            lock_account(work.connection, user_id)
            accounts.remove(work.connection, self._find(work.connection, user_id, provider_id, uid))
            work.emit("user.provider_disconnected", provider=provider_id, uid=uid)
            notify(work, "provider_disconnected", provider=name)

    def _find(self, connection: Connection, user_id: int, provider_id: str, uid: str) -> int:
        mine = accounts.list_of(connection, user_id)
        found = next((one for one in mine if (one.provider, one.uid) == (provider_id, uid)), None)
        problems = accounts.disconnect_problems(
            found,
            others=len(mine) - 1,
            has_password=get_account(connection, user_id).has_usable_password,
            has_verified_email=any(one.verified for one in addresses.list_of(connection, user_id)),
            options=self._area.options,
        )
        if found is None or problems:
            raise RefusedValuesError(problems)
        return found.id

    def _name(self, provider_id: str) -> str:
        # Outside of transactions: plugins may be asked.
        return str(self._providers.describe(provider_id)["name"])
