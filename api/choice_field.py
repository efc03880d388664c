"""A field that holds one of some values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from api.fields import Field, FieldError, Schema

_SHOWN = 100


@dataclass(frozen=True, kw_only=True)
class Choice(Field):
    """One of some values; ``choices`` are pairs of a value and what people read.

    Where the choices are only known while running, give a callable; descriptions then ask it each time.
    """

    kind: ClassVar[str] = "choice"

    choices: Sequence[tuple[str | int, str]] | Callable[[], Sequence[tuple[str | int, str]]]
    blank: bool = False

    @property
    def pairs(self) -> Sequence[tuple[str | int, str]]:
        """The values and their names."""
        return self.choices() if callable(self.choices) else self.choices

    def clean(self, value: Any, *, form: bool) -> str | int:
        """Accept one of the values; numbers also as text."""
        del form
        if value == "" and self.blank:
            return ""
        if isinstance(value, str | int) and not isinstance(value, bool):
            for choice, _ in self.pairs:
                if value == choice or str(value).strip() == str(choice):
                    return choice
        raise FieldError(f'"{_shown(value)}" is not a valid choice.')

    @property
    def _keeps_blank(self) -> bool:
        return self.blank

    def _limits(self) -> dict[str, Any]:
        limits: dict[str, Any] = {
            "choices": [{"value": value, "display_name": display} for value, display in self.pairs]
        }
        if self.blank:
            limits["allow_blank"] = True
        return limits

    def _schema(self, *, answer: bool) -> Schema:
        del answer
        values: list[str | int] = [value for value, _ in self.pairs]
        if self.blank and "" not in values:
            values.append("")
        numbers = all(isinstance(value, int) for value in values)
        texts = all(isinstance(value, str) for value in values)
        if callable(self.choices) or not values:
            return {"type": "string"} if texts else {}
        if not (numbers or texts):
            return {"enum": values}
        return {"type": "integer" if numbers else "string", "enum": values}


def _shown(value: object) -> str:
    text = str(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
