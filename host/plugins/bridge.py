"""The bridge between the host's event loop and the plugins': one HTTP request that an endpoint of a plugin answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from functools import partial
from time import monotonic
from typing import Any, TypeVar

from starlette.types import Message, Receive, Send

from host.plugins.plugin_loop import Submission, replace_plugin_loop, submit
from host.plugins.watchdog import GRACE

T = TypeVar("T")
Headers = Iterable[tuple[bytes, bytes]]

_KEPT_COOKIES = frozenset({b"sessionid", b"csrftoken", b""})
_KEPT_HEADERS = frozenset(
    {
        b"clear-site-data",
        b"cross-origin-opener-policy",
        b"referrer-policy",
        b"service-worker-allowed",
        b"strict-transport-security",
        b"x-content-type-options",
        b"x-frame-options",
        # of the connection, which is not the plugin's
        b"connection",
        b"keep-alive",
        b"transfer-encoding",
        b"upgrade",
    }
)
_KEPT_PREFIXES = (b"access-control-", b"x-inventree-")
_STATUSES = range(200, 600)
_BREAKS = (b"\r", b"\n", b"\0")


class NoAnswerError(Exception):
    """The plugin sent nothing within its deadline."""


def allowed_headers(headers: Headers) -> list[tuple[bytes, bytes]]:
    """Leave out what only the host may send: its cookies, its security headers, and headers that hide others."""
    return [(name.lower(), value) for name, value in headers if _is_allowed(name.strip().lower(), value)]


def _is_allowed(name: bytes, value: bytes) -> bool:
    if any(mark in name or mark in value for mark in _BREAKS):
        return False
    if name == b"set-cookie":
        cookie, equals, _ = value.partition(b"=")
        return bool(equals) and cookie.strip().lower() not in _KEPT_COOKIES
    return name not in _KEPT_HEADERS and not name.startswith(_KEPT_PREFIXES)


class Exchange:
    """One request, seen from both loops.

    Construct and :meth:`run` it on the host's loop. :meth:`receive`, :meth:`send` and :meth:`on_host` are for the
    plugins' loop; each waits until the host has done its part, so that a plugin cannot send faster than the client
    reads.
    """

    def __init__(self, receive: Receive, send: Send, deadline: float) -> None:
        self.started = False
        """Whether the answer has begun."""
        self._host = asyncio.get_running_loop()
        self._receive = receive
        self._send = send
        self._deadline = deadline
        self._expires = monotonic() + deadline
        self._progress = asyncio.Event()
        self._closed = False
        self._uploading = False
        self._received = False

    async def run(self, coroutine: Coroutine[Any, Any, None], *, name: str) -> BaseException | None:
        """Run the plugin's part on its loop; return what it raised.

        Raises:
            NoAnswerError: nothing was sent in time; what the plugin sends later goes nowhere. The time in which the
                client still sends its body does not count.

        """
        submission = submit(coroutine, name=name)
        submission.future.add_done_callback(self._wake)
        try:
            submission = await self._begun(submission)
            while not submission.future.done():
                await self._wait(self._patience())
        except BaseException:
            self._closed = True
            submission.cancel()
            raise
        self._closed = True
        return submission.error

    async def receive(self) -> Message:
        """Take the next message of the client."""
        return await self.on_host(self._take)

    async def send(self, message: Message) -> None:
        """Send a message to the client."""
        await self.on_host(partial(self._give, message))

    async def on_host(self, function: Callable[[], Awaitable[T]]) -> T:
        """Run a coroutine function on the host's loop, and wait for it on the plugins'."""

        async def call() -> T:
            return await function()

        coroutine = call()
        try:
            future = asyncio.run_coroutine_threadsafe(coroutine, self._host)
        except RuntimeError:  # the host has stopped
            coroutine.close()
            raise
        return await asyncio.wrap_future(future)

    async def _begun(self, submission: Submission) -> Submission:
        # Another endpoint may block the loop; this request then goes to a fresh one.
        while not submission.future.running() and not submission.future.done():
            await self._wait(GRACE)
            if submission.future.running() or submission.future.done() or not submission.reclaim():
                break
            replace_plugin_loop(submission.loop)
            submission = submit(submission.coroutine, name=submission.name)
            submission.future.add_done_callback(self._wake)
            # The time in which others blocked the loop is not this plugin's.
            self._expires = monotonic() + self._deadline
        return submission

    def _patience(self) -> float | None:
        if self.started:
            return None
        left = self._expires - monotonic()
        if left <= 0 and not self._uploading:
            raise NoAnswerError
        return max(left, GRACE)

    async def _wait(self, seconds: float | None) -> None:
        try:
            await asyncio.wait_for(self._progress.wait(), seconds)
        except TimeoutError:
            return
        self._progress.clear()

    def _wake(self, _future: object) -> None:
        try:
            self._host.call_soon_threadsafe(self._progress.set)
        except RuntimeError:  # the host has stopped
            return

    async def _take(self) -> Message:
        self._uploading = not self._received
        try:
            message = await self._receive()
        finally:
            self._uploading = False
        if not self._received:
            self._expires = monotonic() + self._deadline
            self._received = not message.get("more_body", False)
        return message

    async def _give(self, message: Message) -> None:
        if self._closed:
            msg = "the request is over"
            raise OSError(msg)
        if message["type"] == "http.response.start":
            if message["status"] not in _STATUSES:
                msg = f"{message['status']!r} is no status of an answer; give one from 200 to 599"
                raise RuntimeError(msg)
            message = {**message, "headers": allowed_headers(message.get("headers", ()))}
        elif message["type"] != "http.response.body":
            msg = f"endpoints of plugins cannot send {message['type']}"
            raise RuntimeError(msg)
        await self._send(message)
        if not self.started:
            self.started = True
            self._progress.set()
