"""Custom states and status sets."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import event, select

from host.contract.models import ModelType, State, StatusSet
from host.contract.values import User
from host.errors import InvalidInputError, NotFoundError, RefusedError
from host.records.content_types import CONTENT_TYPES, ContentTypes
from host.records.state_table import STATE_LIST
from host.records.states import States
from host.storage.engine import Database
from tests.records.registries import FixedRegistry, loaded, registry_of

LIGHTS = StatusSet(name="LightStatus", states=[State(10, "OFF", "Off"), State(20, "ON", "On", "success")])
BARE = StatusSet(name="BareStatus")
ROOMS = loaded(
    "rooms", model_types=[ModelType(name="lamp", label="Lamp")], status_sets=[LIGHTS, BARE], distribution="rooms"
)
OTHER = loaded("other", status_sets=[StatusSet(name="OtherStatus", states=[State(1, "ONE", "One")])])
ANN = User(id=1, username="ann", is_staff=True)


class Bench:
    """States over a registry that can be replaced, and the events they sent."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.registries = FixedRegistry(registry_of(ROOMS, OTHER))
        self.events: list[tuple[str, Any, int | None]] = []
        self.types = ContentTypes(database, self.registries)
        self.states = States(database, self.registries, self.types, emit=self._emit)

    def _emit(self, session: Any, name: str, data: Any, user_id: int | None = None) -> None:
        assert session.in_transaction()
        self.events.append((name, dict(data), user_id))

    def values(self, **changed: Any) -> dict[str, Any]:
        """Return the values of a state that fits, with some of them changed."""
        self.types.present()
        with self.database.read() as connection:
            lamp = connection.execute(select(CONTENT_TYPES.c.id).where(CONTENT_TYPES.c.model == "lamp")).scalar()
        fitting = {"key": 70, "name": "DIMMED", "label": "Dimmed", "color": "info", "logical_key": 20}
        return {**fitting, "model": lamp, "reference_status": "LightStatus", **changed}

    def stored(self) -> list[tuple[int, str, str]]:
        """Return key, name and label of every state."""
        table = STATE_LIST.table.c
        with self.database.read() as connection:
            return [tuple(row) for row in connection.execute(select(table.key, table.name, table.label))]


@pytest.fixture
def bench(database: Database) -> Bench:
    """States on a database of each kind in turn."""
    return Bench(database)


@pytest.fixture
def sqlite_bench(sqlite_database: Database) -> Bench:
    """States on SQLite, where the database has no say in what is tested."""
    return Bench(sqlite_database)


def test_a_state_joins_its_set(bench: Bench):
    """It is shown beside the built-in ones, and every change is told."""
    made = bench.states.create(bench.values(), by=ANN)
    shown = bench.states.sets.one("LightStatus")

    assert shown["status_class"] == "LightStatus"
    assert shown["values"] == {
        "OFF": {"key": 10, "name": "OFF", "label": "Off", "color": "secondary"},
        "ON": {"key": 20, "name": "ON", "label": "On", "color": "success"},
        "DIMMED": {
            "key": 70,
            "name": "DIMMED",
            "label": "Dimmed",
            "color": "info",
            "logical_key": 20,
            "custom": True,
        },
    }
    bench.states.change(made, {"label": "Low", "key": 70}, by=ANN)
    bench.states.change(made, {"label": "Low"}, by=ANN)
    bench.states.delete(made, by=ANN)

    about = {"state": made, "reference_status": "LightStatus", "name": "DIMMED", "key": 70, "logical_key": 20}
    assert bench.events == [(f"state.{what}", about, 1) for what in ("created", "changed", "deleted")]
    assert bench.stored() == []


@pytest.mark.parametrize(
    ("changed", "member", "says"),
    [
        pytest.param({"key": 20}, "key", "different from logical key", id="key is the logical key"),
        pytest.param({"key": 10}, "key", "built-in keys of LightStatus: 10, 20", id="key is built in"),
        pytest.param({"logical_key": 30}, "logical_key", "LightStatus: 10, 20", id="logical key is not built in"),
        pytest.param({"reference_status": "BareStatus"}, "logical_key", "it has none", id="set without states"),
        pytest.param({"name": "Dimmed"}, "name", "DIMMED", id="name in small letters"),
        pytest.param({"name": "2ND"}, "name", "identifier", id="name is no identifier"),
        pytest.param({"name": "ON"}, "name", "different from the names", id="name is built in"),
        pytest.param({"reference_status": "lightstatus"}, "reference_status", "BareStatus, Light", id="unknown set"),
        pytest.param({"model": 10**9}, "model", "no such content type", id="unknown model"),
        pytest.param({"model": 2**63 - 1}, "model", "no such content type", id="greatest id"),
    ],
)
def test_rules(sqlite_bench: Bench, changed: dict[str, Any], member: str, says: str):
    """A state that breaks a rule is refused with the reason at the member, whether it is new or changed."""
    bench = sqlite_bench

    with pytest.raises(InvalidInputError) as refused:
        bench.states.create(bench.values(**changed))
    kept = bench.states.create(bench.values())
    with pytest.raises(InvalidInputError) as refused_again:
        bench.states.change(kept, changed)

    assert set(refused.value.fields) == set(refused_again.value.fields) == {member}
    assert says in refused.value.fields[member][0]
    assert bench.stored() == [(70, "DIMMED", "Dimmed")]


