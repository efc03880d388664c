"""Values that several hook families share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""Anything that JSON can say."""

Access: TypeAlias = Literal["anyone", "user", "staff", "superuser"]
"""Who may use something; each includes the ones after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """The account on whose behalf a hook is called."""

    id: int
    username: str
    email: str = ""
    is_staff: bool = False
    is_superuser: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who a plugin is.

    Taken from the metadata of the distribution that declares the plugin's entry point; attributes of the same name
    on the plugin (``title``, ``description``, ``website``, ``published``) win over it.
    """

    key: str
    """Name of the entry point; the ``{plugin}`` of every path."""
    name: str
    """Name of the class or module that the entry point names."""
    title: str
    description: str = ""
    author: str = ""
    version: str = ""
    website: str = ""
    license: str = ""
    published: str | None = None
    """Date of publication, ISO 8601, where the plugin says it."""
    distribution: str = ""
    """Name of the distribution, as its metadata spells it."""
