"""Icons over the interface."""

from __future__ import annotations

PATH = "/api/icons/"


def switch(service, key: str, *, on: bool) -> None:
    answer = service.client("superuser").patch(f"/api/plugins/{key}/activate/", json={"active": on})
    assert answer.status_code == 200, answer.text


def prefixes(answer) -> list[str]:
    return [pack["prefix"] for pack in answer.json()]


def test_anyone_gets_all_packs_at_once(service):
    """The answer may be kept for a day, and is compressed for those who can read that."""
    client = service.client("anonymous")

    packed = client.get(PATH, headers={"Accept-Encoding": "gzip"})
    plain = client.get(PATH, headers={"Accept-Encoding": "identity"})

    assert packed.headers["cache-control"] == plain.headers["cache-control"] == "public, max-age=86400"
    assert packed.headers["content-type"] == plain.headers["content-type"] == "application/json"
    assert "accept-encoding" in plain.headers["vary"].lower()
    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) < int(plain.headers["content-length"]) / 4
    assert packed.json() == plain.json()
    (pack,) = plain.json()
    assert set(pack) == {"name", "prefix", "fonts", "icons"}
    assert set(pack["icons"]["plug"]) == {"name", "category", "tags", "variants"}


def test_an_answer_that_is_known_is_not_sent_again(service):
    """Whoever names its tag gets 304, and HEAD no body."""
    client = service.client("anonymous")
    tag = client.get(PATH).headers["etag"]

    known = client.get(PATH, headers={"If-None-Match": tag})
    other = client.get(PATH, headers={"If-None-Match": '"other"'})
    head = client.head(PATH)

    assert (known.status_code, known.content, known.headers["etag"]) == (304, b"", tag)
    assert other.status_code == 200
    assert (head.status_code, head.content) == (200, b"")


def test_packs_come_and_go_with_their_plugin(service):
    """Also in pages, whose limit and offset are the usual ones."""
    client = service.client("anonymous")
    switch(service, "sample-icons", on=True)

    both = client.get(PATH)
    second = client.get(f"{PATH}?limit=1&offset=1").json()
    beyond = client.get(f"{PATH}?limit=1&offset=9").json()
    wrong = client.get(f"{PATH}?limit=many")
    switch(service, "sample-icons", on=False)

    assert prefixes(both) == prefixes(wrong) == ["ti", "shapes"]
    assert (second["count"], second["next"]) == (2, None)
    assert second["previous"].endswith(f"{PATH}?limit=1")
    assert [pack["prefix"] for pack in second["results"]] == ["shapes"]
    assert (beyond["count"], beyond["results"]) == (2, [])
    assert prefixes(client.get(PATH)) == ["ti"]


def test_fonts_are_kept_by_those_who_name_their_version(service):
    """The address of the pack is good for ever; without the version, or with another, clients ask again."""
    client = service.client("anonymous")
    (pack,) = client.get(PATH).json()
    address, _, version = pack["fonts"]["woff2"].partition("?")

    caching = {
        query: client.get(f"{address}?{query}").headers["cache-control"]
        for query in (version, "v=0123456789abcdef", "v=", f"{version}&x=1", f"x={version}", "")
    }
    font = client.get(pack["fonts"]["woff2"])

    assert caching.pop(version) == "public, max-age=31536000, immutable"
    assert set(caching.values()) == {"no-cache"}
    assert (font.headers["content-type"], font.content[:4]) == ("font/woff2", b"wOF2")


def test_the_list_says_what_it_holds(service):
    """Tables are built from the description."""
    described = service.client("anonymous").options(PATH).json()

    assert set(described["actions"]["GET"]) == {"name", "prefix", "fonts", "icons"}
