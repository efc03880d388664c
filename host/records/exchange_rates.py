"""Exchange rates: what currencies are worth, as a plugin last said it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Context, Decimal
from typing import Any

from sqlalchemy import Column, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import Field

from host.plugins.currency import CurrencyPlugins, NoRatesError, NoSourceError, Quote
from host.storage.engine import Database
from host.storage.tables import HostTable, JsonColumn, UtcDateTime, now

_CODE = re.compile(r"[A-Z]{3}")
_ONLY = 1
_ONE = Decimal(1)
_DIGITS = Context(prec=28)
_MINUTES_OF_A_DAY = 24 * 60


class ExchangeRatesRecord(HostTable, table=True):
    """The one row: all rates of one update, so that nobody ever sees half of it."""

    __tablename__ = "exchange_rates"

    id: int = Field(default=_ONLY, primary_key=True)
    base: str = Field(max_length=3)
    rates: dict[str, str] = Field(sa_column=Column(JsonColumn, nullable=False))
    """Currency code → decimal number as text; in JSON numbers would lose digits."""
    plugin: str = Field(max_length=255)
    updated: datetime = Field(sa_column=Column(UtcDateTime, nullable=False))


_TABLE = HostTable.metadata.tables["exchange_rates"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrencySettings:
    """What the staff have set, read afresh each time."""

    base: Callable[[], str]
    codes: Callable[[], str]
    """Separated by commas."""
    plugin: Callable[[], str]
    """Key of the plugin to ask; where no such plugin is active, the first one that can answer is asked."""
    days: Callable[[], int]
    """Between two updates; 0 for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """What one unit of the base is worth in each currency; the base itself is among them."""

    base: str
    rates: Mapping[str, Decimal]
    updated: datetime


class ExchangeRatesService:
    """Keeps the exchange rates.

    Args:
        database: where they are.
        plugins: asks plugins for new ones.
        settings: base, currencies, plugin and interval.
        clock: the present moment.

    """

    def __init__(
        self,
        database: Database,
        plugins: CurrencyPlugins,
        settings: CurrencySettings,
        clock: Callable[[], datetime] = now,
    ) -> None:
        self._database = database
        self._plugins = plugins
        self._settings = settings
        self._clock = clock

    def current(self) -> Rates | None:
        """Return the rates of the last update, or ``None`` before the first.

        They are in relation to the base that is set now, and of the currencies that are set now, as far as the last
        update knows them.
        """
        with self._database.read() as connection:
            row = connection.execute(select(_TABLE.c.base, _TABLE.c.rates, _TABLE.c.updated)).first()
        if row is None:
            return None
        base, codes = self._wanted()
        known = {row.base: _ONE} | {code: Decimal(text) for code, text in row.rates.items()}
        if base not in known:
            base = row.base
        rates = crossed(known, base, {base, *codes})
        return Rates(base=base, rates=rates, updated=row.updated)

    def refresh(self) -> str:
        """Ask a plugin for new rates and store them; return in a sentence what came of it.

        Where there are none to be had the old ones stay as they are, and the sentence says why.
        """
        try:
            return self._update()
        except NoRatesError as error:
            return f"Exchange rates were not updated: {error}."

    def keep_up(self) -> str:
        """Do the same as the job does that is run again and again.

        Raises:
            NoRatesError: the plugin failed; another try in some minutes may succeed.

        """
        try:
            return self._update()
        except NoSourceError as error:
            return f"Exchange rates were not updated: {error}."

    def minutes(self) -> int:
        """Return how many minutes pass between two updates; 0 for none."""
        return max(self._settings.days(), 0) * _MINUTES_OF_A_DAY

    def _update(self) -> str:
        base, codes = self._wanted()
        quote = self._plugins.quote(self._settings.plugin(), base, codes)
        rates = self._usable(quote, base, codes)
        self._store(base, rates, quote)
        missing = [code for code in codes if code not in rates]
        without = f" It knows nothing of {', '.join(missing)}." if missing else ""
        of = f" of {quote.rates.time:%Y-%m-%d}" if quote.rates.time else ""
        return f"{len(rates)} exchange rates{of} were taken from plugin '{quote.plugin}'.{without}"

    def _wanted(self) -> tuple[str, Sequence[str]]:
        base = self._settings.base()
        codes = [code.strip() for code in self._settings.codes().split(",")]
        return base, sorted({base, *(code for code in codes if _CODE.fullmatch(code))})

    def _usable(self, quote: Quote, base: str, codes: Sequence[str]) -> Mapping[str, Decimal]:
        known = {code: Decimal(rate) for code, rate in quote.rates.rates.items()} | {quote.rates.base: _ONE}
        if base not in known:
            raise self._plugins.refused(quote.plugin, f"it gave rates of {quote.rates.base}, and none of {base}")
        rates = crossed(known, base, codes)
        if len(rates) < min(len(codes), 2):
            raise self._plugins.refused(quote.plugin, f"it gave rates of none of {', '.join(codes)} but {base}")
        return rates

    def _store(self, base: str, rates: Mapping[str, Decimal], quote: Quote) -> None:
        values: dict[str, Any] = {
            "base": base,
            "rates": {code: str(rate) for code, rate in rates.items()},
            "plugin": quote.plugin,
            "updated": self._clock(),
        }
        with self._database.write() as session:
            connection = session.connection()
            insert: Callable[..., Any] = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
            statement = insert(_TABLE).values(id=_ONLY, **values)
            connection.execute(statement.on_conflict_do_update(index_elements=["id"], set_=values))


def crossed(known: Mapping[str, Decimal], base: str, codes: Sequence[str] | set[str]) -> dict[str, Decimal]:
    """Return what one unit of ``base`` is worth in those of the codes that are known.

    Args:
        known: what one unit of any currency is worth; the base must be among them.
        base: the currency to relate to.
        codes: the currencies that are wanted.

    """
    one = known[base]
    if one == _ONE:
        return {code: known[code] for code in sorted(codes) if code in known}
    return {code: _DIGITS.divide(known[code], one) for code in sorted(codes) if code in known}
