"""Check what hooks return."""

from __future__ import annotations

from dataclasses import dataclass

from host.contract.markers import HookInfo

_REPR_LIMIT = 200
_FAULTS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Checked:
    """An answer after the check: what may be used of it, and what was wrong."""

    value: object
    problem: str = ""
    usable: bool = True
    """False when nothing of the answer may be used."""


def is_right(info: HookInfo, value: object) -> bool:
    """Return whether there is nothing to complain of; quicker than :func:`check`."""
    wanted = info.returns
    if wanted is None or value is None:
        return value is None and (wanted is None or info.optional)
    if not info.many:
        return isinstance(value, wanted)
    return isinstance(value, (list, tuple)) and all([isinstance(item, wanted) for item in value])  # noqa: C419 - quicker


def check(info: HookInfo, value: object) -> Checked:
    """Compare an answer with what the hook promises.

    Of a list, items of the wrong kind are left out and the right ones stay. An answer to a hook that answers nothing is
    dropped without complaint.
    """
    wanted = info.returns
    if wanted is None or (value is None and info.optional):
        return Checked(None)
    if not info.many and isinstance(value, wanted):
        return Checked(value)
    if not info.many or not isinstance(value, (list, tuple)):
        return Checked(None, f"returned {_shown(info, value)}, expected {expected(info)}", usable=False)
    wrong = [item for item in value if not isinstance(item, wanted)]
    if not wrong:
        return Checked(value)
    shown = ", ".join(_shown(info, item) for item in wrong[:_FAULTS_SHOWN])
    more = f" and {len(wrong) - _FAULTS_SHOWN} more" if len(wrong) > _FAULTS_SHOWN else ""
    right = [item for item in value if isinstance(item, wanted)]
    return Checked(right, f"returned a list with {shown}{more}, expected {expected(info)}; these items are left out")


def expected(info: HookInfo) -> str:
    """Return in words what a hook should answer."""
    if info.returns is None:
        return "nothing"
    kind = "any value" if info.returns is object else info.returns.__name__
    text = f"a list or tuple of {'any values' if info.returns is object else kind}" if info.many else kind
    return f"{text} or None" if info.optional else text


def _shown(info: HookInfo, value: object) -> str:
    # Only of plain values: any other repr() is the plugin's code, and would run without a deadline.
    if value is None or (type(value) in {bool, int, float, str, bytes} and not info.secret):
        text = repr(value)
        return text if len(text) <= _REPR_LIMIT else f"{text[:_REPR_LIMIT]}…"
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
