"""Actions."""

from __future__ import annotations

import pytest

from host import ActionResult, Json, User, hookimpl
from host.errors import NotFoundError
from host.plugins.actions import Actions
from tests.plugins.bench import USER, Bench


class Answering:
    """Performs one action as it was told."""

    def __init__(self, answer: object, name: str = "move") -> None:
        self.answer = answer
        self.name = name
        self.asked: list[object] = []

    @hookimpl
    def action_names(self) -> list[str]:
        return [self.name]

    @hookimpl
    def perform_action(self, action: str, data: Json, user: User) -> object:
        self.asked.append((action, data, user))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def actions(bench) -> Actions:
    return Actions(bench, bench.calls, bench.report)


def test_the_plugin_gets_what_was_sent_and_its_answer_is_the_default_one(bench, actions):
    """Data go to the plugin untouched, and its result and info come back with the name."""
    plugin = Answering(ActionResult(result=True, info={"to": 3}))
    bench.load({"mover": plugin})

    outcome = actions.perform("move", {"id": [1, None]}, USER)

    assert outcome.plugin == "mover"
    assert outcome.body == {"action": "move", "result": True, "info": {"to": 3}}
    assert plugin.asked == [("move", {"id": [1, None]}, USER)]


@pytest.mark.parametrize("response", [["a", 1], "done", 0, False, {"x": None}], ids=repr)
def test_a_response_is_the_whole_answer(bench, actions, response):
    """A plugin may say what the whole answer is, whatever type it has."""
    bench.load({"mover": Answering(ActionResult(response=response, result=1))})

    assert actions.perform("move", None, USER).body == response


def test_the_first_in_registry_order_that_answers_wins(bench, actions):
    """Of several plugins with that name the first is asked, and the next ones only when it leaves the action."""
    last = Answering(ActionResult(result=3))
    bench.load(
        {
            "other": Answering(ActionResult(result=0), name="other"),
            "a": Answering(None),
            "b": Answering(ActionResult(result=2)),
            "c": last,
        }
    )

    assert actions.perform("move", None, USER).plugin == "b"
    assert last.asked == []


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(ValueError("no"), id="raises"),
        pytest.param("text", id="answers no result"),
        pytest.param(ActionResult(result={1, 2}), id="answers what JSON cannot say"),  # type: ignore[arg-type]
        pytest.param(ActionResult(info=2**70), id="answers a number that is too large"),
    ],
)
def test_a_failing_plugin_is_reported_and_the_next_one_is_asked(bench, actions, broken):
    """The failure stands in an error report under the plugin's name, and the caller notices nothing."""
    bench.load({"a": Answering(broken), "b": Answering(ActionResult(result="ok"))})

    assert actions.perform("move", None, USER).plugin == "b"
    assert bench.reported == ["plugin.a.perform_action"]


@pytest.mark.parametrize("name", ["Move", "", " move", 5, True, 1.5, ["move"], {"move": 1}], ids=repr)
def test_a_name_that_nobody_performs_is_not_found(bench, actions, name):
    """Names are compared exactly, with any JSON type; the message names the action."""
    bench.load({"mover": Answering(ActionResult())})

    with pytest.raises(NotFoundError) as caught:
        actions.perform(name, None, USER)

    assert repr(name) in str(caught.value)


def test_when_all_fail_the_action_is_not_found(bench, actions):
    """A plugin that fails counts as if it were not there."""
    bench.load({"a": Answering(ValueError("no"))})

    with pytest.raises(NotFoundError, match="move"):
        actions.perform("move", None, USER)
