"""The page on which people allow clients to act for them, and where it leads."""

from __future__ import annotations

import pytest

from host.accounts.oauth.redirects import is_registered, redirect_problem
from tests.oauth.conftest import CALLBACK, CHALLENGE, CSRF, form_of, query_of


def test_consent_leads_to_a_code(world):
    """The page names the client, the account and the scopes; its form brings the browser back with code and issuer."""
    client_id, _ = world.client()
    browser = world.browser()

    page = browser.get("/o/authorize/", params=world.request(client_id, scope="read write", state='a"<&b'))
    assert page.status_code == 200
    assert "Shelf app" in page.text
    assert "<strong>ada</strong>" in page.text
    assert "(write)" in page.text
    assert "(staff)" not in page.text
    assert world.stored == (0, 0, 0)

    done = browser.post("/o/authorize/", data={**form_of(page.text), "decision": "allow"})
    assert done.status_code == 302
    assert done.headers["location"].startswith(f"{CALLBACK}?")
    sent = query_of(done)
    assert sent.keys() == {"code", "state", "iss"}
    assert sent["state"] == 'a"<&b'
    assert sent["iss"] == "http://testserver"
    assert world.stored == (1, 1, 0)


def test_the_page_is_locked_down(world):
    """It can run no script, be framed by nobody and be kept nowhere; its form may end at the client alone."""
    client_id, _ = world.client()

    headers = world.browser().get("/o/authorize/", params=world.request(client_id)).headers

    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script" not in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert policy.endswith("form-action 'self' https://app.example.org")
    assert headers["x-frame-options"] == "DENY"
    assert headers["cache-control"] == "no-store"


def test_a_client_s_name_is_only_text(world):
    """What somebody registered cannot put markup on the page."""
    record, _ = world.oauth.clients.create("<img src=x>&", owner_id=None, redirect_uris=[CALLBACK])

    page = world.browser().get("/o/authorize/", params=world.request(record.client_id)).text

    assert "<img" not in page
    assert "&lt;img src=x&gt;&amp;" in page


def test_refusing_tells_the_client(world):
    """The client learns that it was refused, and nothing is stored."""
    client_id, _ = world.client()
    browser = world.browser()
    form = form_of(browser.get("/o/authorize/", params=world.request(client_id)).text)

    sent = query_of(browser.post("/o/authorize/", data={**form, "decision": "deny"}))

    assert sent["error"] == "access_denied"
    assert (sent["state"], sent["iss"]) == ("xyz", "http://testserver")
    assert world.stored == (0, 0, 0)


@pytest.mark.parametrize(
    ("cookie", "member", "headers"),
    [
        pytest.param(CSRF, "", {}, id="no token"),
        pytest.param(CSRF, "d" * 32, {}, id="another token"),
        pytest.param("", "", {}, id="both empty"),
        pytest.param(CSRF, CSRF, {"Origin": "https://evil.example"}, id="page of others"),
        pytest.param(CSRF, CSRF, {"Origin": "null"}, id="page of nobody"),
        pytest.param(CSRF, "", {"X-Session-Token": "x"}, id="passing for an app"),
    ],
)
def test_another_page_cannot_consent(world, cookie, member, headers):
    """A form that is not the page's own is refused, and nothing is stored."""
    client_id, _ = world.client()
    browser = world.browser()
    browser.cookies.set("csrftoken", cookie)
    form = {**world.request(client_id), "decision": "allow", "csrfmiddlewaretoken": member}

    assert browser.post("/o/authorize/", data=form, headers=headers).status_code == 403
    assert world.stored == (0, 0, 0)


