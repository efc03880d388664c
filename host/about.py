"""What the host tells of itself."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from host.config import Config
from host.plugins.registry import Registry
from host.settings.global_settings import GlobalSettings
from host.storage.engine import Database

DISTRIBUTION = "plugyard"
API_VERSION = 530
"""Version of the interface, as clients compare it."""


def server_info(
    config: Config, registry: Registry, settings: GlobalSettings, workers: Mapping[str, Any]
) -> dict[str, Any]:
    """Describe the server for anybody, in the shape of ``GET /api/``."""
    active = [
        {"name": plugin.manifest.identity.name, "slug": key, "version": plugin.manifest.identity.version or None}
        for key, plugin in registry.plugins.items()
    ]
    return {
        "server": "Plugyard",
        "instance": settings.text("INVENTREE_INSTANCE"),
        "apiVersion": API_VERSION,
        **workers,
        "plugins_enabled": config.plugins_enabled,
        "plugins_install_disabled": config.plugins_install_disabled,
        "email_configured": _can_mail(config, registry, settings),
        "debug_mode": config.debug,
        "docker_mode": _in_container(),
        "default_locale": config.default_locale,
        "customize": {
            "logo": config.custom_logo or None,
            "splash": config.custom_splash or None,
            "login_message": config.login_message or None,
            "navbar_message": config.navbar_message or None,
            "disable_theme_storage": config.disable_theme_storage,
        },
        "settings": {
            "sso_registration": settings.flag("LOGIN_ENABLE_SSO") and settings.flag("LOGIN_ENABLE_SSO_REG"),
            "registration_enabled": settings.flag("LOGIN_ENABLE_REG"),
            "password_forgotten_enabled": settings.flag("LOGIN_ENABLE_PWD_FORGOT"),
        },
        "active_plugins": active if config.plugins_enabled else False,
    }


def _can_mail(config: Config, registry: Registry, settings: GlobalSettings) -> bool:
    has_plugin = bool(registry.hooks.get("deliver_mail")) and settings.flag("ENABLE_PLUGINS_MAILS")
    return has_plugin or bool(config.smtp_url.get_secret_value())


def server_details(database: Database) -> dict[str, Any]:
    """Describe what only the staff may know of the server."""
    return {
        "system_health": database.answers(),
        "database": database.url.get_backend_name(),
        "platform": _platform(),
        "installer": installer(),
        "target": os.environ.get("PLUGYARD_TARGET") or None,
    }


@cache
def installer() -> str:
    """Return how the host itself was installed: ``pip``, ``editable`` or ``container``."""
    if _in_container():
        return "container"
    direct = metadata.distribution(DISTRIBUTION).read_text("direct_url.json") or ""
    return "editable" if '"editable": true' in direct else "pip"


@cache
def _in_container() -> bool:
    return Path("/.dockerenv").exists()


@cache
def _platform() -> str:
    return platform.platform(terse=True)
