"""Currency: what currencies are worth."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from api.answers import Json
from api.endpoint import Endpoint
from api.fields import Float
from api.nested_fields import Object
from api.operations import Operation
from api.request import ApiRequest
from api.shapes import Shape
from api.text_fields import Text
from api.time_fields import DateTime, iso_z

_TAG = "Currency"

CURRENCY_EXCHANGE: Final = Shape(
    "CurrencyExchange",
    base_currency=Text(read_only=True, always=False),
    exchange_rates=Object(
        values=Float(),
        read_only=True,
        always=False,
        help_text="Currency code → what one unit of the base is worth in it.",
    ),
    updated=DateTime(read_only=True, style="iso-z", null=True, always=False),
)
REFRESHED: Final = Shape("CurrencyRefresh", success=Text(read_only=True, help_text="What came of it."))


def show_exchange(request: ApiRequest) -> Response:
    """Show the exchange rates of the last update; an empty object before the first."""
    found = request.host.records.exchange_rates.current()
    if found is None:
        return Json({})
    rates = {code: float(rate) for code, rate in found.rates.items()}
    return Json({"base_currency": found.base, "exchange_rates": rates, "updated": iso_z(found.updated)})


def refresh(request: ApiRequest) -> Response:
    """Ask a plugin for new exchange rates, and say what came of it.

    Where it fails, the rates of the time before stay in force and an error report is written.
    """
    return Json({"success": request.host.records.exchange_rates.refresh()})


ENDPOINTS: Final = (
    Endpoint(
        "/api/currency/exchange/",
        name="Exchange rates",
        tag=_TAG,
        operations={
            "GET": Operation(
                id="currency_exchange_retrieve",
                summary="Show exchange rates",
                access="user",
                handler=show_exchange,
                answers={200: CURRENCY_EXCHANGE},
                writes=CURRENCY_EXCHANGE,
            )
        },
    ),
    Endpoint(
        "/api/currency/refresh/",
        name="Refresh exchange rates",
        tag=_TAG,
        operations={
            "POST": Operation(
                id="currency_refresh_create",
                summary="Update exchange rates",
                access="staff",
                handler=refresh,
                calls_plugins=True,
                replays=True,
                answers={200: REFRESHED},
            )
        },
    ),
)
