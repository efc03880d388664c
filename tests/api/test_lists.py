"""Lists: pages, order, search and filters (every row of the tables of the common rules)."""

from __future__ import annotations

import pytest
from sqlalchemy import event, insert

from tests.api import demo
from tests.databases import make_tables


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def demo_url(request):
    """Every test runs on each kind of database."""
    if request.param == "postgres":
        return request.getfixturevalue("postgres_with")(demo.METADATA)
    url = request.getfixturevalue("sqlite_url")
    make_tables(url, demo.METADATA)
    return url


@pytest.fixture(autouse=True)
def shelves(database):
    """Five shelves; the last one is hidden from plain users."""
    rows = [
        {"name": "Bolts", "level": 1, "full": True, "kind": "steel", "owner": 1, "notes": "heavy"},
        {"name": "Nuts", "level": 2, "full": False, "kind": "steel", "owner": 1, "notes": ""},
        {"name": "Washers 100%", "level": 2, "full": True, "kind": "wood", "owner": None, "notes": ""},
        {"name": "Spare nuts", "level": 3, "full": False, "kind": "wood", "owner": 2, "notes": ""},
        {"name": "secret", "level": 9, "full": False, "kind": "wood", "owner": None, "notes": ""},
    ]
    with database.write() as session:
        session.connection().execute(insert(demo.SHELVES), [row | {"built": demo.BUILT} for row in rows])


def names(response):
    """Return the names in an answer."""
    assert response.status_code == 200, response.text
    found = response.json()
    return [record["name"] for record in (found if isinstance(found, list) else found["results"])]


def test_a_record_has_exactly_its_members(user):
    """Columns, nested objects and formats come out as the shape says."""
    shelf = user.get("/api/shelf/1/").json()
    built = shelf.pop("built")

    assert shelf == {
        "pk": 1,
        "name": "Bolts",
        "notes": "heavy",
        "kind": "steel",
        "level": 1,
        "full": True,
        "owner": 1,
        "owner_detail": {"pk": 1, "username": "user"},
    }
    assert len(built) == len("2024-05-06 07:08")
    assert user.get("/api/shelf/3/").json()["owner_detail"] is None


@pytest.mark.parametrize("query", ["", "?limit=0", "?limit=-1", "?limit=", "?limit=x", "?offset=2", "?limit=1.5"])
def test_without_a_limit_a_list_is_an_array_of_everything(user, query):
    """A limit below 1 or no number counts as none, and the offset is ignored then."""
    response = user.get(f"/api/shelf/{query}")

    assert isinstance(response.json(), list)
    assert len(response.json()) == 4


@pytest.mark.parametrize(
    ("query", "found", "following", "preceding"),
    [
        ("limit=2", 2, "limit=2&offset=2", None),
        ("limit=2&offset=2", 2, None, "limit=2"),
        ("limit=2&offset=1", 2, "limit=2&offset=3", "limit=2"),
        ("offset=3&limit=2", 1, None, "limit=2&offset=1"),
        ("limit=2&offset=-1", 2, "limit=2&offset=2", None),
        ("limit=2&offset=x", 2, "limit=2&offset=2", None),
        ("limit=2&offset=", 2, "limit=2&offset=2", None),
        ("limit=2&offset=50", 0, None, "limit=2&offset=48"),
        ("limit=99999999999999999999", 4, None, None),
        ("limit=1&z=1&full=&a=%20b&a=c", 1, "a=+b&a=c&full=&limit=1&offset=1&z=1", None),
    ],
)
def test_a_page_knows_its_neighbours(user, query, found, following, preceding):
    """Links are absolute, keep all other parameters and name them in alphabetical order."""
    page = user.get(f"/api/shelf/?{query}").json()

    def link(text):
        return text and f"http://testserver/api/shelf/?{text}"

    assert list(page) == ["count", "next", "previous", "results"]
    assert page["count"] == 4
    assert len(page["results"]) == found
    assert page["next"] == link(following)
    assert page["previous"] == link(preceding)


@pytest.mark.parametrize(
    ("ordering", "expected"),
    [
        ("", ["Spare nuts", "Washers 100%", "Nuts", "Bolts"]),
        ("name", ["Bolts", "Nuts", "Spare nuts", "Washers 100%"]),
        ("-name", ["Washers 100%", "Spare nuts", "Nuts", "Bolts"]),
        ("level", ["Bolts", "Nuts", "Washers 100%", "Spare nuts"]),
        ("-level", ["Spare nuts", "Washers 100%", "Nuts", "Bolts"]),
        ("unknown", ["Spare nuts", "Washers 100%", "Nuts", "Bolts"]),
        ("notes,name", ["Bolts", "Nuts", "Spare nuts", "Washers 100%"]),
        ("level,-name", ["Bolts", "Washers 100%", "Nuts", "Spare nuts"]),
    ],
)
def test_order(user, ordering, expected):
    """Unknown names are dropped; the key comes last, backwards when the last name is."""
    assert names(user.get(f"/api/shelf/?ordering={ordering}")) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("search=nuts", {"Nuts", "Spare nuts"}),
        ("search=NUTS wood", {"Spare nuts"}),
        ("search=nuts,spare", {"Spare nuts"}),
        ('search="spare nuts"', {"Spare nuts"}),
        ("search='nuts spare'", set()),
        ("search=100%25", {"Washers 100%"}),
        ("search=%25", {"Washers 100%"}),
        ("search=_", set()),
        ("search=", {"Bolts", "Nuts", "Spare nuts", "Washers 100%"}),
        ("search=%22%22", {"Bolts", "Nuts", "Spare nuts", "Washers 100%"}),
        ("search=heavy", set()),
        ("search=heavy&search_notes=true", {"Bolts"}),
        ("search=^n.t&search_regex=true", {"Nuts"}),
        ("search=(nut|bolt)s?$&search_regex=true", {"Nuts", "Spare nuts", "Bolts"}),
        ("search=^(s|w).*[ut]s$&search_regex=true", {"Spare nuts"}),
        ("search=o{1}.{2}s&search_regex=true", {"Bolts"}),
        ("search=nut&search_whole=true", set()),
        ("search=nuts&search_whole=true", {"Nuts", "Spare nuts"}),
    ],
)
def test_search(user, query, expected):
    """Each term must be found in some searched column."""
    assert set(names(user.get(f"/api/shelf/?{query}"))) == expected


