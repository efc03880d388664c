"""The running host keeps to its own description."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.hosts import RunningHost

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

_CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


# Every operation gets some random requests. What is systematic takes a hundred seconds for all of them, so some records
# have to do for all. PLUGYARD_TEST_SCHEMA=all takes the time.
_SYSTEMATIC = ".*" if os.environ.get("PLUGYARD_TEST_SCHEMA") == "all" else "^/api/attachment/"


def test_generated_requests_get_documented_answers(tmp_path: Path):
    """Whatever fits the OpenAPI document, or nearly does, gets a documented status and body, never a 5xx."""
    # Nobody out there is asked for exchange rates.
    rates = '{"exchange-rates": {"URL": "http://127.0.0.1:9/"}}'
    options = {"sample_plugins": "1", "pip_timeout": "5", "plugin_settings": rates}
    with RunningHost(tmp_path / "home", **options) as host, host.client() as client:
        for key in ("sample-action", "sample-settings", "sample-locate", "sample-ui", "sample-admin"):
            assert client.patch(f"/api/plugins/{key}/activate/").status_code == 200
        # The random requests come last: they revoke tokens.
        for kind in (
            ("--phases", "coverage", "--include-path-regex", _SYSTEMATIC),
            ("--phases", "fuzzing", "--max-examples", "2"),
        ):
            token = client.get("/api/user/token/").json()["token"]
            done = subprocess.run(
                [
                    Path(sys.executable).with_name("schemathesis"),
                    *("run", f"{host.url}/api/schema/", "-H", f"Authorization: Token {token}"),
                    *("-c", _CHECKS, *kind, "--no-color", "--generation-deterministic"),
                ],
                capture_output=True,
                text=True,
                check=False,
                cwd=tmp_path,
                timeout=280,
            )

            assert done.returncode == 0, done.stdout[-8000:]
            assert "passed" in done.stdout
        assert client.get("/health").status_code == 200
