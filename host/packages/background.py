"""Package operations that go on after the caller got an answer."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from host.contract.values import User
from host.errors import HostError, NotFoundError
from host.packages.operations import new_operation_id
from host.packages.requests import InstallRequest

_LOG = logging.getLogger("plugyard.packages")
_LOOK_SECONDS = 0.02


class Install(Protocol):
    """Installs a package, as :meth:`host.packages.install.Packages.install` does."""

    def __call__(self, request: InstallRequest, /, *, by: User | None, operation_id: str) -> object:
        """Install under the id of an operation."""


class BackgroundInstalls:
    """Installs in threads; who started one follows it as an operation.

    Args:
        install: does the work.
        find: finds an operation by its id, or raises ``NotFoundError``.
        report: writes an error report (path, message, details) of what nobody foresaw.

    """

    def __init__(
        self, install: Install, find: Callable[[str], object], report: Callable[[str, str, str], None]
    ) -> None:
        self._install = install
        self._find = find
        self._report = report

    def start(
        self, request: InstallRequest, *, by: User | None, keep: AbstractContextManager[object] | None = None
    ) -> str:
        """Start an install and return the id of its operation.

        Args:
            request: what to install.
            by: who asks.
            keep: something the request needs, as a temporary folder; left when the install is over.

        Raises:
            InvalidInputError: the request itself is refused.

        """
        work = _Work(self._install, request, by, keep or nullcontext(), self._report)
        thread = threading.Thread(target=work.run, name=f"install-{work.id}", daemon=True)
        thread.start()
        while True:
            thread.join(_LOOK_SECONDS)
            if self._is_recorded(work.id):
                return work.id
            if work.error is not None:
                raise work.error
            if not thread.is_alive():
                return work.id

    def _is_recorded(self, operation_id: str) -> bool:
        try:
            self._find(operation_id)
        except NotFoundError:
            return False
        return True


class _Work:
    def __init__(
        self,
        install: Install,
        request: InstallRequest,
        by: User | None,
        keep: AbstractContextManager[object],
        report: Callable[[str, str, str], None],
    ) -> None:
        self.id = new_operation_id()
        self.error: Exception | None = None
        self._install = install
        self._request = request
        self._by = by
        self._keep = keep
        self._report = report

    def run(self) -> None:
        with self._keep:
            try:
                self._install(self._request, by=self._by, operation_id=self.id)
            except HostError as error:  # recorded with the operation, where there is one yet
                self.error = error
            except Exception as error:  # noqa: BLE001 - the thread of a job ends here
                _LOG.exception("an install failed")
                self._report("packages.install", f"{type(error).__name__}: {error}", "")
                self.error = error
