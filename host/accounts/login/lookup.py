"""Which account somebody means by a username, an e-mail address or a phone number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection

from host.accounts.account import USERS, Account, find_account
from host.accounts.addresses import clean_email, email_problems
from host.accounts.emails import owners
from host.accounts.persons import Problems
from host.accounts.phones import numbers
from host.accounts.problems import Problem
from host.accounts.usernames import fold_username

METHODS = ("username", "email", "phone")


def check_identifier(values: Mapping[str, str], methods: Sequence[str], problems: Problems) -> tuple[str, str]:
    """Return by what somebody wants to sign in, and its value as it is compared.

    Args:
        values: the input; members of methods that are not offered do not exist.
        methods: those that are offered, of :data:`METHODS`.
        problems: what is wrong is added here.

    """
    given = [(name, values[name]) for name in METHODS if name in methods and values.get(name)]
    if len(methods) == 1 and not given:
        problems[methods[0]] = [Problem("required", "This is required.")]
    elif len(given) != 1:
        offered = ", ".join(methods)
        problems["non_field_errors"] = [Problem("invalid_login", f"Give exactly one of: {offered}.")]
    if len(given) != 1:
        return "", ""
    [(name, text)] = given
    if name == "email":
        text = clean_email(text)
        found = email_problems(text)
    elif name == "phone":
        text = numbers.clean_phone(text)
        found = numbers.phone_problems(text)
    else:
        message = "A username holds no null characters."
        found = [Problem("null_characters_not_allowed", message)] if "\x00" in text else []
    if found:
        problems[name] = found
    return name, text


def find_by(connection: Connection, name: str, text: str) -> Account | None:
    """Return the account that a checked identifier means."""
    if name == "username":
        return find_account(connection, USERS.c.username_folded == fold_username(text))
    place = owners if name == "email" else numbers
    owner = place.owner_for_login(connection, text)
    return find_account(connection, USERS.c.id == owner) if owner is not None else None
