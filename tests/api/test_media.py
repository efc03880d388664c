"""Stored files over HTTP: who gets them, in which form, and in which parts."""

from __future__ import annotations

import io
from email.utils import formatdate

import pytest

from host.records.media import Media
from host.storage.files import CHUNK

LETTERS = b"abcdefghijklmnopqrstuvwxyz"
PATH = "attachments/part/7/letters.txt"


@pytest.fixture(scope="module")
def stored(service):
    """A host with some files."""
    for path in (PATH, "attachments/part/7/größe & 漢字?.pdf", "wheels/secret.whl", "top.txt"):
        service.host.files.save(path, io.BytesIO(LETTERS))
    service.host.files.save("attachments/large.bin", io.BytesIO(b"x" * (2 * CHUNK + 1)))
    service.host.files.save("attachments/empty.txt", io.BytesIO())
    return service


@pytest.fixture
def user(stored):
    """A plain user's client."""
    return stored.client("user")


def test_a_file_is_for_who_is_signed_in(stored):
    """Every account gets it; nobody else does, nor with a wrong token, and the answers are as everywhere."""
    for caller in ("user", "staff", "superuser"):
        response = stored.client(caller).get(f"/media/{PATH}")
        assert (response.status_code, response.content) == (200, LETTERS)
    anonymous = stored.client("anonymous")
    for headers in ({}, {"Authorization": "Token wrong"}):
        refused = anonymous.get(f"/media/{PATH}", headers=headers)
        assert refused.status_code == 401
        assert set(refused.json()) == {"detail"}
        assert refused.headers["www-authenticate"] == "Token"


@pytest.mark.parametrize(
    "path",
    [
        "",
        "top.txt",
        "wheels/secret.whl",
        "attachments",
        "attachments/",
        "attachments/part/7",
        "attachments/part/7/letters.txt/",
        "attachments/nothing.txt",
        "attachments//part/7/letters.txt",
        "attachments/../top.txt",
        "attachments/%2e%2e/top.txt",
        "attachments/..%2ftop.txt",
        "attachments%5c..%5ctop.txt",
        "attachments/a%00b",
        "attachments/%ff",
        "attachments/%ed%a0%80",
        "attachments/" + "x" * 300,
        "data_output/1.csv",
        "importer/1.csv",
        ".incoming/x",
        "/etc/passwd",
        "%2fetc%2fpasswd",
    ],
)
def test_nothing_else_is_reachable(stored, path):
    """Everything that no rule allows is 404, also for administrators; nobody learns more without signing in."""
    response = stored.client("superuser").get(f"/media/{path}")

    assert response.status_code == 404
    assert set(response.json()) == {"detail"}
    assert stored.client("anonymous").get(f"/media/{path}").status_code == 401


def test_rules_decide_by_account_and_path(service):
    """A rule sees who asks for which path; where it says no, the file does not exist."""
    service.host.files.save("owned/user/1.txt", io.BytesIO(b"mine"))
    records = service.host.records
    before = records.media
    records.__dict__["media"] = Media(
        service.host.files, {"owned/": lambda user, path: user.is_staff or path.split("/")[1] == user.username}
    )
    try:
        answers = {
            caller: service.client(caller).get("/media/owned/user/1.txt").status_code for caller in ("user", "staff")
        }
        assert answers == {"user": 200, "staff": 200}
        service.host.files.move("owned/user/1.txt", "owned/other/1.txt")
        assert service.client("user").get("/media/owned/other/1.txt").status_code == 404
        assert service.client("staff").get("/media/owned/other/1.txt").status_code == 200
    finally:
        records.__dict__["media"] = before


