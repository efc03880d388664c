"""How package operations are listed."""

from __future__ import annotations

from typing import Final

from host.packages.operations import OperationRecord
from host.storage.listing import Listing, by_choice
from host.storage.tables import HostTable

KINDS: Final = ("install", "uninstall", "sync", "restore")
STATUSES: Final = ("waiting", "running", "succeeded", "failed")

_TABLE = HostTable.metadata.tables[str(OperationRecord.__tablename__)]
_COLUMNS = _TABLE.c

OPERATIONS: Final = Listing(
    table=_TABLE,
    key=_COLUMNS.id,
    members={
        name: _COLUMNS[name]
        for name in (
            "id",
            "kind",
            "status",
            "stage",
            "progress",
            "request",
            "result",
            "error",
            "created",
            "started",
            "finished",
            "user_id",
            "generation",
        )
    },
    filters={"kind": by_choice(_COLUMNS.kind, KINDS), "status": by_choice(_COLUMNS.status, STATUSES)},
    ordering={name: _COLUMNS[name] for name in ("created", "finished", "kind", "status")},
    default_order=("-created",),
)
"""Package operations without their logs, which can be long."""
