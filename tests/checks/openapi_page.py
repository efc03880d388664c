"""The description of the API, as ``GET /api/schema/`` answers it."""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import Any, cast

from api.app import ENDPOINTS
from api.documentation import schema_endpoint


def render() -> str:
    """Return the OpenAPI document."""
    endpoint = schema_endpoint(ENDPOINTS, version=version("plugyard"))
    handler = endpoint.operations["GET"].handler
    assert handler is not None
    answer = handler(cast("Any", None))
    return json.dumps(json.loads(bytes(answer.body)), indent=2, ensure_ascii=False)
