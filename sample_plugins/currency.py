"""Sample: supply exchange rates.

Name the plugin in the setting ``CURRENCY_UPDATE_PLUGIN``, or have it as the only one that can answer; then
``POST /api/currency/refresh/``.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from host import ExchangeRates, Plugin, hookimpl

# Texts keep every digit: 0.1 as a float would be a little more than a tenth.
_RATES = {
    "AUD": "1.6535",
    "CAD": "1.4910",
    "CNY": "7.8214",
    "GBP": "0.86120",
    "JPY": "163.45",
    "NZD": "1.7702",
    "USD": "1.0821",
}


class FixedRates(Plugin):
    """Knows rates that never change, as for accounts that are kept at the rates of one day."""

    title = "Sample: exchange rates"
    description = "Exchange rates of one day, for ever"

    @hookimpl
    def exchange_rates(self, base: str, symbols: Sequence[str]) -> ExchangeRates | None:
        wanted = {code: _RATES[code] for code in symbols if code in _RATES}
        if not wanted:
            return None  # nothing to say: the host keeps what it has, and writes an error report
        # Answer in the base of your source; the host computes the rates for its own, which is `base`.
        self.log.info("%s rates for a host whose base is %s", len(wanted), base)
        return ExchangeRates(base="EUR", rates=wanted, time=datetime(2026, 1, 30, tzinfo=UTC))
