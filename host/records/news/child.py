"""Fetch and read a feed, in a process of its own: whatever the document does to its reader, the host goes on.

The question is JSON on the standard input, the answer JSON on the standard output.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from datetime import datetime
from typing import Any

from host.children.limits import restrain
from host.records.news.entries import read_entries
from host.records.news.entry import FeedError
from host.records.news.fetching import fetch


def _answer(question: dict[str, Any]) -> dict[str, Any]:
    try:
        fetched = fetch(question["url"], question["etag"], question["modified"])
        if fetched.content is None:
            return {"entries": None}
        entries = read_entries(
            fetched.content, fetched.url, datetime.fromisoformat(question["moment"]), fetched.charset
        )
    except FeedError as error:
        return {"error": str(error)}
    found = [asdict(entry) | {"published": entry.published.isoformat()} for entry in entries]
    return {"entries": found, "etag": fetched.etag, "modified": fetched.modified}


def main() -> None:
    """Answer the question and end."""
    question = json.load(sys.stdin)
    restrain(question["parent"], memory=question["memory"], cpu=question["cpu"])
    json.dump(_answer(question), sys.stdout)


if __name__ == "__main__":
    main()
