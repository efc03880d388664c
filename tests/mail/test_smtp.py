"""Talking to mail servers: addresses, encryption, passwords."""

from __future__ import annotations

import logging

import pytest

from host.mail.smtp import SmtpServer
from tests.mail.conftest import Inbox

PASSWORD = "s3cret%20p%40ss"


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("smtp://mail.example.org", SmtpServer(host="mail.example.org", port=25, is_tls=False)),
        ("smtps://mail.example.org/", SmtpServer(host="mail.example.org", port=465, is_tls=True)),
        (
            "smtp://ada%40example.org:p%40%2F%3A@[::1]:587",
            SmtpServer(host="::1", port=587, is_tls=False, user="ada@example.org", password="p@/:"),
        ),
    ],
)
def test_the_url_names_the_server(url: str, server: SmtpServer):
    """Ports have their defaults, and a password may hold anything."""
    assert SmtpServer.parse(url) == server
    assert server.password not in repr(server) or not server.password


@pytest.mark.parametrize(
    "url",
    [
        "mail.example.org",
        "http://u:hunter2@mail.example.org",
        "smtp://",
        "smtp://u:hunter2@:25",
        "smtp://u:hunter2/3@mail.example.org",
        "smtp://u:hunter2@mail.example.org:port",
        "smtp://u:hunter2@mail.example.org:99999",
        "smtp://u:hunter2#3@mail.example.org",
        "smtp://u:hunter2ü@mail.example.org",
        "smtp://u:hunter2@[::1",
    ],
)
def test_a_bad_url_is_refused(sqlite_database, new_mailer, url: str):
    """The error names the option and not the password."""
    with pytest.raises(ValueError, match=r"^PLUGYARD_SMTP_URL cannot be used: ") as caught:
        new_mailer(sqlite_database, smtp_url=url)

    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_bad_sender_is_refused(sqlite_database, new_mailer):
    """The error names the option."""
    with pytest.raises(ValueError, match=r"^PLUGYARD_MAIL_FROM cannot be used: 'nobody' is no address"):
        new_mailer(sqlite_database, mail_from="nobody")


@pytest.mark.parametrize("kind", ["smtps", "starttls"])
def test_the_conversation_is_encrypted(sqlite_database, serve, inbox: Inbox, tls, new_mailer, send, stored, kind):
    """By TLS from the start or by STARTTLS, before anybody signs in."""
    options = {"ssl_context": tls} if kind == "smtps" else {"tls_context": tls, "require_starttls": True}
    port = serve(authenticator=inbox.authenticate, auth_require_tls=kind == "starttls", **options)
    scheme = "smtps" if kind == "smtps" else "smtp"
    mailer = new_mailer(sqlite_database, smtp_url=f"{scheme}://yard:{PASSWORD}@127.0.0.1:{port}")
    mail_id = send(mailer)

    assert mailer.deliver_due() == 1
    assert inbox.logins == [(b"yard", b"s3cret p@ss")]
    assert (inbox.sessions[0].authenticated, inbox.sessions[0].ssl is not None) == (True, kind == "starttls")
    assert stored(sqlite_database, mail_id).status == "S"


@pytest.mark.parametrize("kind", ["smtps", "starttls"])
def test_a_certificate_counts(sqlite_database, serve, inbox: Inbox, tls, new_mailer, send, stored, kind):
    """A server elsewhere that cannot prove who it is gets neither mail nor password."""
    options = {"ssl_context": tls} if kind == "smtps" else {"tls_context": tls}
    port = serve(authenticator=inbox.authenticate, auth_require_tls=False, **options)
    scheme = "smtps" if kind == "smtps" else "smtp"
    # Not one of the addresses that mean this machine, though it leads there.
    mailer = new_mailer(sqlite_database, smtp_url=f"{scheme}://yard:{PASSWORD}@0.0.0.0:{port}")
    mail_id = send(mailer)

    assert mailer.deliver_due() == 0
    row = stored(sqlite_database, mail_id)
    assert (row.status, row.error_code, inbox.logins, inbox.envelopes) == ("A", "tls", [], [])
    assert "certificate" in row.error_message.lower()


def test_a_password_is_never_sent_in_the_clear(sqlite_database, serve, inbox: Inbox, new_mailer, send, stored):
    """Without encryption only a server on this machine gets it."""
    port = serve(authenticator=inbox.authenticate, auth_require_tls=False)
    mail_id = send(new_mailer(sqlite_database))
    far = new_mailer(sqlite_database, smtp_url=f"smtp://yard:{PASSWORD}@0.0.0.0:{port}")

    assert far.deliver_due() == 0
    row = stored(sqlite_database, mail_id)
    assert (row.status, row.error_code, inbox.logins) == ("A", "tls", [])
    assert "offers no encryption" in row.error_message
    near = new_mailer(sqlite_database, smtp_url=f"smtp://yard:{PASSWORD}@127.0.0.1:{port}")
    near.send_now(to="ada@example.org", template="test", context={})
    assert inbox.logins == [(b"yard", b"s3cret p@ss")]


def test_a_wrong_password_loses_no_mail_and_is_shown_nowhere(
    sqlite_database, serve, inbox: Inbox, new_mailer, send, stored, caplog
):
    """The mail waits until the administrator has put it right."""
    port = serve(authenticator=inbox.authenticate, auth_require_tls=False)
    mailer = new_mailer(sqlite_database, smtp_url=f"smtp://yard:hunter2@127.0.0.1:{port}")
    mail_id = send(mailer)
    with caplog.at_level(logging.DEBUG, "plugyard"):
        assert mailer.deliver_due() == 0

    row = stored(sqlite_database, mail_id)
    assert (row.status, row.error_code, inbox.envelopes) == ("A", "535", [])
    assert "hunter2" not in f"{tuple(row)} {caplog.text}"


def test_a_server_that_repeats_the_password_does_not_spread_it():
    """Neither plainly nor as it was sent."""
    server = SmtpServer.parse("smtp://yard:hunter2@mail.example.org")

    for said in ("hunter2", "aHVudGVyMg==", "AHlhcmQAaHVudGVyMg=="):
        assert server.censor(f"You said {said}!") == "You said ***!"
    assert SmtpServer.parse("smtp://mail.example.org").censor("Hello") == "Hello"