@pytest.mark.parametrize(
    ("name", "kind", "disposition"),
    [
        ("a.png", "image/png", "inline"),
        ("a.JPG", "image/jpeg", "inline"),
        ("a.gif", "image/gif", "inline"),
        ("a.webp", "image/webp", "inline"),
        ("a.pdf", "application/pdf", "inline"),
        ("a.txt", "text/plain; charset=utf-8", "inline"),
        ("a.csv", "text/csv; charset=utf-8", "attachment"),
        ("a.zip", "application/zip", "attachment"),
        ("a.svg", "application/octet-stream", "attachment"),
        ("a.svgz", "application/octet-stream", "attachment"),
        ("a.html", "application/octet-stream", "attachment"),
        ("a.HTM", "application/octet-stream", "attachment"),
        ("a.xhtml", "application/octet-stream", "attachment"),
        ("a.xml", "application/octet-stream", "attachment"),
        ("a.xsl", "application/octet-stream", "attachment"),
        ("a.js", "application/octet-stream", "attachment"),
        ("a.css", "application/octet-stream", "attachment"),
        ("a.mht", "application/octet-stream", "attachment"),
        ("a.swf", "application/octet-stream", "attachment"),
        ("a.png.html", "application/octet-stream", "attachment"),
        ("html", "application/octet-stream", "attachment"),
    ],
)
def test_what_is_active_is_never_shown(service, user, name, kind, disposition):
    """Only pictures, PDF and text are shown in place; all of it may run and load nothing, whatever its content."""
    service.host.files.save(f"attachments/kinds/{name}", io.BytesIO(b"<script>alert(1)</script>"))

    headers = user.get(f"/media/attachments/kinds/{name}").headers

    assert headers["content-type"] == kind
    assert headers["content-disposition"] == f'{disposition}; filename="{name}"'
    assert headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert headers.get_list("x-content-type-options") == ["nosniff"]
    assert "private" in headers["cache-control"]


def test_names_of_any_script_are_told(user):
    """A name is told in plain letters and in its own."""
    response = user.get("/media/attachments/part/7/gr%C3%B6%C3%9Fe%20%26%20%E6%BC%A2%E5%AD%97%3F.pdf")

    assert response.status_code == 200
    assert response.headers["content-disposition"] == (
        "inline; filename=\"gr__e & __?.pdf\"; filename*=UTF-8''gr%C3%B6%C3%9Fe%20%26%20%E6%BC%A2%E5%AD%97%3F.pdf"
    )


def test_a_large_file_comes_whole(user):
    """A file of several pieces has its length, and all its bytes."""
    response = user.get("/media/attachments/large.bin")

    assert response.headers["content-length"] == str(2 * CHUNK + 1)
    assert response.content == b"x" * (2 * CHUNK + 1)


@pytest.mark.parametrize(
    ("asked", "content"),
    [
        ("bytes=0-0", b"a"),
        ("bytes=2-4", b"cde"),
        ("bytes=23-", b"xyz"),
        ("bytes=23-99", b"xyz"),
        ("bytes=-2", b"yz"),
        ("bytes=-99", LETTERS),
        ("Bytes = 1-2", b"bc"),
        ("bytes=0-99999999999999999999999999", LETTERS),
    ],
)
def test_a_part_is_answered(user, asked, content):
    """A range is answered with 206 and says which bytes it has."""
    response = user.get(f"/media/{PATH}", headers={"Range": asked})
    start = LETTERS.index(content)

    assert (response.status_code, response.content) == (206, content)
    assert response.headers["content-range"] == f"bytes {start}-{start + len(content) - 1}/26"
    assert response.headers["content-length"] == str(len(content))


@pytest.mark.parametrize("asked", ["bytes=26-", "bytes=26-30", "bytes=-0", f"bytes={'9' * 5000}-"])
def test_a_part_beyond_the_end_is_416(user, asked):
    """The answer says how long the file is."""
    response = user.get(f"/media/{PATH}", headers={"Range": asked})

    assert response.status_code == 416
    assert response.headers["content-range"] == "bytes */26"
    assert set(response.json()) == {"detail"}


