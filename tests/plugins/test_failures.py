"""Failures of plugins as people read them."""

from __future__ import annotations

from host.plugins.failures import details, shortened, summary


def test_the_summary_is_one_line():
    """Class and text, shortened when it is very long."""
    assert summary(ValueError("broken")) == "ValueError: broken"
    assert summary(SystemExit(3)) == "SystemExit: 3"
    assert len(summary(ValueError("x" * 5000))) == 500


def test_an_error_whose_text_cannot_be_had_is_summarised_all_the_same():
    """The class is named."""

    class Mute(Exception):  # noqa: N818 - a name
        def __str__(self) -> str:
            raise RuntimeError("no")

    assert "Mute" in summary(Mute())
    assert "Mute" in details(Mute())


def test_long_tracebacks_lose_their_middle():
    """Beginning and end stay, and the size is bounded."""

    # Two functions in turn: a traceback folds frames that repeat.
    def even(depth: int) -> None:
        odd(depth - 1)

    def odd(depth: int) -> None:
        if depth < 0:
            raise ValueError("at the bottom " + "x" * 1000)
        even(depth - 1)

    try:
        even(400)
    except ValueError as error:
        text = details(error)

    assert len(text) < 20_100
    assert text.startswith("Traceback")
    assert "characters left out" in text
    assert text.rstrip().endswith("xxx")
    assert shortened("short") == "short"
