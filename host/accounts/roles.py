"""Roles: the areas in which a group can be given rights, and what can be done in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

Action: TypeAlias = Literal["view", "add", "change", "delete"]

ACTIONS: tuple[Action, ...] = get_args(Action)

ROLES: Mapping[str, str] = {
    "admin": "Admin",
    "part_category": "Part Categories",
    "part": "Parts",
    "bom": "Bills of Material",
    "stock_location": "Stock Locations",
    "stock": "Stock Items",
    "build": "Build Orders",
    "purchase_order": "Purchase Orders",
    "sales_order": "Sales Orders",
    "return_order": "Return Orders",
    "transfer_order": "Transfer Orders",
}
"""Name and label of every role."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Permissions:
    """What a group may do in one role."""

    can_view: bool = False
    can_add: bool = False
    can_change: bool = False
    can_delete: bool = False

    def completed(self) -> Permissions:
        """Add what the others are worthless without: adding and deleting imply changing, each of them viewing."""
        changes = self.can_change or self.can_add or self.can_delete
        return Permissions(
            can_view=self.can_view or changes, can_add=self.can_add, can_change=changes, can_delete=self.can_delete
        )
