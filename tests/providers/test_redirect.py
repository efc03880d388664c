"""Signing in by redirect, against providers that answer on this machine."""

from __future__ import annotations

import json
import threading
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from joserfc.jwk import ECKey, RSAKey
from sqlalchemy import func, select

from host.accounts.providers.discovery import COOLDOWN, KEEP
from host.accounts.providers.failures import Failure, ProviderError
from host.accounts.providers.identity import Identity
from host.accounts.providers.oauth2 import Provider
from host.accounts.providers.seen import SEEN, SeenTokens
from host.accounts.providers.settings import STATE_LIFE
from host.storage.engine import Database
from tests.providers.conftest import CALLBACK, Clock
from tests.providers.oidc_server import (
    CLIENT_ID,
    SECRET,
    Call,
    GithubServer,
    OidcServer,
    ProviderServer,
    Reply,
    reply,
    rsa_key,
)

DOCUMENT = "/.well-known/openid-configuration"


def sign_in(provider: Provider, server: ProviderServer, **changes: str) -> Identity:
    """Walk through the whole flow; what the browser brings back can be changed."""
    url, private = provider.begin(CALLBACK)
    kept = json.loads(json.dumps(private))
    return provider.finish(kept, CALLBACK, server.visit(url) | changes)


def stored_tokens(database: Database) -> int:
    with database.read() as connection:
        return connection.execute(select(func.count()).select_from(SEEN)).scalar_one()


def test_somebody_signs_in_by_openid_connect(my, oidc: OidcServer, sqlite_database: Database):
    """The provider's word arrives cleaned, and the token of it cannot be used again."""
    identity = sign_in(my(), oidc)

    assert (identity.provider, identity.uid) == ("my", "248289761001")
    assert (identity.email, identity.email_verified) == ("ada@example.org", True)
    assert (identity.username, identity.first_name, identity.last_name) == ("ada", "Ada", "Lovelace")
    assert identity.display == "ada"
    assert identity.extra["iss"] == oidc.url
    assert not {"access_token", "id_token", "nonce", "at_hash"} & identity.extra.keys()
    assert stored_tokens(sqlite_database) == 1


def test_the_request_for_authorization_says_what_it_must(my, oidc: OidcServer):
    """State, nonce and challenge are fresh each time, and the verifier stays with us."""
    provider = my(auth_params={"prompt": "select_account"})
    (first, one), (second, other) = provider.begin(CALLBACK), provider.begin(CALLBACK)

    query = {name: values[0] for name, values in parse_qs(urlsplit(first).query).items()}
    assert first.startswith(f"{oidc.url}/authorize?")
    assert query["redirect_uri"] == CALLBACK
    assert query["scope"] == "openid profile email"
    assert query["prompt"] == "select_account"
    assert (query["state"], query["nonce"]) == (one["state"], one["nonce"])
    assert one["code_verifier"] not in first
    assert not {one[name] for name in ("state", "nonce", "code_verifier")} & set(other.values())
    assert first != second


def test_a_public_client_needs_no_secret(my, oidc: OidcServer):
    """PKCE alone proves that the one who began comes back."""
    oidc.instead["/token"] = lambda call: oidc._token(
        Call(call.method, call.path, call.query, call.form | {"client_secret": SECRET}, call.headers)
    )

    assert sign_in(my(secret=""), oidc).uid == "248289761001"
    assert "client_secret" not in oidc.asked("/token")[0].form
    assert "authorization" not in oidc.asked("/token")[0].headers


def test_the_provider_says_how_the_client_proves_itself(my, oidc: OidcServer):
    """Where it takes the secret in the form only, it gets it there."""
    oidc.metadata_changes["token_endpoint_auth_methods_supported"] = ["client_secret_post"]

    assert sign_in(my(), oidc).uid == "248289761001"
    assert oidc.asked("/token")[0].form["client_secret"] == SECRET


