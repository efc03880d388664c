"""Readable random names, by which people tell tasks apart."""

from __future__ import annotations

import secrets

_HOW = (
    "amber brisk bright calm deep early fresh gentle high idle jolly keen late mild noble open proud quiet round sharp "
    "tall urban vivid warm young"
)
_WHAT = (
    "badger canyon delta ember falcon glacier harbor island juniper kettle lagoon meadow nectar orchard pebble quarry "
    "river sparrow timber valley willow zephyr"
)


def new_name() -> str:
    """Return a name such as ``quiet-harbor-falcon-4021``; it need not be unique."""
    words = (secrets.choice(texts.split()) for texts in (_HOW, _WHAT, _WHAT))
    return f"{'-'.join(words)}-{secrets.randbelow(9000) + 1000}"
