"""A server of feeds that answers as a test wants."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

RSS = """<?xml version="1.0"?><rss version="2.0"><channel><title>Workshop &amp; more</title>
<link>https://shop.example.org/</link>{}</channel></rss>"""
ATOM = """<?xml version="1.0" encoding="utf-8"?><feed xmlns="http://www.w3.org/2005/Atom"><title>Workshop</title>
<link href="https://shop.example.org/"/><id>urn:shop</id>{}</feed>"""


def item(name: str, **members: str) -> str:
    """Return an item of an RSS feed."""
    given = {"title": name, "link": f"https://shop.example.org/{name}", "guid": name} | members
    return "<item>" + "".join(f"<{key}>{value}</{key}>" for key, value in given.items() if value) + "</item>"


class FeedServer:
    """Answers each path as it is told to, and remembers what was asked."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: list[tuple[str, Mapping[str, str]]] = []
        self._answers: dict[str, tuple[int, bytes, dict[str, str]]] = {}

    def answer(
        self, path: str, content: str | bytes, status: int = 200, *, packed: bool = False, **headers: str
    ) -> Self:
        """Say what a path answers; ``packed`` compresses it."""
        raw = content.encode() if isinstance(content, str) else content
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if packed:
            raw, named["Content-Encoding"] = gzip.compress(raw), "gzip"
        self._answers[path] = (status, raw, named)
        return self

    def take(self, path: str, headers: Mapping[str, str]) -> tuple[int, bytes, dict[str, str]]:
        """Return what a path answers."""
        self.asked.append((path, headers))
        status, content, named = self._answers.get(path, (404, b"", {}))
        etag = named.get("ETag")
        if etag is not None and headers.get("If-None-Match") == etag:
            return 304, b"", named
        return status, content, named


class _Handler(BaseHTTPRequestHandler):
    server: _Quiet

    def do_GET(self) -> None:
        status, content, headers = self.server.feeds.take(
            self.path, {key.title(): text for key, text in self.headers.items()}
        )
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class _Quiet(ThreadingHTTPServer):
    feeds: FeedServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that go away."""


@contextmanager
def feed_server() -> Iterator[FeedServer]:
    """Run a server of feeds."""
    with _Quiet(("127.0.0.1", 0), _Handler) as server:
        feeds = server.feeds = FeedServer(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield feeds
        server.shutdown()
        thread.join()
