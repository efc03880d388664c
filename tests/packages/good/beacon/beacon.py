"""A plugin that is an instance. It knows the items and locations 1 to 99."""

from __future__ import annotations

from host import LocateResult, Plugin, User, hookimpl


class Beacon(Plugin):
    def __init__(self, *, last: int) -> None:
        self._last = last

    @hookimpl
    def locate_item(self, item_id: int, user: User) -> LocateResult | None:
        return self._flash("item", item_id, user)

    @hookimpl
    def locate_location(self, location_id: int, user: User) -> LocateResult | None:
        return self._flash("location", location_id, user)

    def _flash(self, kind: str, number: int, user: User) -> LocateResult | None:
        if not 1 <= number <= self._last:
            return None
        return LocateResult(message=f"{kind} {number} flashes for {user.username}")


plugin = Beacon(last=99)
