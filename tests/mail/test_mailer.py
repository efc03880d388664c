"""Mailing: what is written, what leaves, and what the log says of it."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections import Counter
from datetime import timedelta
from email.message import EmailMessage
from urllib.parse import quote
from uuid import UUID

import pytest
from sqlalchemy import update

from host.errors import RefusedError
from host.mail.log import MAIL
from host.mail.mailer import Mailer
from host.storage.engine import Database
from tests.mail.conftest import Clock, Inbox, Seals

KEY = "Mw:1wabc:s1g+na/ture="


def content(mail: EmailMessage, kind: str) -> str:
    part = mail.get_body((kind,))
    assert part is not None
    return str(part.get_content())


@pytest.fixture
def mailer(sqlite_database: Database, serve, new_mailer) -> Mailer:
    made: Mailer = new_mailer(sqlite_database, serve())
    return made


def test_a_mail_leaves_once_it_is_committed(database: Database, serve, inbox: Inbox, new_mailer, stored):
    """The thread sends it as text and HTML with all its headers, and the log says so."""
    mailer = new_mailer(database, serve())
    mailer.start()
    with database.write() as session:
        mail_id = mailer.send(session, to="ada@example.org", template="login_code", context={"code": "BCDF-GHJK"})
        time.sleep(0.05)
        assert not inbox.envelopes
    assert inbox.arrived.wait(4)
    mailer.stop()

    assert isinstance(mail_id, UUID)
    (envelope,) = inbox.envelopes
    assert (envelope.mail_from, envelope.rcpt_tos) == ("plugyard@yard.example.org", ["ada@example.org"])
    (mail,) = inbox.mails
    row = stored(database, str(mail_id))
    assert (mail["From"], mail["To"]) == ("Yard <plugyard@yard.example.org>", "ada@example.org")
    assert mail["Subject"] == row.subject == "[Yard] Your sign-in code"
    assert mail["Message-ID"] == row.message_id_key == row.thread_id_key == f"<{mail_id}@yard.example.org>"
    assert (mail["X-Plugyard-MsgId-1"], mail["X-Plugyard-ThreadId-1"]) == (str(mail_id), row.thread)
    assert (mail["X-Plugyard-Instance-1"], mail["X-Priority"]) == ("Yard", "3")
    assert (mail["Auto-Submitted"], mail["Date"]) == ("auto-generated", "Sun, 03 May 2026 14:05:00 +0000")
    assert [part.get_content_type() for part in mail.iter_parts()] == ["text/plain", "text/html"]
    assert all("BCDF-GHJK" in part.get_content() for part in mail.iter_parts())
    assert (row.status, row.direction, row.priority, row.attempts) == ("S", "O", 3, 1)
    assert (row.payload, row.next_attempt, row.error_code, row.error_message) == (None, None, None, None)
    assert (row.to, row.sender, row.delivery_options) == ("ada@example.org", "plugyard@yard.example.org", None)
    assert row.headers["Message-ID"] == row.message_id_key


def test_what_is_rolled_back_is_not_sent(mailer: Mailer, inbox: Inbox, sqlite_database: Database, stored):
    """Nothing leaves for something that never happened."""

    def fail() -> None:
        with sqlite_database.write() as session:
            mailer.send(session, to="ada@example.org", template="test", context={})
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()

    assert mailer.deliver_due() == 0
    assert (stored(sqlite_database), inbox.envelopes) == ([], [])


@pytest.mark.parametrize("is_sent", [False, True])
def test_no_secret_can_be_read_in_the_log(mailer: Mailer, inbox: Inbox, send, stored, is_sent, sqlite_database):
    """The receiver gets the key, quoted as it was, and the database holds it in no form."""
    link = f"https://yard.example.org/verify-email/{quote(KEY)}?a=1&b={quote(KEY, safe='')}"
    mail_id = send(mailer, template="email_verification", link=link, secrets=[KEY])
    if is_sent:
        assert mailer.deliver_due() == 1
        for part in inbox.mails[0].iter_parts():
            assert quote(KEY) in part.get_content()

    row = stored(sqlite_database, mail_id)
    for value in row:
        for form in (KEY, quote(KEY), quote(KEY, safe=""), "s1g"):
            assert form not in str(value)
    assert "https://yard.example.org/verify-email/••••?a=1&b=••••" in row.body
    assert "••••" in row.full_message
    assert row.full_message.count("Content-Type: text/") == 2
    assert (row.payload is None) == is_sent


def test_a_code_in_a_subject_is_masked(sqlite_database, serve, inbox: Inbox, new_mailer, send, stored, folder):
    """An administrator's template may put the code anywhere."""
    (folder / "login_code.subject.txt").write_text("{{ code }} signs you in")
    mailer = new_mailer(sqlite_database, serve(), mail_templates=folder)
    mail_id = send(mailer, template="login_code", code="BCDF-GHJK", secrets=["BCDF-GHJK"])
    mailer.deliver_due()

    row = stored(sqlite_database, mail_id)
    assert row.subject == "[Yard] •••• signs you in"
    assert "BCDF" not in str(tuple(row))
    assert inbox.mails[0]["Subject"] == "[Yard] BCDF-GHJK signs you in"


