"""A security key in software, together with the browser that stands before it."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, mldsa, padding, rsa
from webauthn.helpers import base64url_to_bytes, bytes_to_base64url, encode_cbor

ORIGIN = "https://plugyard.example"

_PRESENT, _VERIFIED, _ATTESTED = 0x01, 0x04, 0x40
_ML_DSA: dict[int, Any] = {-48: mldsa.MLDSA44PrivateKey, -49: mldsa.MLDSA65PrivateKey, -50: mldsa.MLDSA87PrivateKey}


class NotAllowedError(Exception):
    """The browser finds no key that may answer."""


@dataclass
class StoredKey:
    """One key pair for one site."""

    id: bytes
    rp_id: str
    user_handle: bytes
    private: Any
    algorithm: int
    resident: bool
    sign_count: int


class SoftwareAuthenticator:
    """Makes keys and signs with them, as a browser at ``origin`` would have it do.

    Args:
        origin: of the page.
        algorithm: what new keys sign with, when the options offer it.
        verifies_user: it has a PIN, and its user knows it.
        counts: it counts signatures; passkeys that are copied between devices do not.

    """

    def __init__(
        self, origin: str = ORIGIN, *, algorithm: int = -7, verifies_user: bool = True, counts: bool = True
    ) -> None:
        self.origin = origin
        self.algorithm = algorithm
        self.verifies_user = verifies_user
        self.counts = counts
        self.keys: list[StoredKey] = []

    def create(self, options: Mapping[str, Any], **lies: Any) -> dict[str, Any]:
        """Make a key and return the credential as its JSON form.

        Args:
            options: creation options as the service gives them, with or without ``publicKey`` around them.
            lies: what to say instead: members of the client data, ``rp_id``, ``user_present``, ``user_verified``,
                ``sign_count``, ``fmt``, ``public_key``.

        """
        options = options.get("publicKey", options)
        excluded = {base64url_to_bytes(known["id"]) for known in options["excludeCredentials"]}
        if any(key.id in excluded for key in self.keys):
            raise NotAllowedError("This key is registered already.")
        if self.algorithm not in [offered["alg"] for offered in options["pubKeyCredParams"]]:
            raise NotAllowedError("No algorithm fits.")
        selection = options["authenticatorSelection"]
        private, public = _make(self.algorithm)
        key = StoredKey(
            id=secrets.token_bytes(32),
            rp_id=options["rp"]["id"],
            user_handle=base64url_to_bytes(options["user"]["id"]),
            private=private,
            algorithm=self.algorithm,
            resident=selection["residentKey"] == "required",
            sign_count=0,
        )
        self.keys.append(key)
        attested = bytes(16) + len(key.id).to_bytes(2, "big") + key.id + lies.pop("public_key", encode_cbor(public))
        fmt = lies.pop("fmt", "none")
        flags = self._flags(selection["userVerification"], lies) | _ATTESTED
        data = self._data(key, flags, lies) + attested
        statement = {} if fmt == "none" else {"sig": b"?", "x5c": [b"?"]}
        attestation = encode_cbor({"fmt": fmt, "attStmt": statement, "authData": data})
        response = {
            "clientDataJSON": self._client_data("webauthn.create", options, lies),
            "attestationObject": bytes_to_base64url(attestation),
            "transports": ["usb"],
        }
        extensions = {"credProps": {"rk": key.resident}} if options.get("extensions", {}).get("credProps") else {}
        return _credential(key, response, extensions)

    def get(self, options: Mapping[str, Any], **lies: Any) -> dict[str, Any]:
        """Sign a challenge and return the credential as its JSON form.

        Args:
            options: request options as the service gives them, with or without ``publicKey`` around them.
            lies: as for ``create``; also ``user_handle`` and ``signature``.

        """
        options = options.get("publicKey", options)
        key = self._choose(options)
        key.sign_count += self.counts
        data = self._data(key, self._flags(options["userVerification"], lies), lies)
        handle = lies.pop("user_handle", bytes_to_base64url(key.user_handle) if key.resident else None)
        signature = lies.pop("signature", None)
        client_data = self._client_data("webauthn.get", options, lies)
        if signature is None:
            signed = data + hashlib.sha256(base64url_to_bytes(client_data)).digest()
            signature = bytes_to_base64url(_sign(key, signed))
        response = {
            "clientDataJSON": client_data,
            "authenticatorData": bytes_to_base64url(data),
            "signature": signature,
            "userHandle": handle,
        }
        return _credential(key, response, {})

    def _choose(self, options: Mapping[str, Any]) -> StoredKey:
        allowed = {base64url_to_bytes(known["id"]) for known in options["allowCredentials"]}
        for key in reversed(self.keys):
            if key.rp_id == options["rpId"] and (key.id in allowed if allowed else key.resident):
                return key
        raise NotAllowedError("No key of this site fits.")

    def _flags(self, wish: str, lies: dict[str, Any]) -> int:
        if wish == "required" and not self.verifies_user and "user_verified" not in lies:
            raise NotAllowedError("This key cannot verify its user.")
        verified = lies.pop("user_verified", self.verifies_user and wish != "discouraged")
        return int(_PRESENT * lies.pop("user_present", True) | _VERIFIED * verified)

    @staticmethod
    def _data(key: StoredKey, flags: int, lies: dict[str, Any]) -> bytes:
        rp_id = lies.pop("rp_id", key.rp_id)
        count = int(lies.pop("sign_count", key.sign_count))
        return hashlib.sha256(rp_id.encode()).digest() + bytes([flags]) + count.to_bytes(4, "big")

    def _client_data(self, kind: str, options: Mapping[str, Any], lies: dict[str, Any]) -> str:
        plain = {"type": kind, "challenge": options["challenge"], "origin": self.origin, "crossOrigin": False}
        return bytes_to_base64url(json.dumps(plain | lies).encode())


def _credential(key: StoredKey, response: dict[str, Any], extensions: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": bytes_to_base64url(key.id),
        "rawId": bytes_to_base64url(key.id),
        "type": "public-key",
        "authenticatorAttachment": "cross-platform",
        "response": response,
        "clientExtensionResults": extensions,
    }


def _make(algorithm: int) -> tuple[Any, dict[int, Any]]:
    """Return a private key, and the public one in the members of COSE."""
    private: Any
    match algorithm:
        case -7 | -36:
            curve, number, size = (ec.SECP256R1(), 1, 32) if algorithm == -7 else (ec.SECP521R1(), 3, 66)
            private = ec.generate_private_key(curve)
            point = private.public_key().public_numbers()
            x, y = point.x.to_bytes(size, "big"), point.y.to_bytes(size, "big")
            return private, {1: 2, 3: algorithm, -1: number, -2: x, -3: y}
        case -8:
            private = ed25519.Ed25519PrivateKey.generate()
            return private, {1: 1, 3: algorithm, -1: 6, -2: private.public_key().public_bytes_raw()}
        case -257:
            private = rsa.generate_private_key(65537, 2048)
            modulus = private.public_key().public_numbers().n.to_bytes(256, "big")
            return private, {1: 3, 3: algorithm, -1: modulus, -2: (65537).to_bytes(3, "big")}
        case _:
            private = _ML_DSA[algorithm].generate()
            return private, {1: 7, 3: algorithm, -1: private.public_key().public_bytes_raw()}


def _sign(key: StoredKey, data: bytes) -> bytes:
    match key.algorithm:
        case -7 | -36:
            digest = hashes.SHA256() if key.algorithm == -7 else hashes.SHA512()
            return bytes(key.private.sign(data, ec.ECDSA(digest)))
        case -257:
            return bytes(key.private.sign(data, padding.PKCS1v15(), hashes.SHA256()))
        case _:
            return bytes(key.private.sign(data))
