"""The probe: loads the plugins of one distribution in a process of its own, and tells what it saw.

Run as ``python -m host.plugins.probe REQUEST ANSWER`` with two file descriptors: one to read the request from, one to
write the answer to, a JSON object a line. Before each step it says which plugin and which stage come next, so that the
one who started it knows whom to blame when it dies.
"""

from __future__ import annotations

import gc
import importlib.util
import inspect
import json
import logging
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from host.children.limits import restrain
from host.contract.mail import MailOutcome
from host.contract.plugin import Plugin
from host.contract.services import Audience, Services
from host.contract.settings import Setting, SettingValue
from host.contract.values import Identity, Json
from host.plugins.declarations import AFTER_START, BEFORE_START, DeclarationError, Declared, checked
from host.plugins.implementations import implementations_of
from host.plugins.objects import explain, instantiate, name_of_object, resolve, texts_of
from host.plugins.specs import new_manager
from host.plugins.validation import hooks_of, mixins_of, unmarked_hooks, validate


class _Answer:
    """Where the answer goes; standard output belongs to the plugins."""

    def __init__(self, descriptor: int) -> None:
        os.set_inheritable(descriptor, False)
        self._descriptor = descriptor

    def say(self, **what: Any) -> None:
        data = json.dumps(what).encode() + b"\n"
        while data:
            data = data[os.write(self._descriptor, data) :]


class _NotLoadedError(RuntimeError):
    """A plugin asks the host for something that it gets only where it is really loaded."""


class _Settings:
    """Settings with their defaults."""

    def __init__(self, settings: Mapping[str, Setting], user_settings: Mapping[str, Setting]) -> None:
        self._settings = settings
        self._user_settings = user_settings

    def get(self, key: str) -> SettingValue | None:
        return _default(self._settings[key])

    def set(self, key: str, value: SettingValue) -> None:
        del value
        raise _NotLoadedError(f"setting {key} cannot be stored while the plugin is being described")

    def get_for_user(self, key: str, user_id: int) -> SettingValue | None:
        del user_id
        return _default(self._user_settings[key])

    def set_for_user(self, key: str, user_id: int, value: SettingValue) -> None:
        del user_id
        self.set(key, value)


class _Mail:
    def receive(self, message: bytes) -> NoReturn:
        del message
        raise _NotLoadedError("no mail can be stored while the plugin is being described")

    def note(self, message_id: str, outcome: MailOutcome, reason: str = "") -> NoReturn:
        del outcome, reason
        raise _NotLoadedError(f"nothing can be noted of mail {message_id} while the plugin is being described")


class _Services:
    """Stands in for the host: enough for declarations, and nothing that has an effect."""

    def __init__(self, identity: Identity, settings: _Settings) -> None:
        self.identity = identity
        self.settings = settings
        self.mail = _Mail()
        self.log = logging.getLogger(f"plugyard.plugin.{identity.key}")

    def session(self) -> NoReturn:
        raise _NotLoadedError("there is no database while the plugin is being described")

    def emit(self, name: str, data: dict[str, Json] | None = None, *, user_id: int | None = None) -> None:
        del data, user_id
        raise _NotLoadedError(f"event {name} cannot be sent while the plugin is being described")

    def notify(self, to: Audience, name: str, message: str = "", *, link: str = "") -> None:
        del to, message, link
        raise _NotLoadedError(f"nobody can be told '{name}' while the plugin is being described")

    def static_url(self, path: str) -> str:
        return f"/static/plugins/{self.identity.key}/{path}"


def _default(setting: Setting) -> SettingValue | None:
    return setting.default() if callable(setting.default) else setting.default


def main(arguments: list[str]) -> NoReturn:
    """Probe what the request names, then end at once: whatever threads the plugins have started."""
    with os.fdopen(int(arguments[0]), "rb") as file:
        request = json.load(file)
    answer = _Answer(int(arguments[1]))
    restrain(request["parent"], memory=request["memory"], cpu=request["cpu"])
    sys.path += [folder for folder in request["folders"] if folder not in sys.path]
    logging.disable(logging.CRITICAL)
    for key, entry_point in request["entry_points"]:
        _probe(answer, key, entry_point, home=request["home"], rehearse=request["rehearse"])
        gc.collect()
        # What is left are modules, which stay: collecting after the next plugin need not go through them again.
        gc.freeze()
    answer.say(done=True)
    os._exit(0)