def test_nobody_must_sign_in_first(world):
    """Without a session there is a page that leads back here; with a web client, its sign-in page that does."""
    client_id, _ = world.client()
    query = world.request(client_id)

    page = world.browser(None).get("/o/authorize/", params=query)
    assert page.status_code == 401
    assert 'href="/o/authorize/?response_type=code&amp;client_id=' in page.text
    assert world.browser(None).post("/o/authorize/", data={**query, "decision": "allow"}).status_code == 401

    world.config.headless_frontend_urls = {"account_login": "https://host.example/web/login?theme=dark"}
    sent = world.browser(None).get("/o/authorize/", params=query)
    assert sent.status_code == 302
    assert sent.headers["location"].startswith("https://host.example/web/login?theme=dark&next=%2Fo%2Fauthorize%2F%3F")
    assert query_of(sent)["next"].endswith("code_challenge_method=S256")
    assert world.stored == (0, 0, 0)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"redirect_uri": "https://evil.example/callback"}, id="another host"),
        pytest.param({"redirect_uri": f"{CALLBACK}/../evil"}, id="longer path"),
        pytest.param({"redirect_uri": f"{CALLBACK}?next=https://evil.example"}, id="further query"),
        pytest.param({"redirect_uri": "https://app.example.org@evil.example/callback"}, id="user"),
        pytest.param({"redirect_uri": "https://app.example.org:444/callback"}, id="another port"),
        pytest.param({"redirect_uri": "HTTPS://app.example.org/callback"}, id="another spelling"),
        pytest.param({"redirect_uri": "https://app.example.org\\@evil.example/callback"}, id="backslash"),
        pytest.param({"redirect_uri": "https://äpp.example.org/callback"}, id="not ASCII"),
        pytest.param({"redirect_uri": "javascript:alert(1)"}, id="script"),
        pytest.param({"redirect_uri": "//evil.example"}, id="no scheme"),
        pytest.param({"redirect_uri": "https://evil.example", "response_type": "token"}, id="with another error"),
        pytest.param({"client_id": "0" * 32}, id="unknown client"),
        pytest.param({"client_id": "\0" * 32}, id="null characters"),
        pytest.param({"client_id": None}, id="no client"),
        pytest.param({"scope": '"\\ü'}, id="characters of a scope"),
        pytest.param({"response_type": 'co"de'}, id="characters of a response type"),
    ],
)
def test_nobody_is_sent_to_an_address_that_is_not_registered(world, changes):
    """What is wrong with the client or the address is told to the person alone, on both steps."""
    client_id, _ = world.client()
    query = world.request(client_id, **changes)
    browser = world.browser()
    form = {**query, "csrfmiddlewaretoken": CSRF, "decision": "allow"}

    for response in (browser.get("/o/authorize/", params=query), browser.post("/o/authorize/", data=form)):
        assert response.status_code == 400
        assert "location" not in response.headers
        assert response.headers["content-type"].startswith("text/html")
    assert world.stored == (0, 0, 0)


@pytest.mark.parametrize("name", ["client_id", "redirect_uri", "state", "code_challenge"])
def test_a_parameter_may_be_there_once(world, name):
    """Of two that contradict each other none is believed."""
    client_id, _ = world.client()
    query = [*world.request(client_id).items(), (name, "other")]

    response = world.browser().get("/o/authorize/", params=query)

    assert response.status_code == 400
    assert "more than once" in response.text


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        pytest.param({"response_type": "token"}, "unsupported_response_type", id="implicit"),
        pytest.param({"scope": "read everything"}, "invalid_scope", id="unknown scope"),
        pytest.param({"scope": "plugins"}, "invalid_scope", id="scope that the client may not have"),
        pytest.param({"code_challenge": None, "code_challenge_method": None}, "invalid_request", id="no PKCE"),
        pytest.param({"code_challenge_method": "plain"}, "invalid_request", id="PKCE plain"),
        pytest.param({"code_challenge_method": None}, "invalid_request", id="PKCE method left out"),
        pytest.param({"code_challenge": "short"}, "invalid_request", id="PKCE short"),
    ],
)
def test_the_client_learns_what_is_wrong_with_its_request(world, changes, error):
    """With client and address in order, the error goes to the client, with its state."""
    client_id, _ = world.client(public=True, scopes=["read", "write"])

    response = world.browser().get("/o/authorize/", params=world.request(client_id, **changes))

    assert response.headers["location"].startswith(f"{CALLBACK}?")
    sent = query_of(response)
    assert (sent["error"], sent["state"], sent["iss"]) == (error, "xyz", "http://testserver")
    assert world.stored == (0, 0, 0)


