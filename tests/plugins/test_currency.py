"""Exchange rates: what a plugin may give, and which plugin is asked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from host import ExchangeRates, hookimpl
from host.plugins.currency import CurrencyPlugins, NoRatesError
from tests.plugins.bench import Bench

EARLIEST = datetime.min.replace(tzinfo=timezone(timedelta(hours=14)))


class Source:
    """Gives what it was made with."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    @hookimpl
    def exchange_rates(self, base, symbols):
        self.asked.append((base, tuple(symbols)))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Unchecked(ExchangeRates):
    """Leaves out the checks."""

    def __post_init__(self) -> None:
        """Accept anything."""


def source(base: str = "EUR") -> Source:
    return Source(ExchangeRates(base=base, rates={"USD": "1.1"}))


@pytest.mark.parametrize(
    ("given", "exact"),
    [
        pytest.param(2, "2", id="whole number"),
        pytest.param(0.1, "0.1", id="float"),
        pytest.param("1.0466", "1.0466", id="text"),
        pytest.param(Decimal("7.90"), "7.90", id="decimal"),
        pytest.param("1e-18", "1E-18", id="smallest"),
        pytest.param(10**18, "1000000000000000000", id="biggest"),
    ],
)
def test_rates_become_exact(given, exact):
    """Whatever numbers a plugin gives, the host computes with decimals."""
    rates = ExchangeRates(base="EUR", rates={"USD": given}, time=datetime(2026, 1, 2, tzinfo=UTC))

    assert str(rates.rates["USD"]) == exact
    assert isinstance(rates.rates["USD"], Decimal)


@pytest.mark.parametrize(
    "rate",
    [
        pytest.param(0, id="zero"),
        pytest.param(-1, id="negative"),
        pytest.param(float("nan"), id="nan"),
        pytest.param(float("inf"), id="infinite"),
        pytest.param(Decimal("sNaN"), id="signalling nan"),
        pytest.param("1e-19", id="too small"),
        pytest.param(Decimal("1E+999999"), id="too big"),
        pytest.param("0." + "1" * 70, id="too long"),
        pytest.param("much", id="words"),
        pytest.param(True, id="boolean"),
        pytest.param(None, id="nothing"),
    ],
)
def test_what_is_no_rate_is_refused(rate):
    """The message names the currency."""
    with pytest.raises((TypeError, ValueError), match="rate of USD must be"):
        ExchangeRates(base="EUR", rates={"USD": rate})


@pytest.mark.parametrize(
    "members",
    [
        pytest.param({"base": "eur", "rates": {}}, id="base in lower case"),
        pytest.param({"base": None, "rates": {}}, id="no base"),
        pytest.param({"base": "EUR", "rates": {"USDT": 1}}, id="long code"),
        pytest.param({"base": "EUR", "rates": {"US\n": 1}}, id="line break in a code"),
        pytest.param({"base": "EUR", "rates": {7: 1}}, id="number as code"),
        pytest.param({"base": "EUR", "rates": [1]}, id="no mapping"),
        pytest.param({"base": "EUR", "rates": {}, "time": "today"}, id="text as time"),
        pytest.param({"base": "EUR", "rates": {}, "time": datetime(2026, 1, 1)}, id="no zone"),  # noqa: DTZ001
        pytest.param({"base": "EUR", "rates": {}, "time": EARLIEST}, id="before all time"),
    ],
)
def test_what_are_no_rates_is_refused(members):
    """Nothing of it reaches the host."""
    with pytest.raises((TypeError, ValueError)):
        ExchangeRates(**members)


@pytest.mark.parametrize(
    ("named", "asked"),
    [
        pytest.param("second", "second", id="named"),
        pytest.param("", "first", id="nobody is named"),
        pytest.param("asleep", "first", id="the named one is not active"),
        pytest.param("deaf", "first", id="the named one has no rates"),
    ],
)
def test_one_plugin_is_asked(named, asked):
    """It is the one that is named, else the first; nobody else is bothered."""
    bench, first, second = Bench(), source(), source()
    bench.load({"deaf": object(), "first": first, "second": second}, inactive=["asleep"])

    quote = CurrencyPlugins(bench, bench.calls, bench.report).quote(named, "USD", ["EUR", "USD"])

    assert quote.plugin == asked
    assert first.asked + second.asked == [("USD", ("EUR", "USD"))]
    assert not bench.reports


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        pytest.param(RuntimeError("key 12345"), "RuntimeError: key 12345", id="raises"),
        pytest.param(None, "it gave no exchange rates", id="nothing"),
        pytest.param({"USD": 1}, "returned dict, expected ExchangeRates or None", id="something else"),
        pytest.param(Unchecked(base="EUR", rates={"USD": -1}), "rate of USD must be", id="unchecked rate"),
        pytest.param(Unchecked(base="'; --", rates={}), "is no currency code", id="unchecked base"),
    ],
)
def test_a_plugin_that_fails_is_reported(answer, told):
    """The report says what was amiss, the error only that there is one; no other plugin is asked instead."""
    bench, other = Bench(), source()
    bench.load({"broken": Source(answer), "other": other})

    with pytest.raises(NoRatesError, match="an error report says why") as raised:
        CurrencyPlugins(bench, bench.calls, bench.report).quote("broken", "USD", ["USD"])

    ((path, info, _),) = bench.reports
    assert path == "plugin.broken.exchange_rates"
    assert told in info
    assert "12345" not in str(raised.value)
    assert not other.asked


def test_nobody_to_ask_is_said_with_the_remedy():
    """Without any plugin that knows rates there is no failure to report."""
    bench = Bench()
    bench.load({"deaf": object()})

    with pytest.raises(NoRatesError, match="activate one, such as 'exchange-rates'"):
        CurrencyPlugins(bench, bench.calls, bench.report).quote("exchange-rates", "USD", ["USD"])

    assert not bench.reports


def test_a_plugin_in_quarantine_is_not_asked():
    """The error says how it gets out."""
    bench, quarantined = Bench(), source()
    bench.load({"bad": quarantined})
    bench.calls.quarantine("bad")

    with pytest.raises(NoRatesError, match="an administrator can release it"):
        CurrencyPlugins(bench, bench.calls, bench.report).quote("bad", "USD", ["USD"])

    assert not quarantined.asked