def _probe(answer: _Answer, key: str, entry_point: str, *, home: str | None, rehearse: bool) -> None:
    stage = "import"
    try:
        answer.say(key=key, stage=stage)
        stranger = _stranger(entry_point, home)
        found = resolve(entry_point) if stranger is None else None
        if stranger is not None:
            answer.say(key=key, failure=[stage, stranger])
            return
        stage = "validate"
        answer.say(key=key, stage=stage)
        problems = validate(found, key)
        if problems:
            answer.say(key=key, failure=[stage, " ".join(problems)])
            return
        stage = "init"
        answer.say(key=key, stage=stage)
        plugin = instantiate(found)
        answers = _declarations(plugin, key, name_of_object(entry_point, found))
        if rehearse:
            answer.say(key=key, stage="start")
            _rehearse(plugin, key, name_of_object(entry_point, found), answers)
        answer.say(key=key, manifest=_manifest(plugin, key, entry_point, answers))
    except DeclarationError as error:
        answer.say(key=key, failure=[stage, f"{error}."])
    except BaseException as error:  # noqa: BLE001  # a plugin may raise anything, SystemExit included
        answer.say(key=key, failure=[stage, explain(error, stage)])


def _declarations(plugin: object, key: str, name: str) -> dict[str, Any]:
    """Ask what the host asks as it loads a plugin, save ``start``: that has effects."""
    hooks = _hooks(plugin, key)
    answers: dict[str, Any] = {}
    for hook in BEFORE_START:
        if hook == "models" and isinstance(plugin, Plugin):
            plugin.bind(_services(key, name, answers))
        if hook in hooks:
            answers[hook] = checked(hook, _asked(hooks[hook]))
    for hook in AFTER_START:
        if hook not in hooks:
            continue
        try:
            answers[hook] = checked(hook, _asked(hooks[hook]))
        except DeclarationError:
            raise
        except Exception:
            # What such a plugin answers may depend on what `start` has prepared; loading it will tell.
            if "start" not in hooks:
                raise
    return answers


def _stranger(entry_point: str, home: str | None) -> str | None:
    """Say whose code would be imported where it is not the distribution's own, as two packages share a name."""
    module = entry_point.partition(":")[0].strip()
    if home is None:
        return None
    top = importlib.util.find_spec(module.partition(".")[0])
    if top is None:
        return None
    # Of a namespace package, each distribution holds a part.
    places = [Path(place).resolve() for place in (top.origin, *(top.submodule_search_locations or ())) if place]
    if any(place.is_relative_to(Path(home).resolve()) for place in places):
        return None
    return f"its module '{module}' is hidden by another one called '{top.name}'; rename the plugin's package"


def _rehearse(plugin: object, key: str, name: str, answers: Mapping[str, Any]) -> None:
    """Run ``start`` as far as it goes without the host; only that it survives counts."""
    start = _hooks(plugin, key).get("start")
    if start is None:
        return
    wants_services = bool(inspect.signature(start).parameters)
    with suppress(Exception, SystemExit):
        _asked(partial(start, _services(key, name, answers)) if wants_services else start)


def _hooks(plugin: object, key: str) -> dict[str, Callable[..., object]]:
    manager = new_manager()
    manager.register(plugin, name=key)
    return {hook: found[0].function for hook, found in implementations_of(manager, [key]).items() if found}


def _services(key: str, name: str, answers: Mapping[str, Any]) -> Services:
    settings = _Settings(
        {setting.key: setting for setting in answers.get("plugin_settings", ())},
        {setting.key: setting for setting in answers.get("user_settings", ())},
    )
    return _Services(Identity(key=key, name=name, title=name), settings)


def _asked(function: Callable[[], object]) -> object:
    answer = function()
    if inspect.isawaitable(answer):
        import asyncio  # noqa: PLC0415  # few plugins declare anything asynchronously

        async def wait() -> object:
            return await answer

        return asyncio.run(wait())
    return answer


def _manifest(plugin: object, key: str, entry_point: str, answers: Mapping[str, Any]) -> dict[str, Any]:
    hooks = hooks_of(plugin)
    declared = Declared.of(key, hooks, answers)
    return {
        "name": name_of_object(entry_point, plugin),
        **texts_of(plugin),
        "hooks": hooks,
        "mixins": mixins_of(hooks),
        "settings": declared.settings,
        "user_settings": declared.user_settings,
        "actions": declared.actions,
        "unmarked": unmarked_hooks(plugin),
    }


if __name__ == "__main__":
    main(sys.argv[1:])