@pytest.mark.parametrize("asked", ["bytes=4-2", "bytes=0-1,3-4", "lines=1-2", "bytes=", "bytes=-", "bytes=a-b", "x"])
def test_what_is_no_range_is_ignored(user, asked):
    """The whole file is answered."""
    response = user.get(f"/media/{PATH}", headers={"Range": asked})

    assert (response.status_code, response.content) == (200, LETTERS)


def test_an_empty_file(user):
    """It is answered without bytes, and no part of it exists."""
    response = user.get("/media/attachments/empty.txt")

    assert (response.status_code, response.content, response.headers["content-length"]) == (200, b"", "0")
    for asked in ("bytes=0-", "bytes=-1"):
        assert user.get("/media/attachments/empty.txt", headers={"Range": asked}).status_code == 416


def test_what_a_client_has_is_not_sent_again(stored, user):
    """By its tag or its time; both are told with the 304 and with the file."""
    first = user.get(f"/media/{PATH}")
    etag, modified = first.headers["etag"], first.headers["last-modified"]

    for headers in (
        {"If-None-Match": etag},
        {"If-None-Match": f'"other", W/{etag}'},
        {"If-None-Match": "*"},
        {"If-Modified-Since": modified},
    ):
        again = user.get(f"/media/{PATH}", headers=headers)
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == etag
    for headers in (
        {"If-None-Match": '"other"'},
        {"If-None-Match": '"other"', "If-Modified-Since": modified},
        {"If-Modified-Since": formatdate(0, usegmt=True)},
        {"If-Modified-Since": "yesterday"},
        {"If-Modified-Since": "Mon, 99 Nov 99999999 99:99:99 GMT"},
    ):
        assert user.get(f"/media/{PATH}", headers=headers).status_code == 200
    assert stored.client("anonymous").get(f"/media/{PATH}", headers={"If-None-Match": etag}).status_code == 401


def test_a_download_goes_on_only_with_the_same_file(user):
    """A part is answered where the client's tag or time is that of the file, else all of it."""
    first = user.get(f"/media/{PATH}")
    same = [first.headers["etag"], first.headers["last-modified"]]

    for named in same:
        part = user.get(f"/media/{PATH}", headers={"Range": "bytes=20-", "If-Range": named})
        assert (part.status_code, part.content) == (206, LETTERS[20:])
    for named in ('"other"', f"W/{same[0]}", formatdate(0, usegmt=True), "soon"):
        whole = user.get(f"/media/{PATH}", headers={"Range": "bytes=20-", "If-Range": named})
        assert (whole.status_code, whole.content) == (200, LETTERS)


def test_head_tells_what_get_would(stored, user):
    """HEAD has the same headers and no body, whatever is asked for."""
    got, told = user.get(f"/media/{PATH}"), user.head(f"/media/{PATH}")

    assert told.status_code == 200
    assert told.content == b""
    ignored = {"x-plugyard-reqid"}
    assert {k: v for k, v in told.headers.items() if k not in ignored} == {
        k: v for k, v in got.headers.items() if k not in ignored
    }
    assert user.head("/media/attachments/nothing").status_code == 404
    assert user.head("/media/attachments/nothing").content == b""
    assert stored.client("anonymous").head(f"/media/{PATH}").status_code == 401


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"])
def test_files_are_only_read_here(stored, method):
    """Other methods are refused, after who is calling was asked."""
    response = stored.client("superuser").request(method, f"/media/{PATH}")

    assert response.status_code == 405
    assert response.headers["allow"] == "GET, HEAD"
    assert stored.client("anonymous").request(method, f"/media/{PATH}").status_code == 401


def test_a_store_that_fails_is_503(stored, user, monkeypatch):
    """Where a file cannot be read the answer says so, before any of it was sent."""

    def broken(_path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(stored.host.files._place, "open", broken)

    response = user.get(f"/media/{PATH}")

    assert response.status_code == 503
    assert "plugyard doctor" in response.json()["detail"]
    assert str(stored.host.home) not in response.text
