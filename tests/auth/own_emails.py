"""What tests of e-mail addresses share: addresses as they are stored, mails as they are logged, keys as they arrive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from sqlalchemy import insert, select

from host.accounts.account import Account
from host.accounts.emails.table import EMAILS
from host.accounts.sessions.state import Caller, Client
from host.accounts.sessions.visit import Visit
from host.mail.log import MAIL
from tests.auth import clients
from tests.auth.server import PASSWORD, AuthServer

Told = tuple[str, int | None, dict[str, Any]]
"""An event: its name, whose it is, and what it says."""


def new_user(server: AuthServer, name: str, *, verified: bool = True, **flags: Any) -> tuple[Account, str]:
    """Make an account with an address, and return both."""
    address = f"{name}@example.org"
    account = server.new_user(name, email=address, **flags)
    if verified:
        with server.host.database.write() as session:
            session.connection().execute(EMAILS.update().where(EMAILS.c.email == address).values(verified=True))
    return account, address


def signed_in(server: AuthServer, kind: str, name: str) -> clients.Browser | clients.App:
    """Return a client that is signed in."""
    client = server.client(kind)
    assert client.login(name, PASSWORD).status == 200
    return client


def claim(server: AuthServer, account: Account, address: str, *, verified: bool = False) -> None:
    """Give an account another address."""
    row = {"user_id": account.id, "email": address, "verified": verified, "primary": False, "created": server.clock()}
    with server.host.database.write() as session:
        session.connection().execute(insert(EMAILS).values(**row))


def other(address: str, mark: object) -> str:
    """Return an address like another one; neither is a part of the other."""
    local, _, domain = address.partition("@")
    return f"{local}.{mark}@{domain}"


def stored(server: AuthServer, account: Account) -> list[tuple[str, bool, bool]]:
    """List an account's addresses with whether each is verified, and primary."""
    statement = select(EMAILS.c.email, EMAILS.c.verified, EMAILS.c.primary).where(EMAILS.c.user_id == account.id)
    return [tuple(row) for row in server.rows(statement.order_by(EMAILS.c.id))]


def shown(address: str, *, verified: bool = False, primary: bool = False) -> dict[str, Any]:
    """Return an address as the interface shows it."""
    return {"email": address, "verified": verified, "primary": primary}


def mails(server: AuthServer, address: str) -> list[str]:
    """Name the mails to an address, oldest first."""
    statement = select(MAIL.c.template).where(MAIL.c.to == address).order_by(MAIL.c.timestamp)
    return [row.template for row in server.rows(statement)]


def link_key(server: AuthServer, address: str, *, number: int = 1) -> str:
    """Return the key in the verification link of this number for an address."""
    return unquote(server.mailbox.link(address, number=number).rpartition("/")[2])


def add_factor(server: AuthServer, account: Account) -> None:
    """Give an account an authenticator app."""
    with server.host.database.write() as session:
        assert server.host.sign_in.factors.add_totp(session.connection(), account.id, "A" * 32)


def watched(server: AuthServer, client: clients.Client, told: list[Told]) -> Visit:
    """Return a view of a client's session whose events are kept in the list."""

    def keep(session: object, name: str, data: Mapping[str, Any], user_id: int | None = None) -> None:
        del session
        told.append(
            (name, user_id, {key: value for key, value in data.items() if key not in {"address", "user_agent"}})
        )

    area = replace(server.host.sign_in.area, emit=keep)
    key = getattr(client, "session_key", None) or ""
    return Visit(area, Caller(client=Client(client.kind), key=key, mail_origin=server.url))
