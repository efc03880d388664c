"""Plugins that deliver or see mail, and what they hand in."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select

from host import IncomingMail, MailAccess, MailDelivery, OutgoingMail, hookimpl
from host.mail.inbox import Inbox
from host.mail.log import MAIL
from host.plugins.mail import MailPlugins, PluginMail
from host.plugins.transactions import transaction
from host.storage.engine import Database
from host.storage.tables import now
from tests.plugins.bench import Bench

SECRET = "https://yard.example.org/reset/s3cr3t"
MAIL_OUT = OutgoingMail(
    id=UUID(int=1),
    message_id="<1@yard.example.org>",
    thread=UUID(int=2),
    sender="yard@example.org",
    recipients=("ada@example.org",),
    subject=f"Go to {SECRET}",
    message=SECRET.encode(),
)
MAIL_IN = IncomingMail(
    id=UUID(int=3),
    message_id="",
    thread=UUID(int=3),
    sender="ada@example.org",
    recipients=(),
    subject="Hello",
    text="There",
    message=b"Subject: Hello",
)
RAW = b"Message-ID: <9@example.org>\r\nSubject: Hello\r\n\r\nThere"


class Post:
    """Answers what it is told, and keeps what it was asked."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.asked: list[object] = []

    @hookimpl
    def deliver_mail(self, mail: OutgoingMail) -> object:
        self.asked.append(mail)
        if isinstance(self.answer, Exception):
            raise self.answer
        if self.answer == "hang":
            time.sleep(5)
        return self.answer

    @hookimpl
    def mail_sent(self, mail: OutgoingMail) -> object:
        return self._see(mail)

    @hookimpl
    def incoming_mail(self, mail: IncomingMail) -> object:
        return self._see(mail)

    def _see(self, mail: object) -> object:
        self.asked.append(mail)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class AsyncPost:
    """Delivers with ``async def``."""

    @hookimpl
    async def deliver_mail(self, mail: OutgoingMail) -> MailDelivery:
        return MailDelivery(message_id=str(mail.id))


def always() -> bool:
    return True


@pytest.fixture
def bench() -> Bench:
    return Bench(deadline=0.2)


@pytest.fixture
def plugins(bench: Bench) -> MailPlugins:
    return MailPlugins(bench, bench.calls, bench.report, seconds=0.2)


TAKEN = MailDelivery(message_id="x-1")


@pytest.mark.parametrize(
    ("answers", "by", "failed", "reported"),
    [
        pytest.param([TAKEN, TAKEN], "p0", (), [], id="the first takes it"),
        pytest.param([None, TAKEN], "p1", (), [], id="left to the next"),
        pytest.param([RuntimeError("no network"), TAKEN], "p1", (), ["plugin.p0.deliver_mail"], id="failure"),
        pytest.param(
            [True, "yes", 7], "", ("p0", "p1", "p2"), [f"plugin.p{n}.deliver_mail" for n in range(3)], id="no"
        ),
        pytest.param([ValueError(SECRET), TAKEN], "p1", (), ["plugin.p0.deliver_mail"], id="failure that quotes"),
        pytest.param([SECRET, TAKEN], "p1", (), ["plugin.p0.deliver_mail"], id="the mail itself"),
        pytest.param(["hang", None], "", ("p0",), ["plugin.p0.deliver_mail"], id="a hanging one"),
        pytest.param([None, None], "", (), [], id="nobody"),
        pytest.param([], "", (), [], id="no plugin"),
        pytest.param([MailDelivery(error="later"), TAKEN], "p0", (), [], id="the first knows it better"),
    ],
)
def test_a_mail_is_offered_in_turn(bench: Bench, plugins: MailPlugins, answers, by, failed, reported):
    """Until somebody answers; no report shows what the mail says."""
    posts = [Post(answer) for answer in answers]
    bench.load({f"p{place}": post for place, post in enumerate(posts)})

    taken = plugins.deliver(MAIL_OUT, always)

    assert (taken.by, taken.asked) == (by, bool(answers))
    assert taken.failed == (() if by else failed)
    assert taken.delivery == (posts[int(by[1:])].answer if by else None)
    assert bench.reported == reported
    asked = len(posts) if not by else int(by[1:]) + 1
    assert [post.asked for post in posts] == [[MAIL_OUT]] * asked + [[]] * (len(posts) - asked)
    assert "s3cr3t" not in str(bench.reports)


def test_nobody_is_asked_of_a_mail_that_is_gone(bench: Bench, plugins: MailPlugins):
    """Whether it is still there is asked before each plugin."""
    posts = [Post(None), Post(TAKEN)]
    bench.load({"a": posts[0], "b": posts[1]})
    left = [True, False]

    taken = plugins.deliver(MAIL_OUT, lambda: left.pop(0))

    assert (taken.by, taken.delivery, taken.asked) == ("", None, True)
    assert [len(post.asked) for post in posts] == [1, 0]


