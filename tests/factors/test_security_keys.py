"""Security keys and passkeys."""

from __future__ import annotations

import base64
import copy
import json
import random
from dataclasses import replace
from typing import Any

import pytest
from webauthn.helpers import base64url_to_bytes, bytes_to_base64url

from host.accounts.account import Account
from host.accounts.factors.authenticators import Authenticator, FactorType, get_key
from host.accounts.factors.security_keys import ALGORITHMS, SecurityKeys, default_name, rp_id_of, user_handle
from host.accounts.problems import RefusedValuesError
from host.storage.tables import now
from tests.factors.conftest import RACERS, RP_ID, how_many, new_account, new_key, race, stored
from tests.factors.software_authenticator import ORIGIN, NotAllowedError, SoftwareAuthenticator

SITE = {"rp_id": RP_ID, "rp_name": "Plugyard"}


@pytest.fixture
def account(sqlite_database):
    return new_account(sqlite_database, email="ada@example.org")


@pytest.fixture
def ada():
    """Give an account that no database knows: making options and reading answers needs none."""
    return Account(
        id=1,
        username="ada",
        first_name="",
        last_name="",
        email="ada@example.org",
        is_active=True,
        is_staff=False,
        is_superuser=False,
        has_usable_password=True,
        created=now(),
        last_login=None,
        password_changed=None,
        profile={},
        groups=(),
    )


@pytest.fixture
def device():
    return SoftwareAuthenticator()


@pytest.fixture
def add(factors, sqlite_database, account):
    """Register a key of a device and store it."""

    def add(device, *, passwordless=False):
        with sqlite_database.write() as session:
            key = new_key(factors, account, device, passwordless=passwordless)
            return factors.add_key(session.connection(), account.id, key)

    return add


@pytest.fixture
def prove(factors, sqlite_database, account):
    """Ask a device for a proof and check it."""

    def prove(device, *, passwordless=False, change=lambda credential: credential, **lies):
        with sqlite_database.write() as session:
            connection = session.connection()
            keys = None if passwordless else factors.keys_of(connection, account.id)
            user_id = None if passwordless else account.id
            options, state = factors.keys.begin_authentication(keys, rp_id=RP_ID, user_id=user_id)
            return factors.check_key(connection, state, change(device.get(options, **lies)))

    return prove


@pytest.mark.parametrize(("passwordless", "wish"), [(False, "discouraged"), (True, "required")])
def test_creation_options(factors, account, device, add, passwordless, wish):
    """They are what the interface says, no more and no less; each has a challenge of its own."""
    known = add(device)
    made = [factors.keys.begin_registration(account, [known], passwordless=passwordless, **SITE)[0] for _ in range(2)]
    challenges = [options["publicKey"].pop("challenge") for options in made]

    assert made[0] == {
        "publicKey": {
            "rp": {"id": RP_ID, "name": "Plugyard"},
            "user": {
                "id": bytes_to_base64url(user_handle(account.id)),
                "name": "ada@example.org",
                "displayName": "ada",
            },
            "pubKeyCredParams": [{"type": "public-key", "alg": n} for n in (-7, -8, -36, -257, -48, -49, -50)],
            "excludeCredentials": [{"type": "public-key", "id": known.credential_id}],
            "authenticatorSelection": {
                "residentKey": wish,
                "requireResidentKey": passwordless,
                "userVerification": wish,
            },
            "extensions": {"credProps": True},
        }
    }
    assert [len(base64url_to_bytes(challenge)) for challenge in challenges] == [32, 32]
    assert challenges[0] != challenges[1]
    json.dumps(made)


def test_an_account_without_address_goes_by_its_name(factors, ada):
    """The name that a browser shows is never empty."""
    options, _ = factors.keys.begin_registration(replace(ada, email=""), (), passwordless=False, **SITE)

    assert options["publicKey"]["user"]["name"] == "ada"


