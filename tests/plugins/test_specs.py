"""The table of hooks agrees with the contract and with pluggy."""

from __future__ import annotations

import inspect

from host.contract.plugin import FAMILIES
from host.plugins.specs import new_manager, render, specs


def test_every_hook_of_every_family_is_in_the_table():
    """Nothing is lost, and no name stands in two families."""
    names = [name for family in FAMILIES for name in vars(family) if hasattr(vars(family)[name], "plugyard_spec")]

    assert list(specs()) == names
    assert len(set(names)) == len(names)


def test_the_manager_knows_the_same_hooks_with_the_same_arguments():
    """Pluggy strips ``self`` from the methods of the families, as the table does."""
    manager = new_manager()

    for name, spec in specs().items():
        known = getattr(manager.hook, name).spec
        assert known is not None
        assert known.argnames == spec.argnames


def test_signatures_read_as_authors_write_them():
    """Without self, quotes and MaybeAwaitable."""
    signatures = {name: spec.signature for name, spec in specs().items()}

    assert signatures["perform_action"] == (
        "perform_action(action: str, data: Json, user: User) -> ActionResult | None"
    )
    assert signatures["models"] == "models() -> Sequence[type[SQLModel]]"
    assert signatures["stop"] == "stop() -> None"
    assert not any("MaybeAwaitable" in text or "'" in text for text in signatures.values())


def test_each_hook_is_documented():
    """Every hook says when it is called, what happens on failure, and since when it is there."""
    for spec in specs().values():
        for word in ("When:" if spec.key != "ui" else "", "Failure:", f"Since: {spec.info.since}"):
            assert word in spec.documentation, spec.name
        assert spec.human_name


def test_annotations_that_are_objects_are_rendered_too():
    """A plugin need not use postponed annotations."""
    parameters = [
        inspect.Parameter("a", inspect.Parameter.POSITIONAL_ONLY, annotation=int | None),
        inspect.Parameter("b", inspect.Parameter.KEYWORD_ONLY, annotation="'Later'", default="x"),
    ]

    rendered = render("f", inspect.Signature(parameters, return_annotation=dict[str, int]))

    assert rendered == "f(a: int | None, /, *, b: Later = 'x') -> dict[str, int]"
