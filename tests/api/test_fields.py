"""How members of bodies are cleaned and checked."""

from __future__ import annotations

import pytest

from tests.api.demo import EVERY_FIELD

REFUSED = "this member is refused"


@pytest.mark.parametrize(
    ("member", "value", "cleaned"),
    [
        ("text", "  a  ", "a"),
        ("text", "a\r\nb\tc\x07", "abc"),
        ("text", "a < b & c", "a < b & c"),
        ("text", 5, "5"),
        ("text", "x" * 11, REFUSED),
        ("text", "<b>x</b>", REFUSED),
        ("text", "a <br/> b", REFUSED),
        ("text", "<img src=x", REFUSED),
        ("text", "", REFUSED),
        ("text", "   ", REFUSED),
        ("text", None, REFUSED),
        ("text", True, REFUSED),
        ("text", ["a"], REFUSED),
        ("text", {"a": 1}, REFUSED),
        ("blank", "", ""),
        ("blank", "  ", ""),
        ("long", "a\nb\tc\x07", "a\nb\tc"),
        ("long", "a\n<script>x</script>", REFUSED),
        ("whole", 5, 5),
        ("whole", "5", 5),
        ("whole", 5.0, 5),
        ("whole", -5, -5),
        ("whole", -6, REFUSED),
        ("whole", 501, REFUSED),
        ("whole", 5.5, REFUSED),
        ("whole", "x", REFUSED),
        ("whole", "", REFUSED),
        ("whole", True, REFUSED),
        ("whole", [], REFUSED),
        ("whole", None, REFUSED),
        ("big", 2**63 - 1, 2**63 - 1),
        ("big", 2**63, REFUSED),
        ("big", -(2**63), -(2**63)),
        ("big", 10**30, REFUSED),
        ("big", None, None),
        ("number", "2.5", 2.5),
        ("number", 11, REFUSED),
        ("number", "1e999", REFUSED),
        ("number", "inf", REFUSED),
        ("number", "nan", REFUSED),
        ("number", False, REFUSED),
        *(("flag", value, True) for value in (True, 1, "1", "true", "TRUE", "yes", "Yes", "on", "t", "T")),
        *(("flag", value, False) for value in (False, 0, "0", "false", "False", "no", "off", "f", "F")),
        *(("flag", value, REFUSED) for value in (None, "", "maybe", 2, ["x"], {"a": 1})),
        ("choice", 1, 1),
        ("choice", "2", 2),
        ("choice", 3, REFUSED),
        ("choice", "", REFUSED),
        ("choice", None, REFUSED),
        ("choice", True, REFUSED),
        ("choice", [1], REFUSED),
        ("day", "2024-02-29", "2024-02-29"),
        ("day", "2023-02-29", REFUSED),
        ("day", 5, REFUSED),
        ("moment", "2024-02-29T10:00:00+02:00", "2024-02-29T08:00:00+00:00"),
        ("moment", "2024-02-29 10:00Z", "2024-02-29T10:00:00+00:00"),
        ("moment", "yesterday", REFUSED),
        ("moment", "0001-01-01T00:00:00+14:00", REFUSED),
        ("moment", None, REFUSED),
        ("anything", None, None),
        ("anything", [1, {"a": None}], [1, {"a": None}]),
        ("object", {"a": 1}, {"a": 1}),
        ("object", [], REFUSED),
        ("object", None, REFUSED),
        ("object", "x", REFUSED),
        ("url", "https://example.org/a?b=c", "https://example.org/a?b=c"),
        ("url", "javascript:alert(1)", REFUSED),
        ("url", "example.org", REFUSED),
        ("url", "http://[", REFUSED),
        ("email", "a.b@example.org", "a.b@example.org"),
        ("email", "a@b", REFUSED),
        ("email", "a b@example.org", REFUSED),
        ("email", "a@example.org\n", "a@example.org"),
        ("numbers", [1, "2"], [1, 2]),
        ("numbers", [], []),
        ("numbers", 1, REFUSED),
        ("numbers", "[1]", REFUSED),
        ("numbers", [1, "x"], REFUSED),
        ("owners", [{"name": "a"}], [{"name": "a"}]),
        ("owners", ["a"], REFUSED),
        ("file", "not a file", REFUSED),
    ],
    ids=repr,
)
def test_members_are_cleaned_or_refused(user, member, value, cleaned):
    """Each kind of member accepts, cleans and refuses what the common rules say."""
    response = user.post("/api/echo/", json={member: value})

    if cleaned == REFUSED:
        assert response.status_code == 400
        assert set(response.json()) == {member}
    else:
        assert response.status_code == 200, response.text
        assert response.json() == {member: cleaned}


def test_unknown_and_server_set_members_are_ignored(user):
    """They are never an error."""
    assert user.post("/api/echo/", json={"unknown": 1, "fixed": {"a": 1}}).json() == {}


def test_all_faults_are_named_at_once(user):
    """One answer tells everything that is wrong."""
    response = user.post("/api/echo/", json={"text": "", "whole": "x", "flag": None})

    assert response.status_code == 400
    assert {name: len(messages) for name, messages in response.json().items()} == {"text": 1, "whole": 1, "flag": 1}


def test_faults_of_nested_members_are_a_list_of_objects(user):
    """A right member has an empty object at its place."""
    response = user.post("/api/echo/", json={"owners": [{"name": "a"}, {}, {"name": ""}]})

    assert response.json() == {
        "owners": [{}, {"name": ["This field is required."]}, {"name": ["This field may not be blank."]}]
    }


@pytest.mark.parametrize(
    ("name", "status"), [("a.txt", 200), ("A.TXT", 200), ("a.exe", 400), ("a" * 200 + ".txt", 400), ("<b>.txt", 400)]
)
def test_names_of_files_are_checked(user, name, status):
    """The end of the name, its length and its characters matter."""
    assert user.post("/api/echo/", files={"file": (name, b"x")}).status_code == status


def test_every_kind_describes_itself():
    """OPTIONS and OpenAPI know every field."""
    info = EVERY_FIELD.info()

    assert {name: member["type"] for name, member in info.items()} == {
        "text": "string",
        "blank": "string",
        "long": "string",
        "whole": "integer",
        "big": "integer",
        "number": "float",
        "flag": "boolean",
        "choice": "choice",
        "day": "date",
        "moment": "datetime",
        "anything": "field",
        "object": "nested object",
        "url": "url",
        "email": "email",
        "numbers": "list",
        "owners": "list",
        "fixed": "string",
        "file": "file upload",
    }
    assert info["whole"]["min_value"] == -5
    assert info["choice"]["choices"] == [{"value": 1, "display_name": "One"}, {"value": 2, "display_name": "Two"}]
    assert EVERY_FIELD.schema()["properties"]["choice"] == {"type": "integer", "enum": [1, 2]}
