"""Sample: perform actions.

A plugin can be as small as a module: mark functions as hooks and name the module in ``pyproject.toml``::

    [project.entry-points.plugyard]
    sample-action = "sample_plugins.action"

Then ``POST /api/action/`` with ``{"action": "sample.echo", "data": "hello"}``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from host import ActionResult, Json, User, hookimpl

# Left out, they come from the metadata of your package.
title = "Sample: actions"
description = "Answers to sample.echo and sample.add"


@hookimpl
def action_names() -> Sequence[str]:
    return ["sample.echo", "sample.add"]


# A function may leave out arguments that it does not need. So may a method, but a type checker objects to that.
@hookimpl
def perform_action(action: str, data: Json, user: User) -> ActionResult | None:
    if action == "sample.echo":
        return ActionResult(result=True, info={"you": user.username, "said": data})
    if action == "sample.add":
        return _add(data)
    return None  # another plugin of that name may answer


def _add(data: Json) -> ActionResult:
    # `data` is whatever the client sent: look before you use it.
    numbers = data.get("numbers") if isinstance(data, Mapping) else None
    if not isinstance(numbers, list) or not all(isinstance(number, int | float) for number in numbers):
        return ActionResult(result=False, info='Send {"numbers": [1, 2, 3]}.')
    return ActionResult(result=True, info={"sum": sum(numbers)})
