"""What every part of the host stands on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from host.config import Config
from host.settings.global_settings import GlobalSettings
from host.settings.store import SettingStore
from host.storage.engine import Database
from host.storage.files import FileStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What every part of the host stands on."""

    config: Config
    home: Path
    version: str
    kind: str
    """What this process is for, as shown in the registry status."""
    database: Database
    files: FileStore
    settings: GlobalSettings
    stored_settings: SettingStore
    report: Callable[[str, str, str], None]
    """Keeps an error report."""
