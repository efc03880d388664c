"""UI: collect the features that plugins offer to the web client."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping

from host.contract.markers import hook_info
from host.contract.ui import UIContext, UIFeature, UIHooks
from host.contract.values import Json, User
from host.plugins.calls import Calls
from host.plugins.current import Registries
from host.plugins.failures import summary
from host.plugins.plain import plain
from host.plugins.sources import static_url

_GENERIC = "ui_features"


def _hooks_by_type() -> dict[str, str]:
    found: dict[str, str] = {}
    for name, function in inspect.getmembers(UIHooks, inspect.isfunction):
        info = hook_info(function)
        if info is not None and info.returns is not None and issubclass(info.returns, UIFeature):
            found[info.returns.feature_type] = name
    del found[UIFeature.feature_type]
    return found


HOOKS_BY_TYPE: Mapping[str, str] = _hooks_by_type()
"""Feature type → the hook of its own."""


def _always(_feature_type: str) -> bool:
    return True


class UI:
    """Collects UI features.

    Args:
        registries: gives the registry in force.
        calls: calls the hooks.
        report: writes an error report (path, message, details).
        enabled: whether plugins may add features of a type to the user interface.

    """

    def __init__(
        self,
        registries: Registries,
        calls: Calls,
        report: Callable[[str, str, str], None],
        enabled: Callable[[str], bool] = _always,
    ) -> None:
        self._registries = registries
        self._calls = calls
        self._report = report
        self._enabled = enabled

    def features(self, feature_type: str, query: Mapping[str, str], user: User) -> list[dict[str, Json]]:
        """Return what active plugins offer of one feature type, as clients get it; nothing for a type unknown to all.

        Features that cannot be shown (no key, a context that is not JSON, a source outside the static folder) are
        left out with an error report.
        """
        if not self._enabled(feature_type):
            return []
        registry = self._registries.current
        context = UIContext(feature_type=feature_type, user=user, query=dict(query))
        own = HOOKS_BY_TYPE.get(feature_type)
        hooks = (_GENERIC,) if own is None else (own, _GENERIC)
        return [
            shape
            for hook in hooks
            for answer in self._calls.ask_all(registry.hooks.get(hook, ()), context=context)
            for shape in self._shapes(answer.plugin, hook, feature_type, answer.value)
        ]

    def _shapes(self, plugin: str, hook: str, feature_type: str, features: object) -> Iterator[dict[str, Json]]:
        if not isinstance(features, (list, tuple)):
            return
        for feature in features:
            # The generic hook may answer everything it has; features with a type of their own belong to that type.
            if not isinstance(feature, UIFeature) or feature.feature_type not in {"", feature_type}:
                continue
            try:
                yield _shape(plugin, feature_type, feature)
            except Exception as error:  # noqa: BLE001 - options are computed by the plugin's class
                problem = f"feature {feature.key!r} is left out: {summary(error)}"
                self._report(f"plugin.{plugin}.{hook}", problem, "")


def _shape(plugin: str, feature_type: str, feature: UIFeature) -> dict[str, Json]:
    key: object = feature.key
    if not isinstance(key, str) or not key:
        msg = "it has no key"
        raise ValueError(msg)
    shape: dict[str, Json] = {"plugin_name": plugin, "feature_type": feature_type, "key": key}
    for name in ("title", "description", "icon"):
        text = getattr(feature, name) or ""
        if not isinstance(text, str):
            msg = f"{name} must be text, not {text!r}"
            raise TypeError(msg)
        shape[name] = text
    if feature.source:
        shape["source"] = static_url(plugin, feature.source)
    shape["options"] = plain(feature.all_options())
    shape["context"] = plain(feature.context)
    plain(shape)  # texts too may hold what JSON cannot say
    return shape
