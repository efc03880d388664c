"""Processes reach the same generation, on every database."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from host.errors import UnavailableError
from host.plugins.convergence import Convergence
from host.plugins.follower import Follower
from host.plugins.reloading import ReloadFlags
from tests.plugins.assembly import Host
from tests.plugins.distributions import write_plugin

ROOT = Path(__file__).parents[2]

FOLLOWER = """
import sys
from pathlib import Path
from host.plugins.follower import Follower
from tests.plugins.assembly import Host
host = Host(Path(sys.argv[1]), sys.argv[2], kind="worker")
sys.path.append(str(host.site))
host.registries.boot()
print("ready", flush=True)
for line in sys.stdin:
    if line == "request\\n" and host.registries.is_stale():
        host.registries.catch_up()
    if line == "follow\\n":
        follower = Follower(
            convergence=host.convergence,
            generation=lambda: host.current.generation,
            catch_up=host.registries.catch_up,
            poll=0.1,
        )
        follower.start()
    numbers = [getattr(plugin.object, "number", 0) for plugin in host.current.plugins.values()]
    print(host.current.generation, ",".join(host.current.plugins), numbers, host.errors(), sep="|", flush=True)
"""


@pytest.fixture
def convergence(database, tmp_path):
    """One process's view."""
    convergence = Convergence(database=database, file=tmp_path / "registry.generation", kind="web", node="here")
    convergence.open()
    return convergence


def test_a_generation_is_part_of_the_transaction_that_begins_it(convergence):
    """It is gone when the transaction is."""

    def fail() -> None:
        with convergence.database.write() as session:
            convergence.bump(session, full=True)
            raise LookupError

    with pytest.raises(LookupError):
        fail()
    assert convergence.state().generation == 0

    with convergence.database.write() as session:
        assert convergence.bump(session, package_generation=3, full=True) == 1
    with convergence.database.write() as session:
        assert convergence.bump(session, force=True) == 2
    state = convergence.state()
    assert (state.generation, state.package_generation, state.forced_generation, state.full_generation) == (2, 3, 2, 1)


