"""Settings of plugins."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from sqlalchemy import func, select

from host import Plugin, Setting, SettingError, User, hookimpl
from host.errors import InvalidInputError, NotFoundError
from host.plugins.setting_store import SETTING_TABLE
from host.plugins.settings import PluginSettings
from host.settings.store import SettingStore
from host.settings.values import ConfirmationNeededError
from tests.plugins.bench import Bench
from tests.settings.test_setting_store import add_user


class Declaring(Plugin):
    """Has the settings that it is told."""

    def __init__(self, *settings: Setting, user_settings: tuple[Setting, ...] = ()) -> None:
        self._settings = settings
        self._user_settings = user_settings

    @hookimpl
    def plugin_settings(self) -> list[Setting]:
        return list(self._settings)

    @hookimpl
    def user_settings(self) -> list[Setting]:
        return list(self._user_settings)


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def emitted() -> list[Any]:
    return []


@pytest.fixture
def settings(bench, database, emitted) -> PluginSettings:
    def emit(_session: object, *event: object) -> None:
        emitted.append(event)

    return PluginSettings(
        database,
        bench,
        bench.calls,
        SettingStore(database),
        report=bench.report,
        emit=emit,
        overrides={"lamp": {"FIXED": 5}},
    )


@pytest.fixture
def user(database) -> User:
    return User(id=add_user(database, "ada"), username="ada")


def count(database: Any) -> int:
    with database.read() as connection:
        return int(connection.execute(select(func.count()).select_from(SETTING_TABLE)).scalar_one())


def test_settings_are_listed_in_the_order_of_their_definition(bench, settings):
    """Hidden ones are among them; pk is null until a value is stored."""
    bench.load({"lamp": Declaring(Setting(key="B", name="b", hidden=True), Setting(key="A", name="a", default="x"))})

    listed = settings.list("lamp")

    assert [(one["key"], one["value"], one["pk"]) for one in listed] == [("B", "", None), ("A", "x", None)]
    assert {(one["typ"], one["plugin"], one["read_only"]) for one in listed} == {("plugin", "lamp", False)}


def test_a_plugin_without_settings_has_an_empty_list(bench, settings):
    """That is no error."""
    bench.load({"lamp": object()})

    assert settings.list("lamp") == []


@pytest.mark.parametrize(
    ("plugin", "setting"),
    [("nobody", "A"), ("asleep", "A"), ("lamp", "B"), ("lamp", "a")],
    ids=["unknown plugin", "inactive plugin", "unknown setting", "other case"],
)
def test_what_is_not_there_is_not_found(bench, settings, plugin, setting):
    """Names are matched exactly, for reading and for writing."""
    bench.load({"lamp": Declaring(Setting(key="A", name="a"))}, inactive=["asleep"])

    with pytest.raises(NotFoundError):
        settings.get(plugin, setting)
    with pytest.raises(NotFoundError):
        settings.write(plugin, setting, "x")


def test_a_written_value_is_shown_and_sent_as_an_event_without_the_value(bench, settings, emitted, user):
    """The description afterwards has the new value and a pk that stays."""
    bench.load({"lamp": Declaring(Setting(key="N", name="n", type="integer"))})

    first = settings.write("lamp", "N", "4", by=user)
    second = settings.write("lamp", "N", 5, by=user)

    assert first["value"] == 4
    assert second["value"] == 5
    assert first["pk"] == second["pk"] is not None
    assert settings.get("lamp", "N") == second
    assert emitted == [("plugin.setting_changed", {"plugin": "lamp", "key": "N"}, user.id)] * 2


def test_a_refused_value_changes_nothing(bench, settings, database, emitted):
    """Neither the table nor the world hears of it."""
    bench.load({"lamp": Declaring(Setting(key="N", name="n", type="integer"))})

    with pytest.raises(InvalidInputError):
        settings.write("lamp", "N", "four")

    assert count(database) == 0
    assert emitted == []


def test_a_setting_that_asks_for_confirmation_gets_it(bench, settings):
    """Without manual_confirm the text is the answer, and nothing is stored."""
    bench.load({"lamp": Declaring(Setting(key="A", name="a", confirm=True, confirm_text="Sure?"))})

    with pytest.raises(ConfirmationNeededError, match="Sure"):
        settings.write("lamp", "A", "x")
    assert settings.get("lamp", "A")["pk"] is None

    assert settings.write("lamp", "A", "x", manual_confirm=True)["value"] == "x"


def test_a_fixed_setting_takes_writes_without_effect(bench, settings, database):
    """The configuration wins; clients see its value and that it is read only."""
    bench.load({"lamp": Declaring(Setting(key="FIXED", name="f", type="integer", confirm=True))})

    answer = settings.write("lamp", "FIXED", "rubbish")

    assert (answer["value"], answer["read_only"], answer["pk"]) == (5, True, None)
    assert count(database) == 0


def test_a_protected_value_is_never_shown_but_kept_when_its_mask_comes_back(bench, settings):
    """A client that saves a whole form must not replace the secret by its mask."""
    definition = Setting(key="TOKEN", name="t", protected=True)
    bench.load({"lamp": Declaring(definition)})

    assert settings.get("lamp", "TOKEN")["value"] == ""
    assert settings.write("lamp", "TOKEN", "secret")["value"] == "***"
    assert settings.write("lamp", "TOKEN", "***")["value"] == "***"
    assert settings.value("lamp", None, definition) == "secret"


def test_functions_of_a_definition_that_fail_are_reported_and_do_not_break_the_list(bench, settings):
    """The report names plugin, setting and function."""

    def broken() -> Any:
        msg = "broken"
        raise RuntimeError(msg)

    bench.load(
        {"lamp": Declaring(Setting(key="A", name="a", default=broken, choices=broken), Setting(key="B", name="b"))}
    )

    assert [one["key"] for one in settings.list("lamp")] == ["A", "B"]
    assert sorted(set(bench.reported)) == ["plugin.lamp.settings.A.choices", "plugin.lamp.settings.A.default"]


def test_a_secret_does_not_reach_an_error_report(bench, settings):
    """A validator that breaks may have the value in its message."""

    def broken(value: object) -> None:
        msg = f"cannot use {value}"
        raise RuntimeError(msg)

    bench.load({"lamp": Declaring(Setting(key="T", name="t", protected=True, validators=[broken]))})

    with pytest.raises(InvalidInputError):
        settings.write("lamp", "T", "hunter2")

    (report,) = bench.reports
    assert "hunter2" not in str(report)
    assert "RuntimeError" in report[1]


def test_a_function_that_hangs_is_left_behind(database):
    """A default that does not come back counts as none."""
    bench = Bench(deadline=0.05)
    release = threading.Event()
    settings = PluginSettings(database, bench, bench.calls, SettingStore(database), report=bench.report)
    bench.load({"lamp": Declaring(Setting(key="A", name="a", default=lambda: release.wait(30) and "x"))})

    assert settings.get("lamp", "A")["value"] == ""
    release.set()
    assert bench.reported == ["plugin.lamp.settings.A.default"]


def test_saving_calls_the_plugin_before_and_after(bench, settings):
    """Before the value is stored, a plugin may refuse; afterwards it may read it."""
    seen: list[object] = []
    definition = Setting(
        key="N",
        name="n",
        type="integer",
        before_save=lambda value: seen.append(("before", value, settings.value("lamp", None, definition))),
        after_save=lambda value: seen.append(("after", value, settings.value("lamp", None, definition))),
    )
    bench.load({"lamp": Declaring(definition)})

    settings.write("lamp", "N", "3")

    assert seen == [("before", 3, None), ("after", 3, 3)]


def test_user_settings_belong_to_their_user(bench, settings, user, database, emitted):
    """Same shape, without read_only, with the user's id; nobody else sees the value."""
    other = User(id=add_user(database, "bob"), username="bob")
    bench.load({"lamp": Declaring(user_settings=(Setting(key="HUE", name="h", default="red", confirm=True),))})

    with pytest.raises(ConfirmationNeededError):
        settings.write_for_user("lamp", "HUE", "blue", user)
    mine = settings.write_for_user("lamp", "HUE", "blue", user, manual_confirm=True)

    assert (mine["value"], mine["typ"], mine["plugin"], mine["user"]) == ("blue", "plugin_user", "lamp", user.id)
    assert "read_only" not in mine
    assert settings.get_for_user("lamp", "HUE", user) == mine
    assert [one["value"] for one in settings.list_for_user("lamp", other)] == ["red"]
    assert emitted == [("plugin.user_setting_changed", {"plugin": "lamp", "key": "HUE", "user": user.id}, user.id)]
    with pytest.raises(NotFoundError):
        settings.get("lamp", "HUE")
    with pytest.raises(NotFoundError):
        settings.get_for_user("lamp", "SIZE", user)