def test_a_plugin_in_quarantine_counts_as_switched_off(bench: Bench, plugins: MailPlugins):
    """It is no reason to keep a mail waiting."""
    post = Post(TAKEN)
    bench.load({"post": post})
    bench.calls.quarantine("post")

    taken = plugins.deliver(MAIL_OUT, always)

    assert (taken.delivery, taken.failed, post.asked) == (None, (), [])


def test_coroutines_deliver_too(bench: Bench, plugins: MailPlugins):
    """As with any hook."""
    bench.load({"post": AsyncPost()})

    assert plugins.deliver(MAIL_OUT, always).delivery == MailDelivery(message_id=str(MAIL_OUT.id))


@pytest.mark.parametrize(
    ("given", "kept", "reported"),
    [
        pytest.param(
            {"message_id": "x\0\n\ud800 y", "error": "no\x1b[2J", "error_code": "5\r\n", "is_final": 1},
            MailDelivery(message_id="x y", error="no[2J", error_code="5"),
            0,
            id="signs that cannot be stored",
        ),
        pytest.param({"message_id": 7}, MailDelivery(), 1, id="a number as id"),
        pytest.param({"error": None, "error_code": None}, MailDelivery(), 1, id="nothing as error"),
        pytest.param(
            {"error": ValueError("x"), "is_final": True},
            MailDelivery(error="it says why, but not in text", is_final=True),
            1,
            id="an exception as error",
        ),
        pytest.param({"error": "x" * 5000}, MailDelivery(error="x" * 1000), 0, id="long"),
    ],
)
def test_what_a_plugin_says_is_made_fit_for_the_log(bench, plugins: MailPlugins, given, kept, reported):
    """Whatever stands in its answer, the mail was in its hands: nobody else is asked."""
    bench.load({"post": Post(MailDelivery(**given)), "other": Post(TAKEN)})

    taken = plugins.deliver(MAIL_OUT, always)

    assert (taken.by, taken.delivery) == ("post", kept)
    assert bench.reported == ["plugin.post.deliver_mail"] * reported


@pytest.mark.parametrize("kind", ["sent", "received"])
def test_everybody_sees_a_mail(bench: Bench, plugins: MailPlugins, kind: str):
    """One that fails takes it from nobody."""
    posts = [Post(ZeroDivisionError("oh")), Post(None), Post("an answer")]
    bench.load({f"p{place}": post for place, post in enumerate(posts)})
    mail: Any = MAIL_OUT if kind == "sent" else MAIL_IN

    getattr(plugins, kind)(mail)

    assert [post.asked for post in posts] == [[mail]] * 3
    assert bench.reported == [f"plugin.p0.{'mail_sent' if kind == 'sent' else 'incoming_mail'}"]


def test_the_setting_switches_all_off(bench: Bench):
    """No plugin has to do with mail then."""
    post = Post(TAKEN)
    bench.load({"post": post})
    is_on = True
    plugins = MailPlugins(bench, bench.calls, bench.report, seconds=1, enabled=lambda: is_on)
    assert plugins.deliver(MAIL_OUT, always).asked
    post.asked.clear()
    is_on = False

    assert plugins.deliver(MAIL_OUT, always).asked is False
    plugins.sent(MAIL_OUT)
    plugins.received(MAIL_IN)
    assert post.asked == []


# -- what plugins hand in ------------------------------------------------------------------------------------------


@pytest.fixture
def woken() -> list[str]:
    return []


@pytest.fixture
def access(database: Database, woken: list[str]) -> MailAccess:
    seals: Any = SimpleNamespace(seal=lambda _purpose, text: text, open=lambda _purpose, text: text)
    inbox = Inbox(seals, now, lambda: woken.append("woken"))
    return PluginMail("post", database, lambda: inbox)


@pytest.fixture
def kept(database: Database) -> Callable[[], list[str]]:
    def read() -> list[str]:
        with database.read() as connection:
            return list(connection.execute(select(MAIL.c.global_id)).scalars())

    return read


def test_a_mail_is_handed_in(access: MailAccess, kept, woken):
    """It is stored at once, and the delivery is told."""
    mail_id = access.receive(RAW)

    assert (kept(), woken) == ([str(mail_id)], ["woken"])
    assert access.note("<1@yard.example.org>", "read") is False


@pytest.mark.parametrize("keeps", [True, False])
def test_it_is_part_of_the_plugins_transaction(access: MailAccess, database: Database, kept, keeps: bool):
    """Also when it is handed in twice there; nothing waits for a lock that the plugin itself holds."""
    with transaction(database, "post") as session:
        assert access.receive(RAW) == access.receive(RAW)
        access.note("<9@example.org>", "failed", "oh")
        if not keeps:
            session.rollback()

    assert len(kept()) == keeps


def test_what_cannot_be_taken_is_said(access: MailAccess, kept):
    """As the contract promises."""
    wrong: Any = "text"
    with pytest.raises(TypeError):
        access.receive(wrong)
    with pytest.raises(ValueError, match="empty"):
        access.receive(b"")
    with pytest.raises(ValueError, match="delivered, read, confirmed, failed"):
        access.note("<9@example.org>", wrong)
    assert kept() == []
