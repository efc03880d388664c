"""The host's configuration: read once from the environment and an optional TOML file."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from pydantic import ConfigDict, Field, PrivateAttr, SecretStr, ValidationError, field_validator

from host.config.access import watch
from host.config.accounts import AccountOptions
from host.config.files import parse_files_url
from host.config.kinds import Names
from host.config.mail import MailOptions
from host.config.tasks import TaskOptions

PREFIX = "PLUGYARD_"
FILE_VARIABLE = "PLUGYARD_CONFIG"


class ConfigError(Exception):
    """Raised when the configuration cannot be used; the text names each variable and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """Where one configuration value came from; the value itself is never shown."""

    key: str
    env_var: str | None
    config_key: str | None
    source: str
    """``env``, ``toml`` or ``default``."""
    accessed: datetime
    """When the host last looked it up: local time without a zone, as the interface shows it."""


class Config(AccountOptions, MailOptions, TaskOptions):
    """Every setting of the server. The environment variable is the name in capitals after ``PLUGYARD_``."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=False)

    home: Path = Field(Path("var"), description="Folder for the database, installed packages, files and caches.")
    database_url: SecretStr = Field(SecretStr(""), description="Database; empty means SQLite in the home folder.")
    files_url: SecretStr = Field(
        SecretStr(""), description="Where files are kept; empty means the folder files in the home folder."
    )
    secret_key: SecretStr = Field(SecretStr(""), description="Signing key; empty means one made and kept at home.")
    instance: str = Field("Plugyard", description="Name of this instance, shown to users.")
    default_locale: str = Field("en-us", description="Language of answers where the client names none.")
    site_url: str = Field("", description="Address under which people reach the host; empty means as they asked.")
    instance_id: str = Field("", description="Identifier of this instance; empty means one made and kept at home.")
    announce_id: bool = Field(default=False, description="Show the identifier in the server information.")
    custom_logo: str = Field("", description="Path of a logo for clients to show.")
    custom_splash: str = Field("", description="Path of a picture for the sign-in page.")
    login_message: str = Field("", description="Text for the sign-in page.")
    navbar_message: str = Field("", description="Text for the navigation bar.")
    disable_theme_storage: bool = Field(default=False, description="Tell clients not to keep a user's theme.")
    news_url: SecretStr = Field(SecretStr(""), description="Feed of news for the staff; empty means off.")
    debug: bool = Field(default=False, description="Show error details in answers. Never in production.")
    cors_origins: Names = Field((), description="Origins that may call the API from a browser, comma separated.")
    max_body_mb: int = Field(64, ge=1, description="Largest request body, in MiB.")

    admin_user: str = Field("admin", description="Name of the administrator made at the first start.")
    admin_password: SecretStr = Field(SecretStr(""), description="Their password; empty means a generated one.")
    admin_email: str = Field("", description="Their e-mail address.")

    plugins_file: Path | None = Field(None, description="plugins.txt; by default in the current or the home folder.")
    plugins_enabled: bool = Field(default=True, description="Off: only built-in plugins are loaded.")
    plugins_install_disabled: bool = Field(default=False, description="On: packages cannot be installed or removed.")
    plugins_mandatory: Names = Field(("inventory",), description="Keys of plugins that are always active.")
    plugins_allow_vcs: bool = Field(default=False, description="Allow packages from version control.")
    plugins_allow_builds: bool = Field(default=False, description="Allow packages that must be built from source.")
    plugins_keep_generations: int = Field(10, ge=1, description="How many former package lists can be restored.")
    plugin_settings: Mapping[str, Mapping[str, Any]] = Field(
        default_factory=dict, description="Fixed plugin settings: a JSON object of plugin key, setting, value."
    )
    global_settings: Mapping[str, Any] = Field(
        default_factory=dict, description="Fixed global settings: a JSON object of setting, value."
    )
    sample_plugins: bool = Field(default=False, description="Offer the sample plugins too.")
    index_url: str = Field("", description="Package index; empty means pip's own configuration.")
    find_links: Names = Field((), description="Further places to find packages, as pip's --find-links.")
    pip_timeout: float = Field(300.0, gt=0, description="Longest time for one run of pip, in seconds.")
    safe_mode: bool = Field(default=False, description="Start with built-in plugins only.")
    strict: bool = Field(default=False, description="Errors of plugins are raised, not contained. For tests.")
    hook_deadline: float = Field(10.0, gt=0, description="Longest time for one hook call, in seconds.")
    hook_deadlines: Mapping[str, float] = Field(
        default_factory=dict, description="Other deadlines by hook family: a JSON object of family, seconds."
    )
    hook_error_limit: int = Field(20, ge=1, description="Failures within five minutes that quarantine a plugin.")
    probe_timeout: float = Field(20.0, gt=0, description="Longest time to examine one package, in seconds.")
    probe_memory_mb: int = Field(2048, ge=128, description="Most memory to examine one package, in MiB.")

    _sources: dict[str, str] = PrivateAttr(default_factory=dict)
    _read_at: datetime = PrivateAttr(default_factory=datetime.now)
    _looked_up: dict[str, float] = PrivateAttr(default_factory=dict)

    @classmethod
    def load(cls, environment: Mapping[str, str] | None = None) -> Self:
        """Read the configuration.

        The file is the one that ``PLUGYARD_CONFIG`` names, else ``plugyard.toml`` in the current folder if it exists.
        The environment wins over the file.

        Raises:
            ConfigError: a value cannot be used, or the file cannot be read; all faults are named at once.

        """
        environment = os.environ if environment is None else environment
        from_file = _read_file(environment)
        from_environment = _read_environment(cls, environment)
        unknown = sorted(set(from_file) - set(cls.model_fields))
        if unknown:
            msg = f"The configuration file has unknown settings: {', '.join(unknown)}."
            raise ConfigError(msg)
        try:
            config = cls.model_validate(from_file | from_environment)
        except ValidationError as error:
            raise ConfigError(_explain(error, from_environment)) from None
        config._sources.update(dict.fromkeys(from_file, "toml") | dict.fromkeys(from_environment, "env"))  # noqa: SLF001
        return config

    def entries(self) -> list[ConfigEntry]:
        """List every setting with its source; never with its value.

        One that the host has not looked up yet was accessed when the configuration was read.
        """
        looked_up = self._looked_up
        return [
            ConfigEntry(
                key=f"{PREFIX}{name.upper()}",
                env_var=f"{PREFIX}{name.upper()}",
                config_key=name,
                source=self._sources.get(name, "default"),
                accessed=datetime.fromtimestamp(looked_up[name]) if name in looked_up else self._read_at,  # noqa: DTZ006
            )
            for name in type(self).model_fields
        ]

    @field_validator("files_url")
    @classmethod
    def _check_files_url(cls, value: SecretStr) -> SecretStr:
        parse_files_url(value.get_secret_value())
        return value

    @property
    def plugins_txt(self) -> Path:
        """The file that lists the installed packages."""
        if self.plugins_file is not None:
            return self.plugins_file.absolute()
        here = Path("plugins.txt").absolute()
        return here if here.is_file() else self.home.absolute() / "plugins.txt"

    @property
    def queue(self) -> str:
        """The queue's URL."""
        if url := self.queue_url.get_secret_value():
            return url
        database = self.database
        return database if database.startswith("postgres") else f"sqlite:///{self.home.absolute() / 'queue.db'}"

    @property
    def database(self) -> str:
        """The database's URL."""
        return self.database_url.get_secret_value() or f"sqlite:///{self.home.absolute() / 'plugyard.db'}"


