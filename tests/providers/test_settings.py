"""The configuration of providers, and where their logins may return."""

from __future__ import annotations

import pytest

from host.accounts.providers.client import Providers
from host.accounts.providers.failures import Failure
from host.accounts.providers.frontend import allowed_callback, with_error
from host.accounts.providers.pending import MOST, remember, take
from host.accounts.providers.settings import STATE_LIFE, ProviderSettings, read_providers
from host.accounts.providers.urls import check_advertised
from tests.providers.conftest import Clock

SERVER = "https://login.example.org/realms/a"
APP = {"provider_id": "my", "name": "My", "client_id": "c", "secret": "hush", "settings": {"server_url": SERVER}}
SIMPLE = {"type": "openid_connect", "name": "My", "client_id": "c", "secret": "hush", "server_url": SERVER}
OWN = "https://plugyard.example.org"


def test_both_forms_mean_the_same():
    """Whoever comes from another host of this interface keeps their configuration."""
    (one,) = read_providers({"my": SIMPLE | {"scope": "openid groups", "auth_params": {"prompt": "login"}}})
    (other,) = read_providers(
        {
            "openid_connect": {
                "APPS": [APP],
                "OAUTH_PKCE_ENABLED": True,
                "SCOPE": ["openid", "groups"],
                "AUTH_PARAMS": {"prompt": "login"},
            }
        }
    )

    assert one == other
    assert one.configuration_url == f"{SERVER}/.well-known/openid-configuration"
    assert one.secret.get_secret_value() == "hush"
    assert "hush" not in repr(one)


@pytest.mark.parametrize("url", [SERVER, f"{SERVER}/", f"{SERVER}/.well-known/openid-configuration"])
def test_the_address_may_be_that_of_the_description(url):
    """However it is written, the description is found."""
    (settings,) = read_providers({"my": SIMPLE | {"server_url": url}})

    assert settings.configuration_url == f"{SERVER}/.well-known/openid-configuration"


def test_github_needs_little():
    """An id and a secret, in either form."""
    app = {"client_id": "c", "secret": "hush"}

    assert read_providers({"github": app}) == read_providers({"github": {"APP": app | {"key": ""}}})
    assert read_providers({"github": app})[0].title == "GitHub"
    assert read_providers({}) == ()


@pytest.mark.parametrize(
    ("option", "named"),
    [
        pytest.param({"my": "text"}, "'my'", id="no object"),
        pytest.param({"my": {"client_id": "c"}}, "type", id="no type"),
        pytest.param({"my": SIMPLE | {"type": "saml"}}, "type", id="unknown type"),
        pytest.param({"google": {"APPS": [APP]}}, "'google'", id="unknown kind"),
        pytest.param({"my": SIMPLE | {"client_id": ""}}, "client_id", id="no client"),
        pytest.param({"my": SIMPLE | {"server_url": ""}}, "server_url", id="no server"),
        pytest.param({"my": SIMPLE | {"server_url": "http://login.example.org"}}, "https", id="unencrypted"),
        pytest.param({"my": SIMPLE | {"server_url": "https://a:b@login.example.org"}}, "server_url", id="credentials"),
        pytest.param({"my": SIMPLE | {"server_url": "https://login.example.org:99999"}}, "server_url", id="port"),
        pytest.param({"my": SIMPLE | {"secert": "hush"}}, "secert", id="misspelt"),
        pytest.param({"my": SIMPLE | {"secret": {"a": "hush"}}}, "secret", id="secret of a strange kind"),
        pytest.param({"my": SIMPLE | {"auth_params": {"state": "x"}}}, "state", id="reserved parameter"),
        pytest.param({"m/y": SIMPLE}, "'m/y'", id="id with a slash"),
        pytest.param({"my": SIMPLE | {"id": "x"}}, "id", id="id twice"),
        pytest.param({"my": SIMPLE, "openid_connect": {"APPS": [APP]}}, "'my'", id="same id twice"),
        pytest.param({"openid_connect": {"APPS": {}}}, "APPS", id="no list"),
        pytest.param({"openid_connect": {"APPS": [APP | {"sites": [1]}]}}, "sites", id="unknown member of an app"),
        pytest.param({"openid_connect": {"APPS": [APP], "METHOD": "js"}}, "METHOD", id="unknown member of a kind"),
        pytest.param({"openid_connect": {"APPS": [APP | {"settings": [1]}]}}, "settings", id="settings of an app"),
        pytest.param({"openid_connect": {"APPS": [APP | {"settings": {"secret": "hush"}}]}}, "secret", id="misplaced"),
        pytest.param({"github": {"client_id": "c"}}, "secret", id="no secret"),
        pytest.param({"forge": {"type": "oauth2", "client_id": "c"}}, "authorize_url", id="no addresses"),
    ],
)
def test_bad_configuration_is_named(option, named):
    """The message says which provider and which member, and gives no secret away."""
    with pytest.raises(ValueError, match="SOCIALACCOUNT_PROVIDERS") as caught:
        read_providers(option)

    assert named in str(caught.value)
    assert "hush" not in str(caught.value)
    assert caught.value.__context__ is None


def test_without_sign_in_by_providers_there_are_none(clock: Clock):
    """Neither one that is configured nor one that came later, until it is switched on again."""
    is_on = [False]
    settings = read_providers({"my": SIMPLE})
    providers = Providers(
        settings, first_use=lambda *_: True, more=lambda: settings, enabled=lambda: is_on[0], clock=clock
    )

    assert providers.all() == []
    assert providers.get("my") is None
    assert providers.describe("my")["flows"] == []
    is_on[0] = True
    assert [one.id for one in providers.all()] == ["my"]


