"""Global settings and user settings, as services."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

import pytest
from sqlalchemy import delete, select

from host.accounts.account import USERS
from host.config import Config
from host.contract.values import User
from host.errors import InvalidInputError, NotFoundError, NotSignedInError
from host.settings import global_definitions, user_definitions
from host.settings.global_settings import Given, GlobalSettings
from host.settings.options import OPTIONS, fixed_by
from host.settings.store import SettingStore
from host.settings.tables import GLOBAL, of_user
from host.settings.user_settings import UserSettings
from tests.settings.test_setting_store import add_user

STAFF = User(id=7, username="staff", is_staff=True)


@pytest.fixture
def events() -> list[tuple[str, Any, int | None]]:
    return []


def settings_on(database, signal=None, events=None, **changes) -> GlobalSettings:
    """Return the global settings of one process."""

    def emit(session, name, data, user_id) -> None:
        assert session.in_transaction()
        if events is not None:
            events.append((name, data, user_id))

    return GlobalSettings(database, SettingStore(database, signal, max_age=1e9), emit=emit, **changes)


def stored(database) -> dict[str, str]:
    """Return what the table of global settings holds."""
    with database.read() as connection:
        return dict(connection.execute(select(GLOBAL.table.c.key, GLOBAL.table.c.value)).all())


def test_a_change_acts_at_once_and_is_told(database, events):
    """Value, description, table and event agree."""
    settings = settings_on(database, events=events)
    assert settings.number("INVENTREE_DELETE_TASKS_DAYS") == 30

    described = settings.write("INVENTREE_DELETE_TASKS_DAYS", "60", by=STAFF)

    assert described["value"] == settings.number("INVENTREE_DELETE_TASKS_DAYS") == 60
    assert stored(database) == {"INVENTREE_DELETE_TASKS_DAYS": "60"}
    assert events == [("setting.changed", {"key": "INVENTREE_DELETE_TASKS_DAYS"}, STAFF.id)]


def test_another_process_follows(database, tmp_path):
    """Two services on one database see each other's changes by the signal file, however fast they follow."""
    here, there = (settings_on(database, tmp_path / "signal") for _ in range(2))

    for number in range(10):
        here.write("INVENTREE_INSTANCE", f"name {number}")
        assert there.text("INVENTREE_INSTANCE") == f"name {number}"


def test_another_machine_can_look_past_its_memory(database):
    """What is read as plugins are loaded is never the value of a second ago."""
    here, there = settings_on(database), settings_on(database)
    assert there.flag("ENABLE_PLUGINS_APP")

    here.write("ENABLE_PLUGINS_APP", False)

    assert there.flag("ENABLE_PLUGINS_APP")
    assert not there.flag_now("ENABLE_PLUGINS_APP")


