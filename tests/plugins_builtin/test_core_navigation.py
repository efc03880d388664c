"""Who sees which of the host's own pages."""

from __future__ import annotations

import pytest

from builtin_plugins.core_navigation.plugin import CoreNavigation
from host import UIContext

FOR_ALL = ["api-docs", "plugins"]
FOR_STAFF = [*FOR_ALL, "error-reports", "background-tasks"]
FOR_SUPERUSERS = [*FOR_STAFF, "plugin-status", "configuration", "mail-log"]


@pytest.mark.parametrize(
    ("caller", "keys"),
    [
        pytest.param("user", FOR_ALL, id="user"),
        pytest.param("staff", FOR_STAFF, id="staff"),
        pytest.param("superuser", FOR_SUPERUSERS, id="superuser"),
    ],
)
def test_links_lead_only_where_the_caller_may_go(request, caller, keys):
    """Nobody is shown a page that would refuse them."""
    context = UIContext(feature_type="navigation", user=request.getfixturevalue(caller))

    items = CoreNavigation().ui_navigation_items(context)

    assert [item.key for item in items] == keys
    assert all(item.url.startswith("/api/") for item in items)


@pytest.mark.parametrize(
    ("caller", "keys"),
    [
        pytest.param("user", ["open-api-docs"], id="user"),
        pytest.param("staff", ["open-api-docs"], id="staff"),
        pytest.param("superuser", ["open-api-docs", "reload-plugins"], id="superuser"),
    ],
)
def test_commands_are_those_that_the_caller_may_give(request, caller, keys):
    """Only a superuser is offered to reload plugins."""
    context = UIContext(feature_type="spotlight_action", user=request.getfixturevalue(caller))

    assert [action.key for action in CoreNavigation().ui_spotlight_actions(context)] == keys
