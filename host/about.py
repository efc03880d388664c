"""What the host tells of itself."""

from __future__ import annotations

import os
import platform
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from host.config import Config
from host.plugins.registry import Registry
from host.storage.engine import Database

DISTRIBUTION = "plugyard"
API_VERSION = 530
"""Version of the interface, as clients compare it."""


def server_info(config: Config, registry: Registry) -> dict[str, Any]:
    """Describe the server for anybody, in the shape of ``GET /api/``."""
    active = [
        {"name": plugin.manifest.identity.name, "slug": key, "version": plugin.manifest.identity.version or None}
        for key, plugin in registry.plugins.items()
    ]
    return {
        "server": "Plugyard",
        "instance": config.instance,
        "apiVersion": API_VERSION,
        # There is no task queue yet, hence no worker.
        "worker_running": False,
        "worker_count": 0,
        "worker_pending_tasks": 0,
        "plugins_enabled": config.plugins_enabled,
        "plugins_install_disabled": config.plugins_install_disabled,
        "email_configured": bool(config.smtp_url.get_secret_value()),
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
            "sso_registration": config.login_enable_sso_reg,
            "registration_enabled": config.login_enable_reg,
            "password_forgotten_enabled": config.login_enable_pwd_forgot,
        },
        "active_plugins": active if config.plugins_enabled else False,
    }


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
