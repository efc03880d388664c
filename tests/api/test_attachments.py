"""Attachments over HTTP."""

from __future__ import annotations

import re
from typing import Any

import pytest
from sqlalchemy import Table, select

from host.accounts.account import AccountUser
from host.accounts.roles import Permissions
from host.records.attachments.table import ATTACHMENTS
from tests.records.attachments.bench import picture

PATH = "/api/attachment/"
LINK = {"model_type": "part", "model_id": 1, "link": "https://example.org/plan"}
FORM = {"model_type": "part", "model_id": "1"}
MEMBERS = [
    "pk", "attachment", "thumbnail", "filename", "link", "comment", "is_image", "upload_date", "upload_user",
    "file_size", "model_type", "model_id", "tags", "user_detail",
]  # fmt: skip
CALLERS = ("anonymous", "user", "staff", "superuser")


@pytest.fixture(scope="module")
def root(service):
    """A superuser's client."""
    return service.client("superuser")


@pytest.fixture(scope="module")
def keeper(service):
    """A client of somebody who may change parts and delete none."""
    account = service.host.users.create({"username": "keeper"}, password="correct horse battery")
    group = service.host.groups.create("keepers").pk
    service.host.groups.grant(group, "part", Permissions(can_change=True))
    memberships: Table = AccountUser.metadata.tables["account_membership"]
    with service.host.database.write() as session:
        session.connection().execute(memberships.insert().values(user_id=account.id, group_id=group))
    client = service.client("anonymous")
    client.headers["Authorization"] = f"Token {service.host.tokens.issue(account.id, 'tests')[0]}"
    return client


def stored(service, key: int) -> dict[str, Any] | None:
    with service.host.database.read() as connection:
        row = connection.execute(select(ATTACHMENTS).where(ATTACHMENTS.c.id == key)).mappings().first()
    return None if row is None else dict(row)


def files(service) -> set[str]:
    return {info.path for info in service.host.files.walk("attachments")}


def attach(client, name: str = "plan.txt", content: bytes = b"plan", **form: str) -> Any:
    return client.post(PATH, data=FORM | form, files={"attachment": (name, content)})


