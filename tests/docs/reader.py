"""A reader who follows one page to the letter: writes its files, runs its Python, types its commands."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from tests.checks.markdown import Block, Page
from tests.docs.outputs import matches
from tests.docs.shell import Command, Shell, commands_in
from tests.e2e.hosts import RunningHost, environment

ADDRESS = "127.0.0.1:8000"
"""The host's address in the documentation."""
HOME = "/var/lib/plugyard"
"""The host's home in the documentation."""
PASSWORD = "lantern-on-the-shelf"
"""The administrator's password in the documentation."""
WHEELS = "/srv/wheels"
"""A folder of wheels in the documentation."""
INDEX = "https://packages.example.org/simple/"
"""A package index in the documentation."""

_NOT_RUN = re.compile(r"not run: \S")
_SETTINGS = re.compile(r"host: (?P<settings>.+)")
_SERVE = re.compile(r"(?P<settings>(?:PLUGYARD_\w+=\S+ )*)(?:plugyard serve(?P<arguments>.*)|make run)")
_START_SECONDS = 60
_LOGGED = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
_LOOKS = re.compile(r"curl (?!.* (-X|-d|-F|-o|--data)).*", re.DOTALL)
"""A command that changes nothing."""
_PATIENCE_SECONDS = 10
_SHELL_LANGUAGES = ("console", "sh")


def is_left_out(block: Block) -> bool:
    """Tell whether the page says that a block is not run, and why."""
    return _NOT_RUN.match(block.comment) is not None


def can_be_run(block: Block) -> bool:
    """Tell whether a block is of a kind that is run."""
    return block.language in {"python", *_SHELL_LANGUAGES} and not block.title


class Reader:
    """Follows one page; use it in a ``with`` statement.

    Args:
        page: the page.
        folder: for what the page writes; ``home`` in it is the host's home.
        stand_ins: text of the documentation → what stands for it here.

    """

    def __init__(self, page: Page, folder: Path, stand_ins: Mapping[str, str]) -> None:
        self._page = page
        self._stand_ins = {HOME: str(folder / "home"), **stand_ins}
        self._folder = folder / "desk"
        self._home = folder / "home"
        self._host: RunningHost | None = None
        self._shell: Shell | None = None
        self._open = ExitStack()
        self._namespace: dict[str, Any] = {"__name__": "__docs__"}
        self._modules = frozenset(sys.modules)

    def __enter__(self) -> Self:
        self._folder.mkdir()
        self._home.mkdir(exist_ok=True)
        self._former = (Path.cwd(), list(sys.path))
        os.chdir(self._folder)
        sys.path.insert(0, str(self._folder))
        return self

    def __exit__(self, *_: object) -> None:
        os.chdir(self._former[0])
        sys.path[:] = self._former[1]
        for name in set(sys.modules) - self._modules:
            module = sys.modules[name]
            # A folder of files is a package without a file of its own.
            places = (getattr(module, "__file__", None) or "", *getattr(module, "__path__", ()))
            if any(str(place).startswith(str(self._folder)) for place in places):
                del sys.modules[name]
        self._open.close()

    def follow(self, block: Block) -> None:
        """Do what a block says.

        Raises:
            AssertionError: a command printed something else than the page says.
            Exception: whatever the block's Python raised.

        """
        if is_left_out(block):
            return
        if block.title:
            self._write(block)
        elif block.language == "python":
            self._execute(block)
        elif block.language in _SHELL_LANGUAGES:
            for command in commands_in(block.text):
                self._type(command, block.line)

    def _write(self, block: Block) -> None:
        path = (self._folder / block.title).resolve()
        assert path.is_relative_to(self._folder.resolve()), f"{block.title} is outside of the page's folder"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self._local(block.text), "utf-8")

    def _execute(self, block: Block) -> None:
        # Blank lines before it make the line numbers of tracebacks those of the page.
        source = "\n" * block.line + block.text
        exec(compile(source, str(self._page.path), "exec"), self._namespace)  # noqa: S102 - the project's own page

    def _type(self, command: Command, line: int) -> None:
        where = f"{self._page.path}:{line}: $ {command.text}"
        if served := _SERVE.fullmatch(command.text):
            printed, code = self._serve(served["settings"], served["arguments"] or ""), 0
        else:
            if ADDRESS in command.text and self._host is None:
                self._serve(self._page_settings(), "")
            code, printed = self._run(command.text)
        expected = command.expected.strip()
        if _LOOKS.match(command.text) and expected:
            printed = self._look_again(command, printed)
        if expected:
            assert matches(expected, printed), f"{where}\nprinted\n{printed}\ninstead of\n{expected}"
        else:
            assert code == 0, f"{where}\nended with {code}:\n{printed}"

    def _look_again(self, command: Command, printed: str) -> str:
        """Repeat a question whose answer changes soon, such as whether an event has been delivered."""
        end = time.monotonic() + _PATIENCE_SECONDS
        while not matches(command.expected, printed) and time.monotonic() < end:
            time.sleep(0.1)
            _, printed = self._run(command.text)
        return printed

    def _run(self, command: str) -> tuple[int, str]:
        if self._shell is None:
            self._shell = self._open.enter_context(Shell(self._folder, self._environment()))
        code, printed = self._shell.run(self._local(command))
        return code, self._as_in_page(printed)

    def _serve(self, settings: str, arguments: str) -> str:
        if self._host is not None:
            _stop(self._host)
        given = {"admin_password": PASSWORD, **self._settings(settings)}
        self._host = host = RunningHost(self._home, *self._local(arguments).split(), **given)
        self._open.callback(_stop, host)
        host.start()
        _wait_until_ready(host)
        return self._as_in_page("\n".join(line for line in host.log().splitlines() if not _LOGGED.match(line)))

    def _settings(self, text: str) -> Mapping[str, str]:
        pairs = (self._local(pair).partition("=") for pair in text.split())
        return {name.removeprefix("PLUGYARD_").lower(): value for name, _, value in pairs}

    def _page_settings(self) -> str:
        found = (_SETTINGS.fullmatch(comment) for comment in self._page.comments())
        return " ".join(match["settings"] for match in found if match)

    def _environment(self) -> Mapping[str, str]:
        settings = self._settings(self._page_settings())
        given = environment(self._home, admin_password=PASSWORD, **settings)
        return given | {
            "ADMIN": f"admin:{PASSWORD}",
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), given["PATH"]]),
            # What a build needs is installed already.
            "PIP_NO_BUILD_ISOLATION": "0",
            "PYTHONWARNINGS": "default",
            "COLUMNS": "120",
            "NO_COLOR": "1",
            **({} if "index_url" in settings else {"PIP_NO_INDEX": "1"}),
        }

    def _local(self, text: str) -> str:
        """Replace the addresses and folders of the documentation by those that are used here."""
        if self._host is not None:
            text = text.replace(ADDRESS, f"127.0.0.1:{self._host.port}")
        for shown, used in self._stand_ins.items():
            text = text.replace(shown, used)
        return text

    def _as_in_page(self, text: str) -> str:
        if self._host is not None:
            text = text.replace(f"127.0.0.1:{self._host.port}", ADDRESS)
        for shown, used in self._stand_ins.items():
            text = text.replace(used, shown)
        return text


def _wait_until_ready(host: RunningHost) -> None:
    # Of several workers the first one may answer before the others have started.
    end = time.monotonic() + _START_SECONDS
    while "is ready on" not in host.log():
        assert time.monotonic() < end, f"the host does not say that it is ready:\n{host.log()}"
        time.sleep(0.02)


def _stop(host: RunningHost) -> None:
    if host.process.poll() is None:
        host.stop()
