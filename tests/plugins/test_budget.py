"""A plugin may fail so often within a while."""

from __future__ import annotations

from host.plugins.budget import ErrorBudget


class Clock:
    """Stands still until it is set."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_the_failure_after_the_last_tolerated_one_exhausts_the_budget_once():
    """The callback gets key and reason, further failures change nothing, and other plugins have their own budget."""
    exhausted: list[tuple[str, str]] = []
    budget = ErrorBudget(limit=2, window=60, on_exhausted=lambda *what: exhausted.append(what), clock=Clock())

    counted = [budget.count("lamp", f"failure {number}") for number in range(5)]
    budget.count("other", "failure")

    assert counted == [False, False, True, False, False]
    assert exhausted == [("lamp", "more than 2 failures within 60 s; the last one: failure 2")]


def test_old_failures_do_not_count():
    """The window slides."""
    clock = Clock()
    budget = ErrorBudget(limit=2, window=60, clock=clock)
    for _ in range(10):
        assert not budget.count("lamp", "failure")
        clock.now += 31

    assert budget.spent("lamp") == 1


def test_a_reset_makes_the_budget_whole():
    """After it the same number of failures is tolerated again, and exhausting it is told again."""
    exhausted: list[str] = []
    budget = ErrorBudget(limit=1, on_exhausted=lambda key, _reason: exhausted.append(key))
    for _ in range(2):
        budget.count("lamp", "failure")
    budget.reset("lamp")

    assert budget.spent("lamp") == 0
    assert [budget.count("lamp", "failure") for _ in range(2)] == [False, True]
    assert exhausted == ["lamp", "lamp"]


def test_a_quarantine_that_cannot_be_recorded_holds_all_the_same():
    """The callback's failure is logged, and the caller still learns that the budget is exhausted."""

    def fail(_key: str, _reason: str) -> None:
        raise OSError("disk full")

    assert ErrorBudget(limit=0, on_exhausted=fail).count("lamp", "failure")
