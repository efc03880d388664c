"""Names of attached files."""

from __future__ import annotations

import re
from itertools import islice

import pytest

from host.records.attachments.names import candidates, clean_name, folder_of, rename_fault

PART = folder_of("part", 1)


@pytest.mark.parametrize(
    ("sent", "clean"),
    [
        pytest.param("../../evil.txt", "evil.txt", id="only the base name counts"),
        pytest.param("C:\\dir\\evil.txt", "evil.txt", id="also of other systems"),
        pytest.param("my own plan.txt", "my_own_plan.txt", id="blanks"),
        pytest.param("a'\"`~#|!@$%^&*()[]{}<>?;:+=,b.txt", "ab.txt", id="signs"),
        pytest.param("Größe 日本 русский.txt", "Größe_日本_русский.txt", id="letters of any script"),
        pytest.param("a\0\n\x7f\u202e\ud800b.txt", "ab.txt", id="what nobody sees"),
        pytest.param("..", "file", id="nothing left"),
        pytest.param("run.exe. ", "run.exe", id="a dot at the end"),
        pytest.param("e\u0301.txt", "\u00e9.txt", id="one form of each letter"),
    ],
)
def test_a_name_is_made_safe(sent, clean):
    """What is stored is a plain name of one part."""
    assert clean_name(sent) == clean


@pytest.mark.parametrize(
    ("name", "first"),
    [
        pytest.param("a" * 77 + ".txt", "a{77}\\.txt", id="just fits"),
        pytest.param("a" * 78 + ".txt", "a{69}_\\w{7}\\.txt", id="one too many"),
        pytest.param("日" * 80 + ".txt", "日{62}_\\w{7}\\.txt", id="too many bytes"),
        pytest.param("a." + "b" * 90, "a\\.b{71}_\\w{7}", id="no ending is that long"),
        pytest.param(".profile", "\\.profile", id="only an ending"),
    ],
)
def test_the_whole_path_stays_short(name, first):
    """A path has at most 100 characters, and cut names have a random part before their ending."""
    found = list(islice(candidates(PART, name), 20))

    assert re.fullmatch(first, found[0])
    assert all(len(PART + one) <= 100 and len(one.encode()) <= 200 for one in found)
    assert len(set(found)) == 20


def test_long_model_types_leave_room_for_a_name():
    """The folder of a record can be longer than the limit of the path."""
    folder = folder_of("m" * 100, 2**63 - 1)

    assert re.fullmatch(r"plan\.txt", next(candidates(folder, "plan.txt")))
    assert len(folder + next(candidates(folder, "a" * 300))) <= 255


@pytest.mark.parametrize(
    ("new", "fault"),
    [
        pytest.param("new.TXT", "", id="the case of the extension does not matter"),
        pytest.param("new.pdf", "extension", id="another extension"),
        pytest.param("new", "extension", id="no extension"),
        pytest.param("../new.txt", "path parts", id="a path"),
        pytest.param("a\\new.txt", "path parts", id="a path of another system"),
        pytest.param("a" * 78 + ".txt", "81 characters", id="too long"),
    ],
)
def test_a_new_name_must_fit(new, fault):
    """Renaming keeps the folder and the extension."""
    found = rename_fault("old.txt", new, PART)

    assert fault in found
    assert bool(fault) == bool(found)
