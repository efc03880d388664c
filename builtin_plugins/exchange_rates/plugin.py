"""Exchange rates of the European Central Bank, from a public service that needs no key."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from host import ExchangeRates, Plugin, Setting, SettingError, hookimpl

ADDRESS = "URL"
_PUBLIC = "https://api.frankfurter.dev/v1/latest"


def _is_web_address(value: object) -> None:
    try:
        parts = urlsplit(str(value))
        is_right = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_right = False
    if not is_right:
        msg = "Give an address that begins with https:// or http://."
        raise SettingError(msg)


class ExchangeRatesPlugin(Plugin):
    """Asks the service for all rates it has; the host takes those that it wants."""

    title = "Exchange rates"
    description = "Daily reference rates of the European Central Bank, from the public service frankfurter.dev"

    @hookimpl
    def plugin_settings(self) -> Sequence[Setting]:
        return [
            Setting(
                key=ADDRESS,
                name="Address of the service",
                description=(
                    'Answers {"base": "EUR", "date": "2026-01-31", "rates": {"USD": 1.0466}}, as a Frankfurter server '
                    "of your own does"
                ),
                default=_PUBLIC,
                validators=[_is_web_address],
            )
        ]

    # Whichever other plugin can answer comes first, where the settings name none.
    @hookimpl(trylast=True)
    def exchange_rates(self, base: str, symbols: Sequence[str]) -> ExchangeRates:
        # An HTTP client takes longer to load than the rest of a plugin, and is needed once a day.
        from builtin_plugins.exchange_rates.service import fetch  # noqa: PLC0415

        address = str(self.settings.get(ADDRESS) or _PUBLIC)
        rates = fetch(address, symbols)
        self.log.info("%s rates from %s for the base %s", len(rates.rates), urlsplit(address).hostname, base)
        return rates
