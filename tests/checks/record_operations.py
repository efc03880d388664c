"""The page that names the tests of each operation outside of the account interface."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from api.app import ENDPOINTS
from api.auth.endpoint import PREFIX
from api.operations import Operation
from tests.checks.operation_pages import check_page
from tests.checks.problems import DOCS, Problem

PAGE = DOCS / "reference" / "record-operations.md"

_KIND = re.compile(r":\w+\}")


def check() -> Iterator[Problem]:
    """Find operations and answers without a test, and rows of what is not there."""
    return check_page(PAGE, operations())


def operations() -> Mapping[str, Operation]:
    """Return every operation that the page has to name: ``GET /api/news/{id}/`` and what it is."""
    return {
        f"{method} {_KIND.sub('}', endpoint.path)}": operation
        for endpoint in ENDPOINTS
        if not endpoint.path.startswith(PREFIX)
        for method, operation in endpoint.operations.items()
    }
