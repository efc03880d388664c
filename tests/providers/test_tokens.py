"""Signing in by a token that an app got from the provider itself."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey
from sqlalchemy import select

from host.accounts.problems import Problem, RefusedValuesError
from host.accounts.providers.client import Providers
from host.accounts.providers.id_tokens import LEEWAY
from host.accounts.providers.seen import SEEN
from host.storage.engine import Database
from tests.providers.conftest import Clock
from tests.providers.oidc_server import CLIENT_ID, SECRET, OidcServer, reply, rsa_key


@pytest.fixture
def providers(oidc: OidcServer, providers_of: Callable[[dict[str, Any]], Providers]) -> Providers:
    my = {"provider_id": "my", "name": "My", "client_id": CLIENT_ID, "secret": SECRET}
    apps = [my | {"settings": {"server_url": oidc.url, "app_client_ids": ["phone"]}}]
    return providers_of(
        {"openid_connect": {"APPS": apps}, "github": {"client_id": "octo", "secret": "s", "server_url": oidc.url}}
    )


def refusal(providers: Providers, token: object, provider: str = "my") -> tuple[str, Problem]:
    """Return the member and the reason for which a token is refused."""
    with pytest.raises(RefusedValuesError) as caught:
        providers.from_token(provider, token)
    ((member, (problem,)),) = caught.value.problems.items()
    return member, problem


def stored(database: Database) -> list[Any]:
    with database.read() as connection:
        return list(connection.execute(select(SEEN)))


def unsigned(oidc: OidcServer, header: dict[str, str]) -> str:
    """Return an ID token that claims to need no signature."""
    payload = oidc.id_token().split(".")[1]
    head = base64.urlsafe_b64encode(json.dumps(header).encode()).rstrip(b"=").decode()
    return f"{head}.{payload}."


def signed_with_the_public_key(oidc: OidcServer) -> str:
    """Return an ID token whose shared secret is what everybody can read."""
    claims = json.loads(base64.urlsafe_b64decode(oidc.id_token().split(".")[1] + "=="))
    public = rsa_key().as_pem(private=False)
    return jwt.encode({"alg": "HS256", "kid": "first"}, claims, OctKey.import_key(base64.b64encode(public)))


def with_own_key(oidc: OidcServer) -> str:
    """Return an ID token that brings the key along by which to check it."""
    key = RSAKey.generate_key(2048, {"kid": "mine"})
    claims = json.loads(base64.urlsafe_b64decode(oidc.id_token().split(".")[1] + "=="))
    return jwt.encode({"alg": "RS256", "jwk": key.as_dict(private=False)}, claims, key)


def test_an_id_token_signs_in_once(providers: Providers, oidc: OidcServer, sqlite_database: Database, clock: Clock):
    """The second use is refused for as long as the token would be valid; other tokens are not hindered."""
    token = {"client_id": CLIENT_ID, "id_token": oidc.id_token()}

    identity = providers.from_token("my", token)

    assert (identity.uid, identity.email, identity.email_verified) == ("248289761001", "ada@example.org", True)
    (row,) = stored(sqlite_database)
    assert row.digest == hashlib.sha256(token["id_token"].rpartition(".")[0].encode()).hexdigest()
    assert refusal(providers, token)[1].code == "invalid_token"
    assert "used before" in refusal(providers, token)[1].message
    assert providers.from_token("my", {"client_id": CLIENT_ID, "id_token": oidc.id_token()}) == identity
    clock.pass_(300 + LEEWAY)
    assert refusal(providers, token)[1].code == "invalid_token"
    assert row.expiry > clock()


def test_a_provider_that_is_down_does_not_use_a_token_up(providers, oidc: OidcServer, sqlite_database):
    """What could not be looked up can be tried again."""
    access_token = oidc.access_token("ada")
    token = {"client_id": CLIENT_ID, "id_token": oidc.id_token(), "access_token": access_token}
    oidc.instead["/userinfo"] = lambda _: reply({}, 503)
    assert refusal(providers, token)[1].code == "invalid_token"
    assert stored(sqlite_database) == []

    oidc.instead.clear()
    assert providers.from_token("my", token).uid == "248289761001"
    assert len(stored(sqlite_database)) == 1


def test_an_app_of_the_same_owner_has_a_client_of_its_own(providers: Providers, oidc: OidcServer):
    """Its tokens are accepted under its own name only."""
    token = oidc.id_token(aud="phone")

    assert refusal(providers, {"client_id": CLIENT_ID, "id_token": token})[1].code == "invalid_token"
    assert providers.from_token("my", {"client_id": "phone", "id_token": token}).uid == "248289761001"


@pytest.mark.parametrize(
    ("provider", "token", "member", "code"),
    [
        ("my", None, "token", "invalid_token"),
        ("my", "text", "token", "invalid_token"),
        ("my", [], "token", "invalid_token"),
        ("my", {}, "token", "client_id_required"),
        ("my", {"client_id": 5, "id_token": "x"}, "token", "client_id_required"),
        ("nobody", {"client_id": CLIENT_ID, "id_token": "x"}, "token", "invalid_token"),
        ("my", {"client_id": "another", "id_token": "x"}, "token", "invalid_token"),
        ("my", {"client_id": CLIENT_ID}, "token", "token_required"),
        ("my", {"client_id": CLIENT_ID, "id_token": None, "access_token": None}, "token", "token_required"),
        ("my", {"client_id": CLIENT_ID, "id_token": {"a": 1}}, "token", "invalid_token"),
        ("my", {"client_id": CLIENT_ID, "id_token": ""}, "token", "invalid_token"),
        ("my", {"client_id": CLIENT_ID, "id_token": "a.b.c"}, "token", "invalid_token"),
        ("my", {"client_id": CLIENT_ID, "id_token": "\ud800.b.c"}, "token", "invalid_token"),
        ("my", {"client_id": CLIENT_ID, "id_token": "x" * 200_000}, "token", "invalid_token"),
        ("my", {"client_id": CLIENT_ID, "access_token": "unknown"}, "token", "invalid_token"),
        ("my", {"client_id": CLIENT_ID, "access_token": "a\r\nX-Evil: 1"}, "token", "invalid_token"),
        ("github", {"client_id": "octo", "access_token": "x"}, "provider", "token_authentication_not_supported"),
    ],
)
def test_input_that_is_not_right_is_refused_with_its_code(
    providers: Providers, sqlite_database, provider, token, member, code
):
    """The codes are those that clients know; nothing is remembered."""
    blamed, problem = refusal(providers, token, provider)

    assert (blamed, problem.code) == (member, code)
    assert stored(sqlite_database) == []


@pytest.mark.parametrize(
    "forge",
    [
        pytest.param(lambda oidc: unsigned(oidc, {"alg": "none"}), id="unsigned"),
        pytest.param(lambda oidc: unsigned(oidc, {"alg": "none", "kid": "first"}), id="unsigned, with a key"),
        pytest.param(lambda oidc: unsigned(oidc, {}), id="no algorithm"),
        pytest.param(signed_with_the_public_key, id="the public key as a secret"),
        pytest.param(with_own_key, id="with its own key"),
        pytest.param(lambda oidc: oidc.id_token(header={"kid": "unknown"}), id="unknown key"),
        pytest.param(lambda oidc: oidc.id_token(header={"crit": ["b64"], "b64": False}), id="unencoded"),
        pytest.param(lambda oidc: oidc.id_token(iss="https://evil.example.org"), id="another issuer"),
        pytest.param(lambda oidc: oidc.id_token(exp=1), id="expired"),
        pytest.param(lambda oidc: oidc.id_token()[:-8] + "AAAAAAAA", id="another signature"),
    ],
)
def test_forged_tokens_sign_nobody_in(providers: Providers, oidc: OidcServer, sqlite_database, forge):
    """Only what the provider has signed by a published key counts."""
    _, problem = refusal(providers, {"client_id": CLIENT_ID, "id_token": forge(oidc)})

    assert problem.code == "invalid_token"
    assert stored(sqlite_database) == []


def test_an_access_token_must_have_been_made_for_us(providers: Providers, oidc: OidcServer):
    """Another app's owner holds access tokens of its users and must not become them here."""
    ours, foreign = oidc.access_token("ada"), oidc.access_token("ada", "another")

    identity = providers.from_token("my", {"client_id": CLIENT_ID, "access_token": ours})

    assert (identity.uid, identity.email) == ("248289761001", "ada@example.org")
    assert refusal(providers, {"client_id": CLIENT_ID, "access_token": foreign})[1].code == "invalid_token"
    assert [call.bearer for call in oidc.asked("/userinfo")] == [ours]


def test_a_provider_that_tells_nothing_of_access_tokens_needs_id_tokens(providers: Providers, oidc: OidcServer):
    """Without introspection nobody knows for whom one was made."""
    oidc.metadata_changes["introspection_endpoint"] = None

    _, problem = refusal(providers, {"client_id": CLIENT_ID, "access_token": oidc.access_token("ada")})

    assert problem.code == "invalid_token"
    assert "id_token" in problem.message
    assert oidc.asked("/userinfo") == []


def test_clients_are_told_what_providers_can_do(providers: Providers, oidc: OidcServer):
    """By name, with the flows of each; one that is gone keeps its id."""
    assert [one.as_json() for one in providers.all()] == [
        {"id": "github", "name": "GitHub", "flows": ["provider_redirect"], "client_id": "octo"},
        {
            "id": "my",
            "name": "My",
            "flows": ["provider_redirect", "provider_token"],
            "client_id": CLIENT_ID,
            "openid_configuration_url": f"{oidc.url}/.well-known/openid-configuration",
        },
    ]
    assert providers.describe("gone") == {"id": "gone", "name": "gone", "flows": []}
