"""The options of accounts and sign-in, by the names of the interface that clients know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, Field, SecretStr

from host.config.kinds import Names

DAYS = 86_400


class SessionOptions(BaseModel):
    """How long somebody stays signed in, and by which cookie."""

    session_cookie_age: int = Field(14 * DAYS, ge=60, description="How long a session lives unused, in seconds.")
    session_cookie_secure: Literal["auto", "true", "false"] = Field(
        "auto", description="Send cookies over https only; `auto`: where the request came by https."
    )
    session_cookie_samesite: Literal["lax", "strict", "none"] = Field("lax", description="SameSite of the cookies.")
    usersessions_track_activity: bool = Field(default=True, description="Note when a session was last used.")
    account_login_timeout: int = Field(900, ge=60, description="How long a login may take, in seconds.")
    account_reauthentication_timeout: int = Field(
        300, ge=1, description="How long a proof of identity serves for sensitive changes, in seconds."
    )
    account_reauthentication_required: bool = Field(
        default=False, description="Ask for a fresh proof before every change of an account."
    )
    headless_token_strategy: Literal["session", "jwt"] = Field(
        "session", description="What apps get at login: a session token alone, or JSON Web Tokens besides."
    )
    headless_jwt_algorithm: Literal["RS256", "HS256"] = Field("HS256", description="Signature of these tokens.")
    headless_jwt_private_key: SecretStr = Field(
        SecretStr(""), description="PEM of an RSA key, for RS256; empty means one made and kept at home."
    )
    headless_jwt_access_token_expires_in: int = Field(300, ge=1, description="Life of access tokens, in seconds.")
    headless_jwt_refresh_token_expires_in: int = Field(DAYS, ge=1, description="Life of refresh tokens, in seconds.")
    headless_jwt_rotate_refresh_token: bool = Field(default=True, description="A refresh token serves only once.")
    headless_jwt_stateful_validation_enabled: bool = Field(
        default=False, description="Check for every access token that its session lives."
    )


class LoginOptions(BaseModel):
    """How people sign in and sign up."""

    account_login_methods: Names = Field(
        ("username", "email"), description="By what people sign in: username, email, phone."
    )
    account_username_blacklist: Names = Field((), description="Usernames that nobody may take.")
    account_username_min_length: int = Field(1, ge=1, le=150, description="Shortest username.")
    account_signup_fields: Names = Field(
        ("username*", "email", "password*"), description="Members of a sign-up; `*` marks those that are required."
    )
    account_prevent_enumeration: Literal["true", "false", "strict"] = Field(
        "true", description="Never tell whether an address has an account; `strict`: at sign-up neither."
    )
    account_login_by_code_enabled: bool = Field(default=True, description="Sign in by a code that is sent.")
    account_login_by_code_required: bool = Field(default=False, description="Ask for such a code at every login.")
    account_login_by_code_timeout: int = Field(180, ge=10, description="Life of a login code, in seconds.")
    account_login_by_code_max_attempts: int = Field(3, ge=1, description="Wrong codes that end a login.")
    account_login_by_code_supports_resend: bool = Field(default=True, description="A login code may be sent again.")
    account_login_on_password_reset: bool = Field(default=False, description="A reset password signs in.")
    account_login_on_email_confirmation: bool = Field(
        default=False, description="A link that confirms an address goes on with the login of the same browser."
    )
    account_logout_on_password_change: bool = Field(
        default=True, description="A new password ends the session that set it, too."
    )
    account_password_min_length: int = Field(8, ge=1, description="Shortest password.")
    account_password_time_cost: int = Field(3, ge=1, le=100, description="Passes of argon2id over its memory.")
    account_password_memory_kib: int = Field(
        65_536,
        ge=32,
        description="Memory of argon2id for one password, in KiB; raised later, passwords follow at login.",
    )
    account_password_reset_by_code_enabled: bool = Field(default=False, description="Reset by a code, not by a link.")
    account_password_reset_by_code_timeout: int = Field(180, ge=10, description="Life of a reset code, in seconds.")
    account_password_reset_by_code_max_attempts: int = Field(3, ge=1, description="Wrong codes that end a reset.")
    password_reset_timeout: int = Field(3 * DAYS, ge=60, description="Life of a reset link, in seconds.")
    account_rate_limits: Mapping[str, Any] | Literal[False] = Field(
        default_factory=dict,
        description='Other rate limits: a JSON object such as {"login": "30/m/ip"}; null lifts one, `false` all.',
    )
    login_enable_reg: bool = Field(default=True, description="Anybody may sign up.")
    login_enable_pwd_forgot: bool = Field(default=True, description="A forgotten password may be reset.")
    login_enable_sso: bool = Field(default=True, description="People may sign in by a provider.")
    login_enable_sso_reg: bool = Field(default=True, description="Anybody may sign up by a provider.")
    login_signup_mail_restriction: Names = Field(
        (), description="Domains whose addresses may sign up, such as `@example.org`; empty allows all."
    )
    signup_group: str = Field("", description="Group that new accounts join.")
    login_enforce_mfa: bool = Field(default=False, description="Everybody must set up and use a second factor.")


class AddressOptions(BaseModel):
    """E-mail addresses and phone numbers, and how they are verified."""

    account_email_verification: Literal["none", "optional", "mandatory"] = Field(
        "optional", description="Whether an address must be verified before its account can be used."
    )
    account_email_verification_by_code_enabled: bool = Field(
        default=False, description="Verify addresses by a code, not by a link."
    )
    account_email_verification_by_code_timeout: int = Field(900, ge=10, description="Life of the code, in seconds.")
    account_email_verification_by_code_max_attempts: int = Field(3, ge=1, description="Wrong codes that end it.")
    account_email_verification_supports_resend: bool = Field(default=False, description="The code may be sent again.")
    account_email_verification_supports_change: bool = Field(
        default=False, description="The address may be changed while it is being verified."
    )
    account_email_confirmation_expire_days: float = Field(3, gt=0, description="Life of a verification link.")
    account_email_notifications: bool = Field(default=True, description="Mail people what was changed of theirs.")
    account_email_unknown_accounts: bool = Field(
        default=True, description="Answer requests for unknown addresses with a mail that says so."
    )
    account_email_subject_prefix: str = Field(
        "", description="Begins the subject of each mail; empty means the instance's name in brackets."
    )
    account_change_email: bool = Field(default=False, description="A new address replaces the old one.")
    account_max_email_addresses: int = Field(0, ge=0, description="Most addresses of an account; 0 means any number.")
    account_phone_verification_timeout: int = Field(900, ge=10, description="Life of a phone code, in seconds.")
    account_phone_verification_max_attempts: int = Field(3, ge=1, description="Wrong phone codes that end it.")
    account_phone_verification_supports_resend: bool = Field(default=False, description="It may be sent again.")
    account_phone_verification_supports_change: bool = Field(
        default=False, description="The number may be changed while it is being verified."
    )
    account_phone_enabled: bool = Field(default=True, description="Accounts may have a phone number.")


class FactorOptions(BaseModel):
    """Second factors and passkeys."""

    mfa_supported_types: Names = Field(
        ("recovery_codes", "totp", "webauthn"), description="Second factors that are offered."
    )
    mfa_passkey_login_enabled: bool = Field(default=True, description="Sign in by a passkey alone.")
    mfa_passkey_signup_enabled: bool = Field(default=False, description="Sign up by a passkey alone.")
    mfa_trust_enabled: bool = Field(default=True, description="Browsers may be trusted, and then ask no second factor.")
    mfa_trust_cookie_age: int = Field(14 * DAYS, ge=60, description="How long a browser is trusted, in seconds.")
    mfa_totp_period: int = Field(30, ge=5, description="Life of a one-time code, in seconds.")
    mfa_totp_digits: int = Field(6, ge=6, le=10, description="Digits of a one-time code.")
    mfa_totp_tolerance: int = Field(0, ge=0, le=10, description="Periods before and after that count too.")
    mfa_totp_issuer: str = Field("", description="Name shown by authenticator apps; empty means the instance's name.")
    mfa_recovery_code_count: int = Field(10, ge=1, le=100, description="Recovery codes in a set.")
    mfa_recovery_code_digits: int = Field(8, ge=6, le=16, description="Digits of a recovery code.")
    mfa_webauthn_allow_insecure_origin: bool = Field(
        default=False, description="Accept security keys over http beyond localhost. For tests."
    )


class ProviderOptions(BaseModel):
    """Third parties that vouch for people."""

    socialaccount_providers: Mapping[str, Any] = Field(
        default_factory=dict,
        description="Sign-in providers: a JSON object of id and settings; see the how-to guide.",
    )
    socialaccount_auto_signup: bool = Field(
        default=True, description="Make an account at the first login where the provider says enough."
    )
    headless_frontend_urls: Mapping[str, str] = Field(
        default_factory=dict, description="Pages of the web client that mails link to: a JSON object."
    )
    trusted_origins: Names = Field((), description="Hosts besides our own to which a login may return.")


class OAuthOptions(BaseModel):
    """Tokens of programs that people allow to act for them."""

    oauth_access_token_expires_in: int = Field(3600, ge=60, description="Life of OAuth access tokens, in seconds.")
    oauth_refresh_token_expires_in: int = Field(
        30 * DAYS, ge=60, description="How long an OAuth client may leave its refresh token unused, in seconds."
    )


class AccountOptions(SessionOptions, LoginOptions, AddressOptions, FactorOptions, ProviderOptions, OAuthOptions):
    """All of them."""


def required_fields(fields: Sequence[str]) -> Mapping[str, bool]:
    """Return sign-up members with whether each is required."""
    return {name.rstrip("*"): name.endswith("*") for name in fields}
