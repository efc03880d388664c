"""Commands for accounts: ``user create`` and ``user token``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from host.cli.commands import command
from host.cli.opening import open_host
from host.cli.output import CommandError, Output

if TYPE_CHECKING:
    from host.accounts.account import Account
    from host.server import Host


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    command(app, "create")(create)
    command(app, "token")(token)


def create(
    out: Output,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Username.")],
    *,
    email: Annotated[str, typer.Option(help="E-mail address.")],
    staff: Annotated[bool, typer.Option("--staff", help="May see administration pages.")] = False,
    superuser: Annotated[bool, typer.Option("--superuser", help="May do everything.")] = False,
    verified: Annotated[
        bool, typer.Option("--verified", help="The address counts as verified: nothing is mailed to confirm it.")
    ] = False,
    password: Annotated[
        str, typer.Option(envvar="PLUGYARD_PASSWORD", help="Password; asked for when not given.", show_default=False)
    ] = "",
) -> None:
    """Create an account."""
    chosen = password or _ask_password()
    with open_host() as host:
        account = host.users.create(
            {"username": name, "email": email},
            password=chosen,
            flags={"is_staff": staff or superuser, "is_superuser": superuser},
            verified=verified,
        )
    document = {
        "id": account.id,
        "username": account.username,
        "email": account.email,
        "is_staff": account.is_staff,
        "is_superuser": account.is_superuser,
        "verified": verified,
    }
    kind = "superuser" if superuser else "member of staff" if staff else "user"
    out.show(document, f"Created the {kind} {account.username}.")


def token(
    out: Output,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Username.")],
    *,
    token_name: Annotated[str, typer.Option("--name", help="What the token is for.")] = "",
) -> None:
    """Issue an API token and print it, this once."""
    with open_host() as host:
        text, record = host.tokens.issue(find_account(host, name).id, token_name)
    document = {"token": text, "user": name, "name": record.name, "expiry": record.expiry}
    out.show(document, text)
    if not out.as_json:
        out.note(f"Valid until {record.expiry}. It cannot be shown again; clients send 'Authorization: Token <token>'.")


def _ask_password() -> str:
    if not sys.stdin.isatty():
        msg = (
            "A password is needed: give it in PLUGYARD_PASSWORD or with --password, for there is no terminal to ask on."
        )
        raise CommandError(msg)
    return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))


def find_account(host: Host, name: str) -> Account:
    """Return the account of a name, in any case.

    Raises:
        CommandError: there is none.

    """
    from host.accounts.directory import Directory  # noqa: PLC0415 - loads the database layer
    from host.accounts.usernames import fold_username  # noqa: PLC0415 - as above

    found, _ = Directory(host.database).list(search=name)
    for account in found:
        if fold_username(account.username) == fold_username(name):
            return account
    msg = f"There is no user '{name}'. Create one with: plugyard user create"
    raise CommandError(msg)