def test_a_file_is_attached_shown_replaced_and_deleted(service, root):
    """The answers, the rows and the files say the same all the way."""
    made = attach(root, "../my plan.png", picture(), comment=" new ", tags='["Red", "b"]', filename="evil.exe")
    assert made.status_code == 201
    record = made.json()
    assert sorted(record) == sorted(MEMBERS)
    assert record["attachment"] == "/media/attachments/part/1/my_plan.png"
    assert (record["filename"], record["thumbnail"], record["is_image"]) == ("my_plan.png", None, False)
    assert (record["comment"], record["tags"], record["file_size"]) == ("new", ["Red", "b"], len(picture()))
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", record["upload_date"])
    assert record["upload_user"] == record["user_detail"]["pk"]
    assert sorted(record["user_detail"]) == ["email", "first_name", "last_name", "pk", "username"]
    assert root.get(record["attachment"]).content == picture()

    path = f"{PATH}{record['pk']}/"
    assert service.host.records.attachments.pictures.make(record["pk"])
    shown = root.get(path).json()
    assert shown["is_image"] is True
    assert root.get(shown["thumbnail"]).headers["content-type"] == "image/png"
    renamed = root.patch(path, json={"filename": "größer.png", "link": "https://example.org/"}).json()
    assert (renamed["filename"], renamed["link"]) == ("größer.png", "https://example.org/")
    assert renamed["attachment"] == "/media/attachments/part/1/gr%C3%B6%C3%9Fer.png"
    assert root.get(renamed["attachment"]).status_code == 200
    replaced = root.put(path, data=FORM, files={"attachment": ("b.txt", b"four")}).json()
    assert (replaced["filename"], replaced["file_size"], replaced["is_image"]) == ("b.txt", 4, False)
    assert (replaced["comment"], replaced["tags"], replaced["link"]) == ("new", ["Red", "b"], "https://example.org/")
    assert files(service) == {"attachments/part/1/b.txt"}
    emptied = root.patch(path, data={"attachment": "", "tags": "[]"}).json()
    assert (emptied["attachment"], emptied["filename"], emptied["tags"]) == (None, None, [])

    assert root.delete(path).status_code == 204
    assert root.delete(path).status_code == 404
    assert stored(service, record["pk"]) is None
    assert files(service) == set()


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        pytest.param({"link": "https://x/" + "a" * 1990}, 201, id="the longest link"),
        pytest.param({"link": "https://x/" + "a" * 1991}, "link", id="a link that is too long"),
        pytest.param({"link": "javascript:alert(1)"}, "link", id="a link that runs"),
        pytest.param({"link": "ftps://x/"}, "link", id="another scheme"),
        pytest.param({"link": "FTP://x/"}, 201, id="a scheme in upper case"),
        pytest.param({"comment": "a" * 250}, 201, id="the longest comment"),
        pytest.param({"comment": "a" * 251}, "comment", id="a comment that is too long"),
        pytest.param({"comment": "<b>x</b>"}, "comment", id="HTML"),
        pytest.param({"comment": None}, "comment", id="no comment at all"),
        pytest.param({"model_id": 2**63 - 1}, 201, id="the highest id"),
        pytest.param({"model_id": 2**63}, "model_id", id="an id that is too high"),
        pytest.param({"model_id": 0}, 201, id="the lowest id"),
        pytest.param({"model_id": -1}, "model_id", id="a negative id"),
        pytest.param({"model_type": "PART"}, "model_type", id="a type in upper case"),
        pytest.param({"model_type": ["part"]}, "model_type", id="a list as type"),
        pytest.param({"tags": ["a" * 100] * 100}, 201, id="the longest and the most tags"),
        pytest.param({"tags": ["a" * 101]}, "tags", id="a tag that is too long"),
        pytest.param({"tags": ["a"] * 101}, "tags", id="too many tags"),
        pytest.param({"tags": "a"}, "tags", id="a text as tags"),
        pytest.param({"attachment": "plan.txt"}, "attachment", id="a text as file"),
        pytest.param({"attachment": ["x"]}, "attachment", id="a list as file"),
        pytest.param({"attachment": None}, 201, id="no file"),
        pytest.param({"link": None}, "attachment", id="neither file nor link"),
        pytest.param({"link": "http://x/\0"}, "link", id="a null character"),
    ],
)
def test_members_have_limits(service, root, changed, status):
    """What fits is stored; what does not is refused by the name of its member."""
    before = len(root.get(PATH).json())
    response = root.post(PATH, json=LINK | changed)

    if status == 201:
        assert response.status_code == 201, response.text
        assert stored(service, response.json()["pk"]) is not None
    else:
        assert response.status_code == 400
        assert status in response.json()
        assert len(root.get(PATH).json()) == before


def test_forms_and_bodies_of_other_kinds(service, root):
    """A form without a chosen file, two files, lists and texts are answered, never with an error of ours."""
    unchosen = root.post(PATH, data=FORM | {"link": "http://x/"}, files={"attachment": ("", b"")})
    assert (unchosen.status_code, unchosen.json()["attachment"]) == (201, None)
    both = root.post(PATH, data=FORM, files=[("attachment", ("a.txt", b"1")), ("attachment", ("b.txt", b"2"))])
    assert list(both.json()) == ["attachment"]
    for body in (b"[]", b'"x"', b"{", b"7"):
        response = root.post(PATH, content=body, headers={"content-type": "application/json"})
        assert (response.status_code, list(response.json())) == (400, ["detail"])
    assert set(root.post(PATH, json=FORM).json()) == {"attachment", "link"}
    assert set(root.post(PATH, json={}).json()) == {"model_type", "model_id"}
    assert list(attach(root, "empty.txt", b"").json()) == ["attachment"]
    key = unchosen.json()["pk"]
    assert set(root.patch(f"{PATH}{key}/", json={"link": ""}).json()) == {"attachment", "link"}
    assert set(root.put(f"{PATH}{key}/", json={"comment": "x"}).json()) == {"model_type", "model_id"}
    named = root.patch(f"{PATH}{key}/", json={"filename": "x.txt", "comment": "y"})
    assert (named.status_code, named.json()["filename"], named.json()["comment"]) == (200, None, "y")
    assert files(service) == set()


