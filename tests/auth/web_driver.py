"""A real browser, driven over the WebDriver protocol."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-sync",
)
_PHONE = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
}
_STARTED = re.compile(r"started successfully on port (\d+)")


def missing_programs() -> list[str]:
    """Name the programs that are not installed."""
    browsers = ("chromium", "chromium-browser", "google-chrome")
    missing = [] if any(shutil.which(name) for name in browsers) else ["chromium"]
    return missing if shutil.which("chromedriver") else [*missing, "chromedriver"]


class WebDriver:
    """One browser with one page, and a passkey store as phones have it."""

    def __init__(self, http: httpx2.Client, profile: Path) -> None:
        self._http = http
        arguments = [*_FLAGS, f"--user-data-dir={profile}"]
        wanted = {"browserName": "chrome", "goog:chromeOptions": {"args": arguments}, "timeouts": {"script": 15_000}}
        self._session = ""
        self._session = "/session/" + self._call("/session", capabilities={"alwaysMatch": wanted})["sessionId"]

    def open(self, url: str) -> None:
        """Go to an address."""
        self._call("/url", url=url)

    def run(self, script: str, *arguments: Any) -> Any:
        """Run the body of an asynchronous function in the page, and return what it returns.

        Raises:
            AssertionError: it threw.

        """
        whole = f"""
            const done = arguments[arguments.length - 1];
            (async (...given) => {{ {script} }})(...arguments)
                .then(value => done({{value}}), error => done({{error: String(error)}}));
        """
        result = self._call("/execute/async", script=whole, args=list(arguments))
        assert "error" not in result, result["error"]
        return result.get("value")

    def plug_in(self) -> str:
        """Give the browser a store of passkeys, and return its id."""
        return str(self._call("/webauthn/authenticator", **_PHONE))

    def unplug(self, store: str) -> None:
        """Take it away."""
        self._request("DELETE", f"/webauthn/authenticator/{store}")

    def forget_cookies(self) -> None:
        """Be a browser that was never here."""
        self._request("DELETE", "/cookie")

    def close(self) -> None:
        """End the browser."""
        self._request("DELETE", "")

    def _call(self, path: str, **body: Any) -> Any:
        return self._request("POST", path, json=body)

    def _request(self, method: str, path: str, **options: Any) -> Any:
        answer = self._http.request(method, self._session + path, **options)
        value = answer.json()["value"]
        assert answer.status_code == httpx2.codes.OK, value
        return value


@contextmanager
def running_browser(home: Path) -> Iterator[WebDriver]:
    """Run a browser without a window."""
    log = (home / "chromedriver.log").open("w")
    with log, subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=log, text=True) as driver:
        try:
            assert driver.stdout
            port = next(found.group(1) for line in driver.stdout if (found := _STARTED.search(line)))
            with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as http:
                browser = WebDriver(http, home / "profile")
                try:
                    yield browser
                finally:
                    browser.close()
        finally:
            driver.terminate()