watch(Config, Config.model_fields)


def _read_file(environment: Mapping[str, str]) -> dict[str, Any]:
    named = environment.get(FILE_VARIABLE)
    path = Path(named or "plugyard.toml")
    if not named and not path.is_file():
        return {}
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        msg = f"{FILE_VARIABLE} names {path}, which cannot be read: {error.strerror}."
        raise ConfigError(msg) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        msg = f"{path} is no valid TOML: {error}."
        raise ConfigError(msg) from None


def _read_environment(model: type[Config], environment: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        text = environment.get(f"{PREFIX}{name.upper()}")
        if text is None or (text == "" and field.annotation is not str):
            continue
        found[name] = _from_json(name, text) if isinstance(field.default_factory, type) else text
    return found


def _from_json(name: str, text: str) -> Any:
    import json  # noqa: PLC0415 - only two settings are JSON

    try:
        return json.loads(text)
    except ValueError as error:
        msg = f"{PREFIX}{name.upper()} must be a JSON object: {error}."
        raise ConfigError(msg) from None


def _explain(error: ValidationError, from_environment: Mapping[str, Any]) -> str:
    lines = []
    for fault in error.errors(include_url=False, include_input=False):
        name = str(fault["loc"][0])
        where = f"{PREFIX}{name.upper()}" if name in from_environment else f"'{name}' in the configuration file"
        lines.append(f"{where}: {fault['msg']}.")
    return "\n".join(lines)
