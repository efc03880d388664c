"""Read what a Frankfurter server says about exchange rates."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from builtin_plugins.exchange_rates.download import NoAnswerError, download
from host import ExchangeRates

_SECONDS = 8.0  # less than the host gives to a hook, so that the report says what was amiss
_MOST_BYTES = 256 * 1024


def fetch(address: str, symbols: Sequence[str]) -> ExchangeRates:
    """Return the rates that a server has of these currencies.

    Raises:
        NoAnswerError: it gives none; the text says why.
        ValueError: what it gives are no rates.

    """
    answer = download(address, seconds=_SECONDS, most_bytes=_MOST_BYTES)
    if not isinstance(answer, dict) or not isinstance(answer.get("rates"), dict):
        msg = "the service answered JSON without 'rates': is its address right?"
        raise NoAnswerError(msg)
    if answer.get("amount", 1) != 1:
        msg = "the service answered for another amount than 1: leave it out of the address"
        raise NoAnswerError(msg)
    rates = {code: rate for code, rate in answer["rates"].items() if code in symbols}
    return ExchangeRates(base=answer.get("base", ""), rates=rates, time=_published(answer.get("date")))


def _published(date: object) -> datetime | None:
    try:
        return datetime.fromisoformat(str(date)).replace(tzinfo=UTC)
    except ValueError:
        return None
