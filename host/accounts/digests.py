"""Digests of secrets: of tokens for the database, of verified passwords for the memory."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass


def token_digest(text: str) -> str:
    """Return what is stored of a token: 160 random bits need no slow hash."""
    return hashlib.sha256(text.encode()).hexdigest()


def same_digest(one: str, other: str) -> bool:
    """Compare two digests in a time that tells nothing of where they differ."""
    return hmac.compare_digest(one.encode(), other.encode())


class VerifiedPasswords:
    """Remembers for a short while which passwords proved right, so that Basic costs one full check, not one a request.

    Holds digests under a random key of this process. The stored hash is part of the digest: whatever changes the hash
    voids the entry.

    Args:
        keep: how long an entry lives, in seconds.
        limit: most entries; the least recently used one goes first.
        clock: seconds, monotonic.

    """

    def __init__(self, *, keep: float = 120.0, limit: int = 1024, clock: Callable[[], float] = time.monotonic) -> None:
        self._keep = keep
        self._limit = limit
        self._clock = clock
        self._key = secrets.token_bytes(32)
        self._lock = threading.Lock()
        self._entries: OrderedDict[bytes, float] = OrderedDict()

    def proof(self, user_id: int, password_hash: str, password: str) -> Proof:
        """Return what can be known of this account having this password."""
        code = hmac.new(self._key, digestmod=hashlib.sha256)
        for part in (str(user_id), password_hash, password):
            data = part.encode("utf-8", "surrogatepass")
            code.update(len(data).to_bytes(8, "big"))
            code.update(data)
        return Proof(self, code.digest())

    def knows(self, digest: bytes) -> bool:
        """Tell whether the digest was seen a short while ago."""
        with self._lock:
            until = self._entries.get(digest)
            if until is None:
                return False
            if until <= self._clock():
                del self._entries[digest]
                return False
            self._entries.move_to_end(digest)
            return True

    def remember(self, digest: bytes) -> None:
        """Keep a digest; its time runs from now."""
        with self._lock:
            self._entries[digest] = self._clock() + self._keep
            self._entries.move_to_end(digest)
            while len(self._entries) > self._limit:
                self._entries.popitem(last=False)


@dataclass(frozen=True, slots=True, repr=False)
class Proof:
    """One password of one account, which proved right a short while ago or has yet to."""

    _verified: VerifiedPasswords
    _digest: bytes

    def is_known(self) -> bool:
        """Tell whether the password proved right a short while ago."""
        return self._verified.knows(self._digest)

    def remember(self) -> None:
        """Note that the password has just proved right."""
        self._verified.remember(self._digest)
