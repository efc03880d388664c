"""The sample plugins do what their comments say."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from uuid import UUID

import pytest

from host import Event, MailDelivery, OutgoingMail, SettingError, UIContext
from host.contract.routes import access_of
from sample_plugins import action, locate
from sample_plugins.admin.plugin import SampleAdmin
from sample_plugins.currency import FixedRates
from sample_plugins.events import SampleEvents
from sample_plugins.locate import ShelfLamps
from sample_plugins.mail import SampleMail
from sample_plugins.routes.plugin import SampleRoutes
from sample_plugins.settings import SampleSettings
from sample_plugins.sign_in import SampleSignIn
from sample_plugins.ui.plugin import SampleUI

PYTHON_TYPES = {"boolean": bool, "integer": int, "float": float, "string": str}


@pytest.mark.parametrize(
    ("name", "data", "result", "info"),
    [
        pytest.param("sample.echo", "hi", True, {"you": "eve", "said": "hi"}, id="echo"),
        pytest.param("sample.add", {"numbers": [1, 2.5]}, True, {"sum": 3.5}, id="add"),
        pytest.param("sample.add", {"numbers": ["1"]}, False, 'Send {"numbers": [1, 2, 3]}.', id="texts"),
        pytest.param("sample.add", None, False, 'Send {"numbers": [1, 2, 3]}.', id="nothing"),
    ],
)
def test_actions_answer(user, name, data, result, info):
    """Each action that is offered answers, whatever the client sends."""
    assert name in action.action_names()

    done = action.perform_action(name, data, user)

    assert done is not None
    assert (done.result, done.info) == (result, info)


def test_an_action_of_another_plugin_is_left_to_it(user):
    """``None`` passes the question on."""
    assert action.perform_action("sample.other", None, user) is None


def test_lamps_show_items_and_locations(load, user):
    """Any item has a lamp; a location only where there is one."""
    plugin = ShelfLamps(lamps=8)
    load(plugin, "sample-locate")

    item = asyncio.run(plugin.locate_item(15, user))
    there = asyncio.run(plugin.locate_location(8, user))
    nowhere = asyncio.run(plugin.locate_location(9, user))

    assert item.message == "Lamp 8 is on for item 15"
    assert there is not None
    assert there.message == "Lamp 8 is on, eve"
    assert nowhere is None
    assert isinstance(locate.plugin, ShelfLamps)


def test_lamps_are_switched_off_in_the_end(load, user, caplog):
    """What a plugin has taken it lets go of when it is stopped."""
    plugin = ShelfLamps(lamps=8)
    services = load(plugin, "sample-locate")
    caplog.set_level("INFO", logger=services.log.name)

    plugin.start(services)
    asyncio.run(plugin.locate_item(15, user))
    plugin.stop()

    assert caplog.messages == ["8 lamps are ready", "eve looks for item 15", "switching off 1 lamps"]


def test_every_kind_of_setting_is_shown():
    """An author finds an example of each type and of each option."""
    settings = SampleSettings().plugin_settings()

    assert {setting.type for setting in settings} == set(PYTHON_TYPES)
    for option in ("units", "protected", "required", "hidden", "confirm", "model", "after_save", "validators"):
        assert any(getattr(setting, option) for setting in settings), option
    assert any(callable(setting.choices) for setting in settings)
    assert any(callable(setting.default) for setting in settings)


def test_defaults_are_among_the_choices():
    """A setting with choices starts with one of them."""
    for setting in SampleSettings().plugin_settings():
        choices = setting.choices() if callable(setting.choices) else setting.choices
        default = setting.default() if callable(setting.default) else setting.default
        if choices:
            assert default in [value for value, _ in choices]
        if default is not None:
            assert isinstance(default, PYTHON_TYPES[setting.type])


def test_an_odd_number_of_retries_is_refused():
    """A validator's message is for whoever sets the value."""
    (retries,) = [setting for setting in SampleSettings().plugin_settings() if setting.key == "RETRIES"]

    with pytest.raises(SettingError, match="even"):
        retries.validators[0](3)
    retries.validators[0](2)


