"""Exchange rates over the interface."""

from __future__ import annotations

import pytest

RATES = "/api/currency/exchange/"
REFRESH = "/api/currency/refresh/"


def switch(service, key: str, *, on: bool) -> None:
    answer = service.client("superuser").patch(f"/api/plugins/{key}/activate/", json={"active": on})
    assert answer.status_code == 200, answer.text


def test_rates_are_refreshed_and_shown(service):
    """Staff refresh, users read; where nobody can be reached the rates of the time before stay."""
    user, staff = service.client("user"), service.client("staff")
    assert user.get(RATES).json() == {}

    nobody = staff.post(REFRESH)
    assert nobody.status_code == 200
    assert "'exchange-rates' failed" in nobody.json()["success"]
    assert user.get(RATES).json() == {}
    service.host.error_reports.flush()
    reports = staff.get("/api/error-report/").json()
    assert "plugin.exchange-rates.exchange_rates" in [report["path"] for report in reports]

    switch(service, "sample-currency", on=True)
    done = staff.post(REFRESH, json={"anything": 1})
    assert (done.status_code, list(done.json())) == (200, ["success"])
    assert "8 exchange rates of 2026-01-30 were taken from plugin 'sample-currency'" in done.json()["success"]

    shown = user.get(RATES)
    body = shown.json()
    assert set(body) == {"base_currency", "exchange_rates", "updated"}
    assert (body["base_currency"], body["exchange_rates"]["USD"]) == ("USD", 1.0)
    assert body["exchange_rates"]["EUR"] == pytest.approx(1 / 1.0821)
    assert '"USD":1.0' in shown.text
    assert body["updated"].endswith("Z")

    switch(service, "sample-currency", on=False)
    staff.post(REFRESH)
    assert user.get(RATES).json() == body


def test_the_answer_is_described(service):
    """Tables are built from the description."""
    described = service.client("staff").options(RATES).json()

    assert set(described["actions"]["GET"]) == {"base_currency", "exchange_rates", "updated"}
