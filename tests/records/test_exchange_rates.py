"""Exchange rates: stored as a whole, in relation to what is set, and kept where there are no new ones."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import text

from host import ExchangeRates, hookimpl
from host.plugins.currency import CurrencyPlugins, NoRatesError
from host.records.exchange_rates import CurrencySettings, ExchangeRatesService
from tests.plugins.bench import Bench

MONDAY = datetime(2026, 3, 2, 7, 30, tzinfo=UTC)
TUESDAY = datetime(2026, 3, 3, 7, 30, tzinfo=UTC)
EUROPE: dict[str, str | int] = {"GBP": "0.85", "JPY": 160, "USD": "1.25"}


@dataclass
class Desk:
    """The service, with everything that a test may change about it."""

    database: Any
    base: str = "USD"
    codes: str = "EUR,GBP,JPY,USD"
    days: int = 1
    moment: datetime = MONDAY
    answer: Any = field(default_factory=lambda: ExchangeRates(base="EUR", rates=EUROPE))

    def __post_init__(self) -> None:
        self.bench = Bench()
        self.bench.load({"source": self})
        self.service = ExchangeRatesService(
            self.database,
            CurrencyPlugins(self.bench, self.bench.calls, self.bench.report),
            CurrencySettings(
                base=lambda: self.base, codes=lambda: self.codes, plugin=lambda: "source", days=lambda: self.days
            ),
            clock=lambda: self.moment,
        )

    @hookimpl
    def exchange_rates(self):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def stored(self) -> list[Any]:
        with self.database.read() as connection:
            return list(connection.execute(text("SELECT id, base, plugin, updated FROM exchange_rates")))

    def shown(self) -> dict[str, str]:
        found = self.service.current()
        return {} if found is None else {code: str(rate) for code, rate in found.rates.items()}


@pytest.fixture
def desk(sqlite_database) -> Desk:
    """Nothing was ever updated."""
    return Desk(sqlite_database)


@pytest.fixture
def desk_on_both(database) -> Desk:
    """The same, on a database of each kind in turn."""
    return Desk(database)


def test_rates_are_crossed_to_the_base(desk_on_both):
    """Whatever base a plugin answers in, one unit of the host's is what everything relates to."""
    desk = desk_on_both
    assert desk.service.current() is None

    message = desk.service.refresh()

    found = desk.service.current()
    assert found is not None
    assert message == "4 exchange rates were taken from plugin 'source'."
    assert (found.base, found.updated) == ("USD", MONDAY)
    assert found.rates == {
        "EUR": Decimal("0.8"),
        "GBP": Decimal("0.68"),
        "JPY": Decimal(128),
        "USD": Decimal(1),
    }
    assert len(desk.stored()) == 1


def test_rates_in_the_base_of_the_host_keep_every_digit(desk_on_both):
    """They are stored as they are given, the base is added, and what nobody wants is left out."""
    desk = desk_on_both
    desk.answer = ExchangeRates(
        base="USD", rates={"EUR": "0.92345678901234567890123456789012345", "CHF": 1, "GBP": 1}, time=MONDAY
    )

    message = desk.service.refresh()

    assert message == "3 exchange rates of 2026-03-02 were taken from plugin 'source'. It knows nothing of JPY."
    assert desk.shown() == {"EUR": "0.92345678901234567890123456789012345", "GBP": "1", "USD": "1"}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        pytest.param(RuntimeError("offline"), "plugin 'source' failed", id="raises"),
        pytest.param(None, "plugin 'source' gave none that can be used", id="nothing"),
        pytest.param({"USD": 1}, "plugin 'source' failed", id="no rates"),
        pytest.param(ExchangeRates(base="EUR", rates={"GBP": 1}), "gave none that can be used", id="without the base"),
        pytest.param(ExchangeRates(base="USD", rates={"CHF": 1}), "gave none that can be used", id="only others"),
        pytest.param(ExchangeRates(base="USD", rates={}), "gave none that can be used", id="empty"),
    ],
)
def test_old_rates_stay_where_there_are_no_new_ones(desk, answer, why):
    """The moment of the last update stays too, and an error report says what was amiss."""
    desk.service.refresh()
    before, rows = desk.shown(), desk.stored()
    desk.answer, desk.moment = answer, TUESDAY

    message = desk.service.refresh()

    assert message.startswith("Exchange rates were not updated: ")
    assert why in message
    assert (desk.shown(), desk.stored()) == (before, rows)
    assert desk.bench.reported == ["plugin.source.exchange_rates"]


def test_an_update_replaces_everything(desk_on_both):
    """Currencies that are wanted no longer are gone, and the moment moves."""
    desk = desk_on_both
    desk.service.refresh()
    desk.codes, desk.moment = " EUR , GBP,,usd", TUESDAY

    desk.service.refresh()

    found = desk.service.current()
    assert found is not None
    assert list(found.rates) == ["EUR", "GBP", "USD"]
    assert found.updated == TUESDAY
    assert len(desk.stored()) == 1


@pytest.mark.parametrize(
    ("base", "codes", "shown"),
    [
        pytest.param("EUR", "EUR,GBP,USD", ("EUR", {"EUR": 1.0, "GBP": 0.85, "USD": 1.25}), id="another base"),
        pytest.param("USD", "USD,GBP", ("USD", {"GBP": 0.68, "USD": 1.0}), id="fewer"),
        pytest.param("CHF", "EUR,USD", ("USD", {"EUR": 0.8, "USD": 1.0}), id="a base that is not known yet"),
        pytest.param("USD", "", ("USD", {"USD": 1.0}), id="none"),
    ],
)
def test_a_change_of_settings_shows_at_once(desk, base, codes, shown):
    """The base that is named is always the one that the rates relate to, also before the next update."""
    desk.service.refresh()

    desk.base, desk.codes = base, codes

    found = desk.service.current()
    assert found is not None
    assert (found.base, {code: round(float(rate), 9) for code, rate in found.rates.items()}) == shown


def test_updates_at_once_end_with_one_of_them(desk_on_both):
    """Two people and the daily job may ask at the same moment."""
    desk = desk_on_both
    start, messages = threading.Barrier(4), []

    def refresh() -> None:
        start.wait()
        messages.append(desk.service.refresh())

    threads = [threading.Thread(target=refresh) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert messages == ["4 exchange rates were taken from plugin 'source'."] * 4
    assert len(desk.stored()) == 1
    assert desk.shown()["EUR"] == "0.8"


def test_the_job_is_tried_again_where_that_can_help(desk):
    """A server that cannot be reached may answer in a while; a plugin that is not there will not come by itself."""
    desk.answer = RuntimeError("offline")
    with pytest.raises(NoRatesError, match="plugin 'source' failed"):
        desk.service.keep_up()

    desk.bench.load({})
    assert "no active plugin supplies exchange rates" in desk.service.keep_up()


@pytest.mark.parametrize(("days", "minutes"), [(1, 1440), (7, 10080), (0, 0), (-1, 0)])
def test_the_interval_is_a_setting(days, minutes):
    """None at all is 0."""
    settings = CurrencySettings(base=str, codes=str, plugin=str, days=lambda: days)

    assert ExchangeRatesService(None, None, settings).minutes() == minutes  # type: ignore[arg-type]  # neither is asked