def test_the_size_limit_is_a_setting(service, root):
    """The staff changes it while the host runs; exactly the limit is fine."""
    setting = "/api/settings/global/INVENTREE_UPLOAD_MAX_SIZE/"
    assert root.patch(setting, json={"value": 1}).status_code == 200
    assert attach(root, "a.bin", b"a" * 1024**2).status_code == 201
    refused = attach(root, "b.bin", b"a" * (1024**2 + 1))
    assert refused.status_code == 400
    assert "INVENTREE_UPLOAD_MAX_SIZE" in refused.json()["attachment"][0]
    assert root.patch(setting, json={"value": 10}).status_code == 200
    denied = "/api/settings/global/UPLOAD_DENIED_TYPES/"
    assert root.patch(denied, json={"value": "exe"}).status_code == 200
    assert list(attach(root, "a.EXE").json()) == ["attachment"]
    assert root.patch(denied, json={"value": ""}).status_code == 200
    assert not [name for name in files(service) if "exe" in name.lower() or name.endswith("b.bin")]


def test_rights_follow_the_owner(service, root, keeper):
    """Everybody reads; changing and deleting need that right on the model, which staff does not have by itself."""
    part = attach(keeper).json()["pk"]
    company = root.post(PATH, json=LINK | {"model_type": "company"}).json()["pk"]
    asked = {caller: service.client(caller) for caller in CALLERS}
    reads = [asked[caller].get(f"{PATH}{part}/").status_code for caller in CALLERS]
    assert reads == [401, 200, 200, 200]
    creates = [attach(asked[caller], f"{caller}.txt").status_code for caller in CALLERS]
    assert creates == [401, 403, 403, 201]
    changes = [asked[caller].patch(f"{PATH}{part}/", json={"comment": caller}).status_code for caller in CALLERS]
    assert changes == [401, 403, 403, 200]
    deletes = [asked[caller].delete(f"{PATH}{part}/").status_code for caller in CALLERS[:3]]
    assert deletes == [401, 403, 403]
    bulk = [asked[caller].request("DELETE", PATH, json={"items": [part]}) for caller in CALLERS[:3]]
    assert [one.status_code for one in bulk] == [401, 400, 400]
    assert isinstance(bulk[1].json()["non_field_errors"], list)

    assert keeper.patch(f"{PATH}{part}/", json={"comment": "mine"}).status_code == 200
    for path, body in (
        (part, {"model_type": "company"}),
        (company, {"comment": "x"}),
        (company, {"model_type": "part"}),
    ):
        refused = keeper.patch(f"{PATH}{path}/", json=body)
        assert (refused.status_code, list(refused.json())) == (403, ["detail"])
    assert keeper.post(PATH, json=LINK | {"model_type": "company"}).status_code == 403
    assert keeper.delete(f"{PATH}{part}/").status_code == 403
    mixed = keeper.request("DELETE", PATH, json={"items": [part, company]})
    assert (mixed.status_code, list(mixed.json())) == (400, ["non_field_errors"])
    row = stored(service, part)
    assert row is not None
    assert (row["comment"], row["model_type"]) == ("mine", "part")
    assert stored(service, company) is not None


def test_lists_are_filtered_ordered_and_searched(root):
    """Each filter takes the values of its kind, and nothing else."""
    root.request("DELETE", f"{PATH}?all=true")
    link = root.post(PATH, json=LINK | {"model_id": 7, "tags": ["Red", "blue"], "comment": "hello world"}).json()["pk"]
    file = attach(root, "a.png", picture(), tags='["red"]', model_type="company").json()["pk"]
    author = root.get(f"{PATH}{file}/").json()["upload_user"]
    for query, found in (
        ("", [link, file]),
        ("model_type=part", [link]),
        ("model_type=PART", []),
        ("model_id=7", [link]),
        (f"upload_user={author}", [link, file]),
        ("is_link=true", [link]),
        ("is_file=1", [file]),
        ("is_file=maybe", [link, file]),
        ("is_image=1", []),
        ("has_thumbnail=False", [link, file]),
        ("tags=RED", [link, file]),
        ("tags=Red,BLUE", [link]),
        ("search=hello", [link]),
        ("search=company", [file]),
        ("search=7", [link]),
        ("search=example.org", []),
        ("search=a.png", []),
        ("ordering=-file_size", [file, link]),
        ("ordering=model_type,nonsense", [file, link]),
        ("limit=1&offset=1", [file]),
    ):
        answer = root.get(f"{PATH}?{query}").json()
        records = answer["results"] if "limit" in query else answer
        assert [record["pk"] for record in records] == found, query
    for query in ("model_id=x", "upload_user=9999", "upload_user=x", f"model_id={2**63}", "tags=%00"):
        refused = root.get(f"{PATH}?{query}")
        assert (refused.status_code, list(refused.json())) == (400, [query.partition("=")[0]])


