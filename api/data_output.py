"""Show and delete data outputs: files that were made for somebody, as exports are."""

from __future__ import annotations

from typing import Final

from api.endpoint import Endpoint
from api.output_record import DATA_OUTPUT
from api.request import ApiRequest
from api.resources import Resource
from host.records.data_outputs import DATA_OUTPUTS
from host.storage.listing import Choice


def delete_output(request: ApiRequest, key: int) -> None:
    """Delete a data output with its file."""
    request.host.records.data_outputs.delete(key, by=request.caller)


def delete_outputs(request: ApiRequest, choice: Choice) -> int:
    """Delete data outputs with their files."""
    return request.host.records.data_outputs.delete_many(choice)


ENDPOINTS: Final[tuple[Endpoint, ...]] = tuple(
    Resource(
        path="/api/data-output/",
        name="data output",
        tag="Data outputs",
        listing=DATA_OUTPUTS,
        shape=DATA_OUTPUT,
        read="user",
        write="user",
        delete=delete_output,
        bulk_delete=delete_outputs,
    ).endpoints
)
