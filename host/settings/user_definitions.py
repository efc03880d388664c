"""The settings that each user has: how the interface shows things to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from host.contract.settings import Setting
from host.settings.checks import Bounds

_DATES: Final = ("YYYY-MM-DD", "YYYY/MM/DD", "DD-MM-YYYY", "DD/MM/YYYY", "MM-DD-YYYY", "MM/DD/YYYY", "MMM DD YYYY")
_DAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


def definitions() -> Sequence[Setting]:
    """Return the definitions, in the order to show them."""

    def switch(key: str, name: str, description: str, *, default: bool = False) -> Setting:
        return Setting(key=key, name=name, description=description, type="boolean", default=default)

    return (
        Setting(
            key="DATE_DISPLAY_FORMAT",
            name="Date format",
            description="How dates are shown.",
            default=_DATES[0],
            choices=[(form, form) for form in _DATES],
        ),
        Setting(
            key="WEEK_STARTS_ON",
            name="First day of the week",
            description="With which day calendars begin a week.",
            type="integer",
            default=1,
            choices=list(enumerate(_DAYS)),
        ),
        switch("STICKY_HEADER", "Keep the header in view", "The page's header stays in view while scrolling."),
        switch("STICKY_TABLE_HEADER", "Keep table headers in view", "Headers of tables stay in view while scrolling."),
        switch("ENABLE_LAST_BREADCRUMB", "Show the last breadcrumb", "The path shows the present page too."),
        switch("SHOW_SPOTLIGHT", "Show spotlight", "Commands can be searched for in the spotlight.", default=True),
        switch("FORMS_CLOSE_USING_ESCAPE", "Escape closes forms", "The escape key closes forms."),
        Setting(
            key="SEARCH_PREVIEW_RESULTS",
            name="Search results",
            description="How many results each part of the search preview shows.",
            type="integer",
            default=10,
            validators=[Bounds(1, 1000)],
        ),
        switch("SEARCH_REGEX", "Search by patterns", "Searches take what is entered as a regular expression."),
        switch("SEARCH_WHOLE", "Search whole words", "Searches find whole words only."),
        switch("SEARCH_NOTES", "Search notes", "Searches look into notes too."),
    )