def test_generations_that_are_begun_side_by_side_do_not_lose_one_another(convergence):
    """Each gets a number of its own."""
    numbers = []

    def bump() -> None:
        with convergence.database.write() as session:
            numbers.append(convergence.bump(session))

    threads = [threading.Thread(target=bump) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(numbers) == list(range(1, 9))


def test_an_announcement_makes_every_process_of_the_machine_stale(convergence, tmp_path):
    """Until it has looked; two announcements are never taken for one."""
    other = Convergence(database=convergence.database, file=tmp_path / "registry.generation", kind="web")
    for one in (convergence, other):
        one.settle(one.mark())
        assert not one.is_stale()

    marks = set()
    for _ in range(20):
        convergence.announce()
        marks.add(other.mark())

    assert len(marks) == 20
    assert other.is_stale()
    other.settle(other.mark())
    assert not other.is_stale()


def test_an_announcement_reaches_others_without_the_file(convergence, tmp_path, caplog):
    """A folder that can no longer be written spoils no change that is in force already."""
    (tmp_path / "home").mkdir()
    other = Convergence(database=convergence.database, file=tmp_path / "home/registry.generation", kind="web")
    other.open()
    (tmp_path / "home/registry.generation").unlink()
    (tmp_path / "home").rmdir()
    (tmp_path / "home").write_text("no folder")
    caught = threading.Event()
    follower = Follower(convergence=convergence, generation=lambda: 0, catch_up=caught.set, poll=0.05, heartbeat=60)
    follower.start()
    with other.database.write() as session:
        other.bump(session)

    other.announce()

    assert caught.wait(20)
    follower.stop()
    assert "registry.generation cannot be written" in caplog.text


def test_a_file_that_cannot_be_made_is_named_with_a_remedy(database, tmp_path):
    """The start ends with a sentence."""
    (tmp_path / "home").write_text("no folder")
    convergence = Convergence(database=database, file=tmp_path / "home/registry.generation", kind="web")

    with pytest.raises(UnavailableError, match=r"registry\.generation cannot be used: .*Check the folder's owner"):
        convergence.open()


def test_processes_that_have_died_are_forgotten(convergence, tmp_path):
    """Those of this machine at once, those of others when they have been silent for a while."""
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    dead, elsewhere = (
        Convergence(database=convergence.database, file=tmp_path / "x", kind="worker", node=node)
        for node in ("here", "elsewhere")
    )
    for one in (dead, elsewhere):
        one.pid = child.pid
        one.acknowledge(4, 2, ["lamp"])
    assert len(convergence.processes()) == 3
    child.communicate(b"\n")

    convergence.heartbeat()

    processes = convergence.processes()
    assert [(one["node"], one["kind"], one["generation"]) for one in processes] == [
        ("elsewhere", "worker", 4),
        ("here", "web", 0),
    ]
    assert processes[0]["restart_required"] == ["lamp"]
    convergence.leave()
    assert [one["node"] for one in convergence.processes()] == ["elsewhere"]


def test_a_follower_catches_up_and_gives_signs_of_life(convergence, tmp_path):
    """Also when nobody touches the file of its machine, as another machine would not."""
    caught, reached = threading.Event(), [0]
    other = Convergence(database=convergence.database, file=tmp_path / "elsewhere", kind="web", node="elsewhere")
    other.open()

    def catch_up() -> None:
        reached[0] = convergence.state().generation
        caught.set()

    follower = Follower(
        convergence=convergence, generation=lambda: reached[0], catch_up=catch_up, poll=0.05, heartbeat=0.2
    )
    follower.start()
    before = convergence.processes()[1]["last_seen"]
    with convergence.database.write() as session:
        other.bump(session)
    other.announce()

    assert caught.wait(20)
    deadline = time.monotonic() + 20
    while convergence.processes()[1]["last_seen"] == before and time.monotonic() < deadline:
        time.sleep(0.02)
    assert convergence.processes()[1]["last_seen"] > before
    follower.stop()
    assert not any(thread.name == "plugyard-follower" for thread in threading.enumerate())


class Other:
    """Another process over the same folder and database."""

    def __init__(self, home: Path, url: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", FOLLOWER, str(home), url],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"

    def ask(self, what: str) -> list[str]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip().split("|")

    def close(self) -> None:
        self.process.communicate()


def test_two_processes_converge(tmp_path, database_url):
    """At the next request, or soon without one; with the same errors, upgraded code included."""
    host = Host(tmp_path, database_url)
    sys.path.append(str(host.site))
    host.store[:] = []
    write_plugin(host.site, "lampx", "class LampPlugin: number = 1")
    write_plugin(host.site, "badx", "1 / 0")
    host.registries.boot()
    other = Other(tmp_path, database_url)
    try:
        host.plugins.activate("lampx")
        generation = str(host.current.generation)
        assert other.ask("nothing")[1] == ""
        assert other.ask("request") == [generation, "lampx", "[1]", "[('import', 'badx')]"]

        (host.site / "lampx.py").write_text("class LampPlugin: number = 22222", encoding="utf-8")
        host.registries.reload(ReloadFlags(full_reload=True))
        assert other.ask("request")[2] == "[22222]"

        status = host.registries.status()
        assert {(one["kind"], one["generation"]) for one in status["processes"]} == {
            ("web", host.current.generation),
            ("worker", host.current.generation),
        }

        other.ask("follow")
        host.plugins.activate("lampx", active=False)
        deadline = time.monotonic() + 20
        while other.ask("nothing")[1] and time.monotonic() < deadline:
            time.sleep(0.02)
        assert other.ask("nothing")[1] == ""
    finally:
        other.close()
        sys.path.remove(str(host.site))
        sys.modules.pop("lampx", None)
        host.close()
