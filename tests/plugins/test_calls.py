"""Whatever a plugin does, the others are asked and the host goes on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import pytest

from host.contract.actions import ActionResult
from host.contract.markers import hookimpl
from host.contract.ui import Panel, UIContext
from host.plugins.budget import ErrorBudget
from host.plugins.calls import Calls, PluginFailedError, PluginQuarantinedError
from host.plugins.specs import new_manager
from host.plugins.watchdog import Scope
from host.plugins.watched import Call
from tests.plugins.asking import DEADLINE, USER, Asking, acting, acting_async, until

GOOD = acting(lambda: "good")
PANEL = Panel(key="p")
CONTEXT = UIContext(feature_type="panel", user=USER)


def raising(error: BaseException) -> Callable[[], None]:
    """Return a function that raises."""

    def throw() -> None:
        raise error

    return throw


def spin() -> None:
    """Never end, in Python code."""
    while True:
        pass


def spin_stubbornly() -> None:
    """Never end, and catch what was meant to end it."""
    try:
        spin()
    except BaseException:  # noqa: BLE001 - the point of it
        spin()


def nap() -> None:
    """Take too long in C code, but come back."""
    time.sleep(DEADLINE * 1.5)


@pytest.fixture(params=["inline", "apart"])
def place(request: pytest.FixtureRequest) -> Iterator[str]:
    """Ask inline, as in a request, and apart, as anywhere else."""
    with Scope(_never) if request.param == "inline" else nullcontext():
        yield request.param


def _never(call: Call) -> None:
    raise AssertionError(f"{call.subject.plugin} should have come back")


class OddError(BaseException):
    """Not an Exception."""


@pytest.mark.parametrize(
    ("misdeed", "message"),
    [
        pytest.param(raising(ValueError("broken")), "ValueError: broken", id="an exception"),
        pytest.param(raising(SystemExit(3)), "SystemExit: 3", id="SystemExit"),
        pytest.param(raising(OddError("odd")), "tests.plugins.test_calls.OddError: odd", id="a BaseException"),
        pytest.param(spin, "did not answer within 0.15 s", id="an endless loop"),
        pytest.param(nap, "did not answer within 0.15 s", id="a nap"),
    ],
)
def test_a_failing_plugin_harms_no_other_one(place, misdeed, message):
    """The others answer, and the failure is reported under the plugin's hook."""
    asking = Asking({"bad": acting(misdeed), "good": GOOD})

    assert asking.act_all() == [("good", "good")]
    answer = asking.act()

    assert answer is not None
    assert answer.plugin == "good"
    assert asking.reported == [("plugin.bad.perform_action", message)] * 2


def test_a_plugin_that_catches_its_end_is_ended_again():
    """The exception is raised once more, until the plugin gives in."""
    asking = Asking({"bad": acting(spin_stubbornly), "good": GOOD})

    assert asking.act_all() == [("good", "good")]
    until(lambda: not asking.table["perform_action"][0].stuck)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, GeneratorExit])
def test_signals_raised_by_a_plugin_stay_in_its_thread(kind):
    """A plugin that runs apart cannot pretend that the user interrupted the host."""
    asking = Asking({"bad": acting(raising(kind())), "good": GOOD})

    assert asking.act_all() == [("good", "good")]


def test_the_report_shows_the_plugins_frames_alone(place):
    """Data is the traceback from the plugin's first frame on."""
    asking = Asking({"bad": acting(raising(ValueError("broken")))})

    assert asking.act() is None

    data = asking.reports[0][2]
    assert "in perform_action" in data
    assert "ValueError: broken" in data
    assert "watchdog" not in data
    assert "/calls.py" not in data


def test_a_deadline_report_shows_where_the_plugin_was(place):
    """The traceback of an interrupted call names the function that did not end."""
    asking = Asking({"bad": acting(spin)})

    asking.act()

    assert "in spin" in asking.reports[0][2]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("text", "returned 'text', expected ActionResult or None"),
        ({"a": 1}, "returned dict, expected ActionResult or None"),
        (GOOD, "returned tests.plugins.asking.acting.<locals>.Acting, expected ActionResult or None"),
    ],
    ids=["text", "a dict", "an object"],
)
def test_a_wrong_answer_is_a_failure(place, answer, message):
    """An answer of another class than the hook promises is reported and left out."""

    class Wrong:
        @hookimpl
        def perform_action(self) -> Any:
            return answer

    asking = Asking({"wrong": Wrong(), "good": GOOD})

    assert asking.act_all() == [("good", "good")]
    assert asking.reported == [("plugin.wrong.perform_action", message)]