def test_a_busy_server_is_asked_again(mailer: Mailer, inbox: Inbox, clock: Clock, send, stored, sqlite_database):
    """After a temporary refusal the mail waits, with the reason, and then leaves."""
    inbox.to_data += ["451 Try again later", "452 Full"]
    mail_id = send(mailer)

    assert mailer.deliver_due() == 0
    row = stored(sqlite_database, mail_id)
    assert (row.status, row.error_code, row.attempts) == ("A", "451", 1)
    assert row.error_message == "The mail server refused it: 451 Try again later"
    assert (row.error_timestamp, row.next_attempt) == (clock(), clock() + timedelta(seconds=15))
    clock.move(seconds=14)
    assert mailer.deliver_due() == 0
    clock.move(seconds=1)
    assert mailer.deliver_due() == 0
    assert stored(sqlite_database, mail_id).error_code == "452"
    clock.move(seconds=60)
    assert mailer.deliver_due() == 1

    row = stored(sqlite_database, mail_id)
    assert (row.status, row.attempts, row.error_code, row.error_message, row.payload) == ("S", 3, None, None, None)
    assert len(inbox.envelopes) == 1


@pytest.mark.parametrize("where", ["to_recipients", "to_data"])
def test_a_refused_mail_is_given_up(mailer: Mailer, inbox: Inbox, send, stored, reports, where, sqlite_database):
    """What the server will never take is not tried again, and other mails are not held up."""
    getattr(inbox, where).append("550 No such user")
    mail_id, other = send(mailer), send(mailer, "bob@example.org")

    assert mailer.deliver_due() == 1
    row = stored(sqlite_database, mail_id)
    assert (row.status, row.error_code, row.next_attempt, row.payload) == ("F", "550", None, None)
    assert row.error_message == "The mail server refused it: 550 No such user"
    assert stored(sqlite_database, other).status == "S"
    assert (mailer.deliver_due(), reports) == (0, [])


def test_a_refused_sender_loses_no_mail(mailer: Mailer, inbox: Inbox, clock, send, stored, sqlite_database):
    """That the server wants a password is no fault of the mail: it waits until the administrator has set one."""
    inbox.to_senders.append("530 Authentication required")
    first, second = send(mailer), send(mailer, "bob@example.org")

    assert mailer.deliver_due() == 0
    rows = [stored(sqlite_database, one) for one in (first, second)]
    assert [row.status for row in rows] == ["A", "A"]
    assert sorted(str(row.error_code) for row in rows) == ["530", "None"]
    clock.move(minutes=1)
    assert mailer.deliver_due() == 2


def test_a_mail_is_given_up_after_the_last_attempt(
    sqlite_database, serve, inbox, clock, new_mailer, send, stored, reports
):
    """Staff learn that a mail was given up, and its real text is gone."""
    mailer = new_mailer(sqlite_database, serve(), mail_attempts=2)
    inbox.to_data += ["451 Later"] * 3
    mail_id = send(mailer)
    mailer.deliver_due()
    clock.move(hours=1)
    mailer.deliver_due()

    row = stored(sqlite_database, mail_id)
    assert (row.status, row.attempts, row.error_code, row.payload) == ("F", 2, "451", None)
    clock.move(days=1)
    assert mailer.deliver_due() == 0
    assert len(inbox.to_data) == 1
    assert reports == [("mail.delivery", "A mail 'test' was given up. The mail server refused it: 451 Later")]