def test_settings_are_read_and_written(load, user):
    """The action uses the user's own setting and notes when it ran."""
    plugin = SampleSettings()
    services = load(plugin, "sample-settings")
    services.settings.set_for_user("NICKNAME", user.id, "Evi")

    done = plugin.perform_action("sample-settings", None, user)

    assert done.info == "Hello, Evi: sample-settings was run"
    assert services.settings.get("LAST_RUN")


def test_an_activated_plugin_is_greeted_once(load):
    """An event that arrives twice has one effect."""
    plugin = SampleEvents()
    services = load(plugin, "sample-events")
    event = Event(id=4, name="plugin.activated", data={"key": "lamp"}, user_id=1, time=datetime(2025, 3, 1, tzinfo=UTC))

    plugin.on_event(event)
    plugin.on_event(event)

    assert services.emitted == [("sample-events.greeted", {"key": "lamp"}, 1)]


def test_the_plugin_does_not_hear_itself():
    """What it sends fits none of the patterns that it asks for."""
    assert SampleEvents().event_patterns() == ["plugin.activated"]


def test_the_administration_page_gets_its_context(load, staff):
    """The page is told who reads it."""
    plugin = SampleAdmin()
    load(plugin, "sample-admin")

    page = plugin.admin_integration(staff)

    assert (page.source, page.context) == ("admin.js", {"plugin": "Sample: administration page", "reader": "bob"})


def test_routes_answer(load, client_of):
    """Functions and methods, plain and asynchronous, all answer."""
    plugin = SampleRoutes()
    load(plugin, "sample-routes")
    client = client_of(plugin, "sample-routes")
    path = "/plugin/sample-routes"

    assert client.get(f"{path}/hello/", params={"name": "you"}).text == "Hello, you!"
    assert client.get(f"{path}/whoami/").json() == {"id": 2, "username": "bob"}
    assert client.post(f"{path}/words/", content="one two").json() == {"words": 2}
    assert client.get(f"{path}/shelves/7/").json() == {"shelf": 7, "page": "/static/plugins/sample-routes/index.html"}
    assert client.get(f"{path}/about/").json() == {"version": "", "host": "testserver"}


def test_routes_show_every_level_of_access():
    """There is an example for each kind of caller."""
    assert {access_of(route.endpoint) for route in SampleRoutes().routes()} == {"anyone", "user", "staff", "superuser"}


@pytest.mark.parametrize(
    ("hook", "query", "keys"),
    [
        ("ui_panels", {"target_model": "part", "target_id": "3"}, ["sample-panel"]),
        ("ui_panels", {"target_model": "company"}, []),
        ("ui_dashboard_items", {}, ["sample-clock"]),
        ("ui_template_editors", {"template_type": "labeltemplate"}, ["sample-editor"]),
        ("ui_template_previews", {}, ["sample-preview"]),
        ("ui_navigation_items", {}, ["sample-link"]),
        ("ui_spotlight_actions", {}, ["sample-command"]),
        ("ui_primary_actions", {"target_id": "3"}, ["sample-button"]),
        ("ui_primary_actions", {}, []),
        ("ui_features", {}, []),
    ],
)
def test_features_are_offered(load, user, hook, query, keys):
    """Each hook gives its features, depending on what the client asks for."""
    plugin = SampleUI()
    load(plugin, "sample-ui")

    features = getattr(plugin, hook)(UIContext(feature_type="any", user=user, query=query))

    assert [feature.key for feature in features] == keys


def test_staff_get_one_more_tile_and_new_types_are_answered(load, staff):
    """Features may depend on the caller and on the type that was asked for."""
    plugin = SampleUI()
    load(plugin, "sample-ui")

    tiles = plugin.ui_dashboard_items(UIContext(feature_type="dashboard", user=staff))
    others = plugin.ui_features(UIContext(feature_type="sample", user=staff))

    assert [tile.key for tile in tiles] == ["sample-clock", "sample-staff"]
    assert [feature.key for feature in others] == ["sample-feature"]


