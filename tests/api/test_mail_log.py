"""The mail log over the interface."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import delete, insert, select

from host.mail.log import MAIL
from host.storage.tables import now
from tests.api.service import Service, running_service
from tests.mail.conftest import Inbox
from tests.mail.conftest import free_port as free_port_fixture
from tests.mail.conftest import serve as serve_fixture

PATH = "/api/admin/email/"
MEMBERS = {
    "pk", "global_id", "message_id_key", "thread_id_key", "thread", "subject", "body", "to", "sender", "status",
    "timestamp", "headers", "full_message", "direction", "priority", "error_code", "error_message", "error_timestamp",
    "delivery_options",
}  # fmt: skip
NOWHERE = uuid.UUID(int=0)

free_port, serve = free_port_fixture, serve_fixture


@pytest.fixture
def inbox() -> Inbox:
    return Inbox()


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    with running_service(tmp_path_factory.mktemp("mail"), mail_timeout="5") as service:
        yield service


@pytest.fixture
def service(home: Service):
    yield home
    with home.host.database.write() as session:
        session.connection().execute(delete(MAIL))
    for key in ("INVENTREE_PROTECT_EMAIL_LOG", "ENABLE_PLUGINS_MAILS"):
        home.host.global_settings.write(key, key.startswith("ENABLE"))


@pytest.fixture
def boss(service: Service):
    return service.client("superuser")


@pytest.fixture
def add(service: Service):
    """Give a function that puts a mail into the log and returns its id."""

    def put(**values: Any) -> str:
        row = {
            "global_id": str(uuid.uuid4()),
            "subject": "Hello",
            "body": "There",
            "to": "ada@example.org",
            "sender": "yard@example.org",
            "status": "S",
            "direction": "O",
            "priority": 3,
            "timestamp": now(),
            "attempts": 1,
            **values,
        }
        with service.host.database.write() as session:
            session.connection().execute(insert(MAIL).values(row))
        return str(row["global_id"])

    return put


@pytest.fixture
def kept(service: Service):
    def read() -> set[str]:
        with service.host.database.read() as connection:
            return set(connection.execute(select(MAIL.c.global_id)).scalars())

    return read


def test_a_mail_is_shown(boss, add):
    """With exactly the members of the interface: what is sealed and what the queue keeps are none."""
    thread = str(uuid.uuid4())
    mail_id = add(thread=thread, headers={"A": ["b", "c"]}, payload="s3aled", delivery_options=["no_reply"])

    shown = boss.get(f"{PATH}{mail_id.upper()}/").json()

    assert set(shown) == MEMBERS
    assert (shown["pk"], shown["global_id"], shown["thread"]) == (mail_id, mail_id, thread)
    assert (shown["headers"], shown["delivery_options"], shown["priority"]) == ({"A": ["b", "c"]}, ["no_reply"], 3)
    assert "s3aled" not in str(shown)
    assert boss.get(PATH, params={"limit": 5}).json()["results"] == [shown]


@pytest.mark.parametrize("pk", [NOWHERE, "nothing", "1", "%00", "%ED%A0%80", "9" * 99, "'"])
@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_what_is_not_there_is_not_found(boss, method: str, pk: object):
    """Be it an id of nothing or no id at all."""
    answer = boss.request(method, f"{PATH}{pk}/")

    assert (answer.status_code, set(answer.json()) - {"url"}) == (404, {"detail"})


def test_a_mail_is_not_written(boss, add):
    """It can be read and deleted, nothing else."""
    for path in (PATH, f"{PATH}{add()}/"):
        for method in ("POST", "PUT", "PATCH"):
            assert boss.request(method, path, json={"subject": "x"}).status_code == 405
    assert boss.get(f"{PATH}test/").status_code == 405


@pytest.mark.parametrize(
    ("term", "found"),
    [("welcome", 1), ("eve@", 1), ("desk@", 1), ("<mid@", 1), ("<tid@", 1), ("5f5f", 1), ("hidden", 0), ("%", 0)],
)
def test_the_search_looks_where_it_should(boss, add, term: str, found: int):
    """In subject, addresses and keys, and not in the text."""
    add()
    add(
        global_id="5f5f0000-0000-4000-8000-000000000000",
        subject="Welcome",
        to="eve@example.org",
        sender="desk@example.org",
        message_id_key="<mid@example.org>",
        thread_id_key="<tid@example.org>",
        body="hidden",
        full_message="hidden",
    )

    assert len(boss.get(PATH, params={"search": term}).json()) == found


@pytest.mark.parametrize("name", ["subject", "to", "sender", "status", "direction", "timestamp"])
def test_the_order_can_be_chosen(service: Service, boss, add, name: str):
    """By an index; a name that is not offered counts as none."""
    values = [now() - timedelta(days=1), now()] if name == "timestamp" else ["A", "F"]
    first, second = (add(**{name: value}) for value in values)

    def order(**query: str) -> list[str]:
        return [mail["pk"] for mail in boss.get(PATH, params=query).json()]

    assert order(ordering=f"{name},created") == [first, second]
    assert order(ordering=f"-{name}") == [second, first]
    assert order(ordering="-created") == order() == order(ordering="-timestamp")
    with service.host.database.read() as connection:
        statement = f'EXPLAIN QUERY PLAN SELECT * FROM mail_message ORDER BY "{name}" DESC, global_id DESC'  # noqa: S608
        plan = str(connection.exec_driver_sql(statement).all())
    assert f"ix_mail_message_{name}_global_id" in plan
    assert "TEMP B-TREE" not in plan


def test_mails_are_deleted(boss, add, kept):
    """One or several, also one that waits, which is then not sent."""
    first, second, third, failed, last = (add(status=status) for status in "SSSFS")
    waiting = add(status="A", next_attempt=now() + timedelta(hours=1), payload="x")

    assert boss.delete(f"{PATH}{first}/").status_code == 204
    assert boss.delete(f"{PATH}{first}/").status_code == 404
    items = [second.upper(), second, str(NOWHERE), waiting]
    answer = boss.request("DELETE", PATH, json={"items": items})
    assert (answer.status_code, answer.content) == (204, b"")
    assert boss.request("DELETE", PATH, json={"filters": {"status": "F"}}).status_code == 204
    assert kept() == {third, last}
    assert boss.request("DELETE", f"{PATH}?all=true").status_code == 204
    assert (kept(), failed in kept()) == (set(), False)


@pytest.mark.parametrize(
    "body",
    [
        None,
        {},
        {"items": []},
        {"items": [str(NOWHERE)]},
        {"items": "x"},
        {"items": [1]},
        {"items": ["nothing"]},
        {"items": [["x"]]},
        {"items": [None]},
        {"items": ["\x00"]},
        {"filters": {"payload": "x"}},
        {"filters": {"status": "X"}},
        {"filters": {"headers": {}}},
        {"filters": {"to": "\x00"}},
        {"filters": []},
        {"filters": {"priority": 10**30}},
    ],
    ids=str,
)
def test_a_bulk_delete_that_names_nothing_is_refused(boss, add, kept, body):
    """In the shape of all bulk deletes, and nothing is gone."""
    mail_id = add()

    answer = boss.request("DELETE", PATH, json=body)

    assert answer.status_code == 400
    assert isinstance(answer.json()["non_field_errors"], str)
    assert kept() == {mail_id}


def test_a_protected_log_keeps_everything(service: Service, boss, add, kept):
    """While the setting says so, also what is old."""
    mail_id = add(timestamp=now() - timedelta(days=400))
    service.host.global_settings.write("INVENTREE_PROTECT_EMAIL_LOG", value=True)

    answers = [
        boss.delete(f"{PATH}{mail_id}/"),
        boss.request("DELETE", PATH, json={"items": [mail_id]}),
        boss.request("DELETE", f"{PATH}?all=true"),
    ]

    for answer in answers:
        assert answer.status_code == 400
        assert "INVENTREE_PROTECT_EMAIL_LOG" in str(answer.json()["non_field_errors"])
    assert service.host.records.mail_log.forget() == 0
    assert kept() == {mail_id}


def test_old_mails_are_forgotten(service: Service, add, kept):
    """After the time that the setting says, but not while they wait."""
    old = now() - timedelta(days=31)
    add(timestamp=old)
    add(timestamp=old, direction="I", status="D")
    new, waiting = add(timestamp=old + timedelta(days=2)), add(timestamp=old, status="A", next_attempt=now())
    with service.host.database.write() as session:
        # Nobody is to send it meanwhile.
        session.connection().execute(MAIL.update().values(attempts=1))

    assert service.host.records.mail_log.forget() == 2
    assert kept() == {new, waiting}


def test_the_form_is_described(boss):
    """Clients make their tables and forms of it."""
    fields = boss.options(PATH).json()["actions"]["GET"]

    assert set(fields) == MEMBERS
    assert all(field["read_only"] for field in fields.values())
    choices = {name: {one["value"] for one in fields[name]["choices"]} for name in ("status", "direction", "priority")}
    assert choices == {"status": set("ASFDRC"), "direction": {"I", "O"}, "priority": set(range(6))}
    assert fields["priority"]["choices"][1] == {"value": 1, "display_name": "Very high"}
    assert boss.options(f"{PATH}test/").json()["actions"]["POST"]["email"]["type"] == "email"


# -- the test mail ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [None, {}, {"email": ""}, {"email": None}, {"email": "ada"}, {"email": ["a@b.org"]}, {"email": "a@b.org\x00"},
     {"email": "a@b.org,c@d.org"}, {"email": "Ada <a@b.org>"}, {"email": "a" * 250 + "@example.org"}, {"email": 7},
     {"email": "a@xn--zz-zz.org"}],
    ids=range(12),
)  # fmt: skip
def test_a_test_mail_needs_an_address(boss, kept, body):
    """The member is named, and nothing is logged."""
    answer = boss.post(f"{PATH}test/", json=body)

    assert (answer.status_code, list(answer.json()), kept()) == (400, ["email"], set())


def test_a_test_mail_needs_a_way_out(boss):
    """Without a mail server and a plugin that delivers, it fails and says what to do; the log has it."""
    answer = boss.post(f"{PATH}test/", json={"email": "ada@example.org"})

    assert answer.status_code == 400
    assert "Set PLUGYARD_SMTP_URL" in answer.json()["non_field_errors"][0]
    (mail,) = boss.get(PATH).json()
    assert (mail["status"], mail["to"], mail["error_code"]) == ("F", "ada@example.org", "no-server")
    assert mail["error_timestamp"]


def test_plugins_have_a_part_in_mail(service: Service, boss, kept, tmp_path):
    """A plugin delivers, hands in the reply, and tells what became of the mail; the setting switches that off."""
    post = "/plugin/sample-mail"
    boss.patch("/api/plugins/sample-mail/activate/", json={"active": True})
    boss.patch("/api/plugins/sample-mail/settings/FOLDER/", json={"value": str(tmp_path)})
    assert boss.get("/api/").json()["email_configured"] is True

    answer = boss.post(f"{PATH}test/", data={"email": "ada@example.org"})

    assert (answer.status_code, answer.json()) == (201, {"email": "ada@example.org"})
    (sent,) = boss.get(PATH).json()
    assert (sent["status"], sent["message_id_key"]) == ("S", f"file-{sent['pk']}")
    assert (tmp_path / f"{sent['pk']}.eml").read_bytes().startswith(b"From: Plugyard <plugyard@localhost>\r\n")
    reply = f"From: ada@example.org\r\nIn-Reply-To: <{sent['message_id_key']}>\r\n\r\nThanks".encode()
    received = boss.post(f"{post}/incoming/", content=reply)
    told = boss.post(f"{post}/outcome/", json={"message_id": sent["message_id_key"], "outcome": "read"})
    assert (received.status_code, told.json()) == (201, {"known": True})
    incoming = boss.get(f"{PATH}{received.json()['id']}/").json()
    assert (incoming["direction"], incoming["body"], incoming["thread"]) == ("I", "Thanks", sent["thread"])
    assert boss.get(f"{PATH}{sent['pk']}/").json()["status"] == "R"

    boss.patch("/api/plugins/sample-mail/settings/FOLDER/", json={"value": str(tmp_path / "nowhere")})
    failed = boss.post(f"{PATH}test/", json={"email": "ada@example.org"})
    assert failed.status_code == 400
    assert "Plugin 'sample-mail' could not deliver it: its folder" in failed.json()["non_field_errors"][0]
    service.host.global_settings.write("ENABLE_PLUGINS_MAILS", value=False)
    failed = boss.post(f"{PATH}test/", json={"email": "ada@example.org"})
    assert "No mail server is set" in failed.json()["non_field_errors"][0]
    boss.patch("/api/plugins/sample-mail/activate/", json={"active": False})


def test_a_test_mail_goes_through_the_server(tmp_path, serve, inbox: Inbox):
    """It arrives before the answer does; what the server says against it is the reason."""
    with running_service(tmp_path, smtp_url=f"smtp://127.0.0.1:{serve()}") as service:
        boss = service.client("superuser")
        good = boss.post(f"{PATH}test/", json={"email": "ada@example.org"})
        inbox.to_recipients.append("550 No such user")
        bad = boss.post(f"{PATH}test/", json={"email": "bob@example.org"})
        mails = boss.get(PATH, params={"ordering": "to"}).json()

    assert (good.status_code, [mail["To"] for mail in inbox.mails]) == (201, ["ada@example.org"])
    assert (bad.status_code, [mail["status"] for mail in mails]) == (400, ["S", "F"])
    assert bad.json() == {"non_field_errors": ["The mail was not sent. The mail server refused it: 550 No such user"]}
    assert mails[1]["error_code"] == "550"
    assert mails[0]["headers"]["X-Plugyard-MsgId-1"] == mails[0]["pk"]
