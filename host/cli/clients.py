"""Commands for OAuth clients: ``client create``, ``list`` and ``remove``."""

from __future__ import annotations

from typing import Annotated

import typer

from host.cli.commands import command
from host.cli.opening import open_host
from host.cli.output import Output, table
from host.cli.users import find_account


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    command(app, "create")(create)
    command(app, "list")(list_clients)
    command(app, "remove")(remove)


def create(
    out: Output,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What people are shown when they are asked.")],
    *,
    redirect_uri: Annotated[
        list[str],
        typer.Option(help="Where people are sent back to; may be repeated.", default_factory=list, show_default=False),
    ],
    scope: Annotated[
        list[str],
        typer.Option(
            help="read, write, plugins or staff; may be repeated. By default read.",
            default_factory=list,
            show_default=False,
        ),
    ],
    owner: Annotated[str, typer.Option(help="Account whose rights the client cannot exceed.", show_default=False)] = "",
    public: Annotated[bool, typer.Option("--public", help="It can keep no secret, and gets none.")] = False,
) -> None:
    """Register an OAuth client and print its identifier and secret, this once.

    Without a redirect URI the client acts for its owner.
    """
    with open_host() as host:
        owner_id = find_account(host, owner).id if owner else None
        record, secret = host.oauth.clients.create(
            name, owner_id=owner_id, redirect_uris=redirect_uri, scopes=scope or ["read"], public=public
        )
    document = {
        "client_id": record.client_id,
        "client_secret": secret,
        "name": record.name,
        "public": record.public,
        "redirect_uris": record.redirect_uris,
        "scopes": record.scopes,
        "owner": owner or None,
    }
    out.show(document, f"client_id      {record.client_id}", *([f"client_secret  {secret}"] if secret else []))
    if secret and not out.as_json:
        out.note("The secret cannot be shown again.")


def list_clients(out: Output) -> None:
    """List the OAuth clients."""
    with open_host() as host:
        records = host.oauth.clients.list()
    shown = table(
        ["Client id", "Name", "Kind", "Scopes"],
        [
            (one.client_id, one.name, "public" if one.public else "confidential", " ".join(one.scopes))
            for one in records
        ],
    )
    out.show({"clients": records}, shown if records else "There are no clients.")


def remove(
    out: Output, client_id: Annotated[str, typer.Argument(metavar="CLIENT_ID", help="Identifier of the client.")]
) -> None:
    """Remove an OAuth client; all its tokens end."""
    with open_host() as host:
        record = host.oauth.clients.remove(client_id)
    out.show({"client_id": record.client_id, "name": record.name}, f"Removed the client {record.name}.")
