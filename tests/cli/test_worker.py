"""The worker command."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param("QUEUE_URL", "mysql://user:hunter2@host/db", id="no such queue"),
        pytest.param("WORKER_THREADS", "0", id="no thread"),
        pytest.param("WORKER_THREADS", "many", id="no number"),
        pytest.param("WORKER_STOP_TIMEOUT", "-1", id="no time"),
    ],
)
def test_wrong_settings_are_named_without_their_value(run, monkeypatch, name, value):
    """What cannot be used ends the start with the variable's name; a password in it is not shown."""
    monkeypatch.setenv(f"PLUGYARD_{name}", value)

    answer = run("worker")

    assert answer.code == 1
    assert f"PLUGYARD_{name}" in answer.err
    assert "hunter2" not in answer.out + answer.err


def test_a_database_out_of_reach_is_one_message(run, monkeypatch):
    """The remedy is named, as with every command."""
    monkeypatch.setenv("PLUGYARD_DATABASE_URL", "postgresql://nobody:hunter2@127.0.0.1:1/none")

    answer = run("worker", "--threads", 1)

    assert answer.code == 1
    assert "PLUGYARD_DATABASE_URL" in answer.err
    assert "hunter2" not in answer.out + answer.err
