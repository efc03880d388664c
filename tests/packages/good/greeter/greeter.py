"""A plugin that is a module of plain functions."""

from __future__ import annotations

from host import ActionResult, User, hookimpl

title = "Greeter"


@hookimpl
def action_names() -> list[str]:
    return ["greet"]


@hookimpl
def perform_action(user: User) -> ActionResult:
    return ActionResult(result=True, info=f"Hello, {user.username}")
