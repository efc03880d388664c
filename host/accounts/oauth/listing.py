"""How clients are listed."""

from __future__ import annotations

from typing import Final

from sqlalchemy.sql.elements import ColumnElement

from host.accounts.account import USERS
from host.accounts.oauth.clients import visible_to
from host.accounts.oauth.tables import CLIENTS
from host.contract.values import User
from host.storage.listing import Listing, by_boolean, by_reference


def _view(user: User | None) -> ColumnElement[bool] | None:
    conditions = () if user is None else visible_to(user)
    return conditions[0] if conditions else None


LISTING: Final = Listing(
    table=CLIENTS,
    key=CLIENTS.c.id,
    members={
        "pk": CLIENTS.c.id,
        "client_id": CLIENTS.c.client_id,
        "name": CLIENTS.c.name,
        "public": CLIENTS.c.public,
        "redirect_uris": CLIENTS.c.redirect_uris,
        "scopes": CLIENTS.c.scopes,
        "owner": CLIENTS.c.owner_id,
        "created": CLIENTS.c.created,
    },
    filters={
        "public": by_boolean(CLIENTS.c.public, "Clients that can keep no secret, or the others."),
        "owner": by_reference(CLIENTS.c.owner_id, USERS.c.id, "Clients of this account."),
    },
    ordering={"name": CLIENTS.c.name, "created": CLIENTS.c.created},
    default_order=("name",),
    search=(CLIENTS.c.name, CLIENTS.c.client_id),
    view=_view,
)
"""Superusers see all clients, others their own."""
