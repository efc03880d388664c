"""Finding out what is wrong with an installation."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from host.config import Config
from host.server import Host
from host.storage.engine import Database


@pytest.fixture
def findings(run):
    """Run ``doctor``, and give its findings by subject; ``code`` is the exit code."""

    def check() -> dict[str, dict[str, str]]:
        answer = run("doctor", "--json")
        document = answer.document
        failed = any(one["result"] == "fail" for one in document["findings"])
        assert (answer.code, document["ok"]) == ((1, False) if failed else (0, True))
        assert all(one["remedy"] for one in document["findings"] if one["result"] == "fail")
        return {one["subject"]: one for one in document["findings"]}

    return check


def test_a_fresh_installation_is_well(run, home):
    """One line each, nothing failed; the missing administrator is a warning with the remedy."""
    lines = run("doctor").ok().out.splitlines()

    assert {line.split()[0] for line in lines} == {"ok", "warn"}
    assert [line for line in lines if line.startswith("warn")] == [
        "warn administrator: there is none. Run: plugyard user create NAME --email E --superuser"
    ]


def test_every_part_is_looked_at(findings, home):
    """Each subject has a finding, each plugin too."""
    subjects = "Python, pip, configuration, home folder, secret key, database, packages, plugins file, plugins"

    assert {*subjects.split(", "), "plugin inventory", "administrator", "processes"} <= set(findings())


def test_before_the_first_start_nothing_is_made(findings, tmp_path):
    """A check changes nothing: no folder, no database."""
    found = findings()

    assert found["database"]["result"] == "warn"
    assert found["database"]["remedy"] == "Run: plugyard migrate"
    assert list(tmp_path.iterdir()) == []


def test_a_database_of_an_older_version_is_found(findings, home):
    """The remedy brings it up to date."""
    database = Database(Config.load().database)
    with database.write() as session:
        session.connection().exec_driver_sql("DELETE FROM alembic_version")
    database.close()

    assert findings()["database"]["result"] == "fail"


def test_a_database_that_cannot_be_reached_is_found(findings, home, monkeypatch):
    """The password in its URL is not shown."""
    monkeypatch.setenv("PLUGYARD_DATABASE_URL", "postgresql://ada:sesame@127.0.0.1:1/nothing?connect_timeout=2")

    found = findings()["database"]

    assert found["result"] == "fail"
    assert "sesame" not in str(found)


def test_a_key_that_others_may_read_is_found(findings, home):
    """The remedy is the command to run."""
    key = home / "secret.key"
    key.write_text("secret")
    key.chmod(0o644)

    found = findings()["secret key"]

    assert (found["result"], found["remedy"]) == ("fail", f"Run: chmod 600 {key}")


def test_an_empty_key_is_found(findings, home):
    """The host would not start with it."""
    key = home / "secret.key"
    key.write_text("")
    key.chmod(0o600)

    found = findings()["secret key"]

    assert (found["result"], found["message"]) == ("fail", f"{key} is empty.")


def test_a_misspelt_setting_is_found(findings, home, monkeypatch):
    """It would be ignored in silence otherwise."""
    monkeypatch.setenv("PLUGYARD_SAFE_MOD", "1")

    found = findings()["configuration"]

    assert (found["result"], found["remedy"]) == ("warn", "Did you mean PLUGYARD_SAFE_MODE?")


def test_a_setting_that_cannot_be_used_is_found(findings, home, monkeypatch):
    """It is named, and the checks that need it are left out."""
    monkeypatch.setenv("PLUGYARD_PIP_TIMEOUT", "long")

    found = findings()

    assert "PLUGYARD_PIP_TIMEOUT" in found["configuration"]["message"]
    assert "database" not in found


def test_a_missing_package_folder_is_found(findings, run, home, wheels):
    """The generation in force names it, and it is not there."""
    run("plugin", "install", wheels["lamp-1.0"], "--yes").ok()
    well = findings()["packages"]
    for folder in (home / "store").iterdir():
        shutil.rmtree(folder)

    found = findings()["packages"]

    assert well["result"] == "ok"
    assert found["result"] == "fail"
    assert "plugyard-lamp" in found["message"]


@pytest.mark.parametrize(
    ("text", "result", "words"),
    [
        pytest.param("plugyard-lamp==1.0\n", "warn", "plugyard-lamp==1.0", id="not followed yet"),
        pytest.param("# nothing\n", "ok", "agrees", id="only comments"),
        pytest.param("lamp shade\n", "fail", "Line 1", id="not understood"),
    ],
)
def test_the_plugins_file_is_compared(text, result, words, findings, home):
    """What is written and what is installed agree, or the difference is named."""
    (home / "plugins.txt").write_text(text)

    found = findings()["plugins file"]

    assert found["result"] == result
    assert words in found["message"]


def test_a_broken_plugin_is_found(findings, run, home, wheels):
    """It is not active, so it is a warning; one that is left out although it is active is a failure."""
    run("plugin", "install", wheels["constructor-raises"], "--yes").ok()
    run("plugin", "activate", "constructor-raises")
    broken = findings()["plugin constructor-raises"]
    host = Host(Config.load())
    with host.database.write() as session:
        host.registries.records.quarantine(session, "audit-log", "too many failures")
    host.close()

    assert broken["result"] == "warn"
    assert findings()["plugin audit-log"]["remedy"] == "Run: plugyard plugin activate audit-log"


def test_processes_that_are_behind_are_found(findings, home: Path):
    """Each running process is shown with the generation that it has reached."""
    host = Host(Config.load())
    host.convergence.open()
    with host.database.write() as session:
        host.convergence.bump(session)

    behind = [one for subject, one in findings().items() if subject.startswith("process ")]

    assert [one["result"] for one in behind] == ["warn"]
    assert "generation 0 of 1" in behind[0]["message"]
    host.convergence.leave()
    host.close()


def test_a_place_for_files_is_tried(findings, home):
    """The folder can be written; another thing in its place is a failure with its remedy."""
    assert findings()["files"]["message"] == f"{home / 'files'} can be written"

    shutil.rmtree(home / "files", ignore_errors=True)
    (home / "files").write_bytes(b"a file stands here")

    found = findings()["files"]
    assert found["result"] == "fail"
    assert str(home / "files") in found["message"]
    assert "permissions" in found["remedy"]


def test_a_bucket_is_tried(findings, home, monkeypatch):
    """A store that does not answer is named without its secret."""
    place = "s3://depot/yard?endpoint_url=http://127.0.0.1:1&key=me&secret=hunter2&region=us-east-1"
    monkeypatch.setenv("PLUGYARD_FILES_URL", place)

    found = findings()["files"]

    assert found["result"] == "fail"
    assert "s3://depot/yard" in found["message"]
    assert "PLUGYARD_FILES_URL" in found["remedy"]
    assert "hunter2" not in str(found)