class Panels:
    """Offers whatever it is given."""

    def __init__(self, panels: Any) -> None:
        self.panels = panels

    @hookimpl
    def ui_panels(self) -> Any:
        """Return it."""
        return self.panels


def test_of_a_list_the_right_items_stay(place):
    """Items of the wrong class are left out and reported, the rest is used."""
    asking = Asking({"mixed": Panels([PANEL, "nonsense", 3, PANEL]), "clean": Panels((PANEL,))})

    answers = asking.calls.ask_all(asking.table["ui_panels"], context=CONTEXT)

    assert [(answer.plugin, list(answer.value)) for answer in answers] == [("mixed", [PANEL] * 2), ("clean", [PANEL])]
    assert asking.reported == [
        (
            "plugin.mixed.ui_panels",
            "returned a list with 'nonsense', 3, expected a list or tuple of Panel; these items are left out",
        )
    ]


@pytest.mark.parametrize("answer", [None, "ab", {"a": 1}, iter(())], ids=["None", "text", "a dict", "an iterator"])
def test_what_is_no_list_is_a_failure(place, answer):
    """A hook that promises many must return a list or tuple."""
    asking = Asking({"wrong": Panels(answer)})

    assert asking.calls.ask_all(asking.table["ui_panels"], context=CONTEXT) == []
    assert len(asking.reported) == 1


def test_none_passes_the_question_on(place):
    """``None`` is no failure where the hook allows it, and no answer either."""

    class Silent:
        @hookimpl
        def perform_action(self) -> None:
            return None

    asking = Asking({"silent": Silent(), "good": GOOD})

    answer = asking.act()
    assert answer is not None
    assert answer.plugin == "good"
    assert asking.act_all() == [("good", "good")]
    assert asking.reports == []


def test_hooks_that_answer_nothing_may_return_anything(place):
    """What ``stop`` returns is dropped without complaint."""

    class Chatty:
        @hookimpl
        def stop(self) -> Any:
            return "bye"

    asking = Asking({"chatty": Chatty()})

    assert asking.calls.ask_one(asking.one("stop")) is None
    assert asking.reports == []


def test_asking_one_plugin_says_why_it_failed(place):
    """The error names plugin, hook and reason."""
    asking = Asking({"bad": acting(raising(ValueError("broken")))})

    with pytest.raises(PluginFailedError, match="Plugin 'bad' failed in perform_action: ValueError: broken") as caught:
        asking.calls.ask_one(asking.one(), action="blink", data=None, user=USER)

    assert (caught.value.plugin, caught.value.hook, caught.value.message) == (
        "bad",
        "perform_action",
        "ValueError: broken",
    )


def test_arguments_are_bound_by_name(place):
    """An implementation may take fewer arguments, in its own order, and give defaults to some."""

    class Picky:
        @hookimpl
        def perform_action(self, user: Any, action: Any = "none", *, data: Any = None) -> ActionResult:
            return ActionResult(result=[user.username, action, data])

    asking = Asking({"picky": Picky()})

    answer = asking.calls.ask_first(asking.table["perform_action"], action="blink", data=5, user=USER)

    assert answer is not None
    assert answer.value.result == ["ada", "blink", 5]


def test_a_host_that_forgets_an_argument_is_not_the_plugins_fault(place):
    """The mistake is raised, and no error report accuses the plugin."""

    class Whole:
        @hookimpl
        def perform_action(self, action: Any, data: Any, user: Any) -> None:
            del action, data, user

    asking = Asking({"whole": Whole()})

    with pytest.raises(TypeError, match="perform_action was called without data, user"):
        asking.calls.ask_one(asking.one(), action="blink")

    assert asking.reports == []


def test_strict_mode_raises_what_the_plugin_raised(place):
    """Tests see the original error, and it is reported all the same."""
    asking = Asking({"bad": acting(raising(ValueError("broken"))), "good": GOOD}, strict=True)

    for ask in (asking.act, asking.act_all):
        with pytest.raises(ValueError, match="broken"):
            ask()

    assert len(asking.reports) == 2


