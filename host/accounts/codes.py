"""One-time codes that are sent to people: made, kept as digests, compared."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from host.accounts.digests import same_digest
from host.accounts.seals import Seals
from host.storage.tables import now

# No vowels, so that no code spells a word; no Y, which is one in some languages.
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
_DIGITS = "0123456789"
_IGNORED = re.compile(r"[\W_]+")
# Far more than any code with blanks around and within; longer texts need no work.
_MAX_TYPED = 100

CodeState = dict[str, Any]
"""What is kept of a code, as JSON: purpose, digest, sent_at and expires_at (seconds since 1970), attempts, resends."""


class Codes:
    """Makes codes and compares what people type with what is kept of them.

    The caller keeps the state, counts wrong codes with ``failed`` and drops the state when one has served.

    Args:
        seals: makes the digests.
        clock: the present moment.
        numeric: nine digits rather than eight letters.

    """

    def __init__(self, seals: Seals, clock: Callable[[], datetime] = now, *, numeric: bool = False) -> None:
        self._seals = seals
        self._clock = clock
        self._numeric = numeric

    def issue(self, purpose: str, *, seconds: float) -> tuple[str, CodeState]:
        """Make a code that lives for some seconds, and return its text with what to keep of it."""
        text = self._make()
        return text, self._state(purpose, self._digest(purpose, text), seconds)

    def fake(self, purpose: str, *, seconds: float) -> CodeState:
        """Return a state as of a code that was sent, which nothing matches: for addresses that have no account."""
        return self._state(purpose, secrets.token_hex(32), seconds)

    def reissue(self, state: Mapping[str, Any]) -> tuple[str, CodeState]:
        """Make another code in place of one, which is void then; its time and its wrong attempts go on counting."""
        text = self._make()
        return text, _again(state, self._digest(state["purpose"], text))

    def refake(self, state: Mapping[str, Any]) -> CodeState:
        """Do as ``reissue`` does, with a code that nothing matches."""
        return _again(state, secrets.token_hex(32))

    def matches(self, state: Mapping[str, Any], text: str) -> bool:
        """Tell whether somebody typed the code; case, punctuation and blanks do not count. An expired one never fits.

        The time it takes tells nothing of the code.
        """
        if len(text) > _MAX_TYPED:
            return False
        return same_digest(self._digest(state["purpose"], text), state["digest"]) and self.is_live(state)

    def is_live(self, state: Mapping[str, Any]) -> bool:
        """Tell whether a code has not expired; at the last moment it still serves."""
        return self._clock().timestamp() <= float(state["expires_at"])

    def failed(self, state: Mapping[str, Any]) -> CodeState:
        """Return the state with one more wrong attempt."""
        return {**state, "attempts": state["attempts"] + 1}

    def _make(self) -> str:
        if self._numeric:
            return _random(_DIGITS, groups=3, length=3)
        return _random(_LETTERS, groups=2, length=4)

    def _digest(self, purpose: str, text: str) -> str:
        return self._seals.digest("codes", purpose, _IGNORED.sub("", text).upper())

    def _state(self, purpose: str, digest: str, seconds: float) -> CodeState:
        moment = self._clock().timestamp()
        return {
            "purpose": purpose,
            "digest": digest,
            "sent_at": moment,
            "expires_at": moment + seconds,
            "attempts": 0,
            "resends": 0,
        }


def _again(state: Mapping[str, Any], digest: str) -> CodeState:
    return {**state, "digest": digest, "resends": state["resends"] + 1}


def _random(alphabet: str, *, groups: int, length: int) -> str:
    return "-".join("".join(secrets.choice(alphabet) for _ in range(length)) for _ in range(groups))
