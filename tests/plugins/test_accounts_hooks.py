"""What plugins contribute to signing in: text messages, judgement of passwords, providers."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pytest

from host import SignInProvider, User, hookimpl
from host.accounts.password_rules import PasswordRules
from host.accounts.passwords import Passwords
from host.accounts.problems import RefusedValuesError
from host.accounts.users import Users
from host.plugins.accounts import AccountPlugins, TextMessages
from tests.plugins.bench import USER, Bench

PHONE = "+441632960123"
TEXT = "Your code is BCDF-GHJK"
GOOD = "correct horse battery"


class Sender:
    """Answers what it is told, and keeps what it was asked."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.asked: list[tuple[str, str]] = []

    @hookimpl
    def send_sms(self, phone: str, text: str) -> object:
        self.asked.append((phone, text))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Last(Sender):
    """Wants to be asked after all others."""

    @hookimpl(trylast=True)
    def send_sms(self, phone: str, text: str) -> object:
        self.asked.append((phone, text))
        return self.answer


class Judge:
    """Says the same of every password."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.asked: list[tuple[str, User | None]] = []

    @hookimpl
    def check_password(self, password: str, user: User | None) -> object:
        self.asked.append((password, user))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Offers:
    """Offers providers."""

    def __init__(self, *providers: object) -> None:
        self.providers = providers

    @hookimpl
    def sign_in_providers(self) -> Sequence[object]:
        return self.providers


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def plugins(bench: Bench) -> AccountPlugins:
    return AccountPlugins(bench, bench.calls, bench.report)


# -- text messages --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answers", "asked", "reported"),
    [
        pytest.param([True, True], 1, [], id="the first delivers"),
        pytest.param([False, None, True, True], 3, [], id="others are asked until one does"),
        pytest.param([RuntimeError("no network"), True], 2, ["plugin.p0.send_sms"], id="a failure is passed over"),
        pytest.param([RuntimeError(f"{PHONE} {TEXT}"), True], 2, ["plugin.p0.send_sms"], id="a failure that quotes"),
        pytest.param([TEXT, True], 2, ["plugin.p0.send_sms"], id="the text itself is no delivery"),
        pytest.param(["sent", True], 2, ["plugin.p0.send_sms"], id="nonsense is no delivery"),
        pytest.param([False], 1, ["accounts.send_sms"], id="nobody delivers"),
        pytest.param([], 0, ["accounts.send_sms"], id="nobody is there"),
    ],
)
def test_a_message_goes_to_the_first_who_delivers(bench, plugins, answers, asked, reported):
    """Each is asked once; no report holds the number or the code."""
    senders = [Sender(answer) for answer in answers]
    bench.load({f"p{place}": sender for place, sender in enumerate(senders)})

    assert plugins.send_sms(PHONE, TEXT) is (True in answers)

    assert [sender.asked for sender in senders] == [[(PHONE, TEXT)]] * asked + [[]] * (len(senders) - asked)
    assert bench.reported == reported
    assert not any(PHONE in "".join(report) or TEXT in "".join(report) for report in bench.reports)


def test_who_wants_to_be_last_delivers_what_nobody_else_does(bench, plugins):
    """So a log of messages can stay active beside a plugin that sends them."""
    last, sender = Last(answer=True), Sender(answer=True)
    bench.load({"a": last, "b": sender})

    assert plugins.send_sms(PHONE, TEXT)
    assert (sender.asked, last.asked) == ([(PHONE, TEXT)], [])


def test_messages_are_sent_in_the_background_once_started():
    """Whoever sends does not wait; stopping sends what is left, and later ones go at once."""
    gate, sent = threading.Event(), []

    def deliver(phone: str, text: str) -> None:
        assert gate.wait(10)
        sent.append((phone, text, threading.current_thread() is threading.main_thread()))

    messages = TextMessages(deliver)
    messages.start()
    for number in range(5):
        messages(PHONE, str(number))
    assert sent == []

    gate.set()
    messages.stop()
    assert sorted(sent) == [(PHONE, str(number), False) for number in range(5)]
    messages(PHONE, "late")
    assert sent[-1] == (PHONE, "late", True)


# -- passwords ------------------------------------------------------------------------------------------------------


def test_every_plugin_has_a_say(bench, plugins):
    """The sentences of all count; those that fail or answer nonsense are left out with a report."""
    bench.load(
        {
            "a": Judge(["Too sweet."]),
            "b": Judge(RuntimeError("down")),
            "c": Judge(None),
            "d": Judge("Too sour."),
            "e": Judge(("Too old.", " ", "x" * 1000)),
        }
    )

    assert plugins.password_problems(GOOD, USER) == ["Too sweet.", "Too old.", "x" * 500]
    assert bench.reported == ["plugin.b.check_password", "plugin.d.check_password"]


def test_a_plugin_can_refuse_a_new_password(bench, plugins, sqlite_database):
    """At the making of an account and at every change; an administrator can override it. Weak ones are not shown."""
    judge = Judge(["It was in a leak. Choose another one."])
    bench.load({"leaks": judge})
    passwords = Passwords(time_cost=1, memory_kib=8, parallelism=1)
    users = Users(sqlite_database, passwords, PasswordRules(ask=plugins.password_problems))

    with pytest.raises(RefusedValuesError) as caught:
        users.create({"username": "ada"}, password=GOOD)
    assert caught.value.problems == {"password": [("invalid", "It was in a leak. Choose another one.")]}
    assert not users.has_username("ada")

    account = users.create({"username": "ada"})
    with pytest.raises(RefusedValuesError):
        users.set_password(account.id, GOOD)
    with pytest.raises(RefusedValuesError):
        users.set_password(account.id, "short")
    assert not users.get(account.id).has_usable_password
    assert judge.asked == [(GOOD, None), (GOOD, account.as_user())]

    users.set_password(account.id, GOOD, override_rules=True)
    assert users.check_password(account.id, GOOD)
    judge.answer = []
    users.set_password(account.id, f"{GOOD} staple")
    assert users.check_password(account.id, f"{GOOD} staple")


# -- providers ------------------------------------------------------------------------------------------------------


def test_providers_of_plugins_are_like_configured_ones(bench, plugins):
    """Members and settings reach the host; the secret shows nowhere."""
    provider = SignInProvider(
        id="house",
        name="The house",
        client_id="plugyard",
        secret="hush-hush",
        server_url="https://id.example.org",
        settings={"scope": ["openid", "groups"]},
    )
    bench.load({"a": Offers(provider), "silent": Offers()})

    (settings,) = plugins.sign_in_providers()

    assert (settings.id, settings.type, settings.title) == ("house", "openid_connect", "The house")
    assert (settings.client_id, settings.server_url) == ("plugyard", "https://id.example.org")
    assert settings.scope == ("openid", "groups")
    assert settings.secret.get_secret_value() == "hush-hush"
    assert "hush" not in repr(provider) + repr(settings)
    assert bench.reports == []


@pytest.mark.parametrize(
    "members",
    [
        pytest.param({"id": "a/b"}, id="bad id"),
        pytest.param({"id": ["x"]}, id="id that is no text"),
        pytest.param({"client_id": ""}, id="no client id"),
        pytest.param({"server_url": ""}, id="no address"),
        pytest.param({"server_url": "ftp://id.example.org"}, id="bad address"),
        pytest.param({"type": "carrier_pigeon"}, id="unknown type"),
        pytest.param({"settings": {"colour": "red"}}, id="unknown setting"),
        pytest.param({"settings": 5}, id="settings that are no mapping"),
        pytest.param({"id": "first"}, id="id of another plugin"),
    ],
)
def test_a_provider_that_cannot_be_used_is_left_out(bench, plugins, members):
    """The report names the plugin and no secret; the other providers stay."""
    usual: dict[str, Any] = {"client_id": "plugyard", "secret": "hush-hush", "server_url": "https://id.example.org"}
    first, wrong, other = (
        SignInProvider(**{**usual, "id": "first"}),
        SignInProvider(**{**usual, "id": "wrong", **members}),
        SignInProvider(**{**usual, "id": "other"}),
    )
    bench.load({"a": Offers(first), "b": Offers(wrong, other)})

    assert [settings.id for settings in plugins.sign_in_providers()] == ["first", "other"]
    assert bench.reported == ["plugin.b.sign_in_providers"]
    assert "hush" not in "".join(bench.reports[0])