def test_request_options(factors, account, device, add):
    """A second factor names the account's keys; a passkey login names none."""
    known = add(device)
    asked, _ = factors.keys.begin_authentication([known], rp_id=RP_ID, user_id=account.id)
    login, _ = factors.keys.begin_authentication(None, rp_id=RP_ID)
    challenges = [options["publicKey"].pop("challenge") for options in (asked, login)]

    assert asked["publicKey"] == {
        "rpId": RP_ID,
        "allowCredentials": [{"type": "public-key", "id": known.credential_id}],
        "userVerification": "preferred",
    }
    assert login["publicKey"] == {"rpId": RP_ID, "allowCredentials": [], "userVerification": "preferred"}
    assert len(set(challenges)) == 2


@pytest.mark.parametrize(("number", "handle"), [(1, b"1"), (35, b"z"), (36, b"10"), (123456, b"2n9c")])
def test_a_passkey_remembers_its_account_in_base_36(number, handle):
    """The handle is what clients of the interface know."""
    assert user_handle(number) == handle


@pytest.mark.parametrize("algorithm", [int(algorithm) for algorithm in ALGORITHMS])
def test_every_algorithm_on_offer_works(factors, sqlite_database, add, prove, algorithm):
    """A key can be made, stored and used with each of them."""
    device = SoftwareAuthenticator(algorithm=algorithm)
    added = add(device)

    assert prove(device).id == added.id
    assert stored(sqlite_database, added.id)["sign_count"] == 1


@pytest.mark.parametrize("form", [lambda credential: credential, json.dumps], ids=["object", "text"])
def test_a_credential_comes_as_object_or_text(factors, ada, device, form):
    """Both forms are read alike."""
    options, state = factors.keys.begin_registration(ada, (), passwordless=True, **SITE)
    credential = device.create(options)
    made = factors.keys.finish_registration(json.loads(json.dumps(state)), form(credential))

    assert made is not None
    assert (made.credential_id, made.sign_count, made.passwordless) == (credential["id"], 0, True)


@pytest.mark.parametrize(
    ("extensions", "passwordless"),
    [
        ({"credProps": {"rk": True}}, True),
        ({"credProps": {"rk": False}}, False),
        ({"credProps": {}}, None),
        ({"credProps": {"rk": "yes"}}, None),
        ({}, None),
        (None, None),
        ([], None),
    ],
    ids=repr,
)
def test_whether_a_key_signs_in_alone_is_what_its_client_says(factors, ada, device, extensions, passwordless):
    """Silence is kept as such."""
    options, state = factors.keys.begin_registration(ada, (), passwordless=False, **SITE)
    made = factors.keys.finish_registration(state, device.create(options) | {"clientExtensionResults": extensions})

    assert made.passwordless is passwordless


@pytest.mark.parametrize("passwordless", [False, True])
def test_what_its_maker_says_of_a_device_is_not_read(factors, ada, device, passwordless):
    """A broken statement of any format does no harm: none was asked for."""
    options, state = factors.keys.begin_registration(ada, (), passwordless=passwordless, **SITE)

    for fmt in ("packed", "tpm", "fido-u2f", "of the future"):
        assert factors.keys.finish_registration(state, device.create(options, fmt=fmt))


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (None, "required"),
        ("", "required"),
        ("  ", "required"),
        ({}, "required"),
        ([], "required"),
        ("{", "invalid"),
        ("[" * 100_000, "invalid"),
        ("null", "invalid"),
        ("[1]", "invalid"),
        ([1], "invalid"),
        (0, "invalid"),
        (False, "invalid"),
        (1.5, "invalid"),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_what_is_no_object_is_refused(factors, ada, value, code):
    """The member is named, and the answer is the same whether a ceremony is under way or not."""
    _, made = factors.keys.begin_registration(ada, (), passwordless=False, **SITE)
    _, asked = factors.keys.begin_authentication(None, rp_id=RP_ID)
    for finish in (
        lambda: factors.keys.finish_registration(made, value),
        lambda: factors.keys.finish_registration(None, value),
        lambda: factors.keys.finish_authentication(asked, value, lambda _: None),
        lambda: factors.keys.finish_authentication(None, value, lambda _: None),
    ):
        with pytest.raises(RefusedValuesError) as refused:
            finish()
        assert [problem.code for problem in refused.value.problems["credential"]] == [code]


