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
    attachment,
    background_task,
    background_task_events,
    configuration,
    content_types,
    currency,
    data_output,
    error_report,
    exporting,
    groups,
    icons,
    licence,
    mail_log,
    news,
    notifications,
    operation_events,
    own_account,
    owners,
    packages,
    plugin_metadata,
    plugin_settings,
    plugins,
    rulesets,
    server_info,
    settings,
    sign_in_link,
    signed_in,
    status,
    tokens,
    users,
    version,
)
from api.application import assemble
from api.auth import provider_callback
from api.auth import routes as auth
from api.auth.endpoint import WithSlash
from api.authentication import Authentication
from api.context import Context, Options, Runner
from api.documentation import FrontPage
from api.importer import column_mapping, models, row
from api.importer import session as import_session
from api.media import PREFIX as MEDIA
from api.media import MediaFiles
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
    *configuration.ENDPOINTS,
    *licence.ENDPOINTS,
    *version.ENDPOINTS,
    *auth.ENDPOINTS,
    *sign_in_link.ENDPOINTS,
    *signed_in.ENDPOINTS,
    *own_account.ENDPOINTS,
    *tokens.ENDPOINTS,
    *users.ENDPOINTS,
    *groups.ENDPOINTS,
    *rulesets.ENDPOINTS,
    *owners.ENDPOINTS,
    *notifications.ENDPOINTS,
    *oauth_clients.ENDPOINTS,
    *action.ENDPOINTS,
    *plugins.ENDPOINTS,
    *packages.ENDPOINTS,
    *operation_events.ENDPOINTS,
    *plugin_settings.ENDPOINTS,
    *plugin_metadata.ENDPOINTS,
    *attachment.ENDPOINTS,
    *settings.ENDPOINTS,
    *content_types.ENDPOINTS,
    *currency.ENDPOINTS,
    *icons.ENDPOINTS,
    *data_output.ENDPOINTS,
    *background_task.ENDPOINTS,
    *background_task_events.ENDPOINTS,
    *mail_log.ENDPOINTS,
    *error_report.ENDPOINTS,
    *news.ENDPOINTS,
    *status.ENDPOINTS,
    *models.ENDPOINTS,
    *import_session.ENDPOINTS,
    *column_mapping.ENDPOINTS,
    *row.ENDPOINTS,
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

    context = make_context(host)
    host.records.exports.sources = exporting.sources(context, ENDPOINTS)
    return assemble(
        context,
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
            MEDIA: MediaFiles(),
            "/plugin/": Door(
                "/plugin",
                PluginRoutes(
                    registries,
                    authorise,
                    report,
                    deadline=host.route_deadline,
                    enabled=host.global_settings.flag_of("ENABLE_PLUGINS_URL"),
                ),
            ),
            "/static/plugins/": Door("/static/plugins", PluginFiles(registries)),
        },
        lifespan=lifespan,
    )


def offer_exports(host: Host) -> None:
    """Let a host make exports of the lists of the interface, in a process that does not serve it."""
    host.records.exports.sources = exporting.sources(make_context(host), ENDPOINTS)


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
            uploads=host.uploads,
        ),
        rows=Rows(host.database),
        authentication=Authentication(
            by_token=lambda text: authenticate.by_token(text).user,
            by_password=lambda name, password, address: authenticate.by_password(name, password, address=address).user,
            needs_factor=host.global_settings.flag_of("LOGIN_ENFORCE_MFA"),
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
