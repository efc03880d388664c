"""Incoming mail: what is read of it, whatever is in it, and how it is kept."""

from __future__ import annotations

import json
import random
import threading
import time
from base64 import b64encode
from uuid import UUID

import pytest
from sqlalchemy import update

from host.contract.mail import OutgoingMail
from host.mail.incoming import MOST_BYTES, read
from host.mail.log import MAIL
from host.mail.mailer import Mailer
from host.storage.engine import Database
from tests.mail.conftest import Clock
from tests.mail.test_couriers import Couriers

MULTIPART = b"""\
From: =?utf-8?b?wqBaw6s=?= <zoe@example.org>\r
To: yard@example.org, "Desk, Front" <desk@example.org>\r
Cc: (nobody) group: bob@example.org;\r
Subject: =?iso-8859-1?q?Gr=FC=DFe?= from\r
 here\r
Message-ID: <1@example.org>\r
References: <a@b> <c@d>\r
In-Reply-To: <c@d>\r
X-Priority: 1 (Highest)\r
Received: by one\r
received: by two\r
Content-Type: multipart/mixed; boundary=cut\r
\r
--cut\r
Content-Type: text/plain; charset=utf-8\r
Content-Disposition: attachment\r
\r
not this\r
--cut\r
Content-Type: text/html\r
\r
not this either\r
--cut\r
Content-Type: text/plain; charset=koi8-r\r
Content-Transfer-Encoding: base64\r
\r
8NLJ18XUIQ0KCQo=\r
--cut--\r
"""


def test_a_mail_is_read():
    """Names, addresses, text and threads, in their codes."""
    found = read(MULTIPART)

    assert (found.subject, found.text, found.priority) == ("Grüße from here", "Привет!\n\t\n", 1)
    assert (found.sender, found.message_id) == ("zoe@example.org", "<1@example.org>")
    assert found.recipients == ("yard@example.org", "desk@example.org", "bob@example.org")
    assert found.to == "yard@example.org, desk@example.org, bob@example.org"
    assert found.answers == ("<c@d>", "<a@b>")
    assert found.headers["Received"] == ["by one", "by two"]
    assert found.headers["Subject"] == found.subject
    assert found.shown.startswith("From: =?utf-8?b?wqBaw6s=?= <zoe@example.org>\nTo: ")


@pytest.mark.parametrize(
    ("head", "body", "text"),
    [
        pytest.param(b"X: y", b"r\xe9sum\xe9", "résumé", id="no charset, not UTF-8"),
        pytest.param(b"Content-Type: text/plain; charset=x-none", "Zoë".encode(), "Zoë", id="unknown charset"),
        pytest.param(b"Content-Type: text/plain; charset=rot13", b"abc", "abc", id="a codec that makes no text"),
        pytest.param(b"Content-Type: text/plain; charset=utf-16", b"\xff\xfeh\0i\0", "hi", id="wide"),
        pytest.param(b"Content-Type: text/plain; charset*0*=utf-8''k; charset*1=x", b"abc", "abc", id="split charset"),
        pytest.param(b"Content-Transfer-Encoding: base64", b"%%%", "", id="no base64"),
        pytest.param(
            b"Content-Type: text/plain; charset=utf-8", b"a\0b\x1b[2Jc\xed\xa0\x80", "ab[2Jcí\xa0€", id="controls"
        ),
        pytest.param(
            b"Content-Type: text/html",
            b"<head><title>T</title></head><p>1 &lt; 2<br/>x</p><script>evil('<b>')</script><style>y</style> 3 < 4 >",
            "1 < 2\nx\n 3 < 4 >",
            id="only HTML",
        ),
        pytest.param(b"Content-Type: text/html", b"<script>" + b"x" * 9, "", id="HTML that does not end"),
        pytest.param(b"Content-Type: multipart/mixed; a*=x; a*1=y", b"abc", "", id="what the library cannot read"),
        pytest.param(b"Content-Type: text/plain", b"x" * 200_000, "x" * 100_000 + "…", id="long"),
    ],
)
def test_odd_texts_are_read(head: bytes, body: bytes, text: str):
    """Something fit to be shown comes of each."""
    found = read(head + b"\r\nSubject: s\r\n\r\n" + body)

    assert found.text == text
    assert found.subject == "s"


@pytest.mark.parametrize(
    ("sender", "address"),
    [
        (b"=?utf-8?q?admin=40bank.example_=3Cadmin=40bank.example=3E=2C?= <eve@example.org>", "eve@example.org"),
        (b"eve@example.org\0", "eve@example.org"),
        (b'"\r\n <admin@bank.example>" <eve@example.org>', "eve@example.org"),
        ("zoë@straße.example".encode(), "zoë@straße.example"),
        (b"nobody", ""),
        (b"a@" + b"b" * 300, ""),
        (b"(" * 1500, ""),
    ],
    ids=range(7),
)
def test_no_name_passes_for_an_address(sender: bytes, address: str):
    """The address is what stands where addresses stand, or nothing."""
    assert read(b"From: " + sender + b"\r\n\r\n").sender == address


