"""Credentials of security keys as clients send them: read, and checked against the ceremony that asked for them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from cryptography.exceptions import InvalidSignature
from webauthn.helpers import (
    base64url_to_bytes,
    bytes_to_base64url,
    decode_credential_public_key,
    decoded_public_key_to_cryptography,
    encode_cbor,
    parse_cbor,
    parse_client_data_json,
)
from webauthn.helpers.exceptions import WebAuthnException

from host.accounts.problems import Problem, RefusedValuesError

# What the parsers of formats that strangers fill in may raise.
MALFORMED = (
    WebAuthnException,
    InvalidSignature,
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)

_EMPTY: tuple[object, ...] = (None, "", [], {})
_NO_ATTESTATION = {"fmt": "none", "attStmt": {}}


def read_credential(value: object) -> dict[str, Any]:
    """Return a credential that came as an object or as the JSON text of one; its members are not checked yet.

    Raises:
        RefusedValuesError: it is missing or something else.

    """
    if isinstance(value, str):
        value = value.strip()
    if value in _EMPTY:
        raise RefusedValuesError({"credential": [Problem("required", "Give the answer of the security key.")]})
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            value = None
    if not isinstance(value, dict):
        message = "Give the answer of the security key as an object, or as the JSON text of one."
        raise RefusedValuesError({"credential": [Problem("invalid", message)]})
    return value


def allowed_origin(credential: Mapping[str, Any], rp_id: str, *, insecure: bool) -> str:
    """Return the page's origin that the client vouches for.

    It must be the site itself or one below it, by https; by http on this machine, or where ``insecure`` allows it.

    Raises:
        ValueError: it is another, or the page was shown within a page of another.
        Exception: one of ``MALFORMED``.

    """
    client_data = parse_client_data_json(base64url_to_bytes(credential["response"]["clientDataJSON"]))
    origin: object = client_data.origin
    if not isinstance(origin, str) or client_data.cross_origin:
        raise ValueError("The origin is none that may be used.")
    parts = urlsplit(origin)
    host = parts.hostname or ""
    if f"{parts.scheme}://{parts.netloc}" != origin or "@" in parts.netloc:
        raise ValueError("The origin is malformed.")
    if host != rp_id and not host.endswith(f".{rp_id}"):
        raise ValueError("The origin is another site.")
    here = host == "localhost" or host.endswith(".localhost")
    if parts.scheme != "https" and not (parts.scheme == "http" and (here or insecure)):
        raise ValueError("The origin is insecure.")
    return origin


def without_attestation(credential: Mapping[str, Any]) -> dict[str, Any]:
    """Return a new credential without what its maker says about the device.

    None is asked for and none would be believed, so none of the many formats is read.

    Raises:
        Exception: one of ``MALFORMED``.

    """
    response = credential["response"]
    attestation = parse_cbor(base64url_to_bytes(response["attestationObject"]))
    plain = encode_cbor({**_NO_ATTESTATION, "authData": attestation["authData"]})
    return {**credential, "response": {**response, "attestationObject": bytes_to_base64url(plain)}}


def check_public_key(public_key: bytes, *, longest: int) -> None:
    """Check that signatures can be verified with a public key.

    Raises:
        Exception: one of ``MALFORMED``.

    """
    if len(public_key) > longest:
        raise ValueError("The public key is too long.")
    decoded_public_key_to_cryptography(decode_credential_public_key(public_key))


def says_passwordless(credential: Mapping[str, Any]) -> bool | None:
    """Return whether the client says that a new key can sign in alone; ``None``: it says nothing."""
    value: Any = credential
    for member in ("clientExtensionResults", "credProps", "rk"):
        value = value.get(member) if isinstance(value, dict) else None
    return value if isinstance(value, bool) else None
