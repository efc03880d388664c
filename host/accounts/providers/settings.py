"""The settings of providers: read from the option ``SOCIALACCOUNT_PROVIDERS``, and checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    model_validator,
)

from host.accounts.providers.urls import split_address

OPTION = "SOCIALACCOUNT_PROVIDERS"
WELL_KNOWN = "/.well-known/openid-configuration"
STATE_LIFE = 600
"""How long somebody may take at a provider, in seconds."""

Kind = Literal["openid_connect", "github", "oauth2"]

_KINDS: tuple[str, ...] = ("openid_connect", "github", "oauth2")
_OURS = frozenset({"client_id", "client_secret", "redirect_uri", "response_mode", "response_type", "scope"}) | {
    *("code", "code_challenge", "code_challenge_method", "code_verifier", "nonce", "state")
}
# Words of the form that other hosts of this interface use: for all apps of a kind, and for one app.
_OF_KIND = {
    "SCOPE": "scope",
    "AUTH_PARAMS": "auth_params",
    "VERIFIED_EMAIL": "verified_email",
    "FETCH_USERINFO": "fetch_userinfo",
    "GITHUB_URL": "server_url",
}
_OF_APP = {"provider_id": "id", "name": "name", "client_id": "client_id", "secret": "secret"}
# PKCE is always used, and `key` means nothing to these kinds.
_IGNORED = frozenset({"OAUTH_PKCE_ENABLED", "oauth_pkce_enabled", "key"})


def _words(value: object) -> object:
    return value.replace(",", " ").split() if isinstance(value, str) else value


def _checked(url: str) -> str:
    if url:
        split_address(url)
    return url


Url = Annotated[str, AfterValidator(_checked)]
Words = Annotated[tuple[str, ...], BeforeValidator(_words)]


class ProviderSettings(BaseModel):
    """One provider as it is configured."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")
    type: Kind
    name: str = Field("", max_length=100)
    client_id: str = Field(min_length=1)
    secret: SecretStr = SecretStr("")
    app_client_ids: Words = ()
    """Further clients of the same owner, such as phone apps, whose tokens are accepted."""
    server_url: Url = ""
    issuer: str = ""
    """What the provider calls itself, where that differs from its address."""
    authorize_url: Url = ""
    token_url: Url = ""
    userinfo_url: Url = ""
    scope: Words = ()
    auth_params: Mapping[str, str] = Field(default_factory=dict)
    token_auth_method: Literal["", "client_secret_basic", "client_secret_post", "none"] = ""
    uid_field: str = ""
    fetch_userinfo: bool = True
    verified_email: bool = False
    """Every address that the provider tells counts as verified."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        needed: Mapping[Kind, tuple[str, ...]] = {
            "openid_connect": ("server_url",),
            "github": ("secret",),
            "oauth2": ("authorize_url", "token_url", "userinfo_url"),
        }
        for name in needed[self.type]:
            value = getattr(self, name)
            if not (value.get_secret_value() if isinstance(value, SecretStr) else value):
                raise ValueError(f"a provider of type {self.type} needs {name}")
        reserved = sorted(_OURS & self.auth_params.keys())
        if reserved:
            raise ValueError(f"auth_params may not set {', '.join(reserved)}")
        return self

    @property
    def title(self) -> str:
        """What people know the provider by."""
        return self.name or ("GitHub" if self.type == "github" else self.id)

    @property
    def configuration_url(self) -> str:
        """Where an OpenID Connect provider describes itself."""
        base = self.server_url.rstrip("/")
        return base if base.endswith(WELL_KNOWN) else base + WELL_KNOWN


def read_providers(option: Mapping[str, Any]) -> tuple[ProviderSettings, ...]:
    """Return the providers that the option names, in its order.

    Takes both forms: ``{id: {"type": …, …}}``, and ``{type: {"APPS": [{"provider_id": …, …}]}}``.

    Raises:
        ValueError: something is wrong; the text names the provider and the member, and holds no secret.

    """
    found: dict[str, ProviderSettings] = {}
    for key, value in option.items():
        if not isinstance(value, Mapping):
            raise ValueError(f"{OPTION}: '{key}' must be an object of settings.")  # noqa: TRY004 - as all faults of options
        for members in _apps(key, value) if {"APPS", "APP"} & value.keys() else [_simple(key, value)]:
            settings = _build(key, members)
            if settings.id in found:
                raise ValueError(f"{OPTION}: the id '{settings.id}' is given twice. Each provider needs its own.")
            found[settings.id] = settings
    return tuple(found.values())


def _simple(key: str, value: Mapping[str, Any]) -> dict[str, Any]:
    if "id" in value:
        raise ValueError(f"{OPTION}: '{key}' is the id already; leave out its member id.")
    members = dict(value)
    if "type" not in members and key in _KINDS:
        members["type"] = key
    return members | {"id": key}


def _apps(kind: str, value: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if kind not in _KINDS:
        raise ValueError(
            f"{OPTION}: providers of type '{kind}' are not known. Most can be used as openid_connect with their "
            f"server_url; known are {', '.join(_KINDS)}."
        )
    shared = _renamed(kind, {name: item for name, item in value.items() if name not in {"APPS", "APP"}}, _OF_KIND)
    apps = value.get("APPS", [value["APP"]] if "APP" in value else None)
    if not isinstance(apps, list) or not all(isinstance(app, Mapping) for app in apps):
        raise ValueError(f"{OPTION}: APPS of '{kind}' must be a list of objects.")
    for app in apps:
        further = app.get("settings", {})
        if not isinstance(further, Mapping):
            raise ValueError(f"{OPTION}: settings of '{kind}' must be an object.")  # noqa: TRY004 - as above
        if overlap := {"id", "type", *_OF_APP.values()} & further.keys():
            raise ValueError(f"{OPTION}: {', '.join(sorted(overlap))} of '{kind}' stands beside settings, not in it.")
        own = _renamed(kind, {name: item for name, item in app.items() if name != "settings"}, _OF_APP)
        further = {name: item for name, item in further.items() if name not in _IGNORED}
        yield {"id": kind, **shared, **further, **own, "type": kind}


def _renamed(kind: str, members: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    unknown = sorted(members.keys() - names.keys() - _IGNORED)
    if unknown:
        known = ", ".join(sorted(names))
        raise ValueError(f"{OPTION}: '{kind}' has {', '.join(unknown)}, which is not known here; known are {known}.")
    return {names[name]: item for name, item in members.items() if name in names}


def _build(key: str, members: Mapping[str, Any]) -> ProviderSettings:
    try:
        return ProviderSettings.model_validate(members)
    except ValidationError as error:
        name = members.get("id", key)
        faults = [
            f"{'.'.join(map(str, fault['loc'])) or 'settings'}: {fault['msg'].removeprefix('Value error, ')}"
            for fault in error.errors(include_url=False, include_context=False, include_input=False)
        ]
    # Past the handler: the error itself keeps the input, secrets and all.
    raise ValueError(f"{OPTION}: the provider '{name}' of '{key}' is not well configured. {'; '.join(faults)}.")
