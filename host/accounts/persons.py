"""What an account says of its person: username, names and e-mail address, checked together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from host.accounts.addresses import clean_email, email_problems
from host.accounts.problems import Problem
from host.accounts.usernames import clean_username, fold_username, username_problems

MAX_NAME_LENGTH = 150

Problems = dict[str, list[Problem]]


def check_person(values: Mapping[str, object], problems: Problems, *, blacklist: Iterable[str] = ()) -> dict[str, str]:
    """Check the members username, first_name, last_name and email, as far as they are given.

    Args:
        values: the input; other members are ignored.
        problems: what is wrong is added here, under the name of the member.
        blacklist: usernames that nobody may take.

    Returns:
        The columns to write for the members that are right.

    """
    columns: dict[str, str] = {}
    for member, check in _CHECKS.items():
        if member not in values:
            continue
        text = values[member]
        if not isinstance(text, str):
            problems.setdefault(member, []).append(Problem("invalid", "Enter a text."))
            continue
        cleaned, found = check(text)
        if member == "username" and not found and fold_username(cleaned) in {fold_username(name) for name in blacklist}:
            found = [Problem("username_blacklisted", f"The username '{cleaned}' is not allowed. Choose another one.")]
        if found:
            problems.setdefault(member, []).extend(found)
            continue
        columns[member] = cleaned
        if member == "username":
            columns["username_folded"] = fold_username(cleaned)
    return columns


def _check_username(text: str) -> tuple[str, list[Problem]]:
    name = clean_username(text)
    return name, username_problems(name)


def _check_name(text: str) -> tuple[str, list[Problem]]:
    name = text.strip()
    if len(name) > MAX_NAME_LENGTH:
        return name, [Problem("max_length", f"A name has at most {MAX_NAME_LENGTH} characters; this has {len(name)}.")]
    if not name.isprintable():
        return name, [Problem("invalid", "A name may not hold line breaks or other control characters.")]
    return name, []


def _check_email(text: str) -> tuple[str, list[Problem]]:
    address = clean_email(text)
    return address, email_problems(address) if address else []


_CHECKS: Mapping[str, Callable[[str], tuple[str, list[Problem]]]] = {
    "username": _check_username,
    "first_name": _check_name,
    "last_name": _check_name,
    "email": _check_email,
}
