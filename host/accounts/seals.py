"""Signed, sealed and digested texts: each purpose has keys of its own, all from one secret."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from itsdangerous import BadData, TimestampSigner
from itsdangerous.encoding import base64_decode, base64_encode

from host.accounts.digests import same_digest
from host.storage.tables import now

_KEY_BYTES = 32
_NONCE_BYTES = 12
_KEYS_KEPT = 256
# The clocks of two nodes may differ by this much: what one has just signed, the other must not call future.
_SKEW_SECONDS = 60


class Seals:
    """Signs, encrypts and digests texts; what is made for one purpose serves no other.

    Args:
        secret: the host's key; everything made with another one is refused.
        clock: the present moment.

    Raises:
        ValueError: the secret is empty.

    """

    def __init__(self, secret: str, *, clock: Callable[[], datetime] = now) -> None:
        if not secret:
            raise ValueError("The secret for seals is empty. Give a long random text.")
        material = secret.encode()
        self._clock = clock

        @lru_cache(maxsize=_KEYS_KEPT)
        def key(use: str, purpose: str) -> bytes:
            info = f"plugyard {use}: {purpose}".encode()
            return HKDF(SHA256(), length=_KEY_BYTES, salt=None, info=info).derive(material)

        self._key = key

    def sign(self, purpose: str, value: str) -> str:
        """Return the value with the time and a signature; readable by anybody, safe in a URL as it stands."""
        return self._signer(purpose).sign(base64_encode(_encode(value))).decode()

    def read(self, purpose: str, text: str, max_age: float) -> str | None:
        """Return the value of a signed text; nothing when it is forged, for another purpose, or older than allowed.

        Args:
            purpose: what it was signed for.
            text: what somebody hands in; anything at all.
            max_age: seconds; a text of exactly this age is read.

        """
        if not text.isascii():
            return None
        signer = self._signer(purpose)
        try:
            value, signed = signer.unsign(text, return_timestamp=True)
        except BadData:
            return None
        # The last letter of a signature has bits that say nothing: only one spelling counts, lest one text pass as two.
        content, _, signature = text.rpartition(".")
        if not same_digest(signature, signer.get_signature(content).decode()):
            return None
        age = int(self._clock().timestamp()) - signed.timestamp()
        return _decode(base64_decode(value)) if -_SKEW_SECONDS <= age <= max_age else None

    def seal(self, purpose: str, text: str) -> str:
        """Encrypt a text; two calls never give the same."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = AESGCM(self._key("seal", purpose)).encrypt(nonce, _encode(text), purpose.encode())
        return base64_encode(nonce + sealed).decode()

    def open(self, purpose: str, text: str) -> str:
        """Decrypt a sealed text.

        Raises:
            ValueError: it was changed, or sealed for another purpose or with another secret.

        """
        try:
            sealed = base64_decode(text)
            key = AESGCM(self._key("seal", purpose))
            return _decode(key.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], purpose.encode()))
        except (BadData, InvalidTag, ValueError):
            # Without the cause: it could show what was to be opened.
            raise ValueError(f"What was sealed for '{purpose}' cannot be opened: the key has changed.") from None

    def digest(self, purpose: str, *parts: str) -> str:
        """Return an HMAC-SHA256 in hexadecimal; the borders between the parts count."""
        code = hmac.new(self._key("digest", purpose), digestmod=hashlib.sha256)
        for part in parts:
            data = _encode(part)
            code.update(len(data).to_bytes(8, "big"))
            code.update(data)
        return code.hexdigest()

    def _signer(self, purpose: str) -> _Signer:
        return _Signer(self._key("sign", purpose), self._clock)


class _Signer(TimestampSigner):
    def __init__(self, key: bytes, clock: Callable[[], datetime]) -> None:
        super().__init__(key, key_derivation="none", digest_method=hashlib.sha256)
        self._clock = clock

    def get_timestamp(self) -> int:
        return int(self._clock().timestamp())


def _encode(text: str) -> bytes:
    # JSON can carry halves of a pair of surrogates, which have no UTF-8.
    return text.encode("utf-8", "surrogatepass")


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")
