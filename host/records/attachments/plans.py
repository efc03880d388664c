"""Changes of an attachment, worked out before anything is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from host.contract.values import User
from host.errors import InvalidInputError
from host.records.attachments.names import clean_name, rename_fault
from host.records.attachments.tags import distinct
from host.records.attachments.uploads import StoredFile, Upload
from host.storage.tables import now

NEITHER: Final = "Give a file or a link, or both."
_NO_FILE: Final[Mapping[str, Any]] = {
    "path": None,
    "is_file": False,
    "filename": None,
    "thumbnail": None,
    "has_thumbnail": False,
    "is_image": False,
    "file_size": 0,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to happen to an attachment."""

    columns: Mapping[str, Any] = field(default_factory=dict)
    """Column → new value, for those that change, but for what a new file brings."""
    upload: Upload | None = None
    """Replaces the file."""
    new_path: str = ""
    """Renames the file."""
    removed: tuple[str, ...] = ()
    """Files that nobody needs afterwards."""

    @property
    def changes_nothing(self) -> bool:
        """Tell whether all stays as it is."""
        return not (self.columns or self.upload or self.new_path)

    def all_columns(self, stored: StoredFile | None) -> dict[str, Any]:
        """Return every column that changes, with those that the new file brings."""
        if stored is None:
            return dict(self.columns)
        brought = columns_of(stored) if self.upload else {"path": stored.path, "filename": stored.name}
        return {**self.columns, **brought}


def new_row(values: Mapping[str, Any], stored: StoredFile | None, by: User) -> dict[str, Any]:
    """Return the columns of a new attachment."""
    link = values.get("link")
    return {
        "model_type": values["model_type"],
        "model_id": values["model_id"],
        "link": link,
        "is_link": bool(link),
        "comment": values.get("comment", ""),
        "tags": distinct(values.get("tags", ())),
        "metadata": {},
        # As the interface shows days: those of the server's time zone.
        "upload_date": now().astimezone().date(),
        "upload_user_id": by.id,
        **columns_of(stored),
    }


def columns_of(stored: StoredFile | None) -> dict[str, Any]:
    """Return what an attachment says of a new file, or of none."""
    if stored is None:
        return dict(_NO_FILE)
    return {**_NO_FILE, "path": stored.path, "is_file": True, "filename": stored.name, "file_size": stored.size}


def plan_change(present: Mapping[str, Any], values: Mapping[str, Any]) -> Plan:
    """Work out what a change comes to.

    Args:
        present: the attachment's row.
        values: members that were sent. ``attachment`` is an upload, or ``None`` to do without a file; ``filename``
            renames the file, and is left aside where there is none, or a new one.

    Raises:
        InvalidInputError: neither a file nor a link would be left, or the file cannot have that name.

    """
    plain = ("model_type", "model_id", "link", "comment", "tags")
    columns = {name: values[name] for name in plain if name in values and values[name] != present[name]}
    if "link" in columns:
        columns["is_link"] = bool(columns["link"])
    files = tuple(path for path in (present["path"], present["thumbnail"]) if path is not None)
    upload = values.get("attachment")
    drops_file = "attachment" in values and upload is None
    if not (upload or values.get("link", present["link"]) or (present["path"] is not None and not drops_file)):
        raise InvalidInputError({"attachment": [NEITHER], "link": [NEITHER]})
    if upload is not None:
        return Plan(columns=columns, upload=upload, removed=files)
    if drops_file:
        return Plan(columns={**columns, **_NO_FILE} if files else columns, removed=files)
    new_path = _renamed(present["path"], values.get("filename"))
    return Plan(columns=columns, new_path=new_path, removed=(present["path"],) if new_path else ())


def _renamed(path: str | None, wanted: str | None) -> str:
    if path is None or not wanted:
        return ""
    folder, slash, old = path.rpartition("/")
    fault = rename_fault(old, wanted, folder + slash)
    if fault:
        raise InvalidInputError.of(fault)
    name = clean_name(wanted)
    return "" if name == old else folder + slash + name
