"""When each setting was last looked up."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, Final

LOOKED_UP: Final = "_looked_up"
"""Private attribute of the instance: name of a setting → when it was last looked up."""


class Watched:
    """Stands in a class in place of a setting, and notes the moment of each look at it.

    The value itself stays where pydantic keeps it, in the instance's ``__dict__``; whatever copies, compares or
    writes out a whole configuration reads it there, and that is no look at one setting.
    """

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        """Return the value."""
        name = self._name
        if instance is None:
            raise AttributeError(f"type object '{owner.__name__}' has no attribute '{name}'")
        try:
            values = instance.__dict__
            value = values[name]
        except KeyError:
            raise AttributeError(f"'{owner.__name__}' object has no attribute '{name}'") from None
        # Not as an attribute: pydantic's way to private ones takes longer than all the rest here.
        instance.__pydantic_private__[LOOKED_UP][name] = time.time()
        return value

    def __set__(self, instance: Any, value: Any) -> None:
        """Refuse: without this the instance's ``__dict__`` would be asked first, and nothing noted."""
        raise AttributeError(f"the setting '{self._name}' cannot be changed while the host runs")


def watch(owner: type, names: Iterable[str]) -> None:
    """Note from now on when the settings of these names are looked up, in every instance of a class."""
    for name in names:
        setattr(owner, name, Watched(name))