def test_addresses_are_verified_only_where_the_provider_says_so(my, oidc: OidcServer):
    """An address nobody vouches for is told as such, unless the settings trust the provider in this."""
    oidc.signed_in = "bob"

    careful, trusting = sign_in(my(), oidc), sign_in(my(verified_email=True), oidc)

    assert (careful.email, careful.email_verified) == ("bob@example.org", False)
    assert (trusting.email, trusting.email_verified) == ("bob@example.org", True)
    assert (careful.first_name, careful.last_name, careful.username) == ("Bob", "van der Berg", "")


def test_userinfo_does_not_inherit_that_another_address_is_verified(my, oidc: OidcServer):
    """What the ID token says of one address holds for that one only."""
    oidc.instead["/userinfo"] = lambda _: reply({"sub": "248289761001", "email": "boss@example.org"})

    identity = sign_in(my(), oidc)

    assert (identity.email, identity.email_verified) == ("boss@example.org", False)


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        ({"error": "access_denied"}, Failure.CANCELLED),
        ({"error": "login_required"}, Failure.DENIED),
        ({"error": "server_error"}, Failure.UNKNOWN),
        ({"state": "another"}, Failure.UNKNOWN),
        ({"state": ""}, Failure.UNKNOWN),
        ({"state": "\udc80ü"}, Failure.UNKNOWN),
        ({"code": ""}, Failure.UNKNOWN),
        ({"code": "guessed"}, Failure.UNKNOWN),
        ({"iss": "https://evil.example.org"}, Failure.UNKNOWN),
    ],
)
def test_what_the_browser_brings_back_is_checked(my, oidc: OidcServer, sqlite_database, answer, failure):
    """Nobody is signed in by it, and the page is told why."""
    with pytest.raises(ProviderError) as caught:
        sign_in(my(), oidc, **answer)

    assert caught.value.failure is failure
    assert SECRET not in str(caught.value)
    assert stored_tokens(sqlite_database) == 0


def test_an_answer_without_the_issuer_is_refused_where_one_is_promised(my, oidc: OidcServer):
    """Otherwise leaving it out would get round the check."""
    provider = my()
    url, private = provider.begin(CALLBACK)
    params = oidc.visit(url)
    del params["iss"]

    with pytest.raises(ProviderError, match="does not come from"):
        provider.finish(private, CALLBACK, params)
    assert oidc.asked("/token") == []


def test_a_login_does_not_wait_for_ever(my, oidc: OidcServer, clock: Clock):
    """After ten minutes it has to be begun anew."""
    provider = my()
    url, private = provider.begin(CALLBACK)
    params = oidc.visit(url)
    clock.pass_(STATE_LIFE + 1)

    with pytest.raises(ProviderError, match="too long ago"):
        provider.finish(private, CALLBACK, params)
    assert oidc.asked("/token") == []


def test_another_verifier_gets_nothing(my, oidc: OidcServer):
    """Whoever catches a code cannot use it in a login of their own."""
    provider = my()
    url, private = provider.begin(CALLBACK)
    params = oidc.visit(url)

    with pytest.raises(ProviderError):
        provider.finish(private | {"code_verifier": "x" * 64}, CALLBACK, params)
    assert len(oidc.asked("/token")) == 1


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"nonce": "another"}, id="nonce of another login"),
        pytest.param({"nonce": None}, id="no nonce"),
        pytest.param({"aud": "another"}, id="for another client"),
        pytest.param({"aud": [CLIENT_ID, "another"]}, id="several clients and none named"),
        pytest.param({"aud": [CLIENT_ID, "another"], "azp": "another"}, id="another client asked"),
        pytest.param({"aud": None}, id="for nobody"),
        pytest.param({"iss": "https://evil.example.org"}, id="another issuer"),
        pytest.param({"exp": 1}, id="expired"),
        pytest.param({"exp": None}, id="never expires"),
        pytest.param({"exp": 10**30}, id="expires after the end of time"),
        pytest.param({"exp": float("inf")}, id="infinite"),
        pytest.param({"iat": 2**40}, id="issued in the future"),
        pytest.param({"nbf": 2**40}, id="not valid yet"),
        pytest.param({"sub": None}, id="about nobody"),
        pytest.param({"sub": 5}, id="subject is a number"),
        pytest.param({"sub": "x" * 256}, id="subject is too long"),
        pytest.param({"sub": "a\x00b"}, id="subject holds a NUL"),
        pytest.param({"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"}, id="another access token"),
        pytest.param({"at_hash": {"sha": 256}}, id="hash of a strange kind"),
        pytest.param({"sub": "somebody else"}, id="userinfo tells of somebody else"),
    ],
)
def test_an_id_token_that_is_not_right_signs_nobody_in(my, oidc: OidcServer, sqlite_database, changes):
    """Every claim that binds the token is checked, and a refused one is not remembered."""
    oidc.claim_changes = changes

    with pytest.raises(ProviderError) as caught:
        sign_in(my(), oidc)

    assert caught.value.failure is Failure.UNKNOWN
    assert stored_tokens(sqlite_database) == 0


