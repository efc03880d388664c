"""The options of accounts, of which some are global settings and can be changed while the host runs."""

from __future__ import annotations

from typing import Any, cast

from host.config.accounts import AccountOptions
from host.settings.checks import names
from host.settings.global_settings import GlobalSettings


def live_options(options: AccountOptions, settings: GlobalSettings) -> AccountOptions:
    """Return the options; those that are global settings too have the value that these have at each look.

    Args:
        options: those of the configuration. What they fix, the settings fix too.
        settings: the global settings.

    """
    # It has all that the services look at; a true subclass would hold a copy of each value.
    return cast("AccountOptions", _LiveOptions(options, settings))


class _LiveOptions:
    def __init__(self, options: AccountOptions, settings: GlobalSettings) -> None:
        self._options = options
        self._settings = settings

    def __getattr__(self, name: str) -> Any:
        return getattr(self._options, name)

    @property
    def login_enable_reg(self) -> bool:
        return self._settings.flag("LOGIN_ENABLE_REG")

    @property
    def login_enable_pwd_forgot(self) -> bool:
        return self._settings.flag("LOGIN_ENABLE_PWD_FORGOT")

    @property
    def login_enable_sso(self) -> bool:
        return self._settings.flag("LOGIN_ENABLE_SSO")

    @property
    def login_enable_sso_reg(self) -> bool:
        return self._settings.flag("LOGIN_ENABLE_SSO_REG")

    @property
    def login_signup_mail_restriction(self) -> tuple[str, ...]:
        return names(self._settings.text("LOGIN_SIGNUP_MAIL_RESTRICTION"))

    @property
    def login_enforce_mfa(self) -> bool:
        return self._settings.flag("LOGIN_ENFORCE_MFA")

    @property
    def signup_group(self) -> str:
        return self._settings.text("SIGNUP_GROUP")
