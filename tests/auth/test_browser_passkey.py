"""Security keys and passkeys as a real browser makes and uses them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import select

from host.accounts.factors.authenticators import AUTHENTICATORS
from tests.auth.conftest import ServerWith
from tests.auth.owned_factors import new_owner
from tests.auth.server import PASSWORD, AuthServer
from tests.auth.web_driver import WebDriver, missing_programs, running_browser

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(bool(missing_programs()), reason=f"not installed: {', '.join(missing_programs())}"),
]

# What a web client does: it hands the options to the browser, and the browser's answer back.
_PAGE = """
const call = async (method, path, body) => {
    const token = document.cookie.match(/csrftoken=(\\w+)/)?.[1] ?? "";
    const headers = {"Content-Type": "application/json", "X-CSRFToken": token};
    const sent = body === undefined ? undefined : JSON.stringify(body);
    const answer = await fetch("/api/auth/v1" + path, {method, headers, body: sent});
    return answer.json();
};
const make = async options => (await navigator.credentials.create({
    publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options.data.creation_options.publicKey),
})).toJSON();
const use = async options => (await navigator.credentials.get({
    publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options.data.request_options.publicKey),
})).toJSON();
const KEYS = "/account/authenticators/webauthn";
"""
_LOGIN = """await call("GET", "/auth/session");
const login = await call("POST", "/auth/login", {username: given[0], password: given[1]});
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebDriver]:
    with running_browser(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.fixture
def server(server_with: ServerWith) -> AuthServer:
    return server_with(mfa_passkey_signup_enabled="true")


@pytest.fixture
def page(server: AuthServer, driver: WebDriver) -> Iterator[WebDriver]:
    """A page of the host's own site, in a browser that was never there, with a store of passkeys."""
    driver.open(server.url.replace("127.0.0.1", "localhost") + "/api/auth/v1/config")
    driver.forget_cookies()
    store = driver.plug_in()
    yield driver
    driver.unplug(store)


def test_a_browser_makes_a_passkey_and_signs_in_with_it(server, page):
    """It is made by somebody who is signed in; from then on it is enough."""
    owner = new_owner(server)

    made = page.run(
        _PAGE
        + _LOGIN
        + "return call('POST', KEYS, {credential: await make(await call('GET', KEYS + '?passwordless'))});",
        owner.name,
        PASSWORD,
    )
    page.run(_PAGE + "return call('DELETE', '/auth/session');")
    signed_in = page.run(
        _PAGE + "const path = '/auth/webauthn/login';"
        "return call('POST', path, {credential: await use(await call('GET', path))});"
    )

    assert made["status"] == 200, made
    assert made["data"]["is_passwordless"] is True
    assert signed_in["status"] == 200, signed_in
    assert signed_in["data"]["user"]["id"] == owner.id
    assert signed_in["data"]["methods"][0]["passwordless"] is True
    assert owner.steps() == [["mfa"]]
    assert owner.kinds() == ["webauthn", "recovery_codes"]


def test_a_browser_proves_a_second_factor_by_its_key(server, page):
    """In a login, and again later; then the browser is trusted."""
    owner = new_owner(server)
    page.run(
        _PAGE + _LOGIN + "return call('POST', KEYS, {credential: await make(await call('GET', KEYS))});",
        owner.name,
        PASSWORD,
    )
    page.run(_PAGE + "return call('DELETE', '/auth/session');")

    proved = page.run(
        _PAGE + _LOGIN + "const path = '/auth/webauthn/authenticate';"
        "const asked = await call('POST', path, {credential: await use(await call('GET', path))});"
        "const trusted = await call('POST', '/auth/2fa/trust', {trust: true});"
        "const again = '/auth/webauthn/reauthenticate';"
        "const proved = await call('POST', again, {credential: await use(await call('GET', again))});"
        "return [login, asked, trusted, proved];",
        owner.name,
        PASSWORD,
    )
    page.run(_PAGE + "return call('DELETE', '/auth/session');")
    later = page.run(_PAGE + _LOGIN + "return login;", owner.name, PASSWORD)

    assert [answer["status"] for answer in proved] == [401, 401, 200, 200], proved
    assert proved[-1]["data"]["methods"][-1]["reauthenticated"] is True
    assert later["status"] == 200
    assert owner.steps() == [["password"]]
    assert owner.factors()[0].last_used is not None


def test_a_browser_signs_up_with_a_passkey(server, page):
    """Nobody has to think of a password."""
    done = page.run(
        _PAGE + "await call('GET', '/auth/session');"
        "const path = '/auth/webauthn/signup';"
        "const begun = await call('POST', path, {username: 'modern'});"
        "const done = await call('PUT', path, {credential: await make(await call('GET', path))});"
        "return [begun, done];"
    )

    user = server.user_row("modern")
    assert [answer["status"] for answer in done] == [401, 200], done
    assert done[1]["data"]["user"] == {
        "id": user.id,
        "display": "modern",
        "has_usable_password": False,
        "username": "modern",
    }
    [key] = server.rows(select(AUTHENTICATORS).where(AUTHENTICATORS.c.user_id == user.id))
    assert (key.type, key.passwordless) == ("webauthn", True)