LIES: list[Any] = [
    pytest.param({"challenge": "AAAA"}, id="another challenge"),
    pytest.param({"challenge": 5}, id="no challenge"),
    pytest.param({"type": "webauthn.else"}, id="another ceremony"),
    pytest.param({"origin": "https://evil.example"}, id="another site"),
    pytest.param({"origin": f"https://evil{RP_ID}"}, id="a site that ends alike"),
    pytest.param({"origin": f"https://{RP_ID}.evil.example"}, id="a site that begins alike"),
    pytest.param({"origin": f"https://{RP_ID}@evil.example"}, id="a site behind a name"),
    pytest.param({"origin": f"https://evil@{RP_ID}"}, id="a name before the site"),
    pytest.param({"origin": f"http://{RP_ID}"}, id="http"),
    pytest.param({"origin": f"ftp://{RP_ID}"}, id="ftp"),
    pytest.param({"origin": f"{ORIGIN}/path"}, id="no origin but an address"),
    pytest.param({"origin": "android:apk-key-hash:abc"}, id="an app"),
    pytest.param({"origin": "http://localhost"}, id="this machine, when it is another site"),
    pytest.param({"origin": "https://[::1"}, id="a broken origin"),
    pytest.param({"origin": "null"}, id="null"),
    pytest.param({"origin": None}, id="no origin"),
    pytest.param({"origin": [ORIGIN]}, id="a list of origins"),
    pytest.param({"crossOrigin": True}, id="within a page of another site"),
    pytest.param({"rp_id": "evil.example"}, id="made for another site"),
    pytest.param({"user_present": False}, id="nobody there"),
]


@pytest.mark.parametrize("lie", LIES)
def test_a_registration_that_does_not_fit_is_refused(factors, ada, device, lie):
    """Each check of the ceremony counts, for itself."""
    options, state = factors.keys.begin_registration(ada, (), passwordless=False, **SITE)

    assert factors.keys.finish_registration(state, device.create(options, **lie)) is None
    assert factors.keys.finish_registration(state, device.create(options)) is not None


@pytest.mark.parametrize(
    "lie",
    [
        *LIES,
        pytest.param({"signature": "AAAA"}, id="no signature"),
        pytest.param({"user_handle": "YWRh"}, id="another account's handle"),
        pytest.param({"user_handle": "\u00e4"}, id="a broken handle"),
        pytest.param({"user_handle": 5}, id="no handle"),
    ],
)
def test_a_proof_that_does_not_fit_is_refused(factors, ada, device, lie):
    """Each check of the ceremony counts, for itself."""
    made = new_key(factors, ada, device)
    key = Authenticator(
        id=1,
        user_id=ada.id,
        type=FactorType.WEBAUTHN,
        name="",
        data={"public_key": made.public_key},
        credential_id=made.credential_id,
        sign_count=0,
        passwordless=None,
        last_step=None,
        created=now(),
        last_used=None,
    )
    options, state = factors.keys.begin_authentication([key], rp_id=RP_ID, user_id=ada.id)
    keys = {key.credential_id: key}

    assert factors.keys.finish_authentication(state, device.get(options, **lie), keys.get) is None
    assert factors.keys.finish_authentication(state, device.get(options), keys.get).key is key