def test_strict_mode_refuses_late_and_wrong_answers(place):
    """A deadline and a wrong answer end the question too."""
    asking = Asking({"bad": acting(spin), "wrong": Panels(["nonsense"])}, strict=True)

    with pytest.raises(PluginFailedError, match="did not answer within"):
        asking.act()
    with pytest.raises(PluginFailedError, match="returned a list with 'nonsense'"):
        asking.calls.ask_all(asking.table["ui_panels"], context=CONTEXT)


def test_a_report_that_cannot_be_written_changes_nothing(place):
    """The reporter's own failure is logged and that is all."""

    def report(path: str, info: str, data: str) -> None:
        raise OSError("disk full")

    asking = Asking({"bad": acting(raising(ValueError("broken"))), "good": GOOD})
    asking.calls._complaints.report = report

    assert asking.act_all() == [("good", "good")]


def test_a_plugin_over_its_budget_is_left_out(place):
    """It is quarantined once, skipped at once without further reports, and asked again after its release."""
    exhausted: list[tuple[str, str]] = []
    budget = ErrorBudget(limit=2, on_exhausted=lambda *what: exhausted.append(what))
    asking = Asking({"bad": acting(raising(ValueError("broken"))), "good": GOOD}, budget=budget)

    for _ in range(5):
        assert asking.act_all() == [("good", "good")]

    assert len(asking.reports) == 3
    assert [key for key, _ in exhausted] == ["bad"]
    assert asking.calls.quarantined == {"bad"}
    with pytest.raises(PluginQuarantinedError):
        asking.calls.ask_one(asking.table["perform_action"][0], action="blink", data=None, user=USER)

    asking.calls.release("bad")
    asking.act_all()

    assert asking.calls.quarantined == frozenset()
    assert len(asking.reports) == 4


def test_statistics_tell_calls_failures_and_times(place):
    """Each implementation is counted by itself, and the counts outlive a reload."""
    asking = Asking({"bad": acting(raising(ValueError("broken"))), "good": GOOD, "slow": acting_async(_answer_late)})
    asking.act_all()
    asking.act_all()

    other = new_manager()
    other.register(acting(_answer_late), name="bad")
    asking.calls.table(other, ["bad"])

    assert [(item.plugin, item.calls) for item in asking.calls.statistics()] == [("bad", 2)]
    counted = {item.plugin: item for item in asking.calls.statistics(asking.table)}

    assert {key: (item.calls, item.failures) for key, item in counted.items()} == {
        "bad": (2, 2),
        "good": (2, 0),
        "slow": (2, 0),
    }
    assert all(0 < item.slowest <= item.seconds and not item.busy for item in counted.values())


async def _answer_late() -> str:
    return "late"


def test_a_nested_call_fails_alone(place):
    """A plugin whose hook makes the host ask another plugin survives the deadline of that one."""
    inner = Asking({"inner": acting(spin)}, deadlines={"default": DEADLINE / 2})

    def outer() -> str:
        assert inner.act() is None
        return "survived"

    asking = Asking({"outer": acting(outer)}, deadlines={"default": 30})

    assert asking.act_all() == [("outer", "survived")]
    assert [path for path, _ in inner.reported] == ["plugin.inner.perform_action"]
    assert asking.reports == []


def test_the_deadline_of_the_outer_call_holds_for_nested_ones(place):
    """The inner call is stopped with the outer one; the report does not accuse the inner plugin's budget."""
    budget = ErrorBudget(limit=100)
    inner = Asking({"inner": acting(spin)}, deadlines={"default": 30}, budget=budget)

    def outer() -> str:
        inner.act()
        spin()
        return "never"

    asking = Asking({"outer": acting(outer), "good": GOOD})

    assert asking.act_all() == [("good", "good")]
    assert asking.reported == [("plugin.outer.perform_action", "did not answer within 0.15 s")]
    assert budget.spent("inner") == 0


