"""What lists of import sessions, their columns and their rows show, and to whom."""

from __future__ import annotations

from typing import Final

from sqlalchemy import ColumnElement, select

from host.accounts.account import USERS
from host.contract.values import User
from host.importing.tables import MAPS, ROWS, SESSIONS, ImportStatus
from host.storage.listing import Listing, by_boolean, by_choice, by_reference, by_text

_S: Final = SESSIONS.c
_SHOWN: Final = (
    "timestamp",
    "data_file",
    "update_records",
    "model_type",
    "available_fields",
    "status",
    "columns",
    "field_defaults",
    "field_overrides",
    "field_filters",
    "row_count",
    "completed_row_count",
    "row_count_history",
    "completed_row_count_history",
    "error",
)


def sees_all(user: User | None) -> bool:
    """Tell whether an account may see the imports of others."""
    return user is not None and (user.is_staff or user.is_superuser)


def _own_sessions(user: User | None) -> ColumnElement[bool] | None:
    return None if sees_all(user) else _S.user_id == (user.id if user else None)


def _own(column: ColumnElement[int], user: User | None) -> ColumnElement[bool] | None:
    if sees_all(user):
        return None
    return column.in_(select(_S.id).where(_S.user_id == (user.id if user else None)))


SESSION_LIST: Final = Listing(
    table=SESSIONS,
    key=_S.id,
    source=SESSIONS.outerjoin(USERS, _S.user_id == USERS.c.id),
    view=_own_sessions,
    members={
        "pk": _S.id,
        "user": _S.user_id,
        "user_detail.pk": USERS.c.id,
        **{f"user_detail.{name}": USERS.c[name] for name in ("username", "first_name", "last_name", "email")},
        **{name: _S[name] for name in _SHOWN},
    },
    filters={
        "model_type": by_text(_S.model_type, "What the rows become."),
        "status": by_choice(_S.status, [int(one) for one in ImportStatus], "How far the import has come."),
        "user": by_reference(_S.user_id, USERS.c.id, "Whose import."),
    },
    ordering={name: _S[name] for name in ("timestamp", "status", "model_type")},
)
"""The caller's import sessions; for the staff everybody's."""

MAP_LIST: Final = Listing(
    table=MAPS,
    key=MAPS.c.id,
    view=lambda user: _own(MAPS.c.session_id, user),
    members={
        "pk": MAPS.c.id,
        "session": MAPS.c.session_id,
        **{name: MAPS.c[name] for name in ("column", "field", "label", "description", "lookup_field")},
    },
    filters={"session": by_reference(MAPS.c.session_id, _S.id, "Id of an import session.")},
)
"""Which columns fields are taken from, in the sessions that the caller sees."""

ROW_LIST: Final = Listing(
    table=ROWS,
    key=ROWS.c.id,
    view=lambda user: _own(ROWS.c.session_id, user),
    members={
        "pk": ROWS.c.id,
        "session": ROWS.c.session_id,
        **{name: ROWS.c[name] for name in ("row_index", "row_data", "data", "errors", "valid", "complete")},
    },
    filters={
        "session": by_reference(ROWS.c.session_id, _S.id, "Id of an import session."),
        "valid": by_boolean(ROWS.c.valid, "Whether nothing is wrong with the row."),
        "complete": by_boolean(ROWS.c.complete, "Whether the row has become a record."),
    },
    ordering={"pk": ROWS.c.id, "row_index": ROWS.c.row_index, "valid": ROWS.c.valid},
    default_order=("row_index",),
)
"""The rows of the sessions that the caller sees."""
