"""Providers on real sockets: one speaks OpenID Connect, one is like GitHub. Both consent at once."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, parse_qsl, unquote, urlencode, urlsplit

import requests
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, RSAKey

CLIENT_ID = "plugyard-test"
SECRET = "s3cret-of-the-client"
GITHUB_SECRET = "s3cret-of-the-app"

Reply = tuple[int, Mapping[str, str], bytes]


@cache
def rsa_key() -> RSAKey:
    """Give the key with which the provider signs; made once, as that takes long."""
    return RSAKey.generate_key(2048, {"kid": "first", "use": "sig", "alg": "RS256"})


def reply(value: object, status: int = 200) -> Reply:
    return status, {"Content-Type": "application/json"}, json.dumps(value).encode()


@dataclass(frozen=True)
class Call:
    """A request that a provider got."""

    method: str
    path: str
    query: dict[str, str]
    form: dict[str, str]
    headers: dict[str, str]

    @property
    def bearer(self) -> str:
        return self.headers.get("authorization", "").removeprefix("Bearer ")

    def client(self) -> tuple[str, str]:
        """Return the client and its secret, by header or form."""
        kind, _, text = self.headers.get("authorization", "").partition(" ")
        if kind == "Basic":
            name, _, secret = base64.b64decode(text).decode().partition(":")
            return unquote(name), unquote(secret)
        return self.form.get("client_id", ""), self.form.get("client_secret", "")


@dataclass
class Grant:
    """A code that was handed out."""

    user: str
    asked: dict[str, str]


class ProviderServer:
    """A provider on a real socket; a context manager."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.instead: dict[str, Callable[[Call], Reply]] = {}
        """Answers that replace the right ones, by path."""
        self.grants: dict[str, Grant] = {}
        self.access_tokens: dict[str, tuple[str, str]] = {}
        """Person and client, by token."""
        self.routes: dict[str, Callable[[Call], Reply]] = {}
        self.signed_in = "ada"
        """Who sits before the browser."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Go down: connections are refused from now on."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()

    def asked(self, path: str) -> list[Call]:
        """Return the requests for a path."""
        return [call for call in self.calls if call.path == path]

    def visit(self, url: str) -> dict[str, str]:
        """Go there as a browser does, and return the query with which it is sent back."""
        answer = requests.get(url, allow_redirects=False, timeout=10)
        assert answer.status_code == 302, answer.text
        return dict(parse_qsl(urlsplit(answer.headers["Location"]).query))

    def answer(self, call: Call) -> Reply:
        self.calls.append(call)
        route = self.instead.get(call.path) or self.routes.get(call.path)
        return route(call) if route else reply({"error": "not found"}, 404)

    def authorize(self, call: Call) -> Reply:
        asked = call.query
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(16)
        self.grants[code] = Grant(self.signed_in, asked)
        back = {"code": code, "state": asked["state"]} | self.further_answer()
        return 302, {"Location": f"{asked['redirect_uri']}?{urlencode(back)}"}, b""

    def further_answer(self) -> dict[str, str]:
        return {}

    def redeem(self, call: Call, client: tuple[str, str]) -> Grant | Reply:
        """Return what a code stands for, once, when the verifier of PKCE fits; or why not."""
        form = call.form
        if call.client() != client:
            return reply({"error": "invalid_client"}, 401)
        grant = self.grants.pop(form.get("code", ""), None)
        challenge = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if (
            grant is None
            or form.get("grant_type") != "authorization_code"
            or form.get("redirect_uri") != grant.asked["redirect_uri"]
            or base64.urlsafe_b64encode(challenge).rstrip(b"=").decode() != grant.asked["code_challenge"]
        ):
            return reply({"error": "invalid_grant"}, 400)
        return grant

    def access_token(self, user: str, client_id: str = CLIENT_ID) -> str:
        """Make an access token."""
        text = secrets.token_urlsafe(16)
        self.access_tokens[text] = (user, client_id)
        return text


@dataclass
class Keys:
    """The keys of a provider."""

    signing: RSAKey | ECKey = field(default_factory=rsa_key)
    published: list[RSAKey | ECKey] = field(default_factory=lambda: [rsa_key()])


class OidcServer(ProviderServer):
    """An OpenID Connect provider: discovery, PKCE, RS256, userinfo, introspection."""

    def __init__(self) -> None:
        super().__init__()
        self.keys = Keys()
        self.clock: Callable[[], float] = time.time
        self.metadata_changes: dict[str, Any] = {}
        self.claim_changes: dict[str, Any] = {}
        """For ID tokens; a value of None leaves the claim out."""
        self.users: dict[str, dict[str, Any]] = {
            "ada": {
                "sub": "248289761001",
                "email": "Ada@Example.org",
                "email_verified": True,
                "preferred_username": "ada",
                "given_name": "Ada",
                "family_name": "Lovelace",
            },
            "bob": {"sub": "2", "email": "bob@example.org", "email_verified": False, "name": "Bob van der Berg"},
        }
        self.routes = {
            "/.well-known/openid-configuration": lambda _: reply(self.metadata()),
            "/authorize": self.authorize,
            "/token": self._token,
            "/jwks": lambda _: reply(KeySet(list(self.keys.published)).as_dict(private=False)),
            "/userinfo": self._userinfo,
            "/introspect": self._introspect,
        }

    def metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/jwks",
            "userinfo_endpoint": f"{self.url}/userinfo",
            "introspection_endpoint": f"{self.url}/introspect",
            "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"],
            "authorization_response_iss_parameter_supported": True,
        } | self.metadata_changes

    def further_answer(self) -> dict[str, str]:
        return {"iss": self.url}

    def id_token(self, user: str = "ada", *, header: Mapping[str, Any] | None = None, **changes: Any) -> str:
        """Sign an ID token; a claim of None is left out."""
        moment = int(self.clock())
        claims = {
            "iss": self.url,
            "aud": CLIENT_ID,
            "iat": moment,
            "exp": moment + 300,
            "jti": secrets.token_hex(8),
            **self.users[user],
            **self.claim_changes,
            **changes,
        }
        key = self.keys.signing
        algorithm = "ES256" if isinstance(key, ECKey) else "RS256"
        return jwt.encode(
            {"alg": algorithm, "kid": key.kid, **(header or {})},
            {name: value for name, value in claims.items() if value is not None},
            key,
        )

    def _token(self, call: Call) -> Reply:
        grant = self.redeem(call, (CLIENT_ID, SECRET))
        if not isinstance(grant, Grant):
            return grant
        access_token = self.access_token(grant.user)
        half = hashlib.sha256(access_token.encode()).digest()[:16]
        at_hash = base64.urlsafe_b64encode(half).rstrip(b"=").decode()
        id_token = self.id_token(
            grant.user, **({"nonce": grant.asked["nonce"], "at_hash": at_hash} | self.claim_changes)
        )
        return reply({"access_token": access_token, "token_type": "Bearer", "expires_in": 1, "id_token": id_token})

    def _userinfo(self, call: Call) -> Reply:
        if call.bearer not in self.access_tokens:
            return reply({"error": "invalid_token"}, 401)
        return reply(self.users[self.access_tokens[call.bearer][0]])

    def _introspect(self, call: Call) -> Reply:
        if call.client() != (CLIENT_ID, SECRET):
            return reply({"error": "invalid_client"}, 401)
        user, client_id = self.access_tokens.get(call.form["token"], ("", ""))
        if not user:
            return reply({"active": False})
        return reply({"active": True, "client_id": client_id, "sub": self.users[user]["sub"]})


class GithubServer(ProviderServer):
    """A provider of plain OAuth 2.0 with the paths of GitHub's edition for own servers."""

    def __init__(self) -> None:
        super().__init__()
        self.profile: dict[str, Any] = {
            "id": 583231,
            "login": "ada",
            "name": "Ada Lovelace",
            "email": "shown@example.org",
        }
        self.emails: list[dict[str, Any]] = [
            {"email": "second@example.org", "primary": False, "verified": True},
            {"email": "ada@example.org", "primary": True, "verified": True},
        ]
        self.routes = {
            "/login/oauth/authorize": self.authorize,
            "/login/oauth/access_token": self._token,
            "/api/v3/user": lambda call: self._known(call, self.profile),
            "/api/v3/user/emails": lambda call: self._known(call, self.emails),
        }

    def _token(self, call: Call) -> Reply:
        grant = self.redeem(call, (CLIENT_ID, GITHUB_SECRET))
        if not isinstance(grant, Grant):
            # GitHub tells of errors with status 200.
            return reply({"error": "bad_verification_code"})
        return reply({"access_token": self.access_token(grant.user), "token_type": "bearer", "scope": "user:email"})

    def _known(self, call: Call, value: object) -> Reply:
        return reply(value) if call.bearer in self.access_tokens else reply({"message": "Bad credentials"}, 401)


def _handler(server: ProviderServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *arguments: object) -> None:
            """Keep quiet."""

        def _serve(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            call = Call(
                method=self.command,
                path=parts.path,
                query={name: values[0] for name, values in parse_qs(parts.query).items()},
                form={name: values[0] for name, values in parse_qs(body).items()},
                headers={name.lower(): value for name, value in self.headers.items()},
            )
            status, headers, content = server.answer(call)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = _serve  # noqa: N815 - the names of the base

    return Handler
