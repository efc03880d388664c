"""The assembled application."""

from __future__ import annotations

import asyncio
import threading

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from api.answers import Empty
from api.app import plugin_runner


def test_plugins_that_hang_keep_nobody_else_waiting():
    """While plugins hold every place for plugins, a handler that calls none of them runs at once."""
    run, over = plugin_runner(), threading.Event()

    def hang() -> Response:
        over.wait(20)
        return Empty()

    async def crowd() -> int:
        hanging = [asyncio.create_task(_answered(run(hang, replay=False))) for _ in range(60)]
        await asyncio.sleep(0.1)
        async with asyncio.timeout(10):
            await run_in_threadpool(lambda: None)
        waiting = sum(not one.done() for one in hanging)
        over.set()
        await asyncio.gather(*hanging)
        return waiting

    assert asyncio.run(crowd()) == 60


async def _answered(answer):
    return await answer
