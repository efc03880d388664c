"""What lists of attachments show, and by what they can be filtered, ordered and searched."""

from __future__ import annotations

from typing import Final

from host.accounts.account import USERS
from host.records.attachments.table import ATTACHMENTS
from host.records.attachments.tags import has_tags
from host.storage.listing import Filter, Listing, by_boolean, by_number, by_reference, by_text

_C: Final = ATTACHMENTS.c

ATTACHMENT_LIST: Final = Listing(
    table=ATTACHMENTS,
    key=_C.id,
    members={
        "pk": _C.id,
        "attachment": _C.path,
        **{name: _C[name] for name in ("thumbnail", "filename", "link", "comment", "is_image", "upload_date")},
        "upload_user": _C.upload_user_id,
        **{name: _C[name] for name in ("file_size", "model_type", "model_id", "tags")},
    },
    filters={
        "model_type": by_text(_C.model_type, "Name of a model type."),
        "model_id": by_number(_C.model_id, "Id of a record."),
        "upload_user": by_reference(_C.upload_user_id, USERS.c.id, "Id of the account that attached it."),
        "is_link": by_boolean(_C.is_link, "Whether it has a link."),
        "is_file": by_boolean(_C.is_file, "Whether it has a file."),
        "is_image": by_boolean(_C.is_image, "Whether its file is an image."),
        "has_thumbnail": by_boolean(_C.has_thumbnail, "Whether there is a small picture of its file."),
        "tags": Filter(
            kind="text", where=has_tags, help_text="Tags that it must all have, separated by commas, in any case."
        ),
    },
    ordering={name: _C[name] for name in ("model_id", "model_type", "upload_date", "file_size")},
    search=(_C.comment, _C.model_id, _C.model_type),
)
"""All attachments: every user sees every one. Their authors are looked up apart, once for a page.

With a join, counting the attachments and skipping some of them would look up the author of each.
"""
