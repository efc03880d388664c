"""Currency: let a plugin say what currencies are worth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from host.contract.currency import ExchangeRates
from host.plugins.calls import Calls, Implementation, PluginFailedError, PluginQuarantinedError
from host.plugins.current import Registries
from host.plugins.failures import summary

_HOOK = "exchange_rates"


class NoRatesError(Exception):
    """There are no rates to be had; the text says why and what to do, for the staff."""


class NoSourceError(NoRatesError):
    """There is no plugin to ask, and asking again is of no use before an administrator does something."""


@dataclass(frozen=True, slots=True)
class Quote:
    """What a plugin says; the rates are in relation to a base of its own."""

    plugin: str
    rates: ExchangeRates


class CurrencyPlugins:
    """Asks one plugin for exchange rates.

    Args:
        registries: gives the registry in force.
        calls: calls the hook.
        report: writes an error report (path, message, details).

    """

    def __init__(self, registries: Registries, calls: Calls, report: Callable[[str, str, str], None]) -> None:
        self._registries = registries
        self._calls = calls
        self._report = report

    def quote(self, named: str, base: str, symbols: Sequence[str]) -> Quote:
        """Return the rates of the plugin that is named, or of the first one where that is not active.

        It takes as long as the plugin takes; keep it outside of transactions.

        Raises:
            NoSourceError: no active plugin has the hook, or the one to ask is in quarantine.
            NoRatesError: the plugin that was asked failed or gave none, of which there is an error report.

        """
        implementation = self._implementation(named)
        if implementation is None:
            msg = "no active plugin supplies exchange rates; activate one, such as 'exchange-rates'"
            raise NoSourceError(msg)
        plugin = implementation.plugin
        try:
            answer = self._calls.ask_one(implementation, base=base, symbols=symbols)
        except PluginQuarantinedError as error:
            msg = f"plugin '{plugin}' is in quarantine; an administrator can release it"
            raise NoSourceError(msg) from error
        except PluginFailedError as error:
            # What a plugin raises may hold more than belongs into an answer.
            msg = f"plugin '{plugin}' failed; an error report says why"
            raise NoRatesError(msg) from error
        if answer is None:
            raise self.refused(plugin, "it gave no exchange rates")
        try:
            # A class of the plugin's own may have left out the checks.
            return Quote(plugin, ExchangeRates(base=answer.base, rates=answer.rates, time=answer.time))
        except Exception as error:
            raise self.refused(plugin, f"its exchange rates cannot be used: {summary(error)}") from error

    def refused(self, plugin: str, reason: str) -> NoRatesError:
        """Write an error report about what a plugin gave, and return the error to raise."""
        self._report(f"plugin.{plugin}.{_HOOK}", reason, "")
        return NoRatesError(f"plugin '{plugin}' gave none that can be used; an error report says why")

    def _implementation(self, named: str) -> Implementation | None:
        found = self._registries.current.hooks.get(_HOOK, ())
        return next((one for one in found if one.plugin == named), found[0] if found else None)