def test_providers_may_come_while_the_host_runs(clock: Clock):
    """Configured ones win, and one that stays the same keeps what it has learned."""
    (settings,) = read_providers({"my": SIMPLE})
    late: list[ProviderSettings] = []
    providers = Providers([settings], first_use=lambda _digest, _expiry: True, more=lambda: late, clock=clock)
    assert [one.id for one in providers.all()] == ["my"]

    late += [settings.model_copy(update={"name": "False"}), *read_providers({"late": SIMPLE | {"name": "Late"}})]
    mine, added = providers.get("my"), providers.get("late")

    assert mine is not None
    assert added is not None
    assert [one.name for one in providers.all()] == ["Late", "My"]
    assert providers.get("my") is mine
    late[1] = late[1].model_copy(update={"client_id": "changed"})
    changed = providers.get("late")
    assert changed is not None
    assert (changed is added, changed.settings.client_id) == (False, "changed")
    late.clear()
    assert providers.get("late") is None


@pytest.mark.parametrize(
    ("url", "fine"),
    [
        ("https://login.example.org/token", True),
        ("https://api.example.com/userinfo", True),
        ("http://login.example.org/token", False),
        ("https://169.254.169.254/latest/meta-data", False),
        ("https://10.0.0.5/", False),
        ("https://[::1]/", False),
        ("https://localhost/", False),
        ("https://vault/", False),
        ("https://vault.internal./", False),
    ],
)
def test_a_public_provider_does_not_lead_into_the_private_network(url, fine):
    """What it names as its services must be public and encrypted."""
    if fine:
        check_advertised(url, SERVER)
    else:
        with pytest.raises(ValueError, match=r"private|https"):
            check_advertised(url, SERVER)
    if "login" not in url:
        check_advertised(url, "http://keycloak:8080/realms/a")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("/web/logged-in?a=1#b", "/web/logged-in?a=1#b"),
        ("web/logged-in", f"{OWN}/web/logged-in"),
        (f"{OWN}/web", f"{OWN}/web"),
        (f"{OWN}:443/web", f"{OWN}:443/web"),
        ("https://PLUGYARD.example.org/", "https://PLUGYARD.example.org/"),
        ("//plugyard.example.org/web", f"{OWN}/web"),
        ("https://app.example.com/x", "https://app.example.com/x"),
        ("http://localhost:5173/x", "http://localhost:5173/x"),
        ("https://a.b.pages.example/x", "https://a.b.pages.example/x"),
        ("", None),
        ("https://evil.example/", None),
        ("//evil.example/", None),
        ("/\\evil.example", None),
        ("\\\\evil.example", None),
        ("/\t/evil.example", None),
        (" //evil.example", None),
        ("javascript:alert(1)", None),
        ("data:text/html,x", None),
        ("http://plugyard.example.org/", None),
        (f"{OWN}:8443/", None),
        (f"{OWN}.evil.example/", None),
        (f"{OWN}@evil.example/", None),
        ("https://plugyard.example.org:x/", None),
        ("https://[::1", None),
        ("https://user@plugyard.example.org/", None),
        ("https://plugyard。example。org/", None),
        ("https://evil.example%2f.pages.example/", None),
        ("https://pages.example/", None),
        ("https://.pages.example/", None),
        ("https://evilpages.example/", None),
        ("http://app.example.com/x", None),
        ("https://localhost:5173/x", None),
    ],
)
def test_a_login_returns_to_known_places_only(url, expected):
    """Otherwise a link to us could lead people to a page that looks like us."""
    trusted = ["app.example.com", "http://localhost:5173", "*.pages.example"]

    assert allowed_callback(url, origin=OWN, trusted=trusted) == expected


@pytest.mark.parametrize("url", ["///evil.example/", "https:///evil.example/"])
def test_three_slashes_stay_at_home(url):
    """Browsers pass over the third, and would find a host behind it."""
    assert allowed_callback(url, origin=OWN) == f"{OWN}/evil.example/"


@pytest.mark.parametrize(
    ("url", "process", "expected"),
    [
        ("/done", "login", "/done?error=cancelled&error_process=login"),
        ("/done?a=%26&error=old#x", "connect", "/done?a=%26&error=cancelled&error_process=connect#x"),
        (f"{OWN}/?b=", "bogus&x=1", f"{OWN}/?b=&error=cancelled&error_process=login"),
    ],
)
def test_the_page_is_told_what_went_wrong(url, process, expected):
    """Beside what its address says already."""
    assert with_error(url, Failure.CANCELLED, process) == expected


def test_a_session_keeps_a_few_logins_for_a_while(clock: Clock):
    """Each can be taken once, by its own state, in time; the oldest make room."""
    pending: list[dict[str, object]] = []
    for number in range(MOST + 2):
        pending = remember(pending, {"state": f"s{number}", "at": clock().timestamp()})
    assert [one["state"] for one in pending] == [f"s{number}" for number in range(2, MOST + 2)]

    found, rest = take(pending, "s5", clock())
    assert found is not None
    assert (found["state"], len(rest)) == ("s5", MOST - 1)
    assert take(rest, "s5", clock()) == (None, rest)
    assert take(rest, "ü\udc80", clock()) == (None, rest)
    clock.pass_(STATE_LIFE + 1)
    assert take(rest, "s6", clock()) == (None, [])
