"""Notifications: who is told, what is renewed, and what people do with them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import select

from host.accounts.account import USERS
from host.contract.values import User
from host.errors import NotFoundError
from host.records.notifications import MESSAGE_LENGTH, NAME_LENGTH, NOTIFICATIONS, Notifications, Target, is_safe_link
from host.storage.tables import now

LAMP = Target(name="Lamp", model="part", id=7, link="/part/7")


@pytest.fixture
def people(database) -> dict[str, int]:
    """Accounts of every kind, and one that is switched off."""
    flags = {
        "ada": {},
        "bo": {"is_staff": True},
        "cy": {"is_staff": True, "is_superuser": True},
        "gone": {"is_staff": True, "is_superuser": True, "is_active": False},
    }
    with database.write() as session:
        connection = session.connection()
        return {
            name: connection.execute(
                USERS.insert()
                .values(
                    username=name,
                    username_folded=name,
                    **{"is_active": True, "is_staff": False, "is_superuser": False, **flag},
                )
                .returning(USERS.c.id)
            ).scalar_one()
            for name, flag in flags.items()
        }


def rows(database):
    with database.read() as connection:
        return connection.execute(select(NOTIFICATIONS).order_by(NOTIFICATIONS.c.id)).mappings().all()


def send(database, to, **told) -> int:
    with database.write() as session:
        return Notifications(database).send(session, to, **{"category": "tests", "name": "Hello", **told})


@pytest.mark.parametrize(
    ("audience", "told"),
    [
        pytest.param("staff", {"bo", "cy"}, id="the staff"),
        pytest.param("superusers", {"cy"}, id="superusers"),
        pytest.param(("ada", "gone", "ada"), {"ada"}, id="accounts that are active, each once"),
    ],
)
def test_those_who_are_meant_are_told(database, people, audience, told):
    """Accounts that are switched off are passed over."""
    to = audience if isinstance(audience, str) else [people[name] for name in audience]

    assert send(database, to) == len(told)
    assert {row["user_id"] for row in rows(database)} == {people[name] for name in told}


@pytest.mark.parametrize("ids", [(), (0,), (-5,), (2**70,), (999_999,)], ids=repr)
def test_nobody_is_told_where_nobody_is_meant(database, people, ids):
    """Ids that no account can have are no error."""
    assert send(database, ids) == 0
    assert rows(database) == []


def test_an_unread_notification_is_renewed(database, people):
    """People are told once, with the newest message; after they have read it, again."""
    notifications, ada = Notifications(database), people["ada"]
    user = _user(ada)
    send(database, [ada], message="first", target=LAMP)
    send(database, [ada], message="second", target=LAMP)
    send(database, [ada], message="other", target=Target(name="Lamp", model="part", id=8))

    assert [row["message"] for row in rows(database)] == ["second", "other"]

    assert notifications.mark_all(user) == 2
    assert notifications.mark_all(user) == 0
    send(database, [ada], message="third", target=LAMP)

    assert [(row["message"], row["read"]) for row in rows(database)] == [
        ("second", True),
        ("other", True),
        ("third", False),
    ]


def test_one_can_be_marked_as_unread_beside_a_later_one(database, people):
    """What people mark themselves stays as they marked it."""
    notifications, ada = Notifications(database), people["ada"]
    send(database, [ada])
    first = rows(database)[0]["id"]
    notifications.mark(first, _user(ada), read=True)
    send(database, [ada])
    notifications.mark(first, _user(ada), read=False)
    send(database, [ada], message="newest")

    assert [(row["message"], row["read"]) for row in rows(database)] == [("", False), ("newest", False)]


def test_nobody_touches_what_others_were_told(database, people):
    """Foreign notifications are not there."""
    notifications = Notifications(database)
    send(database, [people["ada"]])
    [row] = rows(database)
    for act in (notifications.delete, lambda key, user: notifications.mark(key, user, read=True)):
        with pytest.raises(NotFoundError):
            act(row["id"], _user(people["cy"]))

    assert rows(database) == [row]
    notifications.delete(row["id"], _user(people["ada"]))
    assert rows(database) == []


def test_what_no_database_holds_is_left_out(database, people):
    """Texts are cut, and characters that cannot be stored are replaced."""
    send(database, [people["ada"]], name="n" * 300 + "\0", message="m" * 5000, target=Target(name="\ud800", link="/x"))

    [row] = rows(database)
    assert len(row["name"]) == NAME_LENGTH
    assert len(row["message"]) == MESSAGE_LENGTH
    assert row["target_name"] == "?"


@pytest.mark.parametrize(
    "link",
    [
        "javascript:alert(1)",
        "//evil.example",
        "/\\evil.example",
        "data:text/html,x",
        "/a\nb",
        "x",
        "http://" + "a" * 2000,
    ],
)
def test_links_lead_nowhere_else(database, people, link):
    """A link that a client should not follow is refused, and nothing is stored."""
    assert not is_safe_link(link)
    with pytest.raises(ValueError, match="link"):
        send(database, [people["ada"]], target=Target(link=link))
    assert rows(database) == []


def test_old_ones_are_forgotten(database, people):
    """What is younger stays."""
    Notifications(database, clock=lambda: now() - timedelta(days=40)).tell([people["ada"]], category="a", name="old")
    Notifications(database).tell([people["ada"]], category="a", name="new")

    assert Notifications(database).forget(now() - timedelta(days=30)) == 1
    assert [row["name"] for row in rows(database)] == ["new"]


def test_they_go_with_the_account(database, people):
    """Nothing is left of an account that is deleted."""
    send(database, [people["ada"], people["cy"]])
    with database.write() as session:
        session.connection().execute(USERS.delete().where(USERS.c.id == people["ada"]))

    assert [row["user_id"] for row in rows(database)] == [people["cy"]]


def _user(id: int) -> User:
    return User(id=id, username="anyone")


def test_very_many_accounts_can_be_named(database, people):
    """More than one statement takes."""
    assert send(database, [*range(10_000, 80_000), *people.values()]) == 3


def test_a_flood_leaves_the_newest(database, people):
    """Each account keeps so many; those of others stay."""
    send(database, (people["ada"],), name="Earlier")
    notifications = Notifications(database, most=3)
    for number in range(5):
        with database.write() as session:
            notifications.send(session, (people["bo"],), category="tests", name=f"Flood {number}")

    kept = [row["name"] for row in rows(database)]
    assert kept == ["Earlier", "Flood 2", "Flood 3", "Flood 4"]
