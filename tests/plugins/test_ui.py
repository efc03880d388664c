"""UI features."""

from __future__ import annotations

import pytest

from host import DashboardItem, NavigationItem, Panel, UIContext, UIFeature, hookimpl
from host.plugins.ui import HOOKS_BY_TYPE, UI
from tests.plugins.bench import USER, Bench


class Panels:
    """Offers what it is told."""

    def __init__(self, *panels: object) -> None:
        self.panels = panels
        self.contexts: list[UIContext] = []

    @hookimpl
    def ui_panels(self, context: UIContext) -> list[object]:
        self.contexts.append(context)
        return list(self.panels)


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def ui(bench) -> UI:
    return UI(bench, bench.calls, bench.report)


def test_every_type_of_the_interface_has_its_hook():
    """The table is made from the contract."""
    assert HOOKS_BY_TYPE == {
        "panel": "ui_panels",
        "dashboard": "ui_dashboard_items",
        "template_editor": "ui_template_editors",
        "template_preview": "ui_template_previews",
        "navigation": "ui_navigation_items",
        "spotlight_action": "ui_spotlight_actions",
        "primary_action": "ui_primary_actions",
    }


def test_a_feature_has_its_shape(bench, ui):
    """All members are there; the source is a path a client can load, and the function stays."""
    panel = Panel(
        key="stock",
        title="Stock",
        description="All of it",
        icon="ti:box:outline",
        source="ui/panel.js:draw",
        context={"a": (1, 2)},
        options={"free": True},
    )
    bench.load({"store": Panels(panel)})

    assert ui.features("panel", {}, USER) == [
        {
            "plugin_name": "store",
            "feature_type": "panel",
            "key": "stock",
            "title": "Stock",
            "description": "All of it",
            "icon": "ti:box:outline",
            "source": "/static/plugins/store/ui/panel.js:draw",
            "options": {"free": True},
            "context": {"a": [1, 2]},
        }
    ]


def test_what_was_not_given_is_left_out_or_empty(bench, ui):
    """No source, no member; no context, null."""
    bench.load({"store": Panels(Panel(key="k"))})

    (shape,) = ui.features("panel", {}, USER)

    assert "source" not in shape
    assert shape["context"] is None
    assert shape["options"] == {}


def test_the_query_arrives_as_text_with_the_user(bench, ui):
    """The plugin sees what the client asked, and who asked."""
    plugin = Panels()
    bench.load({"store": plugin})

    ui.features("panel", {"target_model": "part", "target_id": "5"}, USER)

    (context,) = plugin.contexts
    assert context == UIContext(feature_type="panel", user=USER, query={"target_model": "part", "target_id": "5"})


def test_options_of_the_class_are_among_the_options(bench, ui):
    """Width and height of a tile and the link of a menu entry are options for the client."""

    class Both:
        @hookimpl
        def ui_dashboard_items(self) -> list[DashboardItem]:
            return [DashboardItem(key="d", width=3)]

        @hookimpl
        def ui_navigation_items(self) -> list[NavigationItem]:
            return [NavigationItem(key="n", url="/x")]

    bench.load({"both": Both()})

    assert ui.features("dashboard", {}, USER)[0]["options"] == {"width": 3, "height": 1}
    assert ui.features("navigation", {}, USER)[0]["options"] == {"url": "/x"}


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(Panel(key=""), id="no key"),
        pytest.param(Panel(key=None), id="key is none"),  # type: ignore[arg-type]
        pytest.param(Panel(key="k", title=5), id="title is no text"),  # type: ignore[arg-type]
        pytest.param(Panel(key="k", context={"x": object()}), id="context is not JSON"),  # type: ignore[dict-item]
        pytest.param(Panel(key="k", source="../../secret.js"), id="source outside"),
        pytest.param("text", id="no feature"),
    ],
)
def test_a_wrong_feature_is_left_out_with_a_report(bench, ui, wrong):
    """The others stay, also those of the same plugin."""
    bench.load({"a": Panels(wrong, Panel(key="right")), "b": Panels(Panel(key="other"))})

    assert [shape["key"] for shape in ui.features("panel", {}, USER)] == ["right", "other"]
    assert bench.reported == ["plugin.a.ui_panels"]


def test_a_hook_that_raises_is_left_out_with_a_report(bench, ui):
    """One broken plugin costs the others nothing."""

    class Broken:
        @hookimpl
        def ui_panels(self) -> list[Panel]:
            msg = "no"
            raise ValueError(msg)

    bench.load({"a": Broken(), "b": Panels(Panel(key="other"))})

    assert [shape["plugin_name"] for shape in ui.features("panel", {}, USER)] == ["b"]
    assert bench.reported == ["plugin.a.ui_panels"]


def test_the_generic_hook_offers_any_type(bench, ui):
    """Types without a hook come from the generic one; it adds to the others, and shows nothing of another type."""

    class Generic:
        @hookimpl
        def ui_features(self, context: UIContext) -> list[UIFeature]:
            return [UIFeature(key=f"for {context.feature_type}"), DashboardItem(key="tile")]

    bench.load({"a": Generic(), "b": Panels(Panel(key="panel"))})

    assert [shape["key"] for shape in ui.features("calendar", {}, USER)] == ["for calendar"]
    assert [shape["key"] for shape in ui.features("panel", {}, USER)] == ["panel", "for panel"]
    assert ui.features("calendar", {}, USER)[0]["feature_type"] == "calendar"
    assert [shape["key"] for shape in ui.features("dashboard", {}, USER)] == ["for dashboard", "tile"]


def test_an_unknown_type_has_no_features(bench, ui):
    """Nothing is offered, and nothing is wrong."""
    bench.load({"store": Panels(Panel(key="k"))})

    assert ui.features("nonsense", {}, USER) == []
    assert bench.reports == []


def test_nothing_is_offered_while_plugins_may_not(bench):
    """A switch turns features off without a plugin being asked."""
    plugin = Panels(Panel(key="k"))
    bench.load({"store": plugin})

    assert UI(bench, bench.calls, bench.report, enabled=lambda _type: False).features("panel", {}, USER) == []
    assert plugin.contexts == []


def test_a_text_that_json_cannot_say_leaves_out_its_feature_alone(bench, ui):
    """Half of a surrogate pair would spoil the answer of every plugin."""
    bench.load({"store": Panels(Panel(key="bad", title="\ud800"), Panel(key="good"))})

    assert [one["key"] for one in ui.features("panel", {}, USER)] == ["good"]
    assert bench.reported == ["plugin.store.ui_panels"]
