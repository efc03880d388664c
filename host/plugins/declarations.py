"""What a plugin declares once, as it is loaded: which hooks ask for it, and what a right answer looks like."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from host.contract.models import Color, ModelType, State, StatusSet
from host.contract.settings import Setting
from host.plugins.plain import plain
from host.plugins.results import check
from host.plugins.specs import specs

BEFORE_START = ("plugin_settings", "user_settings", "models")
"""Asked before ``start``: the host needs them to make the plugin's services and tables."""
AFTER_START = (
    "action_names",
    "event_patterns",
    "routes",
    "static_folder",
    "model_types",
    "status_sets",
    "scheduled_tasks",
    "import_targets",
    "export_formats",
    "export_options",
    "export_lists",
)
"""Asked once the plugin has started."""


class DeclarationError(Exception):
    """A declaration is not of the right shape; the text says which and why."""


_TEXTS = ("name", "description", "units", "confirm_text", "model", "api_url")
_COLORS = get_args(Color)
_SET_NAME_LENGTH = 250
_SET_OF_ALL = "custom"
_INT64 = 2**63
_NAMES = {
    "plugin_settings": "key",
    "user_settings": "key",
    "model_types": "name",
    "status_sets": "name",
    "scheduled_tasks": "name",
    "import_targets": "model_type",
    "export_formats": "name",
    "export_options": "name",
}


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
    for status_set in items if hook == "status_sets" else ():
        _check_status_set(status_set)
    for model_type in items if hook == "model_types" else ():
        _check_model_type(model_type)


def _check_status_set(status_set: StatusSet) -> None:
    name = status_set.name
    if not _is_text(name) or not name or not isinstance(status_set.states, (list, tuple)):
        raise DeclarationError("status_sets: a set must have a text as its name, and a list or tuple of states")
    if not name.isidentifier() or len(name) > _SET_NAME_LENGTH or name == _SET_OF_ALL:
        # It stands in an address, beside that of the states that were added to the sets.
        raise DeclarationError(
            f"status_sets: the name {name[:100]!r} must be letters, digits and '_', at most {_SET_NAME_LENGTH}, not "
            f"begin with a digit, and not be '{_SET_OF_ALL}'"
        )
    for state in status_set.states:
        if not isinstance(state, State) or not all(map(_is_text, (state.name, state.label))):
            raise DeclarationError(f"status_sets: {name} must hold states, whose name and label are text")
        if not _is_int64(state.key):
            raise DeclarationError(f"status_sets: the key of {name}.{state.name} must be a whole number of 64 bits")
        if state.color not in _COLORS:
            raise DeclarationError(f"status_sets: {name}.{state.name} must have one of the colors {', '.join(_COLORS)}")


def _check_model_type(model_type: ModelType) -> None:
    texts = (model_type.label, model_type.app_label, model_type.role, model_type.api_url or "")
    if not all(map(_is_text, texts)):
        raise DeclarationError(f"model_types: label, app_label, role and api_url of {model_type.name} must be text")


def _is_int64(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -_INT64 <= value < _INT64


def _is_text(value: object) -> bool:
    return isinstance(value, str) and _is_json(value)


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