def test_an_unreachable_server_loses_no_mail(sqlite_database, free_port, serve, inbox, clock, new_mailer, send, stored):
    """Mails wait for it; those behind the first are not even tried."""
    port = free_port()
    mailer = new_mailer(sqlite_database, port)
    first = send(mailer)
    clock.move(seconds=1)
    second = send(mailer, "bob@example.org")

    assert mailer.deliver_due() == 0
    row = stored(sqlite_database, first)
    assert (row.status, row.error_code, row.attempts) == ("A", "connection", 1)
    assert f"127.0.0.1:{port} cannot be used" in row.error_message
    assert stored(sqlite_database, second).attempts == 0
    clock.move(seconds=15)
    assert new_mailer(sqlite_database, serve()).deliver_due() == 2
    assert {stored(sqlite_database, one).status for one in (first, second)} == {"S"}


def test_a_silent_server_is_left_in_time(sqlite_database, new_mailer, send, stored):
    """A server that answers a little now and then cannot hold the thread for ever."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def drip() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.sendall(b"220 hello\r\n")
                try:
                    while True:
                        connection.sendall(b"250-more\r\n")
                        time.sleep(0.1)
                except OSError:
                    return

        server = threading.Thread(target=drip)
        server.start()
        mailer = new_mailer(sqlite_database, listening.getsockname()[1], mail_timeout=0.3)
        mail_id = send(mailer)
        begun = time.monotonic()
        assert mailer.deliver_due() == 0
        assert time.monotonic() - begun < 4
        server.join()

    row = stored(sqlite_database, mail_id)
    assert (row.status, row.error_code) == ("A", "timeout")
    assert "took longer than 0.3 s" in row.error_message


def test_several_processes_send_each_mail_once(database: Database, serve, inbox: Inbox, new_mailer, send, stored):
    """Four mailers on one database share the work."""
    port = serve()
    mailers = [new_mailer(database, port) for _ in range(4)]
    sent = [send(mailers[0], f"user{number}@example.org") for number in range(16)]
    start = threading.Barrier(4)

    def work(mailer: Mailer, counts: list[int]) -> None:
        start.wait()
        counts.append(mailer.deliver_due())

    counts: list[int] = []
    threads = [threading.Thread(target=work, args=(mailer, counts)) for mailer in mailers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sum(counts) == 16
    assert Counter(envelope.rcpt_tos[0] for envelope in inbox.envelopes) == Counter(
        f"user{number}@example.org" for number in range(16)
    )
    assert {(row.status, row.attempts) for row in stored(database)} == {("S", 1)}
    assert len(stored(database)) == len(sent)


def test_a_mail_of_a_dead_process_is_sent_by_another(
    sqlite_database, serve, inbox: Inbox, clock: Clock, new_mailer, send, stored
):
    """Its claim ends; should it come back after all, it changes nothing any more."""
    port = serve()
    dead, alive = new_mailer(sqlite_database, port), new_mailer(sqlite_database, port)
    mail_id = send(dead)
    claimed = dead._queue.claim()
    assert alive.deliver_due() == 0
    clock.move(seconds=69)
    assert alive.deliver_due() == 0
    clock.move(seconds=1)
    assert alive.deliver_due() == 1
    dead._queue.failed(claimed, "550", "late")

    row = stored(sqlite_database, mail_id)
    assert (row.status, row.attempts, row.error_code) == ("S", 2, None)
    assert len(inbox.envelopes) == 1


def test_a_mail_that_ends_each_sender_is_given_up(mailer: Mailer, inbox, clock: Clock, send, stored, sqlite_database):
    """It does not go round for ever."""
    mail_id = send(mailer)
    for _ in range(5):
        assert mailer._queue.claim() is not None
        clock.move(minutes=5)

    assert mailer.deliver_due() == 0
    row = stored(sqlite_database, mail_id)
    assert (row.status, row.error_code, row.payload, inbox.envelopes) == ("F", "interrupted", None, [])


@pytest.mark.parametrize(("after", "status"), [(179, "S"), (180, "F")])
def test_a_mail_is_not_sent_when_it_is_out_of_date(
    mailer: Mailer, inbox, clock, send, stored, after, status, sqlite_database
):
    """A code that works no longer only puzzles people."""
    mail_id = send(mailer, template="login_code", code="BCDF-GHJK", expires=clock() + timedelta(seconds=180))
    clock.move(seconds=after)
    mailer.deliver_due()

    row = stored(sqlite_database, mail_id)
    assert (row.status, len(inbox.envelopes)) == (status, 1 if status == "S" else 0)
    assert row.error_code == (None if status == "S" else "expired")
    assert row.payload is None


def test_without_a_server_the_log_takes_the_mail(sqlite_database, new_mailer, send, stored, caplog):
    """Whoever runs the host for a try finds the code there, and the mail log masks it all the same."""
    mailer = new_mailer(sqlite_database)
    with caplog.at_level(logging.INFO, "plugyard.mail"):
        mail_id = send(mailer, template="login_code", code="BCDF-GHJK", username="Zoë", secrets=["BCDF-GHJK"])
        assert mailer.deliver_due() == 1

    (record,) = caplog.records
    for text in ("To: ada@example.org", "Subject: [Yard] Your sign-in code", "    BCDF-GHJK", "Hello Zoë,"):
        assert text in record.getMessage()
    row = stored(sqlite_database, mail_id)
    assert (row.status, row.payload, mailer.is_configured) == ("S", None, False)
    assert "BCDF" not in row.body


@pytest.mark.parametrize("sign", ["\r\n", "\n", "\r", "\x00", "\u2028"], ids=ascii)
def test_no_value_can_add_a_header(sqlite_database, serve, inbox: Inbox, new_mailer, send, stored, folder, sign):
    """Line breaks in a name stay within the line."""
    evil = f"Ada{sign}Bcc: eve@example.org{sign}{sign}<p>hello"
    (folder / "test.subject.txt").write_text("For {{ username }}")
    mailer = new_mailer(sqlite_database, serve(), mail_templates=folder, instance=evil, subject_prefix=evil)
    mail_id = send(mailer, username=evil)

    assert mailer.deliver_due() == 1
    assert inbox.envelopes[0].rcpt_tos == ["ada@example.org"]
    mail, row = inbox.mails[0], stored(sqlite_database, mail_id)
    assert "Bcc" not in mail
    assert mail["Subject"].strip() == row.subject
    assert row.subject.count("Bcc: eve@example.org") == 2
    assert "\nBcc" not in row.full_message
    assert "<p>hello" not in content(mail, "html")


@pytest.mark.parametrize(
    "to",
    [
        "",
        "ada",
        "ada@",
        "ada@example.org\r\nBcc: eve@example.org",
        "a@b.org,eve@example.org",
        "Ada <a@b.org>",
        "ä@b.org",
    ],
    ids=ascii,
)
def test_what_is_no_address_gets_no_mail(mailer: Mailer, inbox: Inbox, send, stored, to, sqlite_database):
    """The log says so, and the caller's transaction goes on."""
    mail_id = send(mailer, to)

    assert mailer.deliver_due() == 0
    row = stored(sqlite_database, mail_id)
    assert (row.status, row.error_code, row.payload, inbox.envelopes) == ("F", "address", None, [])
    assert "is no address that mail can be sent to" in row.error_message
    assert "\n" not in row.to


