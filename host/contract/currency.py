"""Currency: supply exchange rates."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import TypeAlias

from host.contract.markers import Asked, MaybeAwaitable, hookspec

Rate: TypeAlias = "Decimal | int | float | str"

_CODE = re.compile(r"[A-Z]{3}")
_LONGEST = 60
_BOUNDS = (Decimal("1e-18"), Decimal("1e18"))
_MOST_RATES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeRates:
    """What one unit of ``base`` is worth in other currencies.

    ``base`` need not be the currency that the host asked for: the host computes with whatever it gets. Rates may be
    given as :class:`~decimal.Decimal`, whole numbers, texts such as ``"1.0466"`` or floats, and are exact decimals
    afterwards; a float counts as the shortest number that is written like it.
    """

    base: str
    """Three capital letters, as ``EUR``."""
    rates: Mapping[str, Rate]
    """Currency code → what one unit of the base is worth in it."""
    time: datetime | None = None
    """When the source published the rates, with a time zone."""

    def __post_init__(self) -> None:
        """Refuse what cannot be rates.

        Raises:
            ValueError: a code is not three capital letters, a rate is not a positive finite number between 1e-18 and
                1e18 of at most 60 characters, or the time has no zone.
            TypeError: a rate is no number at all, or the rates are no mapping of at most 1000.

        """
        _check_code(self.base)
        object.__setattr__(self, "time", None if self.time is None else _in_utc(self.time))
        object.__setattr__(self, "rates", _exact_rates(self.rates))


def _check_code(code: object) -> None:
    if not isinstance(code, str) or not _CODE.fullmatch(code):
        msg = f"{str(code)[:_LONGEST]!r} is no currency code: give three capital letters, as EUR"
        raise ValueError(msg)


def _in_utc(time: object) -> datetime:
    try:
        if isinstance(time, datetime) and time.utcoffset() is not None:
            return time.astimezone(UTC)
    except OverflowError:
        pass
    msg = "time must be a datetime with a time zone"
    raise ValueError(msg)


def _exact_rates(rates: object) -> dict[str, Decimal]:
    if not isinstance(rates, Mapping) or len(rates) > _MOST_RATES:
        msg = f"rates must map at most {_MOST_RATES} currency codes to numbers"
        raise TypeError(msg)
    for code in rates:
        _check_code(code)
    return {str(code): _exact(code, rate) for code, rate in rates.items()}


def _exact(code: str, rate: object) -> Decimal:
    if isinstance(rate, bool) or not isinstance(rate, (Decimal, int, float, str)):
        msg = f"the rate of {code} must be a number, not {type(rate).__name__}"
        raise TypeError(msg)
    low, high = _BOUNDS
    try:
        value = Decimal(str(rate) if isinstance(rate, float) else rate)
        is_right = low <= value <= high and len(str(value)) <= _LONGEST
    except (InvalidOperation, ValueError):
        is_right = False
    if not is_right:
        msg = f"the rate of {code} must be a positive number from {low:e} to {high:e} in at most {_LONGEST} characters"
        raise ValueError(msg)
    return value


class CurrencyHooks:
    """Hooks of plugins that know exchange rates."""

    key = "currencyexchange"
    human_name = "Currency exchange"

    @hookspec(asked=Asked.NAMED, returns=ExchangeRates, optional=True)
    def exchange_rates(self, base: str, symbols: Sequence[str]) -> MaybeAwaitable[ExchangeRates | None]:
        """Say what currencies are worth.

        When: every ``CURRENCY_UPDATE_INTERVAL`` days, and when the staff post to ``/api/currency/refresh/``. Only the
        plugin is asked that the setting ``CURRENCY_UPDATE_PLUGIN`` names, or the first active one where it names none.
        ``base`` is the host's base currency and ``symbols`` are all that it wants to know, the base among them.
        Return: the rates, in relation to any base; those of other currencies are dropped. ``None`` when there are none
        at the moment.
        Failure: the rates of the time before stay, and an error report is written; it is too when ``None`` is returned.
        An update that nobody asked for is tried again after five minutes, five times at most.
        Since: 0.1.
        """
        raise NotImplementedError
