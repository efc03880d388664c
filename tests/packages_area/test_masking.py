"""Credentials in addresses are never shown."""

from __future__ import annotations

import pytest

from host.packages.masking import has_credentials, mask


@pytest.mark.parametrize(
    ("text", "masked", "has"),
    [
        pytest.param("https://me:pw@x.example/s", "https://****@x.example/s", True, id="a password"),
        pytest.param("git+https://ghp_x@x.example/s@v1", "git+https://****@x.example/s@v1", True, id="a token"),
        pytest.param("https://me@corp:pw@x.example/", "https://****@x.example/", True, id="two at signs"),
        pytest.param(
            "a b https://x.example/?token=1&n=2", "a b https://x.example/?token=****&n=2", True, id="a parameter"
        ),
        pytest.param("https://x/?X-Amz-Signature=ab#f", "https://x/?X-Amz-Signature=****#f", True, id="a signature"),
        pytest.param("https://${TOKEN}@x.example/", "https://****@x.example/", False, id="a variable"),
        pytest.param("git+ssh://git@x.example/s", "git+ssh://git@x.example/s", False, id="an SSH account"),
        pytest.param("git+ssh://git:pw@x.example/s", "git+ssh://****@x.example/s", True, id="an SSH password"),
        pytest.param("lamp @ https://x.example/@a/b", "lamp @ https://x.example/@a/b", False, id="no credentials"),
    ],
)
def test_addresses_are_masked(text, masked, has):
    """What is secret is masked, and only that."""
    assert (mask(text), has_credentials(text)) == (masked, has)
