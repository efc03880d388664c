"""Server-sent events: how they are written and answered."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final

import orjson
from starlette.responses import StreamingResponse

EVENT_STREAM: Final = "text/event-stream"


def event(name: str, data: Any) -> bytes:
    """Return one event with a JSON value."""
    return b"event: %s\ndata: %s\n\n" % (name.encode(), orjson.dumps(data))


def stream(events: AsyncIterator[bytes]) -> StreamingResponse:
    """Answer with events as they come, past whatever caches and buffers stand in between."""
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(events, media_type=EVENT_STREAM, headers=headers)
