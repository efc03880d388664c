"""What is known of a session, in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class Client(StrEnum):
    """What kind of program is asking; the two keep the key of their session in different ways."""

    BROWSER = "browser"
    """In the cookie ``sessionid``."""
    APP = "app"
    """In the header ``X-Session-Token``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who is asking, as far as the request says."""

    client: Client = Client.BROWSER
    key: str = field(default="", repr=False)
    """Of the session; empty when none was sent."""
    address: str = ""
    user_agent: str = ""
    origin: str = ""
    """Scheme and host under which the host was asked; whoever asks can claim any."""
    mail_origin: str = ""
    """Scheme and host that links in mails may have: never what a stranger claims."""
    trust: str = field(default="", repr=False)
    """The cookie that trusts this browser."""


@dataclass(slots=True, kw_only=True)
class Pending:
    """A login that still has stages before it."""

    user_id: int | None
    """``None``: there is no such account, and nobody shall notice."""
    started: datetime
    stage: str = ""
    """The one that is waiting, by its flow's id."""
    methods: list[dict[str, Any]] = field(default_factory=list)
    """The steps done so far; they become those of the session."""
    facts: dict[str, Any] = field(default_factory=dict)
    """What stages need to know of the login: ``email``, ``phone``, ``signup``, ``passwordless`` …"""
    state: dict[str, Any] = field(default_factory=dict, repr=False)
    """What the waiting stage has to remember."""


@dataclass(slots=True, kw_only=True)
class SessionState:
    """A session as the database has it, changed in memory and written at the end of the work."""

    id: int | None = None
    user_id: int | None = None
    password_changed: datetime | None = None
    methods: list[dict[str, Any]] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict, repr=False)
    pending: Pending | None = None
    created: datetime | None = None
    last_seen: datetime | None = None
    """When its last use was noted, which is not done with every request."""
