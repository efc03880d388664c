"""Where log lines of a process go: to stderr, in one format."""

from __future__ import annotations

from typing import Any


def log_config(*, level: str, access_log: bool = False) -> dict[str, Any]:
    """Return a configuration for :func:`logging.config.dictConfig`.

    Args:
        level: the least level of the host's own and of plugins' messages; other libraries speak from WARNING on.
        access_log: whether each request leaves a line.

    """
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line", "stream": "ext://sys.stderr"}},
        "root": {"handlers": ["stderr"], "level": "WARNING"},
        "loggers": {
            "plugyard": {"level": level},
            "uvicorn.access": {"level": "INFO" if access_log else "CRITICAL"},
        },
    }