def test_a_stuck_implementation_is_skipped_until_it_comes_back():
    """While a call that was given up is outstanding, the implementation is reported as busy and not called."""
    release = threading.Event()
    called: list[int] = []

    def hang() -> str:
        called.append(1)
        release.wait()
        return "late"

    asking = Asking({"stuck": acting(hang), "good": GOOD})

    assert asking.act_all() == [("good", "good")]
    assert asking.act_all() == [("good", "good")]

    assert len(called) == 1
    assert [info for _, info in asking.reported] == [
        "did not answer within 0.15 s",
        "is still busy with a call that was given up earlier",
    ]
    assert "in hang" in asking.reports[0][2]
    assert [item.busy for item in asking.calls.statistics() if item.plugin == "stuck"] == [True]

    release.set()
    until(lambda: not asking.table["perform_action"][0].stuck)
    assert asking.act_all() == [("stuck", "late"), ("good", "good")]


def test_async_implementations_answer_like_others(place):
    """``async def`` runs on the plugins' loop, in the context of the caller."""
    asking = Asking({"one": acting_async(_answer_late), "two": GOOD})

    assert asking.act_all() == [("one", "late"), ("two", "good")]


def test_a_plain_function_may_return_an_awaitable(place):
    """The contract allows either; what it resolves to is checked."""

    class Mixed:
        @hookimpl
        def perform_action(self) -> Any:
            async def work() -> ActionResult:
                return ActionResult(result="awaited")

            return work()

    assert Asking({"mixed": Mixed()}).act_all() == [("mixed", "awaited")]


def test_functions_that_a_plugin_hands_over_are_bounded_too(place):
    """Expected errors pass, all others become failures of the plugin."""
    asking = Asking({})
    calls = asking.calls

    assert calls.call("lamp", "validator", str.upper, "a") == "A"
    with pytest.raises(KeyError):
        calls.call("lamp", "validator", raising(KeyError("x")), expected=(KeyError,))
    with pytest.raises(PluginFailedError, match="Plugin 'lamp' failed in validator: ValueError: no"):
        calls.call("lamp", "validator", raising(ValueError("no")))
    with pytest.raises(PluginFailedError, match="did not answer within"):
        calls.call("lamp", "validator", spin)
    calls.quarantine("lamp")
    with pytest.raises(PluginQuarantinedError):
        calls.call("lamp", "validator", str.upper, "a")

    assert [path for path, _ in asking.reported] == ["plugin.lamp.validator"] * 2


def test_a_stuck_function_is_refused_until_it_comes_back():
    """One thread is lost to it, not one for each call."""
    asking = Asking({})
    release = threading.Event()

    for message in ("did not answer within", "is still busy"):
        with pytest.raises(PluginFailedError, match=message):
            asking.calls.call("lamp", "validator", release.wait)

    release.set()
    until(lambda: not asking.calls._functions["lamp", "validator"].stuck)
    assert asking.calls.call("lamp", "validator", release.wait)


def test_apart_gives_up_what_does_not_come_back():
    """Results and exceptions pass; a hang and SystemExit are failures of what was named."""
    calls = Calls(lambda *_report: None)
    release = threading.Event()

    assert calls.apart(lambda: 5, deadline=5, name="lamp") == 5
    with pytest.raises(ZeroDivisionError):
        calls.apart(lambda: 1 // 0, deadline=5, name="lamp")
    with pytest.raises(PluginFailedError, match=r"'lamp'.*raised SystemExit: 3"):
        calls.apart(raising(SystemExit(3)), deadline=5, name="lamp")
    with pytest.raises(PluginFailedError, match=r"'lamp'.*did not come back within 0\.05 s"):
        calls.apart(release.wait, deadline=0.05, name="lamp")
    release.set()


def test_nobody_is_told_a_secret(caplog):
    """Neither who asks nor the report, the log or the reason of a quarantine."""
    reasons: list[str] = []
    budget = ErrorBudget(limit=0, on_exhausted=lambda _key, reason: reasons.append(reason))
    lamp = acting(raising(RuntimeError("no entry with s3cr3t")))
    asking = Asking({"lamp": lamp}, budget=budget, scrub=lambda text: text.replace("s3cr3t", "***"))

    with pytest.raises(PluginFailedError, match="no entry with") as caught:
        asking.calls.ask_one(asking.one(), action="blink", data=None, user=USER)

    assert "no entry with ***" in reasons[0]
    assert "s3cr3t" not in f"{caught.value} {reasons} {asking.reports} {caplog.text}"