def test_a_key_that_cannot_be_used_is_not_stored(factors, ada, device):
    """A public key which is no point of its curve, unknown, of the wrong kind or far too long is refused."""
    options, state = factors.keys.begin_registration(ada, (), passwordless=False, **SITE)
    made = factors.keys.finish_registration(state, device.create(options))
    good = base64url_to_bytes(made.public_key)

    changed = {
        "off the curve": good[:-32] + bytes(32),
        "unknown algorithm": good.replace(b"\x03\x26", b"\x03\x24"),
        "no map": b"\x05",
        "empty": b"",
        "broken": good[:-1],
        "too long": good.replace(b"\xa5", b"\xa6", 1) + b"\x18\x63\x59\x20\x00" + bytes(8192),
    }
    longer = good.replace(b"\xa5", b"\xa6", 1) + b"\x18\x63\x58\x64" + bytes(100)
    assert factors.keys.finish_registration(state, device.create(options, public_key=longer)) is not None
    assert good not in changed.values()
    for what, public_key in changed.items():
        credential = device.create(options, public_key=public_key)
        assert factors.keys.finish_registration(state, credential) is None, what


def test_a_ceremony_serves_its_own_account_only(factors, sqlite_database, account, device, add, prove):
    """Somebody else's key, given to a second factor's ceremony, is wrong; so is one of nobody."""
    add(SoftwareAuthenticator())
    eve = new_account(sqlite_database, "eve")
    options, state = factors.keys.begin_registration(eve, (), passwordless=True, **SITE)
    with sqlite_database.write() as session:
        connection = session.connection()
        mine = factors.add_key(connection, eve.id, factors.keys.finish_registration(state, device.create(options)))
        _, state = factors.keys.begin_authentication([mine], rp_id=RP_ID, user_id=account.id)
        asked = {"publicKey": {"challenge": state["challenge"], "rpId": RP_ID, "allowCredentials": []}}
        asked["publicKey"]["userVerification"] = "preferred"
        assert factors.check_key(connection, state, device.get(asked)) is None
        handle = bytes_to_base64url(user_handle(account.id))
        assert factors.check_key(connection, state, device.get(asked, user_handle=handle)) is None
        stranger = SoftwareAuthenticator()
        stranger.create(factors.keys.begin_registration(eve, (), passwordless=True, **SITE)[0])
        assert factors.check_key(connection, state, stranger.get(asked)) is None
    assert stored(sqlite_database, mine.id)["last_used"] is None


def test_ceremonies_do_not_stand_in_for_each_other(factors, sqlite_database, account, device, add):
    """Without a ceremony, or with the answer to another one, nothing is proved."""
    key = add(device)
    with sqlite_database.write() as session:
        connection = session.connection()
        first, _ = factors.keys.begin_authentication([key], rp_id=RP_ID, user_id=account.id)
        _, second = factors.keys.begin_authentication([key], rp_id=RP_ID, user_id=account.id)
        credential = device.get(first)
        assert factors.check_key(connection, None, credential) is None
        assert factors.check_key(connection, second, credential) is None
        assert factors.keys.finish_registration(second, credential) is None
        _, made = factors.keys.begin_registration(account, (), passwordless=False, **SITE)
        assert factors.check_key(connection, made, credential) is None
    assert stored(sqlite_database, key.id)["last_used"] is None


@pytest.mark.parametrize("key_made_for", ["second factor", "passkey"])
def test_a_passkey_signs_in_alone(sqlite_database, device, add, prove, clock, key_made_for):
    """It names its account itself; a key that was made as a second factor may, too, if it keeps its account."""
    added = add(device, passwordless=key_made_for == "passkey")
    device.keys[0].resident = True
    clock.pass_by(7)

    assert prove(device, passwordless=True).user_id == added.user_id
    assert stored(sqlite_database, added.id)["last_used"] == clock()


@pytest.mark.parametrize(
    "lie",
    [
        pytest.param({"user_verified": False}, id="user not verified"),
        pytest.param({"user_handle": None}, id="no handle"),
        pytest.param({"user_handle": "eg"}, id="another handle"),
        pytest.param({"user_handle": ""}, id="an empty handle"),
    ],
)
def test_a_passkey_alone_must_do_more(sqlite_database, device, add, prove, lie):
    """It stands for password and second factor at once: it verifies its user, and says whom it signs in."""
    added = add(device, passwordless=True)

    assert prove(device, passwordless=True, **lie) is None
    assert stored(sqlite_database, added.id)["last_used"] is None
    assert prove(device, passwordless=True) is not None