def test_a_confidential_client_may_do_without_pkce_but_not_with_plain(world):
    """Its secret protects the code; what it begins with a challenge ends with a verifier, and the other way round."""
    client = world.client()
    without = {"code_challenge": None, "code_challenge_method": None}

    plain = world.browser().get("/o/authorize/", params=world.request(client[0], code_challenge_method="plain"))
    assert query_of(plain)["error"] == "invalid_request"
    assert world.redeem(client, world.code(client[0], **without)).json()["error"] == "invalid_request"
    assert world.stored == (1, 1, 0)
    answer = world.redeem(client, world.code(client[0], **without), code_verifier="")
    assert answer.status_code == 200
    assert world.stored == (2, 1, 1)


def test_without_a_scope_it_is_the_least(world):
    """A client that names no scope gets ``read``."""
    client = world.client()

    assert world.tokens(client, scope=None)["scope"] == "read"


@pytest.mark.parametrize(
    ("registered", "asked", "public", "good"),
    [
        ("http://127.0.0.1/cb", "http://127.0.0.1:50123/cb", True, True),
        ("http://127.0.0.1:80/cb", "http://127.0.0.1/cb", True, True),
        ("http://[::1]:8000/cb?a=1", "http://[::1]:9/cb?a=1", True, True),
        ("http://127.0.0.1/cb", "http://127.0.0.1:50123/cb", False, False),
        ("http://127.0.0.1/cb", "http://127.0.0.1:50123/other", True, False),
        ("http://127.0.0.1/cb", "http://127.0.0.1:50123@evil.example/cb", True, False),
        ("http://127.0.0.1/cb", "http://127.0.0.1:99999/cb", True, False),
        ("http://127.0.0.1/cb", "http://127.0.0.1:0/cb", True, False),
        ("http://127.0.0.1/cb", "http://[::1]/cb", True, False),
        ("http://127.0.0.1/cb", "https://127.0.0.1:443/cb", True, False),
        ("http://localhost/cb", "http://localhost:8000/cb", True, False),
        ("https://a.example/cb", "https://a.example:444/cb", True, False),
        ("org.example.app:/cb", "org.example.app:/cb", True, True),
    ],
)
def test_an_app_takes_the_port_that_is_free(registered, asked, public, good):
    """Only public clients, only on loopback addresses, and nothing but the port may differ."""
    assert is_registered(asked, [registered], public=public) is good


@pytest.mark.parametrize(
    ("uri", "public", "good"),
    [
        ("https://a.example/cb?x=1", False, True),
        ("http://127.0.0.1/cb", False, True),
        ("http://[::1]:8000/", True, True),
        ("http://localhost:3000/cb", False, True),
        ("org.example.app:/cb", True, True),
        ("org.example.app:/cb", False, False),
        ("http://a.example/cb", False, False),
        ("https://a.example/cb#x", False, False),
        ("https://user@a.example/cb", False, False),
        ("https://*", False, False),
        ("https:///cb", False, False),
        ("https://a.example:port/", False, False),
        ("javascript:alert(1)", True, False),
        ("data:text/html,x", True, False),
        ("file:///etc/passwd", True, False),
        ("/cb", True, False),
        ("https://a.example/\n", False, False),
        ("https://a.example/<x>", False, False),
        ("https://a.example/" + "x" * 2000, False, False),
    ],
)
def test_which_addresses_can_be_registered(uri, public, good):
    """Nothing that can be read on the way, run by a browser or read in two ways."""
    assert (redirect_problem(uri, public=public) is None) is good


def test_the_metadata_document_is_valid(world):
    """Clients find everything by one document, also where the host is reached under another address."""
    from authlib.oauth2.rfc8414 import AuthorizationServerMetadata  # noqa: PLC0415 - only here

    world.config.site_url = "https://host.example/"
    answer = world.browser(None).get("/.well-known/oauth-authorization-server")

    document = answer.json()
    AuthorizationServerMetadata(document).validate()
    assert document["issuer"] == "https://host.example"
    assert document["token_endpoint"] == "https://host.example/o/token/"
    assert document["scopes_supported"] == ["read", "write", "plugins", "staff"]
    assert document["code_challenge_methods_supported"] == ["S256"]
    assert len(CHALLENGE) == 43


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/o/token/"), ("PUT", "/o/authorize/"), ("GET", "/o/introspect/")]
)
def test_other_methods_are_refused(world, method, path):
    """They get 405 with the methods that there are."""
    response = world.browser().request(method, path)

    assert response.status_code == 405
    assert "POST" in response.headers["allow"]
