"""What the host tells people by itself."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy.orm import Session

from host.contract.services import Audience
from host.records.notifications import Notifications, Target
from host.tasks.running import FAILURE_PATH


class Notices:
    """Words what happened as notifications.

    Args:
        notifications: gives what sends them; it is put together later than those who tell things.

    """

    def __init__(self, notifications: Callable[[], Notifications]) -> None:
        self._notifications = notifications

    def of_plugin(
        self, session: Session, to: Audience, /, *, category: str, name: str, message: str, link: str
    ) -> None:
        """Send what a plugin tells, as part of the session's transaction.

        Raises:
            ValueError: the link is neither a path nor an http address.

        """
        target = Target(link=link)
        self._notifications().send(session, to, category=category, name=name, message=message, target=target)

    def error(self, key: int, path: str, info: str) -> None:
        """Tell the staff of an error that has not happened before."""
        target = Target(name=path, model="error", id=key)
        category, name = "error_report", f"Error in {path}"
        if path == FAILURE_PATH:
            category, name = "task_failed", "A background task failed"
        self._notifications().tell("staff", category=category, name=name, message=info, target=target)

    def quarantine(self, key: str, reason: str) -> None:
        """Tell the staff of a plugin that is left out from now on."""
        self._notifications().tell(
            "staff", category="plugin_quarantined", name=f"Plugin {key} is quarantined", message=reason
        )
