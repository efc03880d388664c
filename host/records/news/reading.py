"""Asking the child process that reads feeds."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from host.children.environment import child_environment
from host.records.news.entry import Entry, FeedError, Reading

# What an interpreter and the way to the feed need; everything else may hold secrets.
_KEPT_VARIABLES: Final = frozenset(
    {"PATH", "HOME", "TZ", "TMPDIR", "PYTHONHOME", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"}
    | {f"{name}_PROXY" for name in ("HTTP", "HTTPS", "ALL", "NO")}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a child may use."""

    seconds: float = 60.0
    cpu_seconds: int = 30
    memory: int = 512 * 1024 * 1024


def read_feed(url: str, etag: str, modified: str, moment: datetime, limits: Limits | None = None) -> Reading:
    """Fetch and read a feed in a child process.

    Args:
        url: of the feed.
        etag: what the server said with its last answer; likewise ``modified``.
        moment: now.
        limits: of the child.

    Raises:
        FeedError: the feed cannot be had or read.

    """
    limits = limits or Limits()
    question = {
        "parent": os.getpid(),
        "url": url,
        "etag": etag,
        "modified": modified,
        "moment": moment.isoformat(),
        "memory": limits.memory,
        "cpu": limits.cpu_seconds,
    }
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "host.records.news.child"],
            input=json.dumps(question).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=tempfile.gettempdir(),
            env=child_environment(_KEPT_VARIABLES),
            timeout=limits.seconds,
            check=False,
        )
        answer: dict[str, Any] = json.loads(done.stdout) if done.returncode == 0 else {"error": _end(done.returncode)}
    except subprocess.TimeoutExpired:
        raise FeedError(f"Reading takes more than {limits.seconds:g} seconds.") from None
    except (OSError, ValueError) as error:
        raise FeedError(f"The process that reads feeds cannot be used ({type(error).__name__}).") from None
    return _reading(answer)


def _reading(answer: dict[str, Any]) -> Reading:
    if "error" in answer:
        raise FeedError(answer["error"])
    if answer["entries"] is None:
        return Reading(None)
    entries = [Entry(**one | {"published": datetime.fromisoformat(one["published"])}) for one in answer["entries"]]
    return Reading(entries, answer["etag"], answer["modified"])


def _end(code: int) -> str:
    if code == -signal.SIGXCPU:
        return "Reading the document takes too much processor time."
    return f"The document cannot be read: the process that reads it ended with code {code}."
