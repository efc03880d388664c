"""Couriers: who delivers a mail before the mail server does, and who sees it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from email import message_from_bytes
from uuid import UUID

import pytest
from sqlalchemy import delete

from host.contract.mail import IncomingMail, MailDelivery, OutgoingMail
from host.errors import RefusedError
from host.mail.couriers import Taken
from host.mail.log import MAIL
from host.mail.mailer import Mailer
from tests.mail.conftest import Clock, Inbox, Seals

LINK = "https://yard.example.org/verify-email/s3cr3t"


class Couriers:
    """Gives one answer, and keeps what it sees."""

    seconds = 7.0

    def __init__(self, **answer: object) -> None:
        self.answer = Taken(asked=True, **answer)  # type: ignore[arg-type]
        self.asked: list[OutgoingMail] = []
        self.seen: list[OutgoingMail] = []
        self.incoming: list[IncomingMail] = []
        self.meanwhile: Callable[[], object] = lambda: None

    def deliver(self, mail: OutgoingMail, goes_on: Callable[[], bool]) -> Taken:
        assert goes_on()
        self.asked.append(mail)
        self.meanwhile()
        return self.answer

    def sent(self, mail: OutgoingMail) -> None:
        self.seen.append(mail)

    def received(self, mail: IncomingMail) -> None:
        self.incoming.append(mail)


TAKEN = {"by": "post", "delivery": MailDelivery(message_id="ext-1")}


def test_a_courier_takes_a_mail(database, serve, inbox: Inbox, new_mailer, send, stored):
    """It gets the real mail with all that belongs to it, and the server gets nothing."""
    couriers = Couriers(**TAKEN)
    mailer = new_mailer(database, serve(), couriers=couriers)
    mail_id = send(mailer, "ada@straße.example", "email_verification", link=LINK, secrets=[LINK])

    assert (mailer.deliver_due(), inbox.envelopes) == (1, [])

    (mail,) = couriers.asked
    row = stored(database, mail_id)
    assert (row.status, row.message_id_key, row.payload, row.next_attempt) == ("S", "ext-1", None, None)
    assert (str(mail.id), str(mail.thread), mail.message_id) == (mail_id, row.thread, row.thread_id_key)
    assert (mail.recipients, mail.sender) == (("ada@xn--strae-oqa.example",), "plugyard@yard.example.org")
    assert (mail.priority, mail.template) == (3, "email_verification")
    assert LINK in str(message_from_bytes(mail.message).get_payload(0))
    assert "s3cr3t" not in repr(mail)


def test_those_who_only_look_see_no_secret(sqlite_database, new_mailer, send, stored, folder):
    """What was sent is shown as the log shows it."""
    (folder / "login_code.subject.txt").write_text("{{ code }} signs you in")
    couriers = Couriers(**TAKEN)
    mailer = new_mailer(sqlite_database, couriers=couriers, mail_templates=folder)
    mail_id = send(mailer, template="login_code", code="BCDF-GHJK", secrets=["BCDF-GHJK"])
    mailer.deliver_due()

    (asked,), (seen,) = couriers.asked, couriers.seen
    assert (asked.subject, seen.subject) == ("[Yard] BCDF-GHJK signs you in", "[Yard] •••• signs you in")
    assert b"BCDF" not in seen.message
    assert seen.message.decode() == stored(sqlite_database, mail_id).full_message
    assert (seen.id, seen.message_id, seen.recipients) == (asked.id, asked.message_id, ("ada@example.org",))


def test_what_nobody_takes_goes_to_the_server(sqlite_database, serve, inbox: Inbox, new_mailer, send, stored):
    """Also where a courier failed; it is sent once and shown once."""
    couriers = Couriers(failed=("post",))
    mail_id = send(mailer := new_mailer(sqlite_database, serve(), couriers=couriers))

    assert mailer.deliver_due() == 1
    assert len(inbox.envelopes) == len(couriers.seen) == 1
    assert stored(sqlite_database, mail_id).status == "S"


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        pytest.param(
            {"by": "post", "delivery": MailDelivery(error="later", error_code="503")},
            ("A", "503", "Plugin 'post' could not deliver it: later"),
            id="later",
        ),
        pytest.param(
            {"by": "post", "delivery": MailDelivery(error="nobody there", is_final=True)},
            ("F", "plugin", "Plugin 'post' could not deliver it: nobody there"),
            id="never",
        ),
        pytest.param(
            {"failed": ("post", "pigeon")},
            ("A", "plugin", "No mail server is set, and 'post', 'pigeon' failed to deliver it."),
            id="failed, without a server",
        ),
    ],
)
def test_a_mail_that_a_courier_cannot_deliver(
    sqlite_database, new_mailer, send, stored, clock: Clock, caplog, answer, outcome
):
    """It waits or is given up, with the reason; the host's log does not swallow it."""
    couriers = Couriers(**answer)
    mailer: Mailer = new_mailer(sqlite_database, couriers=couriers)
    mail_id = send(mailer, template="login_code", code="BCDF-GHJK", secrets=["BCDF-GHJK"])
    with caplog.at_level(logging.INFO, "plugyard.mail"):
        assert mailer.deliver_due() == 0

    row = stored(sqlite_database, mail_id)
    assert (row.status, row.error_code, row.error_message) == outcome
    assert row.next_attempt == (clock() + timedelta(seconds=15) if row.status == "A" else None)
    assert couriers.seen == []
    assert "BCDF" not in caplog.text


