"""Tags of attachments: words to find them by, in which upper and lower case make no difference."""

from __future__ import annotations

import csv
import unicodedata
from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, delete, false, insert, intersect, select, true

from host.records.attachments.table import ATTACHMENT_TAGS, ATTACHMENTS, FOLDED_TAG_LENGTH, MOST_TAGS


def fold(tag: str) -> str:
    """Return what two tags have in common that differ in case alone."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", tag).casefold())[:FOLDED_TAG_LENGTH]


def distinct(tags: Sequence[str]) -> list[str]:
    """Leave out tags that stand there already, whatever their case."""
    return list({fold(tag): tag for tag in reversed(tags)}.values())[::-1]


def store_tags(connection: Connection, attachment_id: int, tags: Sequence[str]) -> None:
    """Let an attachment be found by these tags, and by no others."""
    connection.execute(delete(ATTACHMENT_TAGS).where(ATTACHMENT_TAGS.c.attachment_id == attachment_id))
    if tags:
        rows = [{"attachment_id": attachment_id, "folded": folded} for folded in sorted({fold(tag) for tag in tags})]
        connection.execute(insert(ATTACHMENT_TAGS), rows)


def has_tags(text: str) -> ColumnElement[bool]:
    """Return the condition that an attachment has all tags of a list with commas.

    A tag that has a comma itself stands in double quotes.
    """
    wanted = list(dict.fromkeys(fold(tag) for tag in split_tags(text)))
    if not wanted:
        return true()
    if len(wanted) > MOST_TAGS:  # no attachment has as many
        return false()
    carriers = [select(ATTACHMENT_TAGS.c.attachment_id).where(ATTACHMENT_TAGS.c.folded == tag) for tag in wanted]
    # What all have in common is found in the index of the tags alone.
    return ATTACHMENTS.c.id.in_(carriers[0] if len(carriers) == 1 else intersect(*carriers))


def split_tags(text: str) -> list[str]:
    """Return the tags of a list with commas."""
    try:
        rows = list(csv.reader([text.replace("\n", " ").replace("\r", " ")], skipinitialspace=True))
    except csv.Error:  # a field that is too long
        rows = [text.split(",")]
    return [tag for row in rows for part in row if (tag := part.strip())]