def test_a_second_factor_need_not_verify_its_user(sqlite_database, add, prove):
    """The password did so before."""
    device = SoftwareAuthenticator(verifies_user=False)
    added = add(device)

    assert prove(device).id == added.id
    assert stored(sqlite_database, added.id)["sign_count"] == 1


def test_a_passkey_is_made_by_a_verified_user(factors, ada, device):
    """Where it shall sign in alone, its registration asks for that."""
    options, state = factors.keys.begin_registration(ada, (), passwordless=True, **SITE)

    assert factors.keys.finish_registration(state, device.create(options, user_verified=False)) is None
    with pytest.raises(NotAllowedError):
        SoftwareAuthenticator(verifies_user=False).create(options)


def test_a_counter_that_does_not_rise_is_a_copy(sqlite_database, device, add, prove):
    """An equal or lower count is refused and changes nothing."""
    added = add(device)
    outcomes = [prove(device, sign_count=count) is not None for count in (5, 5, 4, 0, 6)]

    assert outcomes == [True, False, False, False, True]
    assert stored(sqlite_database, added.id)["sign_count"] == 6


def test_a_key_that_does_not_count_is_used_again_and_again(sqlite_database, add, prove):
    """Zero after zero says nothing."""
    device = SoftwareAuthenticator(counts=False)
    added = add(device)

    assert [prove(device) is not None for _ in range(3)] == [True] * 3
    assert stored(sqlite_database, added.id)["sign_count"] == 0


def test_of_32_answers_with_one_count_one_is_accepted(factors, database, device):
    """Racing transactions with the same count share one success."""
    account = new_account(database)
    with database.write() as session:
        key = factors.add_key(session.connection(), account.id, new_key(factors, account, device))
    options, state = factors.keys.begin_authentication([key], rp_id=RP_ID, user_id=account.id)
    credential = device.get(options)

    used = race(database, lambda connection, _: factors.check_key(connection, state, credential))

    assert len(used) == RACERS
    assert [found.id for found in used if found] == [key.id]
    assert stored(database, key.id)["sign_count"] == 1


def test_a_key_belongs_to_one_account(factors, sqlite_database, account, device):
    """A key that is stored already is refused, to its own account and to every other one."""
    eve = new_account(sqlite_database, "eve")
    key = new_key(factors, account, device)
    with sqlite_database.write() as session:
        connection = session.connection()
        added = [factors.add_key(connection, owner.id, key) for owner in (account, account, eve)]
        assert get_key(connection, key.credential_id) == added[0]

    assert added[1:] == [None, None]
    assert how_many(sqlite_database) == 1


@pytest.mark.parametrize(
    ("rp_id", "origin", "insecure", "accepted"),
    [
        (RP_ID, f"https://{RP_ID}:8443", False, True),
        (RP_ID, f"https://shop.{RP_ID}", False, True),
        (RP_ID, f"http://{RP_ID}", True, True),
        (RP_ID, f"ftp://{RP_ID}", True, False),
        ("localhost", "http://localhost:8000", False, True),
        ("localhost", "http://shop.localhost", False, True),
        ("10.0.0.1", "http://10.0.0.1", False, False),
        (f"shop.{RP_ID}", ORIGIN, False, False),
    ],
    ids=repr,
)
def test_which_pages_may_ask(ada, rp_id, origin, insecure, accepted):
    """The site and what is below it, by https; by http only here or by option."""
    keys = SecurityKeys(allow_insecure_origin=insecure)
    options, state = keys.begin_registration(ada, (), passwordless=False, rp_id=rp_id, rp_name="Plugyard")
    made = keys.finish_registration(state, SoftwareAuthenticator(origin).create(options))

    assert (made is not None) is accepted


