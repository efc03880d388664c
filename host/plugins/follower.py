"""The thread that notices changes which other processes have made, also when no request comes in."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from host.plugins.convergence import CHANNEL, Convergence

_LOG = logging.getLogger("plugyard.plugins.follower")

_POLL_SECONDS = 2.0
_HEARTBEAT_SECONDS = 5.0
# How long one look at the connection lasts; stopping takes no longer.
_LISTEN_SECONDS = 0.5
_RETRY_SECONDS = 5.0


class Follower:
    """Keeps one process up to date and its sign of life fresh.

    On PostgreSQL it listens, and polls now and then in case a notification was lost; elsewhere it polls.

    Args:
        convergence: this process's view of the common generation.
        generation: gives the generation that this process has reached.
        catch_up: brings it to the common one.
        poll: seconds between two looks at the database.
        heartbeat: seconds between two signs of life.

    """

    def __init__(
        self,
        *,
        convergence: Convergence,
        generation: Callable[[], int],
        catch_up: Callable[[], object],
        poll: float = _POLL_SECONDS,
        heartbeat: float = _HEARTBEAT_SECONDS,
    ) -> None:
        self._convergence = convergence
        self._generation = generation
        self._catch_up = catch_up
        self._heartbeat = heartbeat
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._listening = not convergence.database.is_sqlite
        self._poll = heartbeat if self._listening else poll
        self._due = (0.0, 0.0)

    def start(self) -> None:
        """Begin to follow; once is enough."""
        if self._thread is None:
            self._stopping.clear()
            self._thread = threading.Thread(target=self._follow, name="plugyard-follower", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Stop following, and wait until the thread has ended."""
        self._stopping.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        self._thread = None

    def _follow(self) -> None:
        while not self._stopping.is_set():
            try:
                if self._listening:
                    self._listen()
                else:
                    self._look()
                    self._stopping.wait(min(self._poll, self._heartbeat))
            except Exception:  # noqa: BLE001  # whatever it was, this process must not stay behind for ever
                _LOG.exception("The registry's generation cannot be followed; trying again in %g s.", _RETRY_SECONDS)
                self._stopping.wait(_RETRY_SECONDS)

    def _listen(self) -> None:
        import psycopg  # noqa: PLC0415 - large, and only a host on PostgreSQL needs it

        address = self._convergence.database.url.set(drivername="postgresql")
        with psycopg.connect(address.render_as_string(hide_password=False), autocommit=True) as connection:
            connection.execute(f"LISTEN {CHANNEL}")
            self._look(told=True)
            while not self._stopping.is_set():
                self._look(told=any(True for _ in connection.notifies(timeout=_LISTEN_SECONDS, stop_after=1)))

    def _look(self, *, told: bool = False) -> None:
        poll, heartbeat = self._due
        moment = time.monotonic()
        if told or moment >= poll:
            poll = moment + self._poll
            if self._convergence.state().generation != self._generation():
                self._catch_up()
        if moment >= heartbeat:
            heartbeat = moment + self._heartbeat
            self._convergence.heartbeat()
        self._due = (poll, heartbeat)
