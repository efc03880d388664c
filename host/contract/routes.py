"""Routes: own HTTP paths below ``/plugin/<key>/``, and static files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from host.contract.markers import Asked, MaybeAwaitable, hookspec
from host.contract.values import Access

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

_Endpoint = TypeVar("_Endpoint", bound=Callable[..., Any])
_ACCESS_ATTRIBUTE = "plugyard_access"


def access(level: Access) -> Callable[[_Endpoint], _Endpoint]:
    """Say who may use an endpoint of a plugin: ``anyone``, ``user``, ``staff`` or ``superuser``.

    An endpoint without this mark is for signed-in users. The host checks it before the endpoint runs and answers
    401 or 403 itself.
    """

    def mark(endpoint: _Endpoint) -> _Endpoint:
        setattr(endpoint, _ACCESS_ATTRIBUTE, level)
        return endpoint

    return mark


def access_of(endpoint: object) -> Access:
    """Return who may use an endpoint; ``user`` where nothing was said."""
    return cast("Access", getattr(endpoint, _ACCESS_ATTRIBUTE, "user"))


class RouteHooks:
    """Hooks of plugins that answer HTTP requests of their own."""

    key = "urls"
    human_name = "URLs"

    @hookspec(asked=Asked.ONCE, returns=object, many=True)
    def routes(self) -> MaybeAwaitable[Sequence[BaseRoute]]:
        """Give Starlette routes, served below ``/plugin/<key>/``.

        When: once, as the plugin is loaded. Mark endpoints with :func:`access`; the signed-in account is
        ``request.user``. Endpoints run apart from the host's own event loop, so a slow one delays nobody else.
        Return: the routes; their paths begin with ``/`` and are relative to ``/plugin/<key>``.
        Failure: the plugin is not loaded and the registry status says why. An endpoint that raises answers 500 and
        leaves an error report.
        Since: 0.1.
        """
        raise NotImplementedError

    @hookspec(asked=Asked.ONCE, returns=Path, optional=True)
    def static_folder(self) -> MaybeAwaitable[Path | None]:
        """Give the folder whose files are served below ``/static/plugins/<key>/``.

        When: once, as the plugin is loaded. Without this hook it is the folder ``static`` beside the plugin's module,
        where there is one.
        Return: an existing folder, or ``None`` for none.
        Failure: the plugin is not loaded and the registry status says why.
        Since: 0.1.
        """
        raise NotImplementedError
