"""Values that plugins hand over, as plain JSON."""

from __future__ import annotations

from typing import cast

import orjson

from host.contract.values import Json


def plain(value: object) -> Json:
    """Return a copy of the value that is made of JSON's own types.

    Raises:
        TypeError: some part of it has no counterpart in JSON, as a number beyond 64 bits.

    """
    return cast("Json", orjson.loads(orjson.dumps(value)))
