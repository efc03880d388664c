"""Administration pages of plugins."""

from __future__ import annotations

import pytest

from host import AdminIntegration, hookimpl
from host.errors import NotFoundError
from host.plugins.admin import Admin
from tests.plugins.bench import USER, Bench

NOTHING = {"source": None, "context": None}


class Paged:
    """Has the page that it is told."""

    def __init__(self, page: object) -> None:
        self.page = page

    @hookimpl
    def admin_integration(self) -> object:
        if isinstance(self.page, Exception):
            raise self.page
        return self.page


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def admin(bench) -> Admin:
    return Admin(bench, bench.calls, bench.report, lambda key: key == "removed")


def test_the_page_of_the_plugin_and_no_other(bench, admin):
    """Each plugin has its own page; the source is a path that a client can load."""
    bench.load(
        {
            "a": Paged(AdminIntegration(source="a.js", context={"n": 1})),
            "b": Paged(AdminIntegration(source="b.js:draw")),
        }
    )

    assert admin.integration("a", USER) == {"source": "/static/plugins/a/a.js", "context": {"n": 1}}
    assert admin.integration("b", USER) == {"source": "/static/plugins/b/b.js:draw", "context": None}


@pytest.mark.parametrize("key", ["asleep", "removed", "plain", "silent"])
def test_without_a_page_both_are_null(bench, admin, key):
    """Inactive plugins, records without code, plugins without the hook and those that answer nothing have no page."""
    bench.load({"plain": object(), "silent": Paged(None)}, inactive=["asleep"])

    assert admin.integration(key, USER) == NOTHING
    assert bench.reports == []


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(ValueError("no"), id="raises"),
        pytest.param("text", id="answers something else"),
        pytest.param(AdminIntegration(source="../x.js"), id="source outside"),
        pytest.param(AdminIntegration(context={1, 2}), id="context is not JSON"),  # type: ignore[arg-type]
    ],
)
def test_a_failing_plugin_has_no_page_but_a_report(bench, admin, page):
    """The answer stays well-formed and the failure is reported."""
    bench.load({"a": Paged(page)})

    assert admin.integration("a", USER) == NOTHING
    assert bench.reported == ["plugin.a.admin_integration"]


def test_an_unknown_plugin_is_not_found(bench, admin):
    """What the host has never heard of is no plugin without a page."""
    bench.load({})

    with pytest.raises(NotFoundError, match="nobody"):
        admin.integration("nobody", USER)