@pytest.mark.parametrize(
    ("address", "rp_id"),
    [
        ("plugyard.example:8443", "plugyard.example"),
        ("https://Plugyard.example", "plugyard.example"),
        ("http://localhost:8000", "localhost"),
        ("[::1]:80", "::1"),
        ("", ""),
        ("[::1", ""),
    ],
)
def test_a_site_is_its_host_without_the_port(address, rp_id):
    """Case and port do not matter, and nonsense is no error."""
    assert rp_id_of(address) == rp_id


def test_names_of_keys():
    """The first two have names of their own."""
    assert [default_name(count) for count in range(4)] == ["Master key", "Backup key", "Key nr. 3", "Key nr. 4"]


BROKEN = [None, True, -1, 1.5, "", "\0", "\ud800", "é", "AA", "=" * 9, "A" * 5000, [], {}, ["AA"], {"id": "AA"}]


def _paths(value, path=()):
    for name, inner in value.items():
        yield (*path, name)
        if isinstance(inner, dict):
            yield from _paths(inner, (*path, name))


def _with(credential, path, value):
    changed = copy.deepcopy(credential)
    inner = changed
    for name in path[:-1]:
        inner = inner[name]
    if value is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return changed


@pytest.mark.parametrize("passwordless", [False, True])
def test_malformed_credentials_are_wrong_and_no_error(factors, sqlite_database, account, device, add, passwordless):
    """Whatever stands in whichever member, nothing is raised, and no more is stored than a good answer changes."""
    key = add(device, passwordless=True)
    options, made = factors.keys.begin_registration(account, (), passwordless=passwordless, **SITE)
    asked = None if passwordless else [key]
    request, proof = factors.keys.begin_authentication(asked, rp_id=RP_ID, user_id=None if passwordless else account.id)
    new, used = SoftwareAuthenticator().create(options), device.get(request)
    needed = {("id",), ("rawId",), ("type",), ("response",)}
    with sqlite_database.write() as session:
        connection = session.connection()
        for credential, check in (
            (new, lambda credential: factors.keys.finish_registration(made, credential)),
            (used, lambda credential: factors.check_key(connection, proof, credential)),
        ):
            for path in _paths(credential):
                for value in (..., *BROKEN):
                    outcome = check(_with(credential, path, value))
                    if path in needed or path[-1] in {"clientDataJSON", "attestationObject", "signature"}:
                        assert outcome is None, (path, value)


def test_damaged_credentials_are_wrong_and_no_error(factors, sqlite_database, account, device, add):
    """Bytes that are changed, lost or added anywhere in an answer are noticed, and break no parser."""
    key = add(device)
    options, made = factors.keys.begin_registration(account, (), passwordless=False, **SITE)
    request, proof = factors.keys.begin_authentication([key], rp_id=RP_ID, user_id=account.id)
    used = device.get(request)
    new = SoftwareAuthenticator().create(options)
    dice = random.Random(7)  # noqa: S311 - the same damage in every run
    with sqlite_database.write() as session:
        connection = session.connection()
        for _ in range(300):
            member = dice.choice(["clientDataJSON", "authenticatorData", "signature"])
            damaged = _with(used, ("response", member), _damage(dice, used["response"][member]))
            assert factors.check_key(connection, proof, damaged) is None
            member = dice.choice(["clientDataJSON", "attestationObject"])
            factors.keys.finish_registration(
                made, _with(new, ("response", member), _damage(dice, new["response"][member]))
            )
        assert factors.check_key(connection, proof, used) is not None


def _damage(dice: random.Random, text: str) -> str:
    data = bytearray(base64url_to_bytes(text))
    where = dice.randrange(len(data))
    match dice.randrange(3):
        case 0:
            data[where] ^= 1 << dice.randrange(8)
        case 1:
            del data[where:]
        case _:
            data[where:where] = dice.randbytes(3)
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
