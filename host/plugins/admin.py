"""Admin: the administration page of a plugin."""

from __future__ import annotations

from collections.abc import Callable

from host.contract.admin import AdminIntegration
from host.contract.values import Json, User
from host.errors import NotFoundError
from host.plugins.calls import Calls
from host.plugins.current import Registries
from host.plugins.plain import plain
from host.plugins.sources import static_url


class Admin:
    """Asks a plugin for its administration page.

    Args:
        registries: gives the registry in force.
        calls: calls the hook.
        report: writes an error report (path, message, details).
        has_record: whether the host keeps a record of a plugin that is not installed any more.

    """

    def __init__(
        self,
        registries: Registries,
        calls: Calls,
        report: Callable[[str, str, str], None],
        has_record: Callable[[str], bool],
    ) -> None:
        self._registries = registries
        self._calls = calls
        self._report = report
        self._has_record = has_record

    def integration(self, key: str, user: User) -> dict[str, Json]:
        """Return ``source`` and ``context`` of the page; both ``None`` when the plugin is inactive, failed or has none.

        Raises:
            NotFoundError: the host knows no plugin of this key.

        """
        registry = self._registries.current
        if key not in registry.known and not self._has_record(key):
            msg = f"There is no plugin '{key}'."
            raise NotFoundError(msg)
        asked = tuple(one for one in registry.hooks.get("admin_integration", ()) if one.plugin == key)
        answer = self._calls.ask_first(asked, user=user)
        if answer is not None and isinstance(answer.value, AdminIntegration):
            page = answer.value
            try:
                return {
                    "source": static_url(key, page.source) if page.source else None,
                    "context": plain(page.context),
                }
            except (TypeError, ValueError) as error:
                self._report(f"plugin.{key}.admin_integration", str(error), "")
        return {"source": None, "context": None}