def test_texts_of_all_languages_arrive(sqlite_database, serve, inbox: Inbox, new_mailer, send, stored):
    """Names and addresses beyond ASCII, also long ones, come out as they went in."""
    instance = "Werkstätte für Klänge und Geräusche 作業場 🔧 " + "größer " * 12
    mailer = new_mailer(sqlite_database, serve(), mail_from="Bücherei Ö <books@bücher.example>", instance=instance)
    mail_id = send(mailer, "ada@straße.example", username="Zoë 🦊")
    assert mailer.deliver_due() == 1

    (envelope,), (mail,), row = inbox.envelopes, inbox.mails, stored(sqlite_database, mail_id)
    assert envelope.rcpt_tos == ["ada@xn--strae-oqa.example"]
    assert envelope.content.isascii()
    assert max(len(line) for line in envelope.content.splitlines()) <= 998
    assert mail["Subject"] == row.subject == f"[{instance.strip()}] This is a test"
    assert (mail["From"].addresses[0].display_name, row.sender) == ("Bücherei Ö", "books@xn--bcher-kva.example")
    assert "Hello Zoë 🦊," in content(mail, "plain")
    assert "Hello Zoë 🦊," in content(mail, "html")
    assert row.to == "ada@straße.example"
    assert f"Subject: {row.subject}" in row.full_message


