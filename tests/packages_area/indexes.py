"""A package index over HTTP, in the simple layout, which asks for a password."""

from __future__ import annotations

import base64
import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from packaging.utils import parse_wheel_filename

LOGIN = "ann:s3cret"


@dataclass
class Index:
    """Where the index is, and which paths were asked for."""

    port: int
    asked: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://{LOGIN}@127.0.0.1:{self.port}/simple/"

    @property
    def open_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/simple/"


@contextmanager
def serve(folder: Path, *, tamper: bool = False) -> Iterator[Index]:
    """Serve a folder of wheels; ``tamper`` changes every wheel on the way."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            index.asked.append(self.path)
            expected = f"Basic {base64.b64encode(LOGIN.encode()).decode()}"
            if self.headers["Authorization"] != expected:
                self._answer(401, b"", {"WWW-Authenticate": 'Basic realm="index"'})
            elif self.path.startswith("/files/"):
                content = (folder / self.path.removeprefix("/files/")).read_bytes()
                self._answer(200, content + b"changed" if tamper else content)
            else:
                self._page(self.path.strip("/").partition("/")[2])

        def _page(self, name: str) -> None:
            wheels = [path for path in sorted(folder.glob("*.whl")) if parse_wheel_filename(path.name)[0] == name]
            links = [
                f'<a href="/files/{path.name}#sha256={hashlib.sha256(path.read_bytes()).hexdigest()}">{path.name}</a>'
                for path in wheels
            ]
            self._answer(200 if links else 404, "\n".join(links).encode(), {"Content-Type": "text/html"})

        def _answer(self, status: int, content: bytes, headers: dict[str, str] | None = None) -> None:
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    index = Index(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield index
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
