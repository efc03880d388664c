"""One-time codes that are sent to people."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.accounts.codes import Codes
from host.accounts.seals import Seals

_START = datetime(2030, 1, 1, tzinfo=UTC)


class Moment:
    def __init__(self) -> None:
        self.now = _START

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def moment() -> Moment:
    return Moment()


@pytest.fixture
def codes(moment: Moment) -> Codes:
    return Codes(Seals("secret"), moment)


@pytest.mark.parametrize(
    ("numeric", "form"),
    [
        pytest.param(False, r"[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}", id="letters"),
        pytest.param(True, r"[0-9]{3}-[0-9]{3}-[0-9]{3}", id="digits"),
    ],
)
def test_a_code_has_its_form(moment, numeric, form):
    """Every code is random, and what is kept of it is JSON that does not show it."""
    codes = Codes(Seals("secret"), moment, numeric=numeric)
    issued = [codes.issue("login", seconds=180) for _ in range(200)]

    assert all(re.fullmatch(form, text) for text, _ in issued)
    assert len({text for text, _ in issued}) == 200
    assert len({character for text, _ in issued for character in text}) == (11 if numeric else 21)
    for text, state in issued:
        kept = json.dumps(state)
        assert text not in kept
        assert text.replace("-", "") not in kept
        assert codes.matches(json.loads(kept), text)


def test_what_is_kept_of_a_code(codes):
    """The state tells when it was sent and ends, and that nobody has tried yet."""
    text, state = codes.issue("login", seconds=180)

    assert state == {
        "purpose": "login",
        "digest": Seals("secret").digest("codes", "login", text.replace("-", "")),
        "sent_at": _START.timestamp(),
        "expires_at": _START.timestamp() + 180,
        "attempts": 0,
        "resends": 0,
    }


@pytest.mark.parametrize(
    "spell",
    [
        pytest.param(str.lower, id="lower case"),
        pytest.param(lambda text: text.replace("-", ""), id="in one"),
        pytest.param(lambda text: f" {text.replace('-', ' ')}\n", id="with blanks"),
        pytest.param("_.".join, id="with punctuation"),
        pytest.param(lambda text: text.replace("-", "\u2011"), id="with another hyphen"),
    ],
)
def test_case_punctuation_and_blanks_do_not_count(codes, spell):
    """A code is recognised however it is typed."""
    text, state = codes.issue("login", seconds=180)

    assert codes.matches(state, spell(text))


@given(typed=st.text(st.characters(), max_size=120))
def test_other_texts_do_not_match(typed):
    """Any text may be typed; none but the code matches, and nothing matches what was never sent."""
    codes = Codes(Seals("secret"))
    _, state = codes.issue("login", seconds=180)

    assert not codes.matches(state, typed)
    assert not codes.matches(codes.fake("login", seconds=180), typed)


def test_a_code_serves_one_purpose_and_one_host(codes, moment):
    """Neither another purpose nor another secret takes it, and padding does not make it long."""
    text, state = codes.issue("login", seconds=180)

    assert codes.matches(state, text)
    assert not codes.matches({**state, "purpose": "reset"}, text)
    assert not Codes(Seals("other"), moment).matches(state, text)
    assert not codes.matches(state, f"{text}B")
    assert not codes.matches(state, text + " " * 100)


def test_a_code_expires(codes, moment):
    """It serves until its last moment, and nobody learns afterwards whether it was right."""
    text, state = codes.issue("login", seconds=180)
    fake = codes.fake("login", seconds=180)

    moment.pass_by(180)
    assert codes.is_live(state)
    assert codes.is_live(fake)
    assert codes.matches(state, text)
    moment.pass_by(0.001)
    assert not codes.is_live(state)
    assert not codes.is_live(fake)
    assert not codes.matches(state, text)


def test_a_code_that_was_never_sent_looks_like_any_other(codes):
    """The states differ in the digest alone."""
    _, state = codes.issue("login", seconds=180)
    fake = codes.fake("login", seconds=180)

    assert {**fake, "digest": ""} == {**state, "digest": ""}
    assert re.fullmatch("[0-9a-f]{64}", fake["digest"])
    assert {**codes.refake(fake), "digest": ""} == {**codes.reissue(state)[1], "digest": ""}
    assert codes.refake(fake)["digest"] != fake["digest"]


def test_another_code_voids_the_first_and_gains_no_time(codes, moment):
    """Wrong attempts, start and end stay what they were."""
    first, state = codes.issue("login", seconds=180)
    state = codes.failed(codes.failed(state))
    moment.pass_by(100)
    second, again = codes.reissue(state)

    assert (again["attempts"], again["resends"]) == (2, 1)
    assert (again["sent_at"], again["expires_at"]) == (state["sent_at"], state["expires_at"])
    assert codes.matches(again, second)
    assert not codes.matches(again, first)
    assert codes.reissue(again)[1]["resends"] == 2
    moment.pass_by(81)
    assert not codes.matches(again, second)