def test_several_are_deleted_at_once(service, root):
    """By ids and by members; what does not exist is passed over, nothing at all is refused."""
    keys = [attach(root, "a.txt").json()["pk"] for _ in range(3)]
    wrong: list[dict[str, Any]] = [{}, {"items": []}, {"items": [99999]}, {"items": "x"}, {"filters": {"nonsense": 1}}]
    for body in wrong:
        refused = root.request("DELETE", PATH, json=body)
        assert (refused.status_code, type(refused.json()["non_field_errors"])) == (400, str), body
    name = root.get(f"{PATH}{keys[2]}/").json()["filename"]
    assert root.request("DELETE", PATH, json={"items": [str(keys[0]), keys[0], 99999]}).status_code == 204
    assert root.request("DELETE", PATH, json={"filters": {"filename": name, "model_type": "part"}}).status_code == 204
    assert [key for key in keys if stored(service, key)] == [keys[1]]
    assert root.request("DELETE", f"{PATH}?all=true").status_code == 204
    assert (root.get(PATH).json(), files(service)) == ([], set())


def test_metadata_belong_to_every_user(service, root):
    """All their paths lead to the same object."""
    key = root.post(PATH, json=LINK).json()["pk"]
    user = service.client("user")
    paths = [f"{PATH}{key}/metadata/", f"/api/metadata/attachment/{key}/", f"/api/metadata/attachment/pk/{key}/"]
    for number, path in enumerate(paths):
        assert user.put(path, json={"metadata": {"a": {"b": 1}}}).json() == {"metadata": {"a": {"b": 1}}}
        assert user.patch(path, json={"metadata": {"c": number}}).json() == {"metadata": {"a": {"b": 1}, "c": number}}
        assert [user.patch(path, json=body).status_code for body in ({}, {"metadata": None}, {"metadata": [1]})] == [
            400
        ] * 3
        assert user.get(path).json()["metadata"]["c"] == number
    assert service.client("anonymous").get(paths[0]).status_code == 401
    row = stored(service, key)
    assert row is not None
    assert row["metadata"] == {"a": {"b": 1}, "c": 2}
    assert "metadata" not in root.get(f"{PATH}{key}/").json()


def test_options_name_the_model_types(service, root, keeper):
    """Clients build their forms of them; whoever may attach nothing is shown no form."""
    key = root.post(PATH, json=LINK).json()["pk"]
    actions = keeper.options(PATH).json()["actions"]
    choices = {one["value"]: one["display_name"] for one in actions["POST"]["model_type"]["choices"]}
    assert choices["salesordershipment"] == "Sales Order Shipment"
    assert (actions["POST"]["model_type"]["type"], actions["POST"]["model_type"]["required"]) == ("choice", True)
    assert (actions["POST"]["attachment"]["type"], actions["POST"]["attachment"]["required"]) == ("file upload", False)
    assert "choices" in root.options(f"{PATH}{key}/").json()["actions"]["PUT"]["model_type"]
    assert "POST" not in service.client("user").options(PATH).json()["actions"]


def test_records_of_plugins_are_asked_for(root):
    """The plugin of a model type says whether its record exists; while it is not active, there is no such type."""
    for active, member in ((True, "model_id"), (False, "model_type")):
        assert root.patch("/api/plugins/sample-stockroom/activate/", json={"active": active}).status_code == 200
        refused = root.post(PATH, json=LINK | {"model_type": "partcategory", "model_id": 4711})
        assert (refused.status_code, list(refused.json())) == (400, [member])
