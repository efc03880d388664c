"""Following a package operation: server-sent events, in whichever process the work is done."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from api.endpoint import Endpoint
from api.event_streams import EVENT_STREAM, event, stream
from api.operations import Operation
from api.plugins import PLUGINS_PATH, TAG
from api.request import ApiRequest
from host.packages.operations import Operation as PackageOperation

_LOOK_SECONDS = 0.3
_SILENCE_LOOKS = 50
# An hour: a client that still wants to know asks again.
_MOST_LOOKS = 12_000
_EVENT: Final = {
    "type": "object",
    "properties": {"event": {"enum": ["progress", "log", "result"]}, "data": {"type": "string"}},
}
_ENDED = frozenset({"succeeded", "failed"})


async def follow_operation(request: ApiRequest) -> Response:
    """Follow one package operation until it ends.

    Events: `progress` with `status`, `stage` and `progress`; `log` with new lines of the log; at last `result` with
    `status`, `result`, `error` and `generation`.
    """
    packages, identifier = request.host.packages, request.path_params["id"]
    first = await run_in_threadpool(packages.operation, identifier)

    async def events() -> AsyncIterator[bytes]:
        operation, seen, silent = first, _Seen(), 0
        for _ in range(_MOST_LOOKS):
            text = seen.news(operation)
            if operation.status in _ENDED:
                yield text + event("result", _result(operation))
                return
            silent = 0 if text else silent + 1
            if text or silent % _SILENCE_LOOKS == 0:
                yield text or b": still at work\n\n"
            await anyio.sleep(_LOOK_SECONDS)
            operation = await run_in_threadpool(packages.operation, identifier)

    return stream(events())


class _Seen:
    def __init__(self) -> None:
        self._state: dict[str, Any] = {}
        self._length = 0

    def news(self, operation: PackageOperation) -> bytes:
        text = b""
        state = {"status": operation.status, "stage": operation.stage, "progress": operation.progress}
        if state != self._state:
            self._state = state
            text += event("progress", state)
        lines = operation.log[self._length :]
        if lines:
            self._length = len(operation.log)
            text += event("log", {"lines": lines.splitlines()})
        return text


def _result(operation: PackageOperation) -> dict[str, Any]:
    return {
        "status": operation.status,
        "result": operation.result,
        "error": operation.error,
        "generation": operation.generation,
    }


ENDPOINTS: Final = (
    Endpoint(
        f"{PLUGINS_PATH}operations/{{id:uuid}}/events/",
        name="Events of a package operation",
        tag=TAG,
        operations={
            "GET": Operation(
                id="package_operation_events",
                summary="Follow a package operation",
                access="superuser",
                stream=follow_operation,
                produces=(EVENT_STREAM,),
                answers={200: _EVENT},
                faults={404: "There is no such operation, or it is no longer kept."},
            )
        },
    ),
)
