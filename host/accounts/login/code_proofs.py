"""Proofs by code that an address or a number is somebody's: the codes are sent, kept in the session, and compared."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Protocol

from host.accounts.area import Area
from host.accounts.codes import Codes, CodeState
from host.accounts.problems import Problem, RefusedValuesError
from host.accounts.refusals import ConflictError
from host.accounts.sessions.visit import Visit, Work

MOST_RESENDS = 2
MOST_CHANGES = 2

Proof = dict[str, Any]
"""What is kept of a proof that is under way, as JSON.

``to``: the address or number. ``code``: see :mod:`host.accounts.codes`. ``taken``: it is somebody else's, of which
nobody may learn, so nothing that anybody types will match. ``changes``: how often ``to`` became another one.
``user_id``: whose proof it is, where the session is somebody's.
"""


class Messages(Protocol):
    """Sends what a proof needs sent."""

    def admit(self, work: Work, to: str) -> None:
        """Count a message; raises TooManyError."""

    def send_code(self, work: Work, to: str, code: str, expires: datetime) -> None:
        """Send a code."""

    def send_notice(self, work: Work, to: str) -> None:
        """Tell the owner of an address or number, instead, that somebody tried to sign up with it."""


class CodeProofs:
    """Proofs of one kind, of e-mail addresses or of phone numbers.

    One is kept by the login that waits for it at a stage or, where somebody is signed in, by the session. It cannot be
    used from another session.

    Args:
        area: what account services share.
        flow: the id of the stage; the session keeps proofs under the same name.
        messages: go to the address or number.
        seconds: how long a code lives.
        most_attempts: so many wrong codes end a proof, and the login that waits for it.

    """

    def __init__(self, area: Area, flow: str, messages: Messages, *, seconds: float, most_attempts: int) -> None:
        self.flow = flow
        self._messages = messages
        self._seconds = seconds
        self._most_attempts = most_attempts
        self._codes = Codes(area.seals, area.clock)

    def find(self, visit: Visit) -> Proof | None:
        """Return the proof that is under way in this session, be its code alive or not."""
        if visit.account is None:
            login = visit.pending
            return login.state if login is not None and login.stage == self.flow else None
        kept = visit.state.data.get(self.flow) if visit.state else None
        return kept if kept and kept["user_id"] == visit.account.id else None

    def find_live(self, visit: Visit) -> Proof | None:
        """Return the proof that is under way in this session and whose code is alive."""
        proof = self.find(visit)
        return proof if proof and "code" in proof and self._codes.is_live(proof["code"]) else None

    def demand(self, visit: Visit) -> Proof:
        """Return the proof that is under way.

        Raises:
            ConflictError: there is none in this session, or its code has expired.

        """
        proof = self.find_live(visit)
        if proof is None:
            raise ConflictError
        return proof

    def begin(self, work: Work, to: str, *, taken: bool = False, changes: int = 0) -> Proof:
        """Send a code, and return what to keep.

        Raises:
            TooManyError: a message went there a moment ago.

        """
        text, code = self._codes.issue(self.flow, seconds=self._seconds)
        if taken:
            code = self._codes.fake(self.flow, seconds=self._seconds)
        self._send(work, to, text, code, taken=taken)
        return {"to": to, "code": code, "taken": taken, "changes": changes}

    def may_repeat(self, proof: Proof) -> bool:
        """Tell whether another code may be sent in place of the last."""
        return bool(proof["code"]["resends"] < MOST_RESENDS)

    def repeat(self, work: Work, proof: Proof) -> Proof:
        """Send another code in place of the last, and return what to keep; wrong attempts and time go on counting.

        Raises:
            TooManyError: a message went there a moment ago.

        """
        text, code = self._codes.reissue(proof["code"])
        if proof["taken"]:
            code = self._codes.refake(proof["code"])
        self._send(work, proof["to"], text, code, taken=proof["taken"])
        return {**proof, "code": code}

    def keep(self, work: Work, proof: Proof) -> None:
        """Keep a proof for the next request."""
        if work.account is not None:
            self.keep_for(work, proof, work.account.id)
        elif work.pending is not None:
            work.pending.state = proof

    def keep_for(self, work: Work, proof: Proof, user_id: int) -> None:
        """Keep a proof for when this account is signed in."""
        work.keep(self.flow, {**proof, "user_id": user_id})

    def end(self, work: Work) -> None:
        """Forget the proof that is under way, and the login that waits for it."""
        if work.account is not None:
            work.keep(self.flow, None)
        elif work.pending is not None:
            work.state.pending = None

    def check(self, work: Work, proof: Proof, text: str, *, member: str) -> bool:
        """Tell whether somebody typed the code; what is wrong counts, and is refused under ``member``."""
        if self._codes.matches(proof["code"], text) and not proof["taken"]:
            return True
        problem = Problem("incorrect_code", "This is not the code. Enter the one of the latest message.")
        if not text:
            problem = Problem("required", "Enter the code that was sent.")
        self.fail(work, proof, RefusedValuesError({member: [problem]}))
        return False

    def fail(self, work: Work, proof: Proof, refusal: Exception) -> None:
        """Count a failed attempt, the last of which ends the proof, and refuse."""
        code = self._codes.failed(proof["code"])
        if code["attempts"] < self._most_attempts:
            self.keep(work, {**proof, "code": code})
        else:
            self.end(work)
        work.refuse(refusal)

    def _send(self, work: Work, to: str, text: str, code: CodeState, *, taken: bool) -> None:
        self._messages.admit(work, to)
        if taken:
            self._messages.send_notice(work, to)
        else:
            self._messages.send_code(work, to, text, datetime.fromtimestamp(code["expires_at"], UTC))


def owner_of(work: Work) -> int | None:
    """Return whose proof is under way; ``None`` where somebody only seems to have an account."""
    if work.account is not None:
        return work.account.id
    return work.pending.user_id if work.pending is not None else None


def renamed(error: RefusedValuesError, member: str) -> RefusedValuesError:
    """Return the same refusal about one member of the input, however its problems were called."""
    found: Mapping[str, list[Problem]] = error.problems
    return RefusedValuesError({member: [problem for problems in found.values() for problem in problems]})
