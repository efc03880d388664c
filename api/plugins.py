"""Plugins: their records, and what administrators do with them.

The paths ``install``, ``plan``, ``reload``, ``status``, ``settings``, ``ui``, ``generations`` and ``operations`` below
``/api/plugins/`` are fixed: a plugin of such a key is listed like all others, but not reachable by itself.
"""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from api.answers import Json
from api.endpoint import Endpoint
from api.fields import Boolean, Integer
from api.nested_fields import Json as JsonField
from api.nested_fields import ListOf, Nested, Object
from api.operations import Operation
from api.request import ApiRequest
from api.resources import Resource
from api.shapes import Shape
from api.text_fields import Text
from host.plugins.building import ReloadFlags
from host.plugins.listing import PLUGINS

PLUGINS_PATH: Final = "/api/plugins/"
TAG: Final = "Plugins"
_PLUGIN: Final = f"{PLUGINS_PATH}{{plugin}}/"
_NO_PLUGIN: Final = {404: "There is no such plugin."}

META: Final = Shape(
    "PluginMeta",
    **{
        name: Text(read_only=True, null=True)
        for name in (
            "slug",
            "human_name",
            "description",
            "author",
            "pub_date",
            "version",
            "website",
            "license",
            "package_path",
            "settings_url",
        )
    },
)
PLUGIN: Final = Shape(
    "PluginConfig",
    pk=Integer(read_only=True),
    key=Text(read_only=True, help_text="Key of the plugin; part of its paths."),
    name=Text(read_only=True, null=True, max_length=255),
    package_name=Text(read_only=True, null=True, max_length=255, help_text="Name of the installed package."),
    active=Boolean(read_only=True, help_text="Whether the plugin is switched on."),
    meta=Nested(shape=META, read_only=True),
    mixins=Object(read_only=True, help_text="Key of a family of hooks → its `key` and `human_name`."),
    is_builtin=Boolean(read_only=True),
    is_sample=Boolean(read_only=True),
    is_installed=Boolean(read_only=True, help_text="False when only the record is left."),
    is_package=Boolean(read_only=True),
    is_mandatory=Boolean(read_only=True),
)
ACTIVATE: Final = Shape(
    "PluginActivate", active=Boolean(default=True, help_text="Whether the plugin shall be switched on.")
)
UNINSTALL: Final = Shape(
    "PluginUninstall",
    delete_config=Boolean(default=True, help_text="Delete the plugin's record and settings as well.", always=False),
)
RELOAD: Final = Shape(
    "PluginReload",
    full_reload=Boolean(default=False, help_text="Import every module of plugins afresh."),
    force_reload=Boolean(default=False, help_text="Reload even when nothing changed."),
    collect_plugins=Boolean(default=False, help_text="Look for new plugins."),
)
REGISTRY_ERROR: Final = Shape(
    "RegistryError", stage=Text(read_only=True), name=Text(read_only=True), message=Text(read_only=True)
)
STATUS: Final = Shape(
    "RegistryStatus",
    active_plugins=Integer(read_only=True, help_text="Number of plugins that are switched on."),
    registry_errors=ListOf(item=Nested(shape=REGISTRY_ERROR), read_only=True),
    generation=Integer(read_only=True, help_text="Of the registry; each change makes a new one."),
    package_generation=Integer(read_only=True),
    processes=ListOf(item=Object(), read_only=True, help_text="Every process of the host, and how far it is."),
    quarantined=ListOf(item=Object(), read_only=True, help_text="Plugins that are left out, and why."),
    restart_required=ListOf(item=Text(), read_only=True, help_text="Packages that need a restart."),
)
FEATURE: Final = Shape(
    "PluginUIFeature",
    plugin_name=Text(read_only=True),
    feature_type=Text(read_only=True),
    key=Text(read_only=True),
    title=Text(read_only=True),
    description=Text(read_only=True),
    icon=Text(read_only=True),
    source=Text(read_only=True, always=False, help_text="An ES module, with an optional `:function`."),
    options=Object(read_only=True),
    context=JsonField(read_only=True, null=True),
)
ADMIN: Final = Shape(
    "PluginAdmin", source=Text(read_only=True, null=True), context=JsonField(read_only=True, null=True)
)


def delete_plugin(request: ApiRequest, key: str) -> None:
    """Delete the record of a plugin that is not active; one that is installed comes back at the next reload."""
    request.host.plugins.delete(key, by=request.user)


def activate(request: ApiRequest) -> Response:
    """Switch a plugin on or off.

    A plugin that cannot be loaded stays off, and the answer says why.
    """
    key = request.path_params["plugin"]
    return Json({"active": request.host.plugins.activate(key, active=request.data["active"], by=request.user)})


