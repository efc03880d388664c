"""How often something may be done: the notation, and what holds unless the configuration says otherwise."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

Per = Literal["ip", "user", "key"]
"""By what is counted: the client's address, the account, or the name, address or number that was typed."""

DEFAULTS: Mapping[str, str] = {
    "login": "30/m/ip",
    "login_failed": "10/m/ip,5/300s/key",
    "second_factor": "10/m/ip,9/300s/user",
    "basic_failed": "60/m/ip,30/300s/key",
    "signup": "20/m/ip",
    "request_login_code": "20/m/ip,3/m/key",
    "reset_password": "20/m/ip,5/m/key",
    "reset_password_from_key": "20/m/ip",
    "change_password": "5/m/user",
    "manage_email": "10/m/user",
    "change_phone": "1/m/user",
    "reauthenticate": "10/m/user",
    "confirm_email": "1/180s/key",
    "confirm_email_code": "1/10s/key",
    "verify_phone": "1/30s/key,3/m/ip",
}
"""Every action that is limited, with its rates."""

# An action that follows what is configured for another one, unless it is configured itself.
_FOLLOWS: Mapping[str, str] = {"confirm_email_code": "confirm_email"}

_FORM = re.compile(r"([0-9]{1,5})/([0-9]{0,5})([smhd])(?:/(ip|user|key))?", re.ASCII)
_SECONDS: Mapping[str, int] = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
# Each time within the window is stored.
_MAX_AMOUNT = 10_000
_MAX_SECONDS = 366 * _SECONDS["d"]


@dataclass(frozen=True, slots=True)
class Rate:
    """So many times within so many seconds."""

    amount: int
    seconds: int
    per: Per


def parse_rates(text: str) -> tuple[Rate, ...]:
    """Read rates such as ``10/m/ip,5/300s/key``; without a third part, ``ip`` is meant.

    Raises:
        ValueError: the text has another form, or allows nothing or too much.

    """
    return tuple(_parse_rate(part.strip()) for part in text.split(","))


def read_rates(overrides: Mapping[str, Any] | Literal[False]) -> Mapping[str, tuple[Rate, ...]]:
    """Return the rates of every action.

    Args:
        overrides: rates by action, in place of the default ones; ``None`` or ``False`` lifts the limit, ``False`` in
            place of all of them lifts all.

    Raises:
        ValueError: an action does not exist, a rate is no rate, or the action cannot be counted by what it names.

    """
    if overrides is False:
        return dict.fromkeys(DEFAULTS, ())
    if unknown := sorted(set(overrides) - set(DEFAULTS)):
        known = ", ".join(sorted(DEFAULTS))
        raise ValueError(f"There is no rate limit named {unknown[0]!r}. The names are: {known}.")
    rates: dict[str, tuple[Rate, ...]] = {}
    for action, default in DEFAULTS.items():
        given: Any = default
        for name in (_FOLLOWS.get(action), action):
            given = overrides.get(name, given) if name else given
        rates[action] = _read_one(action, given)
    return rates


def _read_one(action: str, given: Any) -> tuple[Rate, ...]:
    if given is None or given is False:
        return ()
    if not isinstance(given, str):
        raise ValueError(f"The rate limit of {action} is {given!r}. Write a text such as '30/m/ip', or null for none.")  # noqa: TRY004 - a value of the configuration is wrong, not the type of an argument
    try:
        rates = parse_rates(given)
    except ValueError as error:
        raise ValueError(f"The rate limit of {action} cannot be read. {error}") from None
    countable = {"ip"} | {rate.per for rate in parse_rates(DEFAULTS[action])}
    for rate in rates:
        if rate.per not in countable:
            choices = " or ".join(sorted(countable))
            raise ValueError(f"The rate limit of {action} cannot count by {rate.per}. Use {choices}.")
    return rates


def _parse_rate(text: str) -> Rate:
    if found := _FORM.fullmatch(text):
        amount, length, unit, per = found.groups(default="")
        rate = Rate(int(amount), int(length or 1) * _SECONDS[unit], cast("Per", per or "ip"))
        if 1 <= rate.amount <= _MAX_AMOUNT and 1 <= rate.seconds <= _MAX_SECONDS:
            return rate
    raise ValueError(
        f"{text!r} is no rate: write a number from 1 to {_MAX_AMOUNT}, a time such as 'm' or '300s' of a year at most,"
        " and 'ip', 'user' or 'key', as in '5/300s/key'."
    )
