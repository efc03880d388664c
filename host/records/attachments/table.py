"""The tables of attachments and of their tags."""

from __future__ import annotations

from datetime import date
from typing import Any, Final

from sqlalchemy import BigInteger, CheckConstraint, Column, Date, Index, Table
from sqlmodel import Field

from host.storage.tables import METADATA, HostTable, JsonColumn

COMMENT_LENGTH: Final = 250
LINK_LENGTH: Final = 2000
TAG_LENGTH: Final = 100
MOST_TAGS: Final = 100
FOLDED_TAG_LENGTH: Final = 3 * TAG_LENGTH
"""A letter can become up to three where case is to make no difference."""
LARGEST_MODEL_ID: Final = 2**63 - 1
MODEL_TYPE_LENGTH: Final = 100
_NAME_LENGTH: Final = 100
_PATH_LENGTH: Final = 255


class Attachment(HostTable, table=True):
    """A file or a link that was attached to a record."""

    __tablename__ = "attachment"
    # Every filter and every order ends in the primary key, and so do the indexes that they read.
    __table_args__ = (
        Index("ix_attachment_model_type_model_id_id", "model_type", "model_id", "id"),
        Index("ix_attachment_model_type_id", "model_type", "id"),
        Index("ix_attachment_model_id_id", "model_id", "id"),
        Index("ix_attachment_upload_user_id_id", "upload_user_id", "id"),
        Index("ix_attachment_upload_date_id", "upload_date", "id"),
        Index("ix_attachment_file_size_id", "file_size", "id"),
        Index("ix_attachment_is_link_id", "is_link", "id"),
        Index("ix_attachment_is_file_id", "is_file", "id"),
        Index("ix_attachment_is_image_id", "is_image", "id"),
        Index("ix_attachment_has_thumbnail_id", "has_thumbnail", "id"),
        CheckConstraint("is_file = (path IS NOT NULL)", name="is_file"),
        CheckConstraint("is_link = (link IS NOT NULL AND link <> '')", name="is_link"),
        CheckConstraint("has_thumbnail = (thumbnail IS NOT NULL)", name="has_thumbnail"),
    )

    id: int | None = Field(default=None, primary_key=True)
    model_type: str = Field(max_length=MODEL_TYPE_LENGTH)
    model_id: int = Field(sa_column=Column(BigInteger, nullable=False))
    path: str | None = Field(default=None, max_length=_PATH_LENGTH, unique=True)
    """Path in the file store."""
    filename: str | None = Field(default=None, max_length=_NAME_LENGTH)
    """The last part of the path."""
    thumbnail: str | None = Field(default=None, max_length=_PATH_LENGTH, unique=True)
    """Path in the file store."""
    link: str | None = Field(default=None, max_length=LINK_LENGTH)
    comment: str = Field(default="", max_length=COMMENT_LENGTH)
    file_size: int = Field(default=0, sa_column=Column(BigInteger, nullable=False))
    is_image: bool = False
    """Set once the file was seen to be one."""
    upload_date: date = Field(sa_column=Column(Date, nullable=False))
    upload_user_id: int | None = Field(default=None, foreign_key="account_user.id", ondelete="SET NULL")
    tags: list[str] = Field(default_factory=list, sa_column=Column(JsonColumn, nullable=False))
    """As they are shown; `attachment_tag` is there to look them up."""
    metadata_: dict[str, Any] = Field(default_factory=dict, sa_column=Column("metadata", JsonColumn, nullable=False))
    # Filters read these from their indexes alone, which SQLite does not do with generated columns.
    is_file: bool = False
    is_link: bool = False
    has_thumbnail: bool = False


class AttachmentTag(HostTable, table=True):
    """A tag of an attachment, so that it can be found by it."""

    __tablename__ = "attachment_tag"

    folded: str = Field(max_length=FOLDED_TAG_LENGTH, primary_key=True)
    """The tag, without what distinguishes upper from lower case."""
    attachment_id: int = Field(foreign_key="attachment.id", ondelete="CASCADE", primary_key=True, index=True)


ATTACHMENTS: Final[Table] = METADATA.tables["attachment"]
ATTACHMENT_TAGS: Final[Table] = METADATA.tables["attachment_tag"]
