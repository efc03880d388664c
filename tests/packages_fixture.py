"""Fixtures that build the projects of ``tests/packages`` into wheels and offer them on an index.

``tests/conftest.py`` names this module in ``pytest_plugins``.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
import shutil
import threading
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from tests.packages_catalogue import PACKAGES, Tampering


class Wheels:
    """The wheels of ``tests/packages``, each built when it is first asked for.

    A build takes a millisecond (``native`` a fifth of a second), so every test process has wheels of its own.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._built: dict[str, Path] = {}

    def __getitem__(self, name: str) -> Path:
        """Return the wheel of a package of the catalogue."""
        if name not in self._built:
            self._built[name] = self._build(name)
        return self._built[name]

    def into(self, folder: Path, *names: str) -> Path:
        """Copy wheels into a folder, as for pip's ``--find-links``, and return it."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            shutil.copy(self[name], folder)
        return folder

    def _build(self, name: str) -> Path:
        package = PACKAGES[name]
        builder = WheelBuilder(str(package.folder))
        wheel = Path(next(builder.build(directory=str(self._folder / name), versions=["standard"])))
        if package.tampering is not None:
            tamper(wheel, package.tampering)
        return wheel


def tamper(wheel: Path, how: Tampering) -> None:
    """Spoil a wheel in place."""
    with zipfile.ZipFile(wheel) as opened:
        members = {name: opened.read(name) for name in opened.namelist()}
    record = next(name for name in members if name.endswith(".dist-info/RECORD"))
    module = next(name for name in members if name.endswith(".py"))
    if how is Tampering.SLIP:
        for name in ("../slipped.txt", "../../../slipped.txt"):
            members[name] = b"outside of the folder\n"
            members[record] += _record_line(name, members[name])
    elif how is Tampering.CHANGED:
        members[module] += b"\nCHANGED = True\n"
    elif how is Tampering.UNLISTED:
        members["unlisted.py"] = b"HIDDEN = True\n"
    elif how is Tampering.NO_RECORD:
        del members[record]
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as written:
        for name, content in members.items():
            written.writestr(name, content)


def _record_line(name: str, content: bytes) -> bytes:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n".encode()


class Index:
    """A package index of PEP 503 on this machine; it can be switched off, and counts what it is asked."""

    def __init__(self, wheels: Wheels, names: Iterable[str]) -> None:
        self._wheels = wheels
        self._files: dict[str, dict[str, Path]] = {}
        self.requests: list[str] = []
        """The paths that were asked for, in order."""
        self.add(*names)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/simple/"
        self._open = True

    def __str__(self) -> str:
        return self.url

    def add(self, *names: str) -> None:
        """Offer more packages of the catalogue, as when a new version is published."""
        for name in names:
            wheel = self._wheels[name]
            self._files.setdefault(_canonical(PACKAGES[name].distribution), {})[wheel.name] = wheel

    def remove(self, name: str) -> None:
        """Offer a package no longer."""
        del self._files[_canonical(PACKAGES[name].distribution)][self._wheels[name].name]

    def stop(self) -> None:
        """Switch the index off: connections are refused from now on."""
        if self._open:
            self._open = False
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()

    def answer(self, path: str) -> tuple[int, str, bytes]:
        """Return status, content type and body for a path."""
        self.requests.append(path)
        where, _, name = path.strip("/").partition("/")
        if (where, name) == ("simple", ""):
            return _page(f'<a href="/simple/{project}/">{project}</a>' for project in sorted(self._files))
        if where == "simple" and name in self._files:
            return _page(map(_link, self._files[name].values()))
        if where == "files":
            for files in self._files.values():
                if name in files:
                    return 200, "application/octet-stream", files[name].read_bytes()
        return 404, "text/plain", b"not found"


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _page(lines: Iterable[str]) -> tuple[int, str, bytes]:
    return 200, "text/html", ("<!DOCTYPE html>\n<html><body>\n" + "\n".join(lines) + "\n</body></html>\n").encode()


def _link(wheel: Path) -> str:
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    with zipfile.ZipFile(wheel) as opened:
        metadata = next(name for name in opened.namelist() if name.endswith(".dist-info/METADATA"))
        found = re.search(r"^Requires-Python: (.+)$", opened.read(metadata).decode(), re.MULTILINE)
    python = f' data-requires-python="{html.escape(found[1])}"' if found else ""
    return f'<a href="/files/{wheel.name}#sha256={digest}"{python}>{wheel.name}</a>'


def _handler(index: Index) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, content_type, body = index.answer(self.path)
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: ARG002  # the name is the base class's
            return

    return Handler


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Wheels:
    """The wheels of the catalogue: ``wheels["lamp-1.0"]`` is a path."""
    return Wheels(tmp_path_factory.mktemp("wheels"))


@pytest.fixture
def index(wheels: Wheels) -> Iterator[Callable[..., Index]]:
    """Start an index that offers some packages: ``index("lamp-1.0", "lamp-1.1").url``."""
    with ExitStack() as started:

        def start(*names: str) -> Index:
            made = Index(wheels, names)
            started.callback(made.stop)
            return made

        yield start
