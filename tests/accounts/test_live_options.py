"""Options of accounts that can be changed while the host runs."""

from __future__ import annotations

import pytest

from host.accounts.live_options import live_options
from host.config import Config
from host.config.accounts import AccountOptions
from host.settings.global_settings import Given, GlobalSettings
from host.settings.options import OPTIONS
from host.settings.store import SettingStore

LIVE = {key: option for key, option in OPTIONS.items() if option in AccountOptions.model_fields}


@pytest.mark.parametrize("key", LIVE)
def test_an_option_has_the_value_of_its_setting_at_each_look(sqlite_database, key):
    """No option that is a setting too is left behind."""
    settings = GlobalSettings(
        sqlite_database, SettingStore(sqlite_database), choices={"SIGNUP_GROUP": lambda: [("Members", "Members")]}
    )
    options = live_options(Config.load({}), settings)
    before = settings.value(key)
    assert getattr(options, LIVE[key]) == (before or type(getattr(Config.load({}), LIVE[key]))())

    after = {"SIGNUP_GROUP": "Members", "LOGIN_SIGNUP_MAIL_RESTRICTION": "@a.example, b.example"}.get(key, not before)
    settings.write(key, after)

    shown = ("@a.example", "b.example") if key == "LOGIN_SIGNUP_MAIL_RESTRICTION" else after
    assert getattr(options, LIVE[key]) == shown


def test_other_options_are_those_of_the_configuration(sqlite_database):
    """What is fixed wins over what is stored."""
    settings = GlobalSettings(
        sqlite_database, SettingStore(sqlite_database), given=Given(fixed={"LOGIN_ENFORCE_MFA": True})
    )
    options = live_options(Config.load({"PLUGYARD_MFA_TOTP_DIGITS": "8"}), settings)

    assert (options.mfa_totp_digits, options.login_enforce_mfa) == (8, True)
    settings.write("LOGIN_ENFORCE_MFA", False)
    assert options.login_enforce_mfa is True
