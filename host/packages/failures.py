"""How this layer refuses a change to the installed packages."""

from __future__ import annotations

from collections.abc import Sequence

from host.errors import InvalidInputError


class PackageRefusedError(InvalidInputError):
    """A package cannot be installed, changed or removed; nothing was changed.

    ``sentence`` says why and what to do; ``output`` is everything that pip printed.
    """

    def __init__(self, sentence: str, lines: Sequence[str] = (), *, output: str = "") -> None:
        self.sentence = sentence
        self.output = output
        super().__init__({"non_field_errors": [sentence, *lines]})