def test_keys_are_kept_and_asked_for_again_when_an_unknown_one_signs(my, oidc: OidcServer, clock: Clock):
    """A provider may change its keys at any time, and tokens with made-up keys cannot make us ask all the time."""
    provider = my()
    sign_in(provider, oidc)
    sign_in(provider, oidc)
    assert (len(oidc.asked("/jwks")), len(oidc.asked(DOCUMENT))) == (1, 1)

    oidc.keys.signing = ECKey.generate_key("P-256", {"kid": "second", "use": "sig"})
    oidc.keys.published = [rsa_key(), oidc.keys.signing]
    with pytest.raises(ProviderError):
        sign_in(provider, oidc)
    assert len(oidc.asked("/jwks")) == 1

    clock.pass_(COOLDOWN.total_seconds())
    assert sign_in(provider, oidc).uid == "248289761001"
    assert (len(oidc.asked("/jwks")), len(oidc.asked(DOCUMENT))) == (2, 1)


def test_what_was_published_is_asked_for_again_after_a_while(my, oidc: OidcServer, clock: Clock):
    """A key that was withdrawn is not believed for ever."""
    provider = my()
    sign_in(provider, oidc)
    oidc.keys.published = [ECKey.generate_key("P-256", {"kid": "other"})]
    clock.pass_(KEEP.total_seconds())

    with pytest.raises(ProviderError):
        sign_in(provider, oidc)
    assert (len(oidc.asked("/jwks")), len(oidc.asked(DOCUMENT))) == (2, 2)


def test_a_foreign_key_of_the_same_name_is_not_believed(my, oidc: OidcServer):
    """The name of a key proves nothing."""
    oidc.keys.signing = RSAKey.generate_key(2048, {"kid": "first"})

    with pytest.raises(ProviderError, match="signature"):
        sign_in(my(), oidc)


def too_large(_call: Call) -> Reply:
    return 200, {"Content-Type": "application/json"}, b'"' + b"x" * (1024 * 1024) + b'"'


def elsewhere(_call: Call) -> Reply:
    return 302, {"Location": "http://127.0.0.1:1/latest/meta-data"}, b""


@pytest.mark.parametrize("path", [DOCUMENT, "/token", "/jwks", "/userinfo"])
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(lambda _: reply({}, 500), id="status 500"),
        pytest.param(lambda _: (200, {}, b"<html>"), id="no JSON"),
        pytest.param(lambda _: reply([]), id="no object"),
        pytest.param(lambda _: (200, {}, b"[" * 100_000), id="deep JSON"),
        pytest.param(too_large, id="too large"),
        pytest.param(elsewhere, id="redirect"),
    ],
)
def test_a_provider_out_of_order_signs_nobody_in(my, oidc: OidcServer, sqlite_database, path, answer):
    """Whatever it answers, the login ends with one kind of error."""
    oidc.instead[path] = answer

    with pytest.raises(ProviderError) as caught:
        sign_in(my(), oidc)

    assert caught.value.failure is Failure.UNKNOWN
    assert stored_tokens(sqlite_database) == 0


