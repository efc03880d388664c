"""The page that names the tests of each operation of the account interface: nothing on it is missing or gone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from api.auth.endpoint import PREFIX
from api.auth.routes import ENDPOINTS
from api.operations import Operation
from tests.checks.operation_pages import check_page
from tests.checks.problems import DOCS, Problem

PAGE = DOCS / "reference" / "sign-in-operations.md"


def check() -> Iterator[Problem]:
    """Find operations and answers without a test, and rows of what is not there."""
    return check_page(PAGE, _operations())


def _operations() -> Mapping[str, Operation]:
    return {
        f"{method} {endpoint.path.removeprefix(PREFIX)}": operation
        for endpoint in ENDPOINTS
        for method, operation in endpoint.operations.items()
    }