def test_a_stored_row_is_described_with_or_without_its_plugin(bench, settings):
    """The list over all plugins holds rows of inactive ones too; what may be a secret stays one."""
    bench.load({"lamp": Declaring(Setting(key="N", name="Number", type="integer"))})

    known = settings.describe_stored("lamp", "N", 3, "5")
    unknown = settings.describe_stored("gone", "TOKEN", 4, "secret")

    assert (known["pk"], known["value"], known["name"]) == (3, 5, "Number")
    assert (unknown["pk"], unknown["value"], unknown["plugin"]) == (4, "***", "gone")


def test_forgetting_a_plugin_forgets_its_values(bench, settings, database):
    """As part of the transaction that deletes the plugin's record."""
    bench.load({"lamp": Declaring(Setting(key="A", name="a"))})
    settings.write("lamp", "A", "x")

    with database.write() as session:
        settings.forget(session, "lamp")

    assert settings.get("lamp", "A")["pk"] is None


def test_a_refusal_of_before_save_is_the_answer(bench, settings, database):
    """SettingError in before_save refuses the value as a validator would."""

    def refuse(_value: object) -> None:
        msg = "the lamp is on"
        raise SettingError(msg)

    bench.load({"lamp": Declaring(Setting(key="A", name="a", before_save=refuse))})

    with pytest.raises(InvalidInputError, match="the lamp is on"):
        settings.write("lamp", "A", "x")
    assert count(database) == 0