def test_first_writes_at_once_end_with_one_value(database):
    """Nobody gets an error."""
    settings = settings_on(database)
    start = threading.Barrier(6)
    keys: list[Any] = []

    def write(number: int) -> None:
        start.wait()
        keys.append(settings.write("INVENTREE_INSTANCE", f"name {number}")["pk"])

    threads = [threading.Thread(target=write, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(keys) == 6
    assert len(set(keys)) == 1
    assert list(stored(database)) == ["INVENTREE_INSTANCE"]


def test_the_identifier_is_settled_once_for_all_machines(database):
    """Each machine would make up its own; the first one stays."""
    machines = [
        settings_on(database, given=Given(defaults={"INVENTREE_INSTANCE_ID": partial(str, name)}))
        for name in ("one", "two")
    ]
    assert [one.text("INVENTREE_INSTANCE_ID") for one in machines] == ["one", "two"]

    for one in machines:
        one.settle()

    assert stored(database) == {"INVENTREE_INSTANCE_ID": "one"}
    assert settings_on(database).text("INVENTREE_INSTANCE_ID") == "one"


@pytest.mark.parametrize(
    ("key", "value", "field"),
    [
        pytest.param("INVENTREE_DELETE_ERRORS_DAYS", 6, "value", id="too few days"),
        pytest.param("INVENTREE_UPLOAD_MAX_SIZE", 0, "value", id="no size"),
        pytest.param("INVENTREE_UPLOAD_MAX_SIZE", 2**70, "non_field_errors", id="beyond 64 bits"),
        pytest.param("INVENTREE_UPLOAD_MAX_SIZE", "many", "non_field_errors", id="no number"),
        pytest.param("INVENTREE_INSTANCE", " ", "value", id="no name"),
        pytest.param("INVENTREE_INSTANCE", "<b>x</b>", "value", id="HTML"),
        pytest.param("INVENTREE_INSTANCE", "x" * 101, "value", id="a long name"),
        pytest.param("INVENTREE_DEFAULT_CURRENCY", "XXX", "value", id="no configured currency"),
        pytest.param("CURRENCY_CODES", "euro", "value", id="no code"),
        pytest.param("SIGNUP_GROUP", "Nobody", "value", id="no group"),
        pytest.param("LOGIN_SIGNUP_MAIL_RESTRICTION", "x", "value", id="no domain"),
    ],
)
def test_bad_values_change_nothing(sqlite_database, events, key, value, field):
    """The refusal stands under a member of the body; nothing is stored and no event sent."""
    choices = {"SIGNUP_GROUP": lambda: [("", "No group"), ("Members", "Members")]}
    settings = settings_on(sqlite_database, events=events, choices=choices)

    with pytest.raises(InvalidInputError) as error:
        settings.write(key, value)

    assert list(error.value.fields) == [field]
    assert stored(sqlite_database) == {}
    assert events == []


def test_the_base_currency_is_one_of_those_configured(sqlite_database):
    """The choices follow the list of currencies."""
    settings = settings_on(sqlite_database)
    settings.write("CURRENCY_CODES", "EUR, CHF")

    assert [one["value"] for one in settings.get("INVENTREE_DEFAULT_CURRENCY")["choices"]] == ["EUR", "CHF"]  # type: ignore[index, union-attr, call-overload]
    assert settings.write("INVENTREE_DEFAULT_CURRENCY", "CHF")["value"] == "CHF"


def test_what_the_configuration_gives_cannot_be_changed(sqlite_database, events):
    """A write is accepted without effect; the value that was stored before is not shown either."""
    settings_on(sqlite_database).write("INVENTREE_INSTANCE", "Before")
    given = Given(fixed={"INVENTREE_INSTANCE": "Fixed"}, overrides={"INVENTREE_UPLOAD_MAX_SIZE": 50})
    settings = settings_on(sqlite_database, events=events, given=given)

    described = settings.write("INVENTREE_INSTANCE", "After")

    assert (described["value"], described["read_only"]) == ("Fixed", True)
    assert settings.text("INVENTREE_INSTANCE") == "Fixed"
    assert settings.number("INVENTREE_UPLOAD_MAX_SIZE") == 50
    assert stored(sqlite_database) == {"INVENTREE_INSTANCE": "Before"}
    assert events == []


@pytest.mark.parametrize(
    ("overrides", "named"),
    [
        pytest.param({"NOTHING": 1}, "NOTHING", id="unknown"),
        pytest.param({"INVENTREE_DELETE_TASKS_DAYS": 1}, "INVENTREE_DELETE_TASKS_DAYS", id="refused value"),
        pytest.param({"IMPORT_MAX_ROWS": "many"}, "IMPORT_MAX_ROWS", id="wrong type"),
    ],
)
def test_a_configuration_that_cannot_be_used_is_named(sqlite_database, overrides, named):
    """The text says which setting it is."""
    with pytest.raises(ValueError, match=named):
        settings_on(sqlite_database, given=Given(overrides=overrides))


def test_options_that_are_given_fix_their_settings():
    """Those that are left at their default do not; a list becomes a text with commas."""
    config = Config.load(
        {
            "PLUGYARD_LOGIN_ENFORCE_MFA": "false",
            "PLUGYARD_LOGIN_SIGNUP_MAIL_RESTRICTION": "@a.example, b.example",
            "PLUGYARD_INSTANCE_ID": "",
        }
    )

    assert fixed_by(config, config.model_fields_set) == {
        "LOGIN_ENFORCE_MFA": False,
        "LOGIN_SIGNUP_MAIL_RESTRICTION": "@a.example,b.example",
    }


def test_options_and_settings_have_the_same_defaults():
    """So it makes no difference who is asked while nobody has said anything."""
    config = Config.load({})
    defaults = {one.key: one.default for one in global_definitions.definitions({}, str)}

    assert {key: getattr(config, option) or "" for key, option in OPTIONS.items()} == {
        key: defaults[key] or "" for key in OPTIONS
    }


def test_every_default_would_be_accepted(sqlite_database):
    """Whoever saves a form without a change gets no refusal; the identifier has no default of its own."""
    settings = settings_on(sqlite_database)
    keys = [one.key for one in global_definitions.definitions({}, str) if one.key != "INVENTREE_INSTANCE_ID"]

    for key in keys:
        value = settings.value(key)
        assert settings.write(key, value)["value"] == value

    assert sorted(stored(sqlite_database)) == sorted(keys)


def test_records_of_plugins_are_reloaded_after_the_change(sqlite_database):
    """The value is stored before; a reload that fails is reported, and the value stays."""
    seen: list[bool] = []
    reports: list[str] = []

    def reload() -> None:
        seen.append(settings.flag_now("ENABLE_PLUGINS_APP"))
        msg = "broken"
        raise RuntimeError(msg)

    settings = settings_on(sqlite_database, reload=reload, report=lambda path, _message: reports.append(path))
    settings.write("ENABLE_PLUGINS_APP", "off")
    settings.write("ENABLE_PLUGINS_URL", "off")

    assert seen == [False]
    assert reports == ["settings.ENABLE_PLUGINS_APP.after_save"]
    assert not settings.flag("ENABLE_PLUGINS_APP")


def test_users_have_own_values(database, events):
    """Nobody sees those of another, and they go with the account."""
    ada, bob = (User(id=add_user(database, name), username=name) for name in ("ada", "bob"))

    def emit(session, name, data, user_id) -> None:
        events.append((name, data, user_id))

    settings = UserSettings(database, SettingStore(database), emit=emit)
    described = settings.write("WEEK_STARTS_ON", 6, ada)

    assert (described["value"], described["typ"], described["user"]) == (6, "user", ada.id)
    assert [settings.value(one.id, "WEEK_STARTS_ON") for one in (ada, bob)] == [6, 1]
    assert settings.get("WEEK_STARTS_ON", bob)["pk"] is None
    assert events == [("user_setting.changed", {"key": "WEEK_STARTS_ON", "user": ada.id}, ada.id)]
    with database.write() as session:
        session.connection().execute(delete(USERS).where(USERS.c.id == ada.id))
    assert SettingStore(database).read(of_user(ada.id)) == {}
    with pytest.raises(NotSignedInError):
        settings.write("WEEK_STARTS_ON", 0, ada)


def test_unknown_settings_are_not_found(sqlite_database):
    """Keys are matched exactly, and those of users are no global ones."""
    settings = settings_on(sqlite_database)
    own = UserSettings(sqlite_database, SettingStore(sqlite_database), emit=lambda *_: None)

    for key in ("inventree_instance", "WEEK_STARTS_ON", "", "NO\0"):
        with pytest.raises(NotFoundError):
            settings.get(key)
        with pytest.raises(NotFoundError):
            settings.write(key, "x")
    with pytest.raises(NotFoundError):
        own.write("INVENTREE_INSTANCE", "x", STAFF)


@pytest.mark.parametrize(
    "definitions",
    [
        pytest.param(global_definitions.definitions({}, str), id="global"),
        pytest.param(user_definitions.definitions(), id="user"),
    ],
)
def test_definitions_explain_themselves(definitions):
    """Each has a key of its own, a name, a sentence and a default."""
    keys = [one.key for one in definitions]

    assert len(set(keys)) == len(keys)
    assert [one.key for one in definitions if not (one.name and one.description.endswith("."))] == []
    assert [one.key for one in definitions if one.default is None] == []
