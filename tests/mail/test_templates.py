"""The texts of mails, and what an administrator may do about them."""

from __future__ import annotations

from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from host.mail import templates
from host.mail.templates import MAILS, Templates, duration

_FILES = Path(templates.__file__).with_name("templates")
_SHARED = {"layout.txt", "layout.html", "notice.txt", "notice.html", "parts.html"}
_LINK = "https://yard.example.org/x?a=1&b=2"


class Tags(HTMLParser):
    """Notes what a page consists of."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.open: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.opened.append(tag)
        self.attributes += attrs
        if tag not in {"meta", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def values(clock: Any, **changes: Any) -> dict[str, Any]:
    return {
        "instance": "Yard",
        "site": "https://yard.example.org",
        "username": "ada",
        "email": "ada@example.org",
        "link": _LINK,
        "code": "BCDF-GHJK",
        "factor": "webauthn",
        "name": "blue key",
        "provider": "GitHub",
        "when": clock(),
        "address": "203.0.113.7",
        "user_agent": "Firefox/150",
        "expires": clock() + timedelta(minutes=3),
        **changes,
    }


@pytest.fixture
def make(clock, reports, folder):
    return Templates(folder, lambda path, info: reports.append((path, info)), clock)


@pytest.mark.parametrize("name", MAILS)
def test_each_mail_says_what_it_is_given(make, clock, reports, name):
    """Text and HTML hold the values that the mail needs, and need nothing from elsewhere."""
    letter = make.letter(name, values(clock))
    page = Tags()
    page.feed(letter.html)
    page.close()

    assert reports == []
    assert page.open == []
    assert not {"img", "script", "link", "iframe", "form"} & set(page.opened)
    assert [value for key, value in page.attributes if key == "href" and value != _LINK] == []
    assert "://" not in letter.html.replace("&amp;", "&").replace(_LINK, "").replace("https://yard.example.org", "")
    assert max(len(line) for line in letter.text.splitlines()) <= 78
    assert "\n\n\n" not in letter.text
    assert letter.subject
    shown = [values(clock)[key] for one in MAILS[name] for key in one.split("|")[-1:] if key not in {"when", "factor"}]
    if "when" in MAILS[name]:
        shown.append("3 May 2026, 14:05 UTC")
    for text in (letter.text, page.text):
        assert [one for one in shown if one not in text] == []


@pytest.mark.parametrize("name", MAILS)
def test_each_mail_can_do_with_little(make, reports, clock, name):
    """Only what a mail needs must be given, and that may be empty."""
    given = {one.split("|")[0]: "" for one in MAILS[name]}
    letter = make.letter(name, {"instance": "Yard", "site": "", **given})

    assert reports == []
    assert letter.text.startswith("Hello,\n\n")
    assert "None" not in letter.text + letter.html


@pytest.mark.parametrize("factor", ["totp", "webauthn", "another"])
def test_a_mail_names_the_factor(make, clock, factor):
    """People know what was added, whatever it is."""
    shown = {"totp": "An authenticator app", "webauthn": "A security key (blue key)", "another": "A second factor"}
    for name, verb in (("factor_added", "was added to"), ("factor_removed", "was removed from")):
        letter = make.letter(name, values(clock, factor=factor))
        assert f"{shown[factor]} {verb} your account" in letter.text
        assert f"{shown[factor]} {verb} your account" in letter.html


def test_html_is_escaped(make, clock):
    """Whoever names themselves after a tag makes none."""
    evil = "<b onload=x>\"'&"
    letter = make.letter("password_reset", values(clock, username=evil, link='https://x/"><script>'))

    assert evil in letter.text
    assert "<b onload" not in letter.html
    assert "<script>" not in letter.html
    assert 'href="https://x/&#34;&gt;' in letter.html


def test_the_files_are_those_of_the_mails():
    """Each mail has its three files, and there are no others."""
    wanted = {f"{name}.{kind}" for name in MAILS for kind in ("subject.txt", "txt", "html")}

    assert {path.name for path in _FILES.iterdir()} == wanted | _SHARED


def test_a_folder_replaces_single_files(make, clock, folder, reports):
    """What is not in it stays, and a changed file is used without a restart."""
    before = make.letter("test", values(clock))
    (folder / "test.txt").write_text("Ahoy {{ username }}")
    (folder / "layout.html").write_text("<main>{% block content %}{% endblock %}</main>")
    after = make.letter("test", values(clock))

    assert (after.subject, after.text) == (before.subject, "Ahoy ada\n")
    assert after.html.startswith("<main>")
    assert "this one has reached you" in after.html
    assert reports == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{% if %}", "line 1 of test.txt"),
        ("{{ unheard_of }}", "'unheard_of' is undefined"),
        ("{% include 'absent.txt' %}", "absent.txt"),
        ("{{ 1 / 0 }}", "division by zero"),
        (b"\xff\xfe", "codec can't decode"),
    ],
    ids=["syntax", "unknown value", "missing file", "error", "encoding"],
)
def test_a_template_that_cannot_be_used_is_reported(make, clock, folder, reports, text, reason):
    """The mail goes out with the text that comes with the host."""
    before = make.letter("test", values(clock))
    (folder / "test.txt").write_bytes(text if isinstance(text, bytes) else text.encode())

    assert make.letter("test", values(clock)) == before
    ((path, info),) = reports
    assert path == "mail.templates.test.txt"
    assert info.startswith("The mail template test.txt cannot be used")
    assert reason in info


def test_a_mistake_of_the_caller_is_no_fault_of_the_template(make, clock, folder, reports):
    """When the host's own text fails as well, nobody is told of a broken template."""
    (folder / "password_changed.txt").write_text("{{ when|moment }}")

    with pytest.raises(AttributeError):
        make.letter("password_changed", values(clock, when=7))
    assert reports == []


def test_a_folder_that_is_not_there_is_reported(sqlite_database, new_mailer, tmp_path, reports):
    """The host starts all the same."""
    mailer = new_mailer(sqlite_database, mail_templates=tmp_path / "absent")
    mailer.start()

    ((path, info),) = reports
    assert path == "mail.templates"
    assert "PLUGYARD_MAIL_TEMPLATES" in info


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "0 seconds"),
        (1, "1 second"),
        (59.4, "59 seconds"),
        (60, "1 minute"),
        (180, "3 minutes"),
        (3600, "1 hour"),
        (7199, "1 hour"),
        (3 * 86_400, "3 days"),
    ],
)
def test_durations_are_written_for_people(seconds, text):
    """The largest unit that is reached, rounded down."""
    assert duration(timedelta(seconds=seconds)) == text
