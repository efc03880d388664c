"""Show, mark and delete the news that the staff are told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from api.endpoint import Endpoint
from api.fields import Boolean, FieldError, Integer
from api.request import ApiRequest
from api.resources import Resource
from api.shapes import Shape
from api.text_fields import Text, Url
from api.time_fields import DateTime
from host.records.news.entry import TEXT_LENGTH
from host.records.news.table import NEWS


@dataclass(frozen=True, kw_only=True)
class WebUrl(Url):
    """An address that browsers may follow."""

    def clean(self, value: Any, *, form: bool) -> str:
        """Accept addresses of the web only."""
        text = super().clean(value, form=form)
        if text and not text.lower().startswith(("http://", "https://")):
            raise FieldError("Enter a valid URL that begins with http:// or https://.")
        return text


NEWS_ENTRY: Final = Shape(
    "NewsFeedEntry",
    pk=Integer(read_only=True, label="ID"),
    feed_id=Text(max_length=TEXT_LENGTH, help_text="What the feed calls the entry; no two are the same."),
    title=Text(max_length=TEXT_LENGTH, help_text="Headline of the entry."),
    link=WebUrl(max_length=TEXT_LENGTH, help_text="Where the whole entry can be read."),
    published=DateTime(help_text="When it was published."),
    author=Text(max_length=TEXT_LENGTH, help_text="Who wrote it."),
    summary=Text(max_length=TEXT_LENGTH, help_text="What it is about."),
    read=Boolean(required=False, help_text="Whether somebody of the staff has read it."),
)


def change_entry(request: ApiRequest, key: int) -> None:
    """Change a news entry, as by marking it as read; that mark is one for all of the staff."""
    request.host.records.news.change(key, request.data)


def delete_entry(request: ApiRequest, key: int) -> None:
    """Delete a news entry for good: it does not come back with the next reading of the feed."""
    request.host.records.news.delete(key)


ENDPOINTS: Final[tuple[Endpoint, ...]] = tuple(
    Resource(
        path="/api/news/",
        name="news entry",
        plural="news entries",
        tag="News",
        listing=NEWS,
        shape=NEWS_ENTRY,
        read="staff",
        write="staff",
        update=change_entry,
        delete=delete_entry,
        bulk_delete=True,
    ).endpoints
)
