"""Accounts and their rights, put together; signing in is the entrance's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from host.accounts.authenticate import Authenticate, Guard
from host.accounts.directory import Directory
from host.accounts.events import Emit
from host.accounts.groups import Groups
from host.accounts.own_account import OwnAccount
from host.accounts.password_rules import PasswordRules
from host.accounts.passwords import Passwords
from host.accounts.rights import Rights
from host.accounts.sightings import Sightings
from host.accounts.tokens import Tokens
from host.accounts.users import Users
from host.config import Config
from host.contract.values import User
from host.storage.engine import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountNeeds:
    """What accounts need of parts that are put together after them."""

    emit: Emit
    clock: Callable[[], datetime]
    password_problems: Callable[[str, User | None], Sequence[str]]
    """Asks the plugins about a password."""
    password_guard: Callable[[], Guard]
    roles_of_models: Callable[[], Mapping[str, str]]
    """Gives the role that the records of each model type belong to."""


class AccountParts:
    """Users, groups, tokens and what they may do."""

    def __init__(self, config: Config, database: Database, needs: AccountNeeds) -> None:
        emit, clock = needs.emit, needs.clock
        self.passwords = Passwords(
            time_cost=config.account_password_time_cost, memory_kib=config.account_password_memory_kib
        )
        self.users = Users(
            database,
            self.passwords,
            PasswordRules(min_length=config.account_password_min_length, ask=needs.password_problems),
            username_blacklist=config.account_username_blacklist,
            emit=emit,
        )
        self.groups = Groups(database, emit=emit)
        self.tokens = Tokens(database, emit=emit, clock=clock)
        self.authenticate = Authenticate(
            database,
            self.passwords,
            sightings=Sightings(database, emit=emit, clock=clock),
            guard=needs.password_guard,
        )
        self.directory = Directory(database)
        self.rights = Rights(database, needs.roles_of_models)
        self.own_account = OwnAccount(self.users, self.rights)
