"""Domain errors and their answers."""

from __future__ import annotations

import errno
import importlib
import pkgutil

import pytest

import host
from api.errors import obstacle_of, refused, rule_for
from host.errors import (
    BusyError,
    HostError,
    InvalidInputError,
    NotAllowedError,
    NotFoundError,
    NotSignedInError,
    UnavailableError,
)


def subclasses(kind):
    """Return all subclasses, however deep."""
    for child in kind.__subclasses__():
        yield child
        yield from subclasses(child)


def test_every_error_of_the_host_has_an_answer():
    """No service can report an error that the interface does not know."""
    for module in pkgutil.walk_packages(host.__path__, "host."):
        if ".migrations" not in module.name and not module.name.endswith("__main__"):
            importlib.import_module(module.name)

    assert [kind for kind in subclasses(HostError) if rule_for(kind) is None] == []


@pytest.mark.parametrize(
    ("error", "status", "body"),
    [
        (NotFoundError("no x"), 404, b'{"detail":"no x"}'),
        (NotSignedInError("who?"), 401, b'{"detail":"who?"}'),
        (NotAllowedError("no"), 403, b'{"detail":"no"}'),
        (InvalidInputError({"a": ["b"]}), 400, b'{"a":["b"]}'),
        (InvalidInputError.of("b"), 400, b'{"non_field_errors":["b"]}'),
        (BusyError("later"), 409, b'{"detail":"later"}'),
        (UnavailableError("off"), 503, b'{"detail":"off"}'),
    ],
    ids=repr,
)
def test_the_table(error, status, body):
    """Each class has a status and a body."""
    answer = refused(error)

    assert answer is not None
    assert (answer.status_code, answer.body) == (status, body)


@pytest.mark.parametrize(
    ("error", "word"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "disk"),
        (OSError(errno.EROFS, "Read-only file system"), "disk"),
        (FileNotFoundError(errno.ENOENT, "No such file"), None),
        (RuntimeError("ours"), None),
    ],
    ids=repr,
)
def test_a_full_disk_is_no_fault_of_ours(error, word):
    """The caller learns that trying later may help; any other error stays one of ours."""
    obstacle = obstacle_of(error)

    assert (obstacle is not None and word in obstacle) if word else obstacle is None


def test_other_errors_are_not_answered_by_the_table():
    """What nobody raised on purpose is no answer."""
    assert refused(KeyError("a")) is None


def test_an_error_of_a_service_is_answered(anonymous, reports):
    """It is no error report."""
    response = anonymous.post("/api/busy/")

    assert response.status_code == 409
    assert reports == []
