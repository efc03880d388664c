"""Paths of JavaScript modules."""

from __future__ import annotations

import pytest

from host.plugins.sources import static_url


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("panel.js", "/static/plugins/lamp/panel.js"),
        ("./panel.js", "/static/plugins/lamp/panel.js"),
        ("ui/panel.js:draw", "/static/plugins/lamp/ui/panel.js:draw"),
        ("ui/../panel.js:$draw_2", "/static/plugins/lamp/panel.js:$draw_2"),
        ("my panel#1.js:draw", "/static/plugins/lamp/my%20panel%231.js:draw"),
        ("/static/other.js:draw", "/static/other.js:draw"),
        ("http://localhost:5173/panel.js:draw", "http://localhost:5173/panel.js:draw"),
        ("https://cdn.example.org/panel.js", "https://cdn.example.org/panel.js"),
    ],
)
def test_a_source_becomes_a_path_a_client_can_load(path, url):
    """Relative paths are below the plugin's folder; absolute ones stay; the function stays too."""
    assert static_url("lamp", path) == url


@pytest.mark.parametrize("path", ["", "..", "../x.js", "ui/../../x.js", ".", "a\\b.js", "a\0.js"], ids=repr)
def test_a_source_outside_the_folder_is_refused(path):
    """A path that names no file of the plugin is an error, not a path of something else."""
    with pytest.raises(ValueError, match="static folder"):
        static_url("lamp", path)
