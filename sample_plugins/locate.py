"""Sample: show where something is.

The entry point names an instance, so the plugin can be made with arguments of its own::

    [project.entry-points.plugyard]
    sample-locate = "sample_plugins.locate:plugin"

Then ``POST /api/locate/`` with ``{"plugin": "sample-locate", "item": 7}``.
"""

from __future__ import annotations

from asyncio import sleep

from host import LocateResult, Plugin, Services, User, hookimpl


class ShelfLamps(Plugin):
    """Pretends to switch on the lamp of a shelf."""

    title = "Sample: locate"
    description = "Lights an imaginary lamp above stock items and locations"

    def __init__(self, lamps: int) -> None:
        self._lamps = lamps
        self._lit: set[int] = set()

    # Only plugins that have something to take and to let go of need these two.
    @hookimpl
    def start(self, services: Services) -> None:
        # Derived from `Plugin`, this one has the services already: `self.log` is `services.log`.
        services.log.info("%s lamps are ready", self._lamps)

    @hookimpl
    def stop(self) -> None:
        self.log.info("switching off %s lamps", len(self._lit))
        self._lit.clear()

    # Hooks may be asynchronous: waiting for a device then costs no thread. The host waits for them in either case.
    @hookimpl
    async def locate_item(self, item_id: int, user: User) -> LocateResult:
        lamp = item_id % self._lamps + 1
        await self._light(lamp)
        self.log.info("%s looks for item %s", user.username, item_id)
        return LocateResult(message=f"Lamp {lamp} is on for item {item_id}")

    @hookimpl
    async def locate_location(self, location_id: int, user: User) -> LocateResult | None:
        if not 1 <= location_id <= self._lamps:
            return None  # no such location here: the client gets 404
        await self._light(location_id)
        return LocateResult(message=f"Lamp {location_id} is on, {user.username}")

    async def _light(self, lamp: int) -> None:
        await sleep(0.01)  # here a real plugin talks to its device
        self._lit.add(lamp)


plugin = ShelfLamps(lamps=8)
