"""Which options of the configuration fix a global setting."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

OPTIONS: Final[Mapping[str, str]] = {
    "INVENTREE_INSTANCE": "instance",
    "INVENTREE_INSTANCE_ID": "instance_id",
    "INVENTREE_ANNOUNCE_ID": "announce_id",
    "LOGIN_ENABLE_REG": "login_enable_reg",
    "LOGIN_ENABLE_PWD_FORGOT": "login_enable_pwd_forgot",
    "LOGIN_ENABLE_SSO": "login_enable_sso",
    "LOGIN_ENABLE_SSO_REG": "login_enable_sso_reg",
    "LOGIN_SIGNUP_MAIL_RESTRICTION": "login_signup_mail_restriction",
    "LOGIN_ENFORCE_MFA": "login_enforce_mfa",
    "SIGNUP_GROUP": "signup_group",
}
"""Key of a setting → name of the option."""


def fixed_by(options: Any, given: Collection[str]) -> dict[str, object]:
    """Return the values of the settings that the configuration fixes.

    Args:
        options: the configuration.
        given: names of the options that somebody has set, rather than left at their default.

    """
    found: dict[str, object] = {}
    for key, option in OPTIONS.items():
        value = getattr(options, option) if option in given else None
        if value is not None:
            found[key] = ",".join(value) if isinstance(value, tuple) else value
    # An identifier that is set to nothing means one that is made.
    return {key: value for key, value in found.items() if value or key != "INVENTREE_INSTANCE_ID"}
