"""ID tokens: who signed them, for whom, and for how long."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from authlib.oidc.core import CodeIDToken
from joserfc import jws, jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import JWKRegistry, Key, KeySet

LEEWAY = 30
"""How far the clocks of provider and host may differ, in seconds."""

# Public keys only: a shared secret or no signature at all would let others sign. Unknown headers are passed over
# (RFC 7515).
_SIGNATURES = jws.JWSRegistry(
    algorithms=["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512"],
    strict_check_header=False,
)
_LONGEST_LIFE = timedelta(days=366)


class UnknownKeyError(ValueError):
    """The token names a key that is not among those of the provider."""


class BadTokenError(ValueError):
    """The token is not what it claims to be, or not for us, or not for now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What an ID token must say."""

    issuer: str
    client_id: str
    nonce: str | None = None
    access_token: str | None = None
    """The one that came with it."""


@dataclass(frozen=True, slots=True)
class IdToken:
    """An ID token that proved right."""

    claims: dict[str, Any]
    digest: str
    """Of what was signed: other spellings of the signature do not make it another token."""
    expiry: datetime
    """From when on it would be refused."""


def public_keys(found: Iterable[object]) -> KeySet:
    """Return those of a provider's published keys that can have signed; those of unknown kinds are left out."""
    keys: list[Key] = []
    for data in found:
        if not isinstance(data, dict) or data.get("kty") not in {"RSA", "EC"} or data.get("use", "sig") != "sig":
            continue
        try:
            key = JWKRegistry.import_key(cast("dict[str, Any]", data))
            key.ensure_kid()
        except (JoseError, ValueError, TypeError, KeyError):
            continue
        keys.append(key)
    return KeySet(keys)


def read_id_token(text: str, keys: KeySet, expected: Expected, moment: datetime) -> IdToken:
    """Check an ID token and return what it says.

    Raises:
        UnknownKeyError: its key is not among those given; newer ones may hold it.
        BadTokenError: it is not to be trusted.

    """
    try:
        token = jwt.decode(text, keys, registry=_SIGNATURES)
    except InvalidKeyIdError as error:
        raise UnknownKeyError("The token's key is not known.") from error
    except (JoseError, ValueError, TypeError, RecursionError) as error:
        raise BadTokenError(f"The token cannot be read, or its signature is wrong ({type(error).__name__}).") from error
    options = {
        "iss": {"essential": True, "value": expected.issuer},
        "aud": {"essential": True, "value": expected.client_id},
    }
    params = {"client_id": expected.client_id, "nonce": expected.nonce, "access_token": expected.access_token}
    claims = CodeIDToken(token.claims, token.header, options, params)
    try:
        claims.validate(now=int(moment.timestamp()), leeway=LEEWAY)
        expiry = datetime.fromtimestamp(claims["exp"] + LEEWAY + 1, UTC)
    except (JoseError, ValueError, TypeError, OverflowError, OSError) as error:
        raise BadTokenError(f"The token is not for this host, or not for now ({error}).") from error
    if expiry - moment > _LONGEST_LIFE:
        raise BadTokenError("The token is valid for more than a year.")
    signed = text.rpartition(".")[0]
    return IdToken(dict(token.claims), hashlib.sha256(signed.encode()).hexdigest(), expiry)