def test_a_word_is_refused_in_passwords(load, user):
    """In any case, for new and existing accounts; without a word nothing is refused."""
    plugin = SampleSignIn()
    services = load(plugin, "sample-sign-in")

    assert plugin.check_password("my Plugyard 1", user) == [
        "A password may not hold the word 'plugyard'. Choose another one."
    ]
    assert plugin.check_password("correct horse", None) == []
    services.settings.set("WORD", "")
    assert plugin.check_password("my Plugyard 1", None) == []


def test_a_provider_is_offered_once_its_address_is_set(load):
    """The provider is made from the settings."""
    plugin = SampleSignIn()
    services = load(plugin, "sample-sign-in")
    assert plugin.sign_in_providers() == []

    services.settings.set("SERVER", "https://id.example.org")
    services.settings.set("CLIENT_SECRET", "hush")

    (provider,) = plugin.sign_in_providers()
    assert (provider.id, provider.client_id, provider.secret) == ("sample", "plugyard", "hush")
    assert (provider.type, provider.server_url) == ("openid_connect", "https://id.example.org")


def test_rates_are_given_in_the_base_of_the_source(load):
    """Only what is wanted and known; nothing at all is said by ``None``."""
    plugin = FixedRates()
    load(plugin, "sample-currency")

    found = plugin.exchange_rates("USD", ["CHF", "GBP", "USD"])

    assert found is not None
    assert (found.base, {code: str(rate) for code, rate in found.rates.items()}) == (
        "EUR",
        {"GBP": "0.86120", "USD": "1.0821"},
    )
    assert plugin.exchange_rates("CHF", ["CHF"]) is None


MAIL = OutgoingMail(
    id=UUID(int=1),
    message_id="<1@example.org>",
    thread=UUID(int=2),
    sender="yard@example.org",
    recipients=("ada@example.org",),
    subject="Hello",
    message=b"Subject: Hello",
)


def test_mails_become_files_once_a_folder_is_named(load, tmp_path, caplog):
    """Without a folder others deliver; a folder that is missing lets the mail wait."""
    plugin = SampleMail()
    services = load(plugin, "sample-mail")
    caplog.set_level("INFO", logger=services.log.name)
    assert plugin.deliver_mail(MAIL) is None

    services.settings.set("FOLDER", str(tmp_path))
    delivery = plugin.deliver_mail(MAIL)
    services.settings.set("FOLDER", str(tmp_path / "nowhere"))
    failed = plugin.deliver_mail(MAIL)
    plugin.mail_sent(MAIL)

    assert delivery == MailDelivery(message_id=f"file-{MAIL.id}")
    assert [file.read_bytes() for file in tmp_path.iterdir()] == [MAIL.message]
    assert failed is not None
    assert (failed.error_code, failed.is_final) == ("no-folder", False)
    assert caplog.messages == [f"mail {MAIL.id} has left: Hello"]


def test_mail_is_handed_in_over_http(load, client_of):
    """The plugin passes on what comes in and what is told, and answers what cannot be used with 400."""
    plugin = SampleMail()
    mail = load(plugin, "sample-mail").mail
    client, path = client_of(plugin, "sample-mail"), "/plugin/sample-mail"

    received = client.post(f"{path}/incoming/", content=b"Subject: Hi").json()["id"]
    assert client.post(f"{path}/incoming/").status_code == 400
    told = client.post(f"{path}/outcome/", json={"message_id": "x", "outcome": "read"})
    assert [client.post(f"{path}/outcome/", content=body).status_code for body in (b"", b"[]", b"{}")] == [400] * 3

    assert mail.received == {UUID(received): b"Subject: Hi"}
    assert (told.json(), mail.noted) == ({"known": True}, [("x", "read", "")])
