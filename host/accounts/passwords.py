"""Password hashes: argon2id, with a bound on how many are computed at once."""

from __future__ import annotations

import logging
import os
import secrets
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import cached_property

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from host.accounts.digests import Proof
from host.errors import UnavailableError

_LOG = logging.getLogger("plugyard.accounts")


class Passwords:
    """Hashes and checks passwords.

    Each computation takes ``memory_kib`` of memory and a core for a noticeable time, so there are never more at once
    than ``concurrent``; the others wait for their turn.

    Args:
        time_cost: passes over the memory.
        memory_kib: memory for one computation, in KiB.
        parallelism: lanes of one computation.
        concurrent: computations at once; by default as many as there are cores.
        patience: longest wait for a turn, in seconds.
        crowd: most callers that wait for a turn. The threads that wait are those that answer everybody else, so a
            flood of wrong passwords must not take them all.

    """

    def __init__(
        self,
        *,
        time_cost: int = 3,
        memory_kib: int = 65_536,
        parallelism: int = 4,
        concurrent: int | None = None,
        patience: float = 15.0,
        crowd: int = 16,
    ) -> None:
        self._hasher = PasswordHasher(time_cost=time_cost, memory_cost=memory_kib, parallelism=parallelism)
        self._turns = threading.BoundedSemaphore(concurrent or os.cpu_count() or 1)
        self._waiting = threading.BoundedSemaphore(crowd)
        self._patience = patience
        self._lock = threading.Lock()
        self._underway: dict[Proof, Future[bool]] = {}

    def hash(self, password: str) -> str:
        """Return the text to store for a password.

        Raises:
            UnavailableError: too many passwords are being checked.

        """
        with self._turn():
            return self._hasher.hash(password)

    def check(self, password_hash: str | None, password: str, *, proof: Proof | None = None) -> bool:
        """Tell whether the password belongs to the stored text.

        Without a stored text (an unknown account, or one without a password) the same work is done for nothing, so
        that the time says nothing.

        Args:
            password_hash: the stored text.
            password: what the caller typed.
            proof: where a right password is noted. Of several checks with the same proof that arrive together only the
                first does the work.

        Raises:
            UnavailableError: too many passwords are being checked.

        """
        if proof is None:
            return self._checked(password_hash, password, None)
        with self._lock:
            known = self._underway.get(proof)
            outcome = known or self._underway.setdefault(proof, Future())
        if known is not None:
            return self._awaited(known)
        try:
            outcome.set_result(self._checked(password_hash, password, proof))
        except BaseException as error:
            outcome.set_exception(error)
            raise
        finally:
            with self._lock:
                del self._underway[proof]
        return outcome.result()

    def _awaited(self, outcome: Future[bool]) -> bool:
        try:
            return outcome.result(self._patience)
        except TimeoutError:
            raise _too_many() from None

    def _checked(self, password_hash: str | None, password: str, proof: Proof | None) -> bool:
        with self._turn():
            if proof is not None and proof.is_known():
                return True
            matches = self._verify(password_hash or self._nobody, password) and password_hash is not None
            if matches and proof is not None:
                proof.remember()
            return matches

    def needs_rehash(self, password_hash: str) -> bool:
        """Tell whether the stored text was made with other parameters than today's."""
        return self._hasher.check_needs_rehash(password_hash)

    def _verify(self, password_hash: str, password: str) -> bool:
        try:
            return self._hasher.verify(password_hash, password)
        except InvalidHashError:
            _LOG.error("An account has a password that this version cannot check. Set a new one for it.")
            return False
        except (VerificationError, UnicodeEncodeError):
            return False

    @cached_property
    def _nobody(self) -> str:
        return self._hasher.hash(secrets.token_hex())

    @contextmanager
    def _turn(self) -> Iterator[None]:
        self._await_turn()
        try:
            yield
        finally:
            self._turns.release()

    def _await_turn(self) -> None:
        if self._turns.acquire(blocking=False):
            return
        if not self._waiting.acquire(blocking=False):
            raise _too_many()
        try:
            if not self._turns.acquire(timeout=self._patience):
                raise _too_many()
        finally:
            self._waiting.release()


def _too_many() -> UnavailableError:
    return UnavailableError("Too many passwords are being checked just now. Try again in a moment.")
