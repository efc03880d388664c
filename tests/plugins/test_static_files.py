"""Static files of plugins."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount
from starlette.testclient import TestClient

from host import hookimpl
from host.errors import NotFoundError
from host.plugins.static_files import PluginFiles
from tests.plugins.bench import Bench


class Filed:
    """Has a static folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @hookimpl
    def static_folder(self) -> Path:
        return self.folder


async def not_found(_request: Request, error: Exception) -> Response:
    return JSONResponse({"detail": str(error)}, 404)


@pytest.fixture
def folder(tmp_path) -> Path:
    folder: Path = tmp_path / "lamp" / "static"
    (folder / "ui").mkdir(parents=True)
    (folder / "ui" / "panel.js").write_text("export const a = 1;\n")
    (tmp_path / "lamp" / "secret.txt").write_text("secret")
    return folder


@pytest.fixture
def bench(folder) -> Bench:
    bench = Bench()
    bench.load({"lamp": Filed(folder), "bare": object()}, inactive=["asleep"])
    return bench


@pytest.fixture
def client(bench) -> TestClient:
    app = Starlette(
        routes=[Mount("/static/plugins", app=PluginFiles(bench))], exception_handlers={NotFoundError: not_found}
    )
    return TestClient(app)


def test_a_file_is_served_to_anyone(client):
    """With its type, and so that browsers ask again whether it has changed."""
    answer = client.get("/static/plugins/lamp/ui/panel.js")

    assert answer.status_code == 200
    assert answer.text == "export const a = 1;\n"
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-cache"


def test_a_head_has_no_body(client):
    """But the headers of a GET."""
    answer = client.head("/static/plugins/lamp/ui/panel.js")

    assert (answer.status_code, answer.content, answer.headers["content-length"]) == (200, b"", "20")


@pytest.mark.parametrize("form", ["{}", "W/{}", '"other", {}', "*"])
def test_a_known_file_is_not_sent_again(client, form):
    """The client names what it has by its ETag."""
    etag = client.get("/static/plugins/lamp/ui/panel.js").headers["etag"]

    answer = client.get("/static/plugins/lamp/ui/panel.js", headers={"if-none-match": form.format(etag)})

    assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", etag)


def test_another_version_has_another_tag(bench, client, tmp_path):
    """Files of packages may have the same size and time in every version; their folder differs."""
    before = client.get("/static/plugins/lamp/ui/panel.js")
    other = tmp_path / "lamp-2" / "static" / "ui"
    other.mkdir(parents=True)
    (other / "panel.js").write_text("export const a = 2;\n")
    state = (tmp_path / "lamp" / "static" / "ui" / "panel.js").stat()
    os.utime(other / "panel.js", ns=(state.st_mtime_ns, state.st_mtime_ns))
    bench.load({"lamp": Filed(other.parent)})

    answer = client.get("/static/plugins/lamp/ui/panel.js", headers={"if-none-match": before.headers["etag"]})

    assert (answer.status_code, answer.text) == (200, "export const a = 2;\n")


def test_a_part_of_a_file_can_be_asked_for(client):
    """As players of media do."""
    answer = client.get("/static/plugins/lamp/ui/panel.js", headers={"range": "bytes=0-5"})

    assert (answer.status_code, answer.text) == (206, "export")


@pytest.mark.parametrize(
    "path",
    [
        "lamp/../secret.txt",
        "lamp/%2e%2e/secret.txt",
        "lamp/..%2fsecret.txt",
        "lamp/ui/..%2f..%2fsecret.txt",
        "lamp/%2fetc/passwd",
        "lamp//etc/passwd",
        "lamp/..%5csecret.txt",
        "lamp/linked.txt",
        "lamp/linked/secret.txt",
        "lamp/hidden.js",
        "lamp/.hidden",
        "lamp/.git/config",
        "lamp/ui",
        "lamp/ui/",
        "lamp/",
        "lamp",
        "lamp/missing.js",
        "lamp/ui/panel.js/x",
        "lamp/a%00b",
        f"lamp/{'x' * 5000}",
        "bare/panel.js",
        "asleep/panel.js",
        "nobody/panel.js",
        "",
    ],
    ids=lambda path: path[:40],
)
def test_nothing_else_is_served(client, folder, path):
    """No traversal, no link out of the folder or to a dot file, no dot files, no folders, no other plugins."""
    (folder / "linked.txt").symlink_to(folder.parent / "secret.txt")
    (folder / "linked").symlink_to(folder.parent)
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("x")
    (folder / ".hidden").write_text("x")
    (folder / "hidden.js").symlink_to(folder / ".hidden")

    answer = client.get(f"/static/plugins/{path}")

    assert answer.status_code == 404
    assert set(answer.json()) == {"detail"}


def test_a_link_within_the_folder_is_followed(client, folder):
    """Bundlers make such links."""
    (folder / "latest.js").symlink_to(folder / "ui" / "panel.js")

    assert client.get("/static/plugins/lamp/latest.js").status_code == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_files_are_only_read(client, method):
    """Other methods are refused."""
    answer = client.request(method, "/static/plugins/lamp/ui/panel.js")

    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.js", "text/javascript; charset=utf-8"),
        ("a.MJS", "text/javascript; charset=utf-8"),
        ("a.css", "text/css; charset=utf-8"),
        ("a.js.map", "application/json"),
        ("a.svg", "image/svg+xml"),
        ("a.wasm", "application/wasm"),
        ("a.woff2", "font/woff2"),
        ("a.png", "image/png"),
        ("a.js.gz", "application/gzip"),
        ("unknown", "application/octet-stream"),
    ],
)
def test_types_do_not_depend_on_the_machine(client, folder, name, kind):
    """Browsers refuse modules of a wrong type."""
    (folder / name).write_text("x")

    assert client.get(f"/static/plugins/lamp/{name}").headers["content-type"] == kind