def test_sending_at_once(mailer: Mailer, inbox: Inbox, stored, sqlite_database):
    """It is in the log as sent, and the queue does not send it again."""
    mail_id = mailer.send_now(to="ada@example.org", template="test", context={})

    assert len(inbox.envelopes) == 1
    assert mailer.deliver_due() == 0
    assert stored(sqlite_database, str(mail_id)).status == "S"


@pytest.mark.parametrize(("to", "code"), [("ada@example.org", "451"), ("nobody", "address")])
def test_sending_at_once_says_why_it_failed(mailer: Mailer, inbox: Inbox, clock, stored, to, code, sqlite_database):
    """It is tried once only."""
    inbox.to_data.append("451 Later")

    with pytest.raises(RefusedError, match=r"^The mail was not sent\. .*(451 Later|no address)"):
        mailer.send_now(to=to, template="test", context={})
    (row,) = stored(sqlite_database)
    assert (row.status, row.error_code, row.payload) == ("F", code, None)
    clock.move(days=1)
    assert (mailer.deliver_due(), inbox.envelopes) == (0, [])


@pytest.mark.parametrize(
    ("template", "context"),
    [("nothing", {}), ("../test", {}), ("login_code", {}), ("email_verification", {"email": "a@b.org"})],
)
def test_a_mail_that_cannot_be_made_is_a_mistake(mailer: Mailer, stored, template, context, sqlite_database):
    """The caller learns what is missing, and nothing is stored."""
    with pytest.raises(LookupError, match=r"no mail|needs (code|link)"), sqlite_database.write() as session:
        mailer.send(session, to="ada@example.org", template=template, context=context)

    assert stored(sqlite_database) == []


@pytest.mark.parametrize("change", ["other key", "other row"])
def test_a_sealed_mail_opens_only_here(sqlite_database, serve, inbox, new_mailer, send, stored, change):
    """With another secret key, or moved to another row, it is given up rather than sent to somebody else."""
    port = serve()
    mailer: Mailer = new_mailer(sqlite_database, port)
    mail_id, other = send(mailer), send(mailer, "eve@example.org")
    if change == "other key":
        mailer = new_mailer(sqlite_database, port, seals=Seals())
    else:
        payload = stored(sqlite_database, other).payload
        with sqlite_database.write() as session:
            session.connection().execute(update(MAIL).where(MAIL.c.global_id == mail_id).values(payload=payload))
    mailer.deliver_due()

    row = stored(sqlite_database, mail_id)
    assert (row.status, row.error_code) == ("F", "sealed")
    assert "ada@example.org" not in [envelope.rcpt_tos[0] for envelope in inbox.envelopes]


def test_what_cannot_be_noted_stops_nothing(sqlite_database, serve, inbox: Inbox, new_mailer, send, stored):
    """A database that fails for a moment leads neither to a lost mail nor to a second one."""
    mailer: Mailer = new_mailer(sqlite_database, serve())
    mail_id = send(mailer)

    def lose_the_table() -> None:
        with sqlite_database.engine.begin() as connection:
            connection.exec_driver_sql("ALTER TABLE mail_message RENAME TO elsewhere")

        def bring_back() -> None:
            with sqlite_database.engine.begin() as connection:
                connection.exec_driver_sql("ALTER TABLE elsewhere RENAME TO mail_message")

        threading.Timer(0.05, bring_back).start()

    inbox.on_arrival = lose_the_table
    assert mailer.deliver_due() == 1

    assert stored(sqlite_database, mail_id).status == "S"
    assert len(inbox.envelopes) == 1
