"""The application: all endpoints, around one host."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

from anyio import CapacityLimiter
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from api import (
    action,
    groups,
    operation_events,
    own_account,
    owners,
    packages,
    plugin_metadata,
    plugin_settings,
    plugins,
    rulesets,
    server_info,
    sign_in_link,
    signed_in,
    tokens,
    users,
)
from api.application import assemble
from api.auth import provider_callback
from api.auth import routes as auth
from api.auth.endpoint import WithSlash
from api.authentication import Authentication
from api.context import Context, Options, Runner
from api.documentation import FrontPage
from api.oauth import authorize
from api.oauth import clients as oauth_clients
from api.oauth import tokens as oauth_tokens
from api.operations import Described
from api.plugin_doors import Door, authorise
from host.accounts.oauth.bearers import Bearer
from host.contract.values import User
from host.packages.background import BackgroundInstalls
from host.plugins.bounded import run_bounded
from host.plugins.http import PluginRoutes
from host.plugins.static_files import PluginFiles
from host.storage.rows import Rows

if TYPE_CHECKING:
    from host.server import Host

ENDPOINTS: Final[tuple[Described, ...]] = (
    *server_info.ENDPOINTS,
    *auth.ENDPOINTS,
    *sign_in_link.ENDPOINTS,
    *signed_in.ENDPOINTS,
    *own_account.ENDPOINTS,
    *tokens.ENDPOINTS,
    *users.ENDPOINTS,
    *groups.ENDPOINTS,
    *rulesets.ENDPOINTS,
    *owners.ENDPOINTS,
    *oauth_clients.ENDPOINTS,
    *action.ENDPOINTS,
    *plugins.ENDPOINTS,
    *packages.ENDPOINTS,
    *operation_events.ENDPOINTS,
    *plugin_settings.ENDPOINTS,
    *plugin_metadata.ENDPOINTS,
)
"""All endpoints, in the order of the documentation."""

_MEGABYTE = 1024 * 1024
_PLUGIN_THREADS = 40


def create_app(host: Host) -> Starlette:
    """Return the application for a host; the host starts and stops with it."""
    registries, report = host.registries, host.error_reports.record

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        await run_in_threadpool(host.start)
        try:
            yield
        finally:
            await run_in_threadpool(host.close)

    return assemble(
        make_context(host),
        ENDPOINTS,
        others=(
            server_info.Health(),
            signed_in.SignedIn(),
            FrontPage(),
            *(WithSlash(one) for one in auth.ENDPOINTS),
            *provider_callback.PATHS,
            *authorize.PATHS,
            *oauth_tokens.PATHS,
        ),
        below={
            "/plugin/": Door("/plugin", PluginRoutes(registries, authorise, report, deadline=host.route_deadline)),
            "/static/plugins/": Door("/static/plugins", PluginFiles(registries)),
        },
        lifespan=lifespan,
    )


def make_context(host: Host) -> Context:
    """Return what requests need of a host."""
    config, authenticate = host.config, host.authenticate
    report = host.error_reports.record
    return Context(
        host=host,
        options=Options(
            version=host.version,
            installer=host.installer,
            debug=config.debug,
            locale=config.default_locale,
            origins=frozenset(config.cors_origins),
            own_origins=frozenset({config.site_url, *config.trusted_origins} - {""}),
            max_body=config.max_body_mb * _MEGABYTE,
        ),
        rows=Rows(host.database),
        authentication=Authentication(
            by_token=lambda text: authenticate.by_token(text).user,
            by_password=lambda name, password, address: authenticate.by_password(name, password, address=address).user,
            needs_factor=config.login_enforce_mfa,
            by_session=partial(_by_session, host),
            by_bearer=partial(_bearer, host),
        ),
        report=report,
        installs=BackgroundInstalls(host.plugin_packages.install, host.packages.operation, report),
        is_stale=host.registries.is_stale,
        catch_up=host.registries.catch_up,
        run_with_plugins=plugin_runner(),
    )


def _by_session(host: Host, key: str) -> User | None:
    # The services behind it are made when the host opens, not before.
    return host.sign_in.sessions.user_of(key)


def _bearer(host: Host, text: str) -> Bearer | None:
    found = host.oauth.bearers.find(text)
    if found is not None:
        return found
    user = host.sign_in.web_tokens.user_of(text)
    return Bearer(user=user) if user is not None else None


def plugin_runner() -> Runner:
    """Return what runs handlers that call plugins.

    They have places of their own: plugins that hang keep no request waiting that has nothing to do with plugins.
    """
    limiter = CapacityLimiter(_PLUGIN_THREADS)

    def run(handler: Callable[[], Response], /, *, replay: bool) -> Awaitable[Response]:
        return run_bounded(handler, replay=replay, limiter=limiter)

    return run
