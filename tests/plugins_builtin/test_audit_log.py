"""What the audit log records, shows and forgets."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta
from threading import Thread
from types import SimpleNamespace

import pytest

from builtin_plugins.audit_log import entries
from builtin_plugins.audit_log.plugin import PATTERNS, RETENTION, AuditLog
from builtin_plugins.audit_log.redaction import redacted
from host import Event, SettingError, UIContext
from host.contract.routes import access_of

ENTRIES = "/plugin/audit-log/entries/"
CSV = "/plugin/audit-log/entries.csv"


@pytest.fixture
def log(database, load, client_of):
    """A loaded audit log on an empty database, of each kind in turn; it keeps what it gets."""
    plugin = AuditLog()
    services = load(plugin, "audit-log", database)
    services.settings.set(RETENTION, 0)
    return SimpleNamespace(plugin=plugin, settings=services.settings, client=client_of(plugin, "audit-log"))


def event(id=1, name="plugin.activated", *, data=None, user_id=7, time=None):
    return Event(id=id, name=name, data=data or {}, user_id=user_id, time=time or datetime(2025, 3, 1, 12, tzinfo=UTC))


def shown(log, **query):
    return log.client.get(ENTRIES, params=query).json()


def ids(log, **query):
    return [entry["event"] for entry in shown(log, **query)["results"]]


def test_an_event_can_be_read_afterwards(log):
    """An entry tells what happened, when, and who did it."""
    log.plugin.on_event(event(id=5, data={"key": "lamp", "version": "1.1"}))

    answer = shown(log)

    assert answer == {
        "count": 1,
        "next": None,
        "previous": None,
        "results": [
            {
                "pk": answer["results"][0]["pk"],
                "event": 5,
                "name": "plugin.activated",
                "user": 7,
                "time": "2025-03-01T12:00:00Z",
                "data": {"key": "lamp", "version": "1.1"},
            }
        ],
    }


def test_an_event_that_arrives_twice_is_recorded_once(log):
    """The id says whether it is the same event."""
    for _ in range(2):
        log.plugin.on_event(event(id=1))
    log.plugin.on_event(event(id=2))

    assert ids(log) == [2, 1]


def test_an_event_that_arrives_at_two_places_at_once_is_recorded_once(database, load):
    """Two processes that deliver the same event do not disturb each other."""
    services = load(AuditLog(), "audit-log", database)
    recorded = []

    def record_it():
        with services.session() as session:
            recorded.append(entries.record(session, event()))

    other = Thread(target=record_it)
    with services.session() as session:
        recorded.append(entries.record(session, event()))
        other.start()
    other.join()

    assert recorded == [True, False]


def test_only_events_that_fit_the_patterns_are_recorded(log):
    """The setting counts from the moment it is changed."""
    log.settings.set(PATTERNS, "plugin.*, user.login_failed")
    for number, name in enumerate(["plugin.activated", "user.login", "user.login_failed", "Plugin.activated"]):
        log.plugin.on_event(event(id=number, name=name))

    assert ids(log) == [2, 0]


@pytest.mark.parametrize(
    ("data", "kept"),
    [
        pytest.param({"password": "hunter2", "key": "lamp"}, {"password": "***", "key": "lamp"}, id="by name"),
        pytest.param(
            {"new": {"apiKey": "x", "old_password2": "y"}},
            {"new": {"apiKey": "***", "old_password2": "***"}},
            id="deeper",
        ),
        pytest.param({"all": [{"recovery_codes": ["1"]}]}, {"all": [{"recovery_codes": "***"}]}, id="in a list"),
        pytest.param({"url": "smtp://me:hunter2@mail/"}, {"url": "smtp://***@mail/"}, id="in a URL"),
        pytest.param({"sent": "Bearer abcdefghij"}, {"sent": "***"}, id="in a header"),
        pytest.param({"text": f"ply-{'0' * 40}-20250101"}, {"text": "***"}, id="a token of the host"),
        pytest.param({"status_code": 200, "tokenizer": "a"}, {"status_code": 200, "tokenizer": "a"}, id="innocent"),
    ],
)
def test_secrets_are_left_out(data, kept):
    """Whatever a plugin emits, its secrets do not end up in the log."""
    assert redacted(data) == kept


def test_secrets_are_not_stored(log):
    """Nothing of a secret reaches the database."""
    log.plugin.on_event(event(data={"password": "hunter2"}))

    (entry,) = shown(log)["results"]
    assert entry["data"] == {"password": "***"}


def test_huge_data_are_cut(log):
    """An event cannot fill the log by itself."""
    deep: object = "end"
    for _ in range(50):
        deep = [deep]
    log.plugin.on_event(event(data={"text": "x" * 100_000, "list": list(range(5000)), "deep": deep}))

    (entry,) = shown(log)["results"]
    assert len(str(entry["data"])) < 2000


@pytest.mark.parametrize(
    ("query", "found"),
    [
        pytest.param({}, [4, 3, 2, 1], id="all, newest first"),
        pytest.param({"name": "user.*"}, [4, 2], id="pattern"),
        pytest.param({"name": "USER.LOGIN"}, [2], id="any case"),
        pytest.param({"name": "plugin_activated"}, [], id="no wildcard of SQL"),
        pytest.param({"name": "plug?n.activated"}, [3, 1], id="one character"),
        pytest.param({"user": 8}, [4, 3], id="user"),
        pytest.param({"since": "2025-03-02"}, [4, 3, 2], id="since a day"),
        pytest.param({"until": "2025-03-02"}, [2, 1], id="until a day, included"),
        pytest.param({"since": "2025-03-02T12:00:00Z", "until": "2025-03-03T13:00+01:00"}, [2], id="moments"),
        pytest.param({"name": "user.*", "user": 8}, [4], id="together"),
    ],
)
def test_filters_narrow_the_list(log, query, found):
    """Filters are combined; the end of a span is not part of it."""
    for day, (name, user_id) in enumerate(
        [("plugin.activated", 7), ("user.login", 7), ("plugin.activated", 8), ("user.logout", 8)], start=1
    ):
        log.plugin.on_event(event(id=day, name=name, user_id=user_id, time=datetime(2025, 3, day, 12, tzinfo=UTC)))

    assert ids(log, **query) == found


def test_an_unreadable_filter_is_refused(log):
    """Each parameter that cannot be read is named, and nothing is shown."""
    for path in (ENTRIES, CSV):
        answer = log.client.get(path, params={"since": "yesterday", "until": "2025-13-01", "user": "bob"})

        assert answer.status_code == 400
        assert sorted(answer.json()) == ["since", "until", "user"]


def test_pages_are_linked(log):
    """Following the links leads through all entries and back."""
    for number in range(5):
        log.plugin.on_event(event(id=number))

    first = shown(log, limit=2, user=7)
    second = log.client.get(first["next"]).json()
    last = log.client.get(second["next"]).json()

    assert first["count"] == 5
    assert first["previous"] is None
    assert first["next"].endswith(f"{ENTRIES}?limit=2&offset=2&user=7")
    assert [entry["event"] for page in (first, second, last) for entry in page["results"]] == [4, 3, 2, 1, 0]
    assert last["next"] is None
    assert second["previous"].endswith(f"{ENTRIES}?limit=2&user=7")
    assert log.client.get(second["previous"]).json() == first


def test_a_limit_that_makes_no_sense_counts_as_none(log):
    """There is a page in any case, never the whole log at once."""
    log.plugin.on_event(event())

    for limit in ("", "0", "-1", "x", "1e3", "99999999999999999999"):
        assert len(shown(log, limit=limit, offset="x")["results"]) == 1


def test_the_log_can_be_downloaded(log):
    """The file holds everything that the filters leave, and no cell that a spreadsheet would run."""
    for number in range(1, 521):
        log.plugin.on_event(event(id=number, name="=cmd()" if number == 1 else "plugin.activated", data={"n": number}))

    answer = log.client.get(CSV, params={"user": 7})

    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert answer.headers["content-type"].startswith("text/csv")
    assert "attachment" in answer.headers["content-disposition"]
    assert [int(row["event"]) for row in rows] == list(range(520, 0, -1))
    assert rows[-1]["name"] == "'=cmd()"
    assert rows[0]["data"] == '{"n": 520}'


def test_old_entries_are_removed(log):
    """What is older than the setting says goes with one of the next events."""
    log.settings.set(RETENTION, 90)
    long_ago = datetime.now(UTC) - timedelta(days=91)
    log.plugin.on_event(event(id=1, time=long_ago))
    assert ids(log) == []

    log.plugin.on_event(event(id=2, time=datetime.now(UTC)))
    assert ids(log) == [2]


def test_entries_can_be_kept_for_ever(log):
    """A retention of 0 removes nothing."""
    log.plugin.on_event(event(time=datetime(1970, 1, 2, tzinfo=UTC)))

    assert ids(log) == [1]


def test_a_negative_retention_is_refused():
    """The setting says what it takes."""
    (retention,) = [setting for setting in AuditLog().plugin_settings() if setting.key == RETENTION]

    with pytest.raises(SettingError, match="number of days"):
        retention.validators[0](-1)
    retention.validators[0](0)
    assert retention.default == 90


def test_only_staff_read_the_log():
    """The host refuses everybody else, because each endpoint says so."""
    assert {access_of(route.endpoint) for route in AuditLog().routes()} == {"staff"}


@pytest.mark.parametrize(("caller", "tiles"), [("user", 0), ("staff", 1), ("superuser", 1)])
def test_only_staff_get_the_tile(request, load, caller, tiles):
    """The tile reads what only staff may read."""
    plugin = AuditLog()
    load(plugin, "audit-log")
    context = UIContext(feature_type="dashboard", user=request.getfixturevalue(caller))

    items = plugin.ui_dashboard_items(context)

    assert len(items) == tiles
    assert all(item.context == {"url": ENTRIES, "limit": 8} for item in items)