def test_many_recipients_are_cut_at_an_address():
    """A row of the log holds whole addresses; plugins get all that were read."""
    found = read(b"To: " + b", ".join(b"user%d@example.org" % number for number in range(50)) + b"\r\n\r\n")

    assert len(found.recipients) == 50
    assert len(found.to) <= 254
    assert found.to.endswith("@example.org")


@pytest.mark.parametrize(
    "mail",
    [
        pytest.param(b"Content-Type: multipart/mixed; boundary=b\n\n--b\n" * 5000, id="parts in parts"),
        pytest.param(b"Content-Type: message/rfc822\n\n" * 20_000, id="mails in mails"),
        pytest.param(b"A: b\n" * 200_000, id="headers"),
        pytest.param(b"Subject: " + b"=?utf-8?q?a?= " * 100_000 + b"\n\n", id="codes"),
        pytest.param(b"Content-Type: text/html\n\n" + b"<div>" * 500_000, id="tags"),
        pytest.param(b"Content-Type: text/html\n\n" + b"<" * 2_000_000, id="ends of tags"),
        pytest.param(b"Content-Type: text/plain; charset=punycode\n\na-" + b"b9" * 500_000, id="slow charset"),
        pytest.param(b"\n" + b"\0" * MOST_BYTES, id="nothing"),
    ],
)
def test_no_mail_holds_up_the_host(mail: bytes):
    """Reading takes a moment at most, and what is kept is bounded."""
    started = time.process_time()
    found = read(mail)

    assert time.process_time() - started < 2
    assert len(found.headers) <= 100
    assert len(found.shown) + len(found.text) < 400_000


def test_broken_mails_are_read():
    """Whatever is cut out of a mail, put into it or turned over in it, what is read can be stored and answered."""
    chance = random.Random(7)  # noqa: S311 - no secret
    pieces = [b"\0", b"\xff", b"\n", b"=?", b"?=", b"<", b">", b"(", b'"', b";", b"*0", b"charset=", b"\xed\xa0\x80"]
    for _ in range(500):
        mail = bytearray(MULTIPART)
        for _ in range(chance.randint(1, 10)):
            place = chance.randrange(len(mail))
            mail[place : place + chance.choice([0, 0, 1, 20])] = chance.choice(pieces)
        found = read(bytes(mail))
        texts = json.dumps([found.sender, found.to, found.subject, found.text, found.shown, found.headers])
        assert "\\u0000" not in texts
        assert "\\ud8" not in texts


# -- how it is kept ----------------------------------------------------------------------------------------------


@pytest.fixture
def mailer(database: Database, new_mailer) -> Mailer:
    made: Mailer = new_mailer(database, couriers=Couriers())
    return made


def receive(mailer: Mailer, raw: bytes) -> UUID:
    letter = mailer.inbox.read(raw)
    with mailer._database.write() as session:
        return mailer.inbox.store(session, letter)


def test_a_reply_joins_the_thread(mailer: Mailer, database: Database, send, stored, clock: Clock):
    """It is kept once, in the thread of the mail it answers, and so are the replies to it, in any order of the ids."""
    sent = stored(database, send(mailer))
    reply = MULTIPART.replace(b"<c@d>", sent.message_id_key.encode())
    first, again = receive(mailer, reply), receive(mailer, reply)
    other = receive(mailer, b"References: <x@y> <1@example.org>\r\nSubject: \0\r\n\r\nMe too")
    stranger = receive(mailer, b"In-Reply-To: <nothing@example.org>\r\n\r\n")

    assert first == again
    assert len(stored(database)) == 4
    row = stored(database, str(first))
    assert (row.direction, row.status, row.priority, row.timestamp) == ("I", "D", 1, clock())
    assert (row.message_id_key, row.subject, row.sender) == ("<1@example.org>", "Grüße from here", "zoe@example.org")
    assert (row.headers["In-Reply-To"], row.body) == (sent.message_id_key, "Привет!\n\t\n")
    threads = {(one.thread, one.thread_id_key) for one in (row, stored(database, str(other)))}
    assert threads == {(sent.thread, sent.message_id_key)}
    lonely = stored(database, str(stranger))
    assert lonely.thread not in {sent.thread, None}
    assert (lonely.thread_id_key, lonely.message_id_key, lonely.subject, lonely.to) == (None, None, "", "")


