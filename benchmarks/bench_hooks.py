"""What a hook call costs: a plain function call, pluggy's own loop, and ours, which isolates and bounds each call.

``python -m benchmarks.bench_hooks`` prints this part alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from timeit import Timer

from benchmarks.figures import Figure, Target, interleaved, shown
from host.contract.actions import ActionResult
from host.contract.markers import hookimpl
from host.contract.values import Json, User
from host.plugins.calls import Calls, Scope
from host.plugins.specs import new_manager

EXTRA_LIMIT_US = 1.0
MANY = 10
_HOOK = "perform_action"
_ROUNDS = 15
_CALLS = 10_000
_APART_CALLS = 500
_RESULT = ActionResult(result=True)
_USER = User(id=1, username="ada")


class _Plugin:
    @hookimpl
    def perform_action(self, action: str, data: Json, user: User) -> ActionResult:
        del action, data, user
        return _RESULT


class _Silent:
    @hookimpl
    def perform_action(self, action: str, data: Json, user: User) -> None:
        del action, data, user


class _AsyncPlugin:
    @hookimpl
    async def perform_action(self, action: str, data: Json, user: User) -> ActionResult:
        del action, data, user
        return _RESULT


def run() -> list[Figure]:
    """Ask one plugin and ten, in a request; and one outside of requests and an asynchronous one."""
    return [*_figures(1), *_figures(MANY), *_figures_apart()]


def _figures(count: int) -> list[Figure]:
    ways = _ways(count)
    with Scope(lambda call: _complain(call.subject.plugin)):
        times = interleaved({name: _microseconds(way, _CALLS) for name, way in ways.items()}, _ROUNDS)
    who = f"{count} plugin{'s' if count > 1 else ''}"
    target = Target(EXTRA_LIMIT_US) if count == 1 else None
    # The least of many rounds: such short times are only ever lengthened by what else the machine does.
    least = {name: min(values) for name, values in times.items()}
    figures = [Figure(f"{who}, {name}", value, "µs") for name, value in least.items()]
    for name in ways:
        if name.startswith("ask"):
            extra = least[name] - least["plain calls"]
            figures.append(Figure(f"{who}, {name} more than plain calls", extra, "µs", target))
            figures.append(Figure(f"{who}, {name} : pluggy's loop", least[name] / least["pluggy's loop"], "x"))
    return figures


def _ways(count: int) -> Mapping[str, Callable[[], object]]:
    # All but the last plugin pass the question on, so that asking for the first answer asks everybody too.
    plugins = {f"plugin-{number}": _Silent() if number < count - 1 else _Plugin() for number in range(count)}
    manager = new_manager()
    for key, plugin in plugins.items():
        manager.register(plugin, name=key)
    calls = Calls(_complain)
    implementations = calls.table(manager, list(plugins))[_HOOK]
    functions = [item.function for item in implementations]
    loop = getattr(manager.hook, _HOOK)
    one = implementations[0]

    def plain() -> None:
        for function in functions:
            function(action="blink", data=None, user=_USER)

    ways: dict[str, Callable[[], object]] = {
        "plain calls": plain,
        "pluggy's loop": lambda: loop(action="blink", data=None, user=_USER),
        "ask_first": lambda: calls.ask_first(implementations, action="blink", data=None, user=_USER),
        "ask_all": lambda: calls.ask_all(implementations, action="blink", data=None, user=_USER),
    }
    if count == 1:
        ways["ask_one"] = lambda: calls.ask_one(one, action="blink", data=None, user=_USER)
    return ways


def _figures_apart() -> list[Figure]:
    manager = new_manager()
    manager.register(_Plugin(), name="sync")
    manager.register(_AsyncPlugin(), name="async")
    calls = Calls(_complain)
    sync, asynchronous = calls.table(manager, ["sync", "async"])[_HOOK]
    measures = {
        "1 plugin outside of a request, in a thread apart": lambda: calls.ask_one(
            sync, action="blink", data=None, user=_USER
        ),
        "1 asynchronous plugin": lambda: calls.ask_one(asynchronous, action="blink", data=None, user=_USER),
    }
    times = interleaved({name: _microseconds(way, _APART_CALLS) for name, way in measures.items()}, _ROUNDS)
    return [Figure(name, min(values), "µs") for name, values in times.items()]


def _microseconds(way: Callable[[], object], calls: int) -> Callable[[], float]:
    timer = Timer(way)
    return lambda: timer.timeit(calls) / calls * 1e6


def _complain(*what: str) -> None:
    raise AssertionError(what)


if __name__ == "__main__":
    for figure in run():
        print(f"{figure.name:<52}{shown(figure.value):>10} {figure.unit}")
