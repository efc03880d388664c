"""Endpoints of settings, whoever they belong to: the shape of one, the list, and one by its key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from api.endpoint import Endpoint
from api.fields import Boolean, Integer
from api.nested_fields import Json as JsonField
from api.nested_fields import ListOf, Nested, Object
from api.operations import Handler, Operation, PageOf
from api.pages import PARAMETERS
from api.shapes import Shape
from api.text_fields import Text
from host.contract.values import Access

SETTING: Final = Shape(
    "PluginSetting",
    pk=Integer(read_only=True, null=True, help_text="Null until it is stored."),
    key=Text(read_only=True),
    value=JsonField(null=True, help_text="Boolean or number for settings of that type, else text."),
    name=Text(read_only=True),
    description=Text(read_only=True),
    type=Text(read_only=True),
    units=Text(read_only=True),
    required=Boolean(read_only=True),
    choices=ListOf(item=Object(), read_only=True, help_text="Objects of `value` and `display_name`."),
    model_name=Text(read_only=True, null=True),
    model_filters=Object(read_only=True, null=True),
    api_url=Text(read_only=True, null=True),
    confirm=Boolean(read_only=True),
    confirm_text=Text(read_only=True),
    typ=Text(read_only=True),
    plugin=Text(read_only=True),
    read_only=Boolean(read_only=True, help_text="Fixed by the server's configuration; writing has no effect."),
    manual_confirm=JsonField(required=False, write_only=True, help_text="True changes what asks for confirmation."),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingKind:
    """One kind of settings, as clients find it."""

    path: str
    """Of the list."""
    word: str
    """What they are called, in the plural."""
    of: str = ""
    """Whose they are, as `` of a plugin``."""
    tag: str
    """Groups them in the documentation."""
    shape: Shape
    """Of one."""
    write: Access
    """Who may change them."""
    missing: str
    """When there is no such setting."""
    paged: bool = False
    """The list can be asked for page by page."""

    def endpoints(self, listed: Handler, shown: Handler, written: Handler) -> list[Endpoint]:
        """Return the endpoints: of the list, and of one setting.

        Args:
            listed: answers the list.
            shown: answers one.
            written: changes one.

        """
        titles = [f"plugin {text}" if self.of else text for text in (self.word, self.word.removesuffix("s"))]
        one = {"GET": self._shows(shown), "PATCH": self._writes(written, partial=True), "PUT": self._writes(written)}
        return [
            Endpoint(self.path, name=titles[0].capitalize(), tag=self.tag, operations={"GET": self._lists(listed)}),
            Endpoint(f"{self.path}{{key}}/", name=titles[1].capitalize(), tag=self.tag, operations=one),
        ]

    @property
    def _id(self) -> str:
        return f"{'plugin_' if self.of else ''}{self.word.replace(' ', '_')}"

    def _lists(self, handler: Handler) -> Operation:
        return Operation(
            id=f"{self._id}_list",
            summary=f"List the {self.word}{self.of}",
            access="user",
            handler=handler,
            answers={200: PageOf(self.shape) if self.paged else ListOf(item=Nested(shape=self.shape))},
            faults={404: self.missing} if self.of else {},
            parameters=PARAMETERS if self.paged else (),
            calls_plugins=True,
            replays=True,
            writes=self.shape,
        )

    def _shows(self, handler: Handler) -> Operation:
        return Operation(
            id=f"{self._id}_retrieve",
            summary=f"Show one of the {self.word}{self.of}",
            access="user",
            handler=handler,
            answers={200: self.shape},
            faults={404: self.missing},
            calls_plugins=True,
            replays=True,
            writes=self.shape,
        )

    def _writes(self, handler: Handler, *, partial: bool = False) -> Operation:
        return Operation(
            id=f"{self._id}_{'partial_update' if partial else 'update'}",
            summary=f"{'Change' if partial else 'Set'} one of the {self.word}{self.of}",
            access=self.write,
            handler=handler,
            body=self.shape,
            partial=partial,
            answers={200: self.shape},
            faults={404: self.missing, 400: "The value was refused, or the change must be confirmed."},
            calls_plugins=True,
        )