def test_a_reply_to_what_a_service_named(sqlite_database, new_mailer, send, stored):
    """Services name mails as they like, with brackets in replies and without them in what they tell."""
    mailer: Mailer = new_mailer(sqlite_database)
    mail_id = send(mailer)
    with sqlite_database.write() as session:
        session.connection().execute(update(MAIL).values(message_id_key="0100@ses"))

    reply = receive(mailer, b"In-Reply-To: <0100@ses>\r\n\r\n")

    assert stored(sqlite_database, str(reply)).thread == stored(sqlite_database, mail_id).thread


def test_mails_that_come_in_at_once_are_kept_once(mailer: Mailer, database: Database, stored):
    """Two processes that are handed the same mail agree."""
    barrier, ids = threading.Barrier(4), []

    def run() -> None:
        barrier.wait()
        ids.append(receive(mailer, MULTIPART))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [row.global_id for row in stored(database)] == [str(ids[0])]
    assert len(set(ids)) == 1
    assert len(ids) == 4


def test_plugins_see_what_came_in(sqlite_database, new_mailer, stored):
    """Soon after, whole, and once; a mail that is rolled back is shown to nobody."""
    couriers = Couriers()
    mailer: Mailer = new_mailer(sqlite_database, couriers=couriers)
    with sqlite_database.write() as session:
        mailer.inbox.store(session, mailer.inbox.read(b"Subject: no\r\n\r\n"))
        session.rollback()
    mail_id = receive(mailer, MULTIPART)
    sealed = stored(sqlite_database, str(mail_id)).payload
    assert b64encode(MULTIPART).decode() not in sealed

    assert (mailer.deliver_due(), mailer.deliver_due()) == (0, 0)

    (mail,) = couriers.incoming
    assert (mail.id, mail.message, mail.sender, len(mail.recipients)) == (mail_id, MULTIPART, "zoe@example.org", 3)
    assert str(mail.thread) == stored(sqlite_database, str(mail_id)).thread
    assert "Привет" not in repr(mail)


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        (b"", ValueError),
        (b" \r\n", ValueError),
        (b"x" * (MOST_BYTES + 1), ValueError),
        ("text", TypeError),
        (None, TypeError),
    ],
    ids=["empty", "blank", "too long", "text", "nothing"],
)
def test_what_is_no_mail_is_refused(sqlite_database, new_mailer, raw, error):
    """The plugin that hands it in learns why."""
    with pytest.raises(error):
        new_mailer(sqlite_database).inbox.read(raw)


# -- what becomes of mails that left -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcomes", "status", "reason"),
    [
        (["delivered"], "D", None),
        (["delivered", "read", "confirmed"], "C", None),
        (["read", "delivered"], "R", None),
        (["confirmed", "failed"], "C", None),
        (["failed"], "F", "No room\nleft"),
        (["delivered", "failed"], "F", "No room\nleft"),
        (["failed", "delivered"], "D", None),
    ],
    ids=["one", "in order", "too late", "failed too late", "failed", "comes back", "after all"],
)
def test_what_says_more_counts(database: Database, new_mailer, send, stored, outcomes, status, reason):
    """In whatever order a service tells."""
    mailer: Mailer = new_mailer(database)
    mail_id, other = send(mailer), send(mailer)
    mailer.deliver_due()
    key = stored(database, mail_id).message_id_key
    for outcome in outcomes:
        with database.write() as session:
            assert mailer.inbox.note(session, key.strip("<>"), outcome, "No room\nleft\0")

    row = stored(database, mail_id)
    assert (row.status, row.error_message) == (status, reason)
    assert (row.error_timestamp is None) == (reason is None)
    assert stored(database, other).status == "S"


def test_what_concerns_no_mail_of_ours(database: Database, new_mailer, stored):
    """Unknown and incoming mails are not changed, and odd names of mails are unknown ones."""
    mailer: Mailer = new_mailer(database)
    receive(mailer, MULTIPART)
    odd = ["nothing", "<1@example.org>", "", " <> ", "\0", "\ud800", "x" * 9999, "%", None]
    with database.write() as session:
        assert [mailer.inbox.note(session, one, "read") for one in odd] == [False] * len(odd)  # type: ignore[arg-type]
        for outcome in ("sent", "", None, ["read"], "S"):
            with pytest.raises(ValueError, match="There is no outcome"):
                mailer.inbox.note(session, "x", outcome)  # type: ignore[arg-type]

    assert [row.status for row in stored(database)] == ["D"]


def test_a_mail_is_told_of_without_its_texts():
    """Whatever is logged of one, nobody can sign in with it."""
    mail = OutgoingMail(
        id=UUID(int=1),
        thread=UUID(int=2),
        message_id="<x@y>",
        sender="a@b",
        recipients=("c@d",),
        subject="s3cret",
        message=b"s3cret",
    )

    assert "s3cret" not in f"{mail!r} {mail}"