def test_a_provider_that_is_down_is_told_from_the_start(my, oidc: OidcServer):
    """Nobody is sent to a page that does not answer."""
    provider = my()
    oidc.stop()

    with pytest.raises(ProviderError, match="could not be reached"):
        provider.begin(CALLBACK)
    assert oidc.calls == []


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"issuer": "https://evil.example.org"}, id="another issuer"),
        pytest.param({"issuer": None}, id="no issuer"),
        pytest.param({"token_endpoint": None}, id="no token endpoint"),
        pytest.param({"jwks_uri": "http://public.example.org/keys"}, id="unencrypted keys"),
        pytest.param({"jwks_uri": "file:///etc/passwd"}, id="a file"),
        pytest.param({"userinfo_endpoint": "http://me:secret@127.0.0.1/"}, id="credentials"),
    ],
)
def test_a_description_that_cannot_be_trusted_is_refused(my, oidc: OidcServer, changes):
    """It could lead people and secrets elsewhere."""
    oidc.metadata_changes = changes

    with pytest.raises(ProviderError, match="describes itself wrongly"):
        my().begin(CALLBACK)
    assert [call.path for call in oidc.calls] == [DOCUMENT]


def test_an_issuer_of_another_name_can_be_configured(my, oidc: OidcServer):
    """A provider may be reached by another address than it calls itself."""
    oidc.metadata_changes = {"issuer": "https://login.example.org"}
    oidc.claim_changes = {"iss": "https://login.example.org"}

    identity = sign_in(my(issuer="https://login.example.org"), oidc, iss="https://login.example.org")

    assert identity.extra["iss"] == "https://login.example.org"


def test_somebody_signs_in_by_github(octo: Provider, github: GithubServer):
    """The primary address counts, not the one that the profile shows."""
    identity = sign_in(octo, github)

    assert (identity.provider, identity.uid, identity.username) == ("github", "583231", "ada")
    assert (identity.email, identity.email_verified) == ("ada@example.org", True)
    assert (identity.first_name, identity.last_name) == ("Ada", "Lovelace")
    assert github.asked("/login/oauth/authorize")[0].query["scope"] == "read:user user:email"


@pytest.mark.parametrize(
    ("emails", "expected"),
    [
        ([], ("", False)),
        ([{"email": "a@example.org", "primary": True, "verified": False}], ("a@example.org", False)),
        (["nonsense", {"email": 5, "primary": True, "verified": True}], ("", False)),
    ],
)
def test_github_vouches_for_verified_addresses_only(octo: Provider, github: GithubServer, emails, expected):
    """The shown address of the profile is never taken in their place."""
    github.emails = emails

    identity = sign_in(octo, github)

    assert (identity.email, identity.email_verified) == expected


def test_github_tells_of_a_wrong_code(octo: Provider, github: GithubServer):
    """Its status says 200 all the same."""
    with pytest.raises(ProviderError) as caught:
        sign_in(octo, github, code="guessed")

    assert caught.value.failure is Failure.UNKNOWN
    assert github.asked("/api/v3/user") == []


def test_any_oauth_provider_can_be_configured_by_its_addresses(providers_of, github: GithubServer):
    """Three addresses and the name of the id suffice."""
    settings = {
        "type": "oauth2",
        "client_id": CLIENT_ID,
        "secret": "s3cret-of-the-app",
        "authorize_url": f"{github.url}/login/oauth/authorize",
        "token_url": f"{github.url}/login/oauth/access_token",
        "userinfo_url": f"{github.url}/api/v3/user",
        "uid_field": "login",
        "scope": "profile,email",
    }
    provider = providers_of({"forge": settings}).get("forge")
    assert provider is not None

    identity = sign_in(provider, github)

    assert (identity.provider, identity.uid) == ("forge", "ada")
    assert (identity.email, identity.email_verified) == ("shown@example.org", False)
    assert github.asked("/login/oauth/authorize")[0].query["scope"] == "profile email"


def test_of_many_uses_of_one_token_one_is_the_first(database: Database, clock: Clock):
    """Also when they come at the same time; and what has expired is forgotten."""
    seen, results = SeenTokens(database, clock=clock), []
    barrier = threading.Barrier(8)

    def use() -> None:
        barrier.wait()
        results.append(seen("d" * 64, clock() + timedelta(minutes=5)))

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(results) == [False] * 7 + [True]
    assert stored_tokens(database) == 1
    clock.pass_(301)
    assert seen("e" * 64, clock() + timedelta(minutes=5))
    assert stored_tokens(database) == 1
