"""Admin: add an administration page for the plugin."""

from __future__ import annotations

from dataclasses import dataclass

from host.contract.markers import Asked, MaybeAwaitable, hookspec
from host.contract.values import Json, User


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminIntegration:
    """Where a client finds the plugin's administration page.

    ``source`` is a JavaScript module that exports ``renderPluginSettings``: a path below the plugin's ``static``
    folder (``admin.js``) or an absolute one; ``context`` is handed to it.
    """

    source: str | None = None
    context: Json = None


class AdminHooks:
    """Hooks of plugins that have an administration page."""

    key = "admin"
    human_name = "Admin integration"

    @hookspec(asked=Asked.NAMED, returns=AdminIntegration, optional=True)
    def admin_integration(self, user: User) -> MaybeAwaitable[AdminIntegration | None]:
        """Give the administration page of this plugin.

        When: a member of staff opens ``/api/plugins/<key>/admin/``.
        Return: the page, or ``None`` for none.
        Failure: an error report is written and the answer has neither source nor context.
        Since: 0.1.
        """
        raise NotImplementedError
