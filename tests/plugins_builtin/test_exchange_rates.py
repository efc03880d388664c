"""The built-in exchange rates, from a server that answers well, badly, slowly or for ever."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from builtin_plugins.exchange_rates.download import NoAnswerError, download
from builtin_plugins.exchange_rates.plugin import ADDRESS, ExchangeRatesPlugin
from host import SettingError

GOOD = '{"amount": 1.0, "base": "EUR", "date": "2026-01-30", "rates": {"GBP": 0.86120, "USD": 1.0821, "THB": 37.5}}'
PAGES = {
    "/good": GOOD,
    "/html": "<html>Sign in to the hotel network</html>",
    "/deep": "[" * 100_000,
    "/list": "[1, 2]",
    "/no-rates": '{"base": "EUR", "rates": [1]}',
    "/no-base": '{"rates": {"USD": 1}}',
    "/hundred": '{"amount": 100, "base": "EUR", "rates": {"USD": 108.21}}',
    "/nan": '{"base": "EUR", "rates": {"USD": NaN}}',
    "/words": '{"base": "EUR", "rates": {"USD": "much"}}',
    "/bytes": "\udcff\udcfe",
}


class Rates(BaseHTTPRequestHandler):
    """Answers by the path."""

    def do_GET(self) -> None:
        if self.path.startswith("/loop"):
            self._redirect("/loop" + self.path)
        elif self.path == "/moved":
            self._redirect("/good")
        elif self.path == "/to-file":
            self._redirect("file:///etc/passwd")
        elif self.path in {"/slow", "/huge"}:
            self._stream(pause=0.05 if self.path == "/slow" else 0.0)
        elif self.path == "/silent":
            time.sleep(0.3)
        else:
            self._send(PAGES.get(self.path))

    def _redirect(self, address: str) -> None:
        self.send_response(302)
        self.send_header("Location", address)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _stream(self, pause: float) -> None:
        self.send_response(200)
        self.end_headers()
        piece = b" " if pause else b" " * 4096
        try:
            for _ in range(1000):
                self.wfile.write(piece)
                time.sleep(pause)
        except OSError:
            pass  # nobody listens any more

    def _send(self, page: str | None) -> None:
        body = (page or "gone").encode("utf-8", "surrogateescape")
        self.send_response(404 if page is None else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Rates) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


@pytest.fixture
def plugin(load) -> ExchangeRatesPlugin:
    """The plugin, with its settings as they come."""
    plugin = ExchangeRatesPlugin()
    load(plugin, "exchange-rates")
    return plugin


@pytest.mark.parametrize("path", ["/good", "/moved"])
def test_rates_are_read(plugin, server, path):
    """Only what is wanted is taken, to the last digit."""
    plugin.settings.set(ADDRESS, server + path)

    found = plugin.exchange_rates("USD", ["EUR", "GBP", "USD"])

    assert found.base == "EUR"
    assert found.rates == {"GBP": Decimal("0.86120"), "USD": Decimal("1.0821")}
    assert str(found.rates["GBP"]) == "0.86120"
    assert found.time == datetime(2026, 1, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        pytest.param("/gone", "status 404", id="not found"),
        pytest.param("/html", "no JSON", id="another page"),
        pytest.param("/deep", "no JSON", id="nested too deep"),
        pytest.param("/bytes", "no JSON", id="bytes"),
        pytest.param("/loop", "redirects more than 3 times", id="redirects for ever"),
        pytest.param("/to-file", "cannot be reached: InvalidSchema", id="redirect to a file"),
        pytest.param("/list", "without 'rates'", id="a list"),
        pytest.param("/no-rates", "without 'rates'", id="no rates"),
        pytest.param("/no-base", "no currency code", id="no base"),
        pytest.param("/hundred", "another amount than 1", id="for a hundred"),
        pytest.param("/nan", "rate of USD must be", id="not a number"),
        pytest.param("/words", "rate of USD must be", id="words"),
        pytest.param("/huge", "more than 256 KiB", id="without end"),
    ],
)
def test_what_is_no_answer_is_said(plugin, server, path, why):
    """The error names the server and what was amiss, and quotes nothing of the answer."""
    plugin.settings.set(ADDRESS, server + path)

    with pytest.raises((NoAnswerError, ValueError), match=why) as raised:
        plugin.exchange_rates("USD", ["EUR", "USD"])

    assert "hotel" not in str(raised.value)
    assert server not in str(raised.value)


@pytest.mark.parametrize(
    ("path", "seconds"), [pytest.param("/slow", 0.2, id="drips"), pytest.param("/silent", 0.3, id="says nothing")]
)
def test_nobody_waits_for_long(server, path, seconds):
    """A server that sends a byte now and then is given up like one that sends none."""
    started = time.monotonic()

    with pytest.raises(NoAnswerError, match=r"127\.0\.0\.1 takes too long to answer"):
        download(server + path, seconds=seconds, most_bytes=10_000)

    assert time.monotonic() - started < 5


def test_a_password_in_the_address_stays_there():
    """A server that cannot be reached is named without what only it should know."""
    with pytest.raises(NoAnswerError) as raised:
        download("http://user:hunter2@127.0.0.1:9/rates", seconds=1, most_bytes=10)

    assert str(raised.value) == "127.0.0.1 cannot be reached: ConnectionError"
    assert raised.value.__suppress_context__


@pytest.mark.parametrize(
    ("address", "is_good"),
    [
        pytest.param("https://rates.example.org/v1/latest", True, id="https"),
        pytest.param("http://[::1]:8080/", True, id="http"),
        pytest.param("file:///etc/passwd", False, id="file"),
        pytest.param("rates.example.org", False, id="no scheme"),
        pytest.param("https://", False, id="no host"),
        pytest.param("https://x:99999/", False, id="no port"),
        pytest.param("https://[::1/", False, id="broken"),
    ],
)
def test_the_setting_takes_addresses_only(address, is_good):
    """What nobody could ask is refused as it is set."""
    (setting,) = ExchangeRatesPlugin().plugin_settings()
    (check,) = setting.validators

    if is_good:
        check(address)
    else:
        with pytest.raises(SettingError, match="https://"):
            check(address)


def test_other_plugins_come_first():
    """Whoever installs another source need not say more."""
    assert ExchangeRatesPlugin.exchange_rates.plugyard_impl["trylast"] is True  # type: ignore[attr-defined]  # the marker
