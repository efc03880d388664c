"""What a failing plugin looks like to the host: the errors, and the text of a traceback for error reports."""

from __future__ import annotations

import traceback
from types import TracebackType

from host.errors import HostError, UnavailableError

_DETAILS_LIMIT = 20_000
_HEAD = 4_000
_INFO_LIMIT = 500
BETWEEN = frozenset(
    f"host.plugins.{name}"
    for name in ("bounded", "calls", "complaints", "implementations", "plugin_loop", "watchdog", "workers")
)
"""Modules whose frames stand between the host's question and the plugin's own code."""


class PluginFailedError(HostError):
    """A plugin was asked and gave no usable answer; an error report has been written where that was due."""

    def __init__(self, plugin: str, hook: str, message: str) -> None:
        self.plugin = plugin
        self.hook = hook
        self.message = message
        super().__init__(f"Plugin '{plugin}' failed in {hook}: {message}")


class PluginQuarantinedError(PluginFailedError):
    """A plugin is not asked, because it has failed too often."""


class PluginStuckError(UnavailableError):
    """A request was given up, because a plugin holds its thread and does not come back."""

    def __init__(self, plugin: str, hook: str) -> None:
        self.plugin = plugin
        self.hook = hook
        super().__init__(
            f"Plugin '{plugin}' is stuck in {hook} and holds up this request. It is left out until it comes back; "
            "deactivate it if that does not happen, and try again."
        )


def summary(error: BaseException) -> str:
    """Return one line that says what was raised."""
    lines = traceback.format_exception_only(type(error), error)
    return lines[-1].strip()[:_INFO_LIMIT]


def details(error: BaseException) -> str:
    """Return the traceback, from the plugin's own frames on, shortened in the middle when it is very long."""
    formatted = traceback.TracebackException(type(error), error, _from_plugin(error.__traceback__))
    return shortened("".join(formatted.format()))


def hushed(error: BaseException) -> tuple[str, str]:
    """Return a line and a traceback that say where something was raised, but not its text: that may hold secrets."""
    frames = "".join(traceback.format_tb(_from_plugin(error.__traceback__)))
    return f"{type(error).__name__}, whose text is left out as it may hold a secret", shortened(frames)


def shortened(text: str) -> str:
    """Return the text, without its middle when it is longer than an error report holds."""
    if len(text) <= _DETAILS_LIMIT:
        return text
    left_out = len(text) - _DETAILS_LIMIT
    return f"{text[:_HEAD]}\n… {left_out} characters left out …\n{text[_HEAD + left_out :]}"


def _from_plugin(start: TracebackType | None) -> TracebackType | None:
    step = start
    while step is not None and step.tb_frame.f_globals.get("__name__") in BETWEEN:
        step = step.tb_next
    return step or start