def test_what_a_courier_repeats_of_a_mail_is_masked(sqlite_database, new_mailer, send, stored):
    """The log shows no code, also where the one who refused the mail quotes it."""
    delivery = MailDelivery(error="refused: Your code is BCDF-GHJK. Spam?", error_code="spam")
    mailer: Mailer = new_mailer(sqlite_database, couriers=Couriers(by="post", delivery=delivery))
    mail_id = send(mailer, template="login_code", code="BCDF-GHJK", secrets=["BCDF-GHJK"])
    mailer.deliver_due()

    said = stored(sqlite_database, mail_id).error_message
    assert said.startswith("Plugin 'post' could not deliver it: refused: Your code is")
    assert said.endswith("Spam?")
    assert "BCDF" not in said
    assert "GHJK" not in said


@pytest.mark.parametrize("answer", [{}, TAKEN], ids=["nobody takes it", "taken"])
def test_a_mail_that_is_deleted_meanwhile(sqlite_database, serve, inbox: Inbox, new_mailer, send, stored, answer):
    """Deleting disturbs nobody who is sending; what has not left by then does not leave."""
    couriers = Couriers(**answer)
    mailer = new_mailer(sqlite_database, serve(), couriers=couriers)

    def delete_all() -> None:
        with sqlite_database.write() as session:
            session.connection().execute(delete(MAIL))

    couriers.meanwhile = delete_all
    send(mailer)
    assert mailer.deliver_due() == bool(answer)
    if answer:
        mailer.send_now(to="ada@example.org", template="test", context={})
    else:
        with pytest.raises(RefusedError, match="deleted from the mail log meanwhile"):
            mailer.send_now(to="ada@example.org", template="test", context={})

    assert (stored(sqlite_database), inbox.envelopes) == ([], [])


def test_a_slow_courier_keeps_its_mail(sqlite_database, new_mailer, send, stored, clock: Clock):
    """Others wait as long as it may take, and each one asked begins the time anew."""
    couriers = Couriers(**TAKEN)
    slow, other = (new_mailer(sqlite_database, couriers=couriers) for _ in range(2))
    mail_id = send(slow)

    def take_long() -> None:
        clock.move(seconds=2 * 5 + 60 + 7 - 1)
        assert other.deliver_due() == 0

    couriers.meanwhile = take_long
    assert slow.deliver_due() == 1
    assert (stored(sqlite_database, mail_id).attempts, len(couriers.asked)) == (1, 1)


def test_a_mail_that_must_leave_does_not_go_to_the_log(sqlite_database, new_mailer, stored, caplog):
    """Without a server and without a courier who takes it, it has failed."""
    mailer = new_mailer(sqlite_database)
    with caplog.at_level(logging.INFO, "plugyard.mail"), pytest.raises(RefusedError, match="PLUGYARD_SMTP_URL"):
        mailer.send_now(to="ada@example.org", template="test", context={}, must_leave=True)

    (row,) = stored(sqlite_database)
    assert (row.status, row.error_code, row.payload, caplog.records) == ("F", "no-server", None, [])


def test_what_is_told_too_early_counts(sqlite_database, new_mailer, send, stored):
    """A service may tell that a mail was read before the host has noted that it left."""
    couriers = Couriers(**TAKEN)
    mailer: Mailer = new_mailer(sqlite_database, couriers=couriers)
    mail_id = send(mailer)

    def tell() -> None:
        with sqlite_database.write() as session:
            assert mailer.inbox.note(session, couriers.asked[0].message_id, "read")

    couriers.meanwhile = tell
    assert mailer.deliver_due() == 1
    row = stored(sqlite_database, mail_id)
    assert (row.status, row.message_id_key, row.payload) == ("R", "ext-1", None)


def test_mail_comes_in_while_the_server_is_down(sqlite_database, free_port, new_mailer, send, stored):
    """What cannot leave keeps nothing from being shown."""
    couriers = Couriers()
    mailer: Mailer = new_mailer(sqlite_database, free_port(), couriers=couriers)
    send(mailer)
    with sqlite_database.write() as session:
        mail_id = mailer.inbox.store(session, mailer.inbox.read(b"Subject: Hello\r\n\r\nThere"))

    assert mailer.deliver_due() == 0
    assert [(mail.id, mail.subject, mail.text) for mail in couriers.incoming] == [(mail_id, "Hello", "There")]
    row = stored(sqlite_database, str(mail_id))
    assert (row.status, row.payload, row.next_attempt) == ("D", None, None)


def test_an_incoming_mail_that_cannot_be_opened_is_given_up(sqlite_database, new_mailer, stored):
    """As after a change of the secret key."""
    from_before, mailer = new_mailer(sqlite_database, seals=Seals()), new_mailer(sqlite_database, couriers=Couriers())
    with sqlite_database.write() as session:
        mail_id: UUID = from_before.inbox.store(session, from_before.inbox.read(b"Subject: Hello\r\n\r\nThere"))

    assert mailer.deliver_due() == 0
    row = stored(sqlite_database, str(mail_id))
    assert (row.status, row.error_code, row.next_attempt, row.body) == ("F", "sealed", None, "There")