def uninstall(request: ApiRequest) -> Response:
    """Uninstall the package of an inactive plugin."""
    request.host.plugin_packages.uninstall_plugin(
        request.path_params["plugin"], delete_config=request.data["delete_config"], by=request.user
    )
    return Json({name: request.data[name] for name in request.sent if name in UNINSTALL.fields})


def reload(request: ApiRequest) -> Response:
    """Build the registry anew; errors of earlier are forgotten. Other processes follow."""
    request.host.registries.reload(ReloadFlags(**request.data), by_administrator=True)
    return Json(request.data, 201)


def status(request: ApiRequest) -> Response:
    """Show the state of the registry, and why plugins are not in use; the same from every process."""
    return Json(request.host.registries.status())


def features(request: ApiRequest) -> Response:
    """Collect what active plugins add to the user interface.

    Query parameters are handed to the plugins: `target_model` and `target_id` for panels and primary actions,
    `template_type` and `template_model` for template editors and previews.
    """
    query = {name: value for name, value in request.query.items() if name != "format"}
    return Json(request.host.ui.features(request.path_params["feature"], query, request.caller))


def admin(request: ApiRequest) -> Response:
    """Show where the plugin's own administration page is."""
    return Json(request.host.admin.integration(request.path_params["plugin"], request.caller))


RESOURCE: Final = Resource(
    path=PLUGINS_PATH,
    name="plugin",
    tag=TAG,
    listing=PLUGINS,
    shape=PLUGIN,
    read="user",
    write="superuser",
    key="key",
    key_name="plugin",
    key_kind="str",
    delete=delete_plugin,
)

_ACTIVATE: Final = {
    "summary": "Switch a plugin on or off",
    "access": "superuser",
    "handler": activate,
    "body": ACTIVATE,
    "answers": {200: ACTIVATE},
    "faults": _NO_PLUGIN | {400: "The plugin is mandatory, or cannot be loaded."},
}
_UNINSTALL: Final = {
    "summary": "Uninstall a plugin's package",
    "access": "superuser",
    "handler": uninstall,
    "body": UNINSTALL,
    "answers": {200: UNINSTALL},
    "faults": _NO_PLUGIN
    | {400: "The plugin is active, or cannot be uninstalled.", 409: "Another package operation is at work."},
}

ENDPOINTS: Final = (
    *RESOURCE.endpoints,
    Endpoint(
        f"{_PLUGIN}activate/",
        name="Activate plugin",
        tag=TAG,
        operations={
            "PATCH": Operation(id="plugin_activate_partial_update", **_ACTIVATE),  # type: ignore[arg-type]
            "PUT": Operation(id="plugin_activate_update", **_ACTIVATE),  # type: ignore[arg-type]
            # A client library posts here.
            "POST": Operation(id="plugin_activate", **_ACTIVATE),  # type: ignore[arg-type]
        },
    ),
    Endpoint(
        f"{_PLUGIN}uninstall/",
        name="Uninstall plugin",
        tag=TAG,
        operations={
            "PATCH": Operation(id="plugin_uninstall_partial_update", **_UNINSTALL),  # type: ignore[arg-type]
            "PUT": Operation(id="plugin_uninstall_update", **_UNINSTALL),  # type: ignore[arg-type]
        },
    ),
    Endpoint(
        f"{PLUGINS_PATH}reload/",
        name="Reload plugins",
        tag=TAG,
        operations={
            "POST": Operation(
                id="plugin_reload",
                summary="Reload the plugin registry",
                access="superuser",
                handler=reload,
                body=RELOAD,
                answers={201: RELOAD},
            )
        },
    ),
    Endpoint(
        f"{PLUGINS_PATH}status/",
        name="Registry status",
        tag=TAG,
        operations={
            "GET": Operation(
                id="plugin_status",
                summary="Show the state of the plugin registry",
                access="superuser",
                handler=status,
                answers={200: STATUS},
                writes=STATUS,
            )
        },
    ),
    Endpoint(
        f"{PLUGINS_PATH}ui/features/{{feature}}/",
        name="UI features",
        tag=TAG,
        operations={
            "GET": Operation(
                id="plugin_ui_features",
                summary="Collect UI features of one type",
                access="user",
                handler=features,
                calls_plugins=True,
                replays=True,
                answers={200: ListOf(item=Nested(shape=FEATURE))},
                writes=FEATURE,
            )
        },
    ),
    Endpoint(
        f"{_PLUGIN}admin/",
        name="Plugin administration",
        tag=TAG,
        operations={
            "GET": Operation(
                id="plugin_admin",
                summary="Show a plugin's administration page",
                access="staff",
                handler=admin,
                calls_plugins=True,
                replays=True,
                answers={200: ADMIN},
                faults=_NO_PLUGIN,
                writes=ADMIN,
            )
        },
    ),
)