@pytest.mark.parametrize(
    "pattern",
    ["(", "(a+)%2B$", "a*b*c*d", "(?=a)", "(a)\\1", "a" * 300, "[a", "(.|.|.|.|.)*~", "((.)*)*~", "((a|.)?){60}~",
     "(.?){60}~", ".?" * 36 + "~", "(..|.)(..|.)*~", "(.a|.|..)" * 20 + "~", "((.{99}){99}){99}", "(.%2B|.)%2B~"],
)  # fmt: skip
def test_hostile_patterns_are_refused(user, pattern):
    """A regular expression that is wrong or could take too long is 400 on the parameter."""
    response = user.get(f"/api/shelf/?search_regex=true&search={pattern}")

    assert response.status_code == 400
    assert set(response.json()) == {"search"}


def test_an_endless_search_is_refused(user):
    """No database takes a pattern of any length."""
    response = user.get(f"/api/shelf/?search={'a' * 50_000}")

    assert response.status_code == 400
    assert set(response.json()) == {"search"}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        *((f"full={value}", {"Bolts", "Washers 100%"}) for value in ("true", "True", "1")),
        *((f"full={value}", {"Nuts", "Spare nuts"}) for value in ("false", "False", "0")),
        *((f"full={value}", {"Bolts", "Nuts", "Spare nuts", "Washers 100%"}) for value in ("", "x", "yes", "TRUE")),
        ("level=2", {"Nuts", "Washers 100%"}),
        ("level=", {"Bolts", "Nuts", "Spare nuts", "Washers 100%"}),
        ("kind=wood", {"Washers 100%", "Spare nuts"}),
        ("owner=1", {"Bolts", "Nuts"}),
        ("owner=3", set()),
        ("name=Nuts", {"Nuts"}),
        ("name=nuts", set()),
        ("unknown=1", {"Bolts", "Nuts", "Spare nuts", "Washers 100%"}),
        ("kind=steel&full=true", {"Bolts"}),
    ],
)
def test_filters(user, query, expected):
    """Good values choose rows; bad booleans and unknown parameters count as absent."""
    assert set(names(user.get(f"/api/shelf/?{query}"))) == expected


@pytest.mark.parametrize(
    "query", ["level=x", "level=99999999999999999999", "kind=glass", "owner=99", "owner=x", "name=%00", "search=%00"]
)
def test_bad_filters_are_named(user, query):
    """Bad numbers, choices and references, also ones that do not exist, are 400 on the parameter."""
    response = user.get(f"/api/shelf/?limit=1&{query}")

    assert response.status_code == 400
    assert set(response.json()) == {query.partition("=")[0]}


def test_a_caller_sees_only_their_view(client_of):
    """What is hidden from someone is neither listed nor counted nor found."""
    user, staff = client_of("user"), client_of("staff")

    assert "secret" not in names(user.get("/api/shelf/"))
    assert user.get("/api/shelf/5/").status_code == 404
    assert staff.get("/api/shelf/5/").status_code == 200
    assert staff.get("/api/shelf/?limit=1").json()["count"] == 5


def test_a_long_array_arrives_whole(user, database):
    """Arrays that are sent while they are read hold everything once."""
    with database.write() as session:
        rows = [{"name": f"s{number}", "built": demo.BUILT} for number in range(7000)]
        session.connection().execute(insert(demo.SHELVES), rows)

    plain = user.get("/api/shelf/", headers={"Accept-Encoding": "identity"})
    packed = user.get("/api/shelf/", headers={"Accept-Encoding": "gzip"})

    assert plain.headers["content-type"] == packed.headers["content-type"] == "application/json"
    assert len({shelf["pk"] for shelf in plain.json()}) == len(plain.json()) == 7004
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.json() == plain.json()
    assert user.head("/api/shelf/").content == b""


@pytest.mark.parametrize(("query", "most"), [("", 1), ("?limit=2", 2), ("?limit=2&search=nuts&full=false", 2)])
def test_a_list_takes_a_constant_number_of_statements(user, database, query, most):
    """However many rows there are, one statement reads them and one counts them."""
    statements: list[str] = []
    event.listen(database.engine, "before_cursor_execute", lambda *args: statements.append(args[2]))

    user.get(f"/api/shelf/{query}")

    assert len([text for text in statements if text.startswith("SELECT")]) <= most