def test_what_a_function_gives_that_json_cannot_say_does_not_break_the_list(bench, settings):
    """Half of a surrogate pair counts as no default and no choices, and is reported."""
    odd = Setting(key="A", name="a", default=lambda: "\ud800", choices=lambda: [("a", "\ud800")])
    bench.load({"lamp": Declaring(odd)})

    (described,) = settings.list("lamp")

    assert (described["value"], described["choices"]) == ("", [])
    assert sorted(set(bench.reported)) == ["plugin.lamp.settings.A.choices", "plugin.lamp.settings.A.default"]


@pytest.mark.parametrize("text", ["\ud800", None])
def test_a_refusal_that_cannot_be_shown_is_a_refusal(bench, settings, text):
    """The text of a plugin's exception may raise, or hold what JSON cannot say."""

    class OddError(SettingError):
        def __str__(self) -> str:
            if text is None:
                raise RuntimeError
            return str(text)

    def refuse(_value: object) -> None:
        raise OddError

    bench.load({"lamp": Declaring(Setting(key="A", name="a", validators=[refuse]))})

    with pytest.raises(InvalidInputError) as caught:
        settings.write("lamp", "A", "x")

    assert caught.value.fields == {"value": ["This value was refused."]}


def test_a_setting_does_not_store_itself_again_and_again(bench, settings):
    """What is called after saving may store other settings, not the same one."""

    def again(value: object) -> None:
        settings.store_value("lamp", None, other, "other")
        settings.store_value("lamp", None, itself, f"{value}x")

    itself, other = Setting(key="A", name="a", after_save=again), Setting(key="B", name="b")
    bench.load({"lamp": Declaring(itself, other)})

    assert settings.write("lamp", "A", "v")["value"] == "v"
    assert settings.get("lamp", "B")["value"] == "other"
    assert bench.reported[0] == "plugin.lamp.settings.A.after_save"
