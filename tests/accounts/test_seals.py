"""Signed, sealed and digested texts."""

from __future__ import annotations

import hashlib
import hmac
import re
import string
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from hypothesis import given
from hypothesis import strategies as st

from host.accounts.seals import Seals

_TEXTS = st.text(st.characters(), max_size=60)
_BASE64 = string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"


class Moment:
    def __init__(self) -> None:
        self.now = datetime(2030, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def moment() -> Moment:
    return Moment()


@pytest.fixture
def seals(moment: Moment) -> Seals:
    return Seals("secret", clock=moment)


@given(value=_TEXTS)
def test_what_is_signed_is_read(value):
    """Any text comes back, from a text that needs no quoting in a URL."""
    seals = Seals("secret")
    text = seals.sign("reset", value)

    assert re.fullmatch(r"[A-Za-z0-9_.-]+", text)
    assert seals.read("reset", text, 60) == value


@given(text=_TEXTS)
def test_what_nobody_signed_is_not_read(text):
    """Any text may be handed in."""
    seals = Seals("secret")

    assert seals.read("reset", text, 60) is None
    with pytest.raises(ValueError, match="cannot be opened"):
        seals.open("totp", text)


@pytest.mark.parametrize(
    ("seconds", "value"),
    [
        pytest.param(0, "7", id="at once"),
        pytest.param(60, "7", id="at the last moment"),
        pytest.param(61, None, id="too late"),
        pytest.param(-60, "7", id="signed by a clock that is ahead a little"),
        pytest.param(-61, None, id="signed in the future"),
    ],
)
def test_a_signature_has_its_time(seals, moment, seconds, value):
    """A text is read until it has the greatest age, inclusive."""
    text = seals.sign("reset", "7")
    moment.pass_by(seconds)

    assert seals.read("reset", text, 60) == value


def test_a_signature_serves_one_purpose_and_one_host(seals, moment):
    """Neither another purpose, nor another secret, nor a sealed text is taken for it."""
    text = seals.sign("reset", "7")

    assert seals.read("verify", text, 60) is None
    assert Seals("other", clock=moment).read("reset", text, 60) is None
    assert seals.read("reset", seals.seal("reset", "7"), 60) is None


def test_no_character_of_a_signed_text_can_be_changed(seals):
    """Also the bits that base64 leaves unused count, so a text used up cannot return in another spelling."""
    text = seals.sign("reset", "7")
    last = _BASE64.index(text[-1])
    changed = [text[:at] + ("A" if text[at] != "A" else "B") + text[at + 1 :] for at in range(len(text))]
    changed += [text[:-1] + _BASE64[last ^ 1], text + "=", text + "A", f" {text}", f"{text}\n", text[:-1]]

    assert [seals.read("reset", one, 60) for one in changed] == [None] * len(changed)


@given(text=_TEXTS)
def test_what_is_sealed_is_opened(text):
    """Any text comes back, and its sealed form differs each time and does not show it."""
    seals = Seals("secret")
    one, other = seals.seal("totp", text), seals.seal("totp", text)

    assert one != other
    assert len(text) < 4 or text not in one
    assert seals.open("totp", one) == seals.open("totp", other) == text


def test_a_seal_serves_one_purpose_and_one_host(seals):
    """Whatever was changed or belongs elsewhere is refused, by a message that holds neither text."""
    sealed = seals.seal("totp", "JBSWY3DPEHPK3PXP")
    changed = [sealed[:at] + ("A" if sealed[at] != "A" else "B") + sealed[at + 1 :] for at in range(len(sealed) - 1)]

    for opener, purpose, text in [
        (seals, "recovery", sealed),
        (Seals("other"), "totp", sealed),
        (seals, "totp", sealed[:10]),
        (seals, "totp", seals.sign("totp", "JBSWY3DPEHPK3PXP")),
        *((seals, "totp", one) for one in changed),
    ]:
        with pytest.raises(ValueError, match="cannot be opened") as refusal:
            opener.open(purpose, text)
        assert sealed not in str(refusal.value)
        assert refusal.value.__cause__ is None


def test_a_digest_is_an_hmac_under_a_key_of_its_purpose(seals):
    """It can be computed from the secret by the published methods, and by nothing else."""
    info = b"plugyard digest: codes"
    key = HKDF(SHA256(), length=32, salt=None, info=info).derive(b"secret")
    message = (2).to_bytes(8, "big") + b"ab" + (1).to_bytes(8, "big") + b"c"

    assert seals.digest("codes", "ab", "c") == hmac.new(key, message, hashlib.sha256).hexdigest()
    assert len({seals.digest("codes", "ab", "c"), seals.digest("codes", "a", "bc"), seals.digest("codes", "abc")}) == 3
    assert seals.digest("codes", "ab", "c") != seals.digest("limits", "ab", "c")
    assert seals.digest("codes", "\ud800") != seals.digest("codes", "\udc00")


def test_the_secret_stays_inside(seals):
    """An empty secret is refused, and a good one shows in no representation."""
    with pytest.raises(ValueError, match="secret for seals is empty"):
        Seals("")

    assert "secret" not in repr(seals)
