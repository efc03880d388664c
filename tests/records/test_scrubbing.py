"""Secrets in error reports."""

from __future__ import annotations

import time

import pytest

from host.records.scrubbing import scrub, scrub_within, shorten

_JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        pytest.param("Authorization: Basic YWRtaW46aHVudGVyMg==", "YWRtaW46", id="header"),
        pytest.param("{'Authorization': 'Bearer abc.def-123', 'Host': 'x'}", "abc.def", id="headers as a dict"),
        pytest.param("[(b'authorization', b'Token xyz12345')]", "xyz12345", id="headers as pairs"),
        pytest.param("sent Basic YWRtaW46aHVudGVyMg== to it", "YWRtaW46", id="basic alone"),
        pytest.param("got bearer AbCdEfGhIjKlMn here", "AbCdEf", id="bearer alone"),
        pytest.param("password='hunter2' user='joe'", "hunter2", id="assignment"),
        pytest.param("password='hunt er2, x' user", "er2", id="quoted with blanks"),
        pytest.param("dict(new_password='it\\'s hunter2')", "hunter2", id="escaped quote"),
        pytest.param('{"api_key": "k-123456"}', "k-123456", id="json"),
        pytest.param(r"{\"password\": \"hunter 2\"}", "hunter", id="json in json"),
        pytest.param(r'"{\"password\": \"hun\\\"ter2\"}"', "ter2", id="quotes in json in json"),
        pytest.param("password%3Dhunter2%26", "hunter2", id="percent encoded"),
        pytest.param("[('password', 'hunter2')]", "hunter2", id="pairs"),
        pytest.param("password: ['hunter2']", "hunter2", id="list"),
        pytest.param("{'recovery_codes': ['12345678', '87654321']}", "87654321", id="recovery codes"),
        pytest.param("PLUGYARD_ADMIN_PASSWORD=hunter2", "hunter2", id="environment"),
        pytest.param("totp_secret=JBSWY3DP", "JBSWY", id="one-time secret"),
        pytest.param("otpauth://totp/x:joe?secret=JBSWY3DP", "JBSWY", id="one-time address"),
        pytest.param("postgresql://joe:hunter2@db/x failed", "hunter2", id="credentials in a URL"),
        pytest.param("postgres://joe:hun/ter2@db/x", "ter2", id="slash in credentials"),
        pytest.param("https://joe:p@ss:w@db/", "ss:w", id="at sign in credentials"),
        pytest.param("https://gh-secret-1@github.com/x", "gh-secret", id="token in a URL"),
        pytest.param("redis://:hunter2@h:6379/0", "hunter2", id="password in a URL"),
        pytest.param("/api/email/login/?sesame=AAbb12", "AAbb12", id="sign-in link"),
        pytest.param("GET /cb?code=abc123&state=zzz9", "zzz9", id="provider's answer"),
        pytest.param("token ply-" + "0" * 40 + "-20270101 is bad", "ply-0000", id="token"),
        pytest.param("Cookie: a=b; sessionid=abcdef", "abcdef", id="cookie"),
        pytest.param("sessionid=abcdef123", "abcdef", id="session"),
        pytest.param(_JWT, "dozjg", id="JWT"),
        pytest.param("-----BEGIN RSA PRIVATE KEY-----\nMIIE\nab\n-----END RSA PRIVATE KEY-----", "MIIE", id="key"),
        pytest.param("-----BEGIN PRIVATE KEY-----\nMIIE\nab", "MIIE", id="first half of a key"),
        pytest.param("MIIE-x\nab\n-----END PRIVATE KEY----- rest", "MIIE", id="second half of a key"),
        pytest.param("ghp_" + "a1" * 18, "a1a1", id="well-known token"),
        pytest.param("$argon2id$v=19$m=65536$c2FsdA$aGFzaA", "c2Fs", id="hash"),
    ],
)
def test_secrets_are_scrubbed(text: str, secret: str):
    """What looks like a secret does not reach a report."""
    assert secret in text
    assert secret not in scrub(text)


@pytest.mark.parametrize(
    "text",
    [
        "Basic authentication is required",
        "Invalid token.",
        'File "/srv/x.py", line 3, in password\n    return found',
        "KeyError: 'password'",
        "/api/user/token/",
        "https://host:8080/a@v1",
        "a < b, c = 3",
    ],
)
def test_plain_words_stay(text: str):
    """Words about secrets are no secrets."""
    assert scrub(text) == text


@pytest.mark.parametrize(
    "unit",
    ["a", "token", "password=", "password='", "password=[", "eyJ-", "eyJaaaaaa.", "://", "://a:", "-", "-----END ",
     "-----BEGIN A", "basic aaaaaaaa ", "\n", " ", "= ", "token          ", "\\", "0123456789abcdef"],
)  # fmt: skip
def test_no_text_takes_long(unit: str):
    """Whoever can cause an error cannot keep the host busy with its text."""
    text = unit * (64_000 // len(unit))
    begun = time.process_time()

    scrub(text)

    assert time.process_time() - begun < 1


def test_long_texts_keep_both_ends():
    """The first and the last lines say most; a line that is cut shows nothing of a secret."""
    lines = "\n".join(f"line {number}" for number in range(10_000))

    short = scrub_within(lines, 1000)

    assert len(short) <= 1000
    assert short.startswith("line 0\nline 1\n")
    assert short.endswith("line 9998\nline 9999")
    assert "characters or more are left out" in short
    assert "2222" not in scrub_within("x" * 300 + " password='" + "2" * 5000 + "'", 400)
    assert shorten("short", 10) == "short"
