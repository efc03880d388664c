"""The notation of rates, and what replaces what."""

from __future__ import annotations

import pytest

from host.accounts.rates import DEFAULTS, Rate, parse_rates, read_rates


@pytest.mark.parametrize(
    ("text", "rates"),
    [
        pytest.param("30/m/ip", [Rate(30, 60, "ip")], id="a minute"),
        pytest.param("5/300s/key", [Rate(5, 300, "key")], id="seconds"),
        pytest.param("1/2h/user", [Rate(1, 7200, "user")], id="hours"),
        pytest.param("7/d", [Rate(7, 86_400, "ip")], id="the address is meant by default"),
        pytest.param("10/m/ip, 5/300s/key", [Rate(10, 60, "ip"), Rate(5, 300, "key")], id="two"),
    ],
)
def test_rates_are_read(text, rates):
    """Number, time and what is counted by."""
    assert parse_rates(text) == tuple(rates)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "30",
        "30/m/",
        "30/m/host",
        "x/m/ip",
        "0/m/ip",
        "-1/m/ip",
        "5/0m/ip",
        "5/y/ip",
        "5/m/ip,",
        "\u0663/m/ip",
        "5/m\n/ip",
        "99999/m/ip",
        "1/99999d/ip",
        "5/300/key",
    ],
)
def test_what_is_no_rate_is_refused_by_its_name(text):
    """The message quotes the faulty text, and names the action where it is configured."""
    fault = text.split(",")[-1]
    with pytest.raises(ValueError, match="is no rate") as refusal:
        parse_rates(text)
    with pytest.raises(ValueError, match="rate limit of login cannot be read") as configured:
        read_rates({"login": text})

    assert repr(fault) in str(refusal.value)
    assert repr(fault) in str(configured.value)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        pytest.param({"logn": "5/m/ip"}, "no rate limit named 'logn'", id="unknown action"),
        pytest.param({"login": True}, "rate limit of login is True", id="true"),
        pytest.param({"login": 5}, "rate limit of login is 5", id="a number"),
        pytest.param({"login": ["5/m"]}, "rate limit of login is", id="a list"),
        pytest.param({"change_password": "5/m/key"}, "change_password cannot count by key", id="counted by nothing"),
    ],
)
def test_wrong_overrides_are_refused_at_the_start(overrides, message):
    """Whoever misspells a limit hears of it, rather than having none."""
    with pytest.raises(ValueError, match=message):
        read_rates(overrides)


def test_every_default_is_a_rate():
    """Without overrides each action has the rates of the table."""
    rates = read_rates({})

    assert rates.keys() == DEFAULTS.keys()
    assert all(rates.values())
    assert rates["login_failed"] == (Rate(10, 60, "ip"), Rate(5, 300, "key"))


@pytest.mark.parametrize("nothing", [None, False])
def test_an_override_replaces_all_rates_of_its_action_only(nothing):
    """Others stay as they are."""
    rates = read_rates({"login_failed": "5/m,5/m", "signup": nothing})

    assert rates["login_failed"] == (Rate(5, 60, "ip"), Rate(5, 60, "ip"))
    assert rates["signup"] == ()
    assert rates["login"] == (Rate(30, 60, "ip"),)


def test_all_limits_can_be_lifted():
    """``False`` in place of the object leaves every action without a rate, and none unknown."""
    assert read_rates(False) == dict.fromkeys(DEFAULTS, ())


@pytest.mark.parametrize(
    ("overrides", "by_code"),
    [
        pytest.param({}, (Rate(1, 10, "key"),), id="a default of its own"),
        pytest.param({"confirm_email": "2/m/key"}, (Rate(2, 60, "key"),), id="what holds for links"),
        pytest.param({"confirm_email": "2/m/key", "confirm_email_code": None}, (), id="what is set for codes"),
    ],
)
def test_codes_for_addresses_follow_links(overrides, by_code):
    """One option governs both kinds of verification, unless both are set."""
    assert read_rates(overrides)["confirm_email_code"] == by_code
