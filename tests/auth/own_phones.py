"""What tests of phone numbers share: numbers as they are stored, and text messages as a plugin delivers them."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import insert, select

from host.accounts.account import Account
from host.accounts.phones.table import PHONES
from tests.auth.server import AuthServer

_LOGGED = re.compile(r"text message to (\S+): (.*)")
CODE = re.compile(r"\b[A-Z]{4}-[A-Z]{4}\b")


class Texts:
    """The text messages of a host, which its plugin for development writes to the log."""

    def __init__(self, server: AuthServer, log: pytest.LogCaptureFixture) -> None:
        server.host.plugins.activate("sms-log")
        self._server = server
        self._log = log

    def to(self, number: str) -> list[str]:
        """List the messages to a number."""
        self._server.host.entrance.texts.stop()
        self._server.host.entrance.texts.start()
        found = [_LOGGED.search(record.getMessage()) for record in self._log.records]
        return [sent[2] for sent in found if sent is not None and sent[1] == number]

    def code(self, number: str) -> str:
        """Return the code in the newest message to a number."""
        found = CODE.search(self.to(number)[-1])
        assert found
        return found.group()


def give_number(server: AuthServer, account: Account, number: str, *, verified: bool = True) -> None:
    """Give an account a number."""
    row = {"user_id": account.id, "phone": number, "verified": verified, "created": server.clock()}
    with server.host.database.write() as session:
        session.connection().execute(insert(PHONES).values(**row))


def stored_number(server: AuthServer, account: Account) -> list[tuple[str, bool]]:
    """List an account's number with whether it is verified."""
    statement = select(PHONES.c.phone, PHONES.c.verified).where(PHONES.c.user_id == account.id)
    return [tuple(row) for row in server.rows(statement)]