def test_several_faults_are_named_at_once(sqlite_bench: Bench):
    """Nobody has to send a form three times to learn what is wrong."""
    with pytest.raises(InvalidInputError) as refused:
        sqlite_bench.states.create(sqlite_bench.values(key=10, logical_key=5, name="x y", model=10**9))

    assert set(refused.value.fields) == {"key", "logical_key", "name", "model"}


@pytest.mark.parametrize("same", ["key", "name"])
def test_pairs_are_unique(bench: Bench, same: str):
    """Key and name are unique in their set, for new and for changed states, and free in other sets."""
    values = bench.values()
    bench.states.create(values)
    other = bench.states.create(bench.values(key=-(2**63), name="NIGHT"))

    with pytest.raises(InvalidInputError, match=rf"reference_status, {same} must make a unique set"):
        bench.states.create(bench.values(**({"name": "DUSK"} if same == "key" else {"key": 71})))
    with pytest.raises(InvalidInputError) as refused:
        bench.states.change(other, {same: values[same]})

    assert set(refused.value.fields) == {"non_field_errors"}
    assert bench.states.create({**values, "reference_status": "OtherStatus", "logical_key": 1})
    assert len(bench.stored()) == 3


def test_of_callers_at_once_one_wins(tables_url: str, open_database):
    """However many try to take a key at the same moment, one gets it and the others are told so."""
    benches = [Bench(open_database(tables_url)) for _ in range(4)]
    values = benches[0].values()

    def create(bench: Bench) -> str:
        try:
            bench.states.create(values)
        except InvalidInputError as error:
            return ",".join(error.fields)
        return "made"

    with ThreadPoolExecutor(4) as pool:
        outcomes = sorted(pool.map(create, benches))

    assert outcomes == ["made", *["non_field_errors"] * 3]
    assert len(benches[0].stored()) == 1


def test_states_outlive_their_plugin(sqlite_bench: Bench):
    """Without the set a state is kept, can be relabelled and deleted, but nothing new is added to it."""
    bench = sqlite_bench
    values = bench.values()
    made = bench.states.create(values)
    bench.registries.current = registry_of(OTHER)

    assert "LightStatus" not in bench.states.sets.all()
    bench.states.sets.check_filter("LightStatus")
    bench.states.change(made, {**values, "label": "Low"})
    with pytest.raises(InvalidInputError, match="reference_status"):
        bench.states.change(made, {"key": 71})
    with pytest.raises(InvalidInputError, match="not one of: OtherStatus"):
        bench.states.sets.check_filter("BareStatus")
    with pytest.raises(RefusedError, match="There are: OtherStatus"):
        bench.states.sets.one("LightStatus")
    bench.registries.current = registry_of(ROOMS)

    assert bench.states.sets.all()["LightStatus"]["values"]["DIMMED"]["label"] == "Low"


def test_a_name_that_becomes_built_in_counts_as_that(sqlite_bench: Bench):
    """A newer plugin may bring a state that was added by hand: its own is shown, the other one kept."""
    bench = sqlite_bench
    bench.states.create(bench.values())
    newer = StatusSet(name="LightStatus", states=[*LIGHTS.states, State(30, "DIMMED", "Dim")])
    bench.registries.current = registry_of(loaded("rooms", status_sets=[newer]))

    assert bench.states.sets.one("LightStatus")["values"]["DIMMED"] == {
        "key": 30,
        "name": "DIMMED",
        "label": "Dim",
        "color": "secondary",
    }
    assert bench.stored() == [(70, "DIMMED", "Dimmed")]


def test_all_sets_take_one_statement(sqlite_bench: Bench):
    """The number of statements does not grow with sets or states."""
    bench = sqlite_bench
    for key in range(70, 75):
        bench.states.create(bench.values(key=key, name=f"LEVEL_{key}"))
    statements: list[str] = []
    event.listen(bench.database.engine, "before_cursor_execute", lambda *about: statements.append(about[2]))

    assert list(bench.states.sets.all()) == ["BareStatus", "LightStatus", "OtherStatus"]
    assert len(statements) == 1


@pytest.mark.parametrize("state_id", [99, 2**63 - 1])
def test_unknown_states(bench: Bench, state_id: int):
    """What is not there can be neither changed nor deleted."""
    with pytest.raises(NotFoundError, match=str(state_id)):
        bench.states.change(state_id, {"label": "x"})
    with pytest.raises(NotFoundError, match=str(state_id)):
        bench.states.delete(state_id)
