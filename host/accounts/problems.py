"""Why a value is refused: a code for programs and a message for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from host.errors import InvalidInputError


class Problem(NamedTuple):
    """One reason; the codes are those of the account interface."""

    code: str
    message: str


class RefusedValuesError(InvalidInputError):
    """The input is refused; ``problems`` keeps the code of every message in ``fields``."""

    def __init__(self, problems: Mapping[str, Sequence[Problem]]) -> None:
        self.problems: dict[str, list[Problem]] = {name: list(found) for name, found in problems.items() if found}
        super().__init__({name: [problem.message for problem in found] for name, found in self.problems.items()})


def refuse(problems: Mapping[str, Sequence[Problem]]) -> None:
    """Do nothing when there are no problems.

    Raises:
        RefusedValuesError: there is at least one.

    """
    if any(problems.values()):
        raise RefusedValuesError(problems)
