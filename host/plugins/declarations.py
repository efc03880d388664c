"""What a plugin declares once, as it is loaded: which hooks ask for it, and what a right answer looks like."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from host.contract.settings import Setting
from host.plugins.plain import plain
from host.plugins.results import check
from host.plugins.specs import specs

BEFORE_START = ("plugin_settings", "user_settings", "models")
"""Asked before ``start``: the host needs them to make the plugin's services and tables."""
AFTER_START = ("action_names", "event_patterns", "routes", "static_folder", "model_types", "status_sets")
"""Asked once the plugin has started."""


class DeclarationError(Exception):
    """A declaration is not of the right shape; the text says which and why."""


_TEXTS = ("name", "description", "units", "confirm_text", "model", "api_url")
_NAMES = {"plugin_settings": "key", "user_settings": "key", "model_types": "name", "status_sets": "name"}


def checked(hook: str, answer: object) -> Any:
    """Return the answer of a hook that is asked once: a tuple where the hook gives many.

    Raises:
        DeclarationError: the answer is not what the hook's specification says.

    """
    info = specs()[hook].info
    result = check(info, answer)
    if result.problem:
        raise DeclarationError(f"{hook} {result.problem}")
    if info.many:
        items: tuple[Any, ...] = tuple(result.value)  # type: ignore[arg-type]  # checked: a list or tuple
        _check_items(hook, items)
        return items
    if isinstance(result.value, Path) and not result.value.is_dir():
        raise DeclarationError(f"{hook} names the folder '{result.value.name}', which does not exist")
    return result.value


def _check_items(hook: str, items: Sequence[Any]) -> None:
    if hook == "routes":
        for route in items:
            if not callable(getattr(route, "matches", None)):
                raise DeclarationError(f"routes must give Starlette routes, but holds {type(route).__name__}")
    elif hook == "models":
        for model in items:
            if not hasattr(model, "__table__"):
                raise DeclarationError(f"models must give SQLModel classes with table=True, but holds {model.__name__}")
    elif hook in _NAMES:
        _check_named(hook, items)
    elif any(not item for item in items):
        raise DeclarationError(f"{hook} holds an empty text")


def _check_named(hook: str, items: Sequence[Any]) -> None:
    names = [getattr(item, _NAMES[hook]) for item in items]
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise DeclarationError(f"{hook} gives {', '.join(doubled)} more than once")
    for setting in items if hook in {"plugin_settings", "user_settings"} else ():
        _check_setting(hook, setting)


def _check_setting(hook: str, setting: Setting) -> None:
    # One that cannot be shown would spoil every list it stands in.
    for name in _TEXTS:
        text = getattr(setting, name)
        if not (isinstance(text, str) or (text is None and name in {"model", "api_url"})) or not _is_json(text):
            raise DeclarationError(f"{hook}: {name} of {setting.key} must be text")
    if not _is_json(setting.model_filters) or (not callable(setting.default) and not _is_json(setting.default)):
        raise DeclarationError(f"{hook}: model_filters and default of {setting.key} must be what JSON can say")
    if not isinstance(setting.validators, (list, tuple)) or not all(map(callable, setting.validators)):
        raise DeclarationError(f"{hook}: validators of {setting.key} must be a list of functions")
    if not callable(setting.choices) and not (
        isinstance(setting.choices, (list, tuple)) and all(map(_is_choice, setting.choices))
    ):
        raise DeclarationError(f"{hook}: choices of {setting.key} must be pairs of a value and its text, or a function")


def _is_choice(choice: object) -> bool:
    return isinstance(choice, (list, tuple)) and len(choice) == 2 and _is_json(choice)  # noqa: PLR2004 - a pair


def _is_json(value: object) -> bool:
    try:
        plain(value)
    except TypeError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Declared:
    """The names of what a plugin declares, as far as its manifest keeps them."""

    settings: tuple[str, ...] = ()
    user_settings: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()

    @classmethod
    def of(cls, key: str, hooks: Iterable[str], answers: Mapping[str, Any]) -> Declared:
        """Take the names from checked answers."""
        implemented = set(hooks)
        actions = tuple(answers.get("action_names") or ())
        if "perform_action" in implemented and "action_names" not in implemented:
            actions = (key,)
        return cls(
            settings=tuple(setting.key for setting in answers.get("plugin_settings") or ()),
            user_settings=tuple(setting.key for setting in answers.get("user_settings") or ()),
            actions=actions,
        )
