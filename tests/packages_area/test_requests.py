"""What a request to install means, and which requests are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from host.errors import InvalidInputError
from host.packages.policy import Policy
from host.packages.requests import InstallRequest, read_request
from tests.packages_area.wheelhouse import write_wheel

OPEN = Policy(allow_vcs=True, allow_builds=True)
WHEEL = "https://x.example/lamp-1.0-py3-none-any.whl"
GIT = "git+https://git.example/lamp.git"


@pytest.mark.parametrize(
    ("members", "requirement", "line", "index_url"),
    [
        pytest.param({"packagename": " lamp "}, "lamp", "lamp", "", id="a name"),
        pytest.param({"packagename": "Lamp_Shade"}, "lamp-shade", "lamp-shade", "", id="another spelling"),
        pytest.param({"packagename": "lamp==1.2"}, "lamp==1.2", "lamp==1.2", "", id="a version in the name"),
        pytest.param({"packagename": "lamp", "version": "1.2"}, "lamp==1.2", "lamp==1.2", "", id="a version"),
        pytest.param({"packagename": "lamp", "version": " "}, "lamp", "lamp", "", id="a blank version"),
        pytest.param({"packagename": "lamp", "version": ">=1,<2"}, "lamp<2,>=1", "lamp<2,>=1", "", id="a range"),
        pytest.param({"packagename": "lamp>=1", "version": "1.5"}, "lamp==1.5", "lamp==1.5", "", id="both agree"),
        pytest.param({"packagename": "lamp[b,a]"}, "lamp[a,b]", "lamp[a,b]", "", id="extras"),
        pytest.param(
            {"packagename": "lamp", "url": "https://x.example/simple", "version": "2"},
            "lamp==2", "lamp==2", "https://x.example/simple", id="an index, and the version counts",
        ),
        pytest.param({"packagename": "lamp", "url": "ftp://x.example"}, "lamp", "lamp", "", id="an odd URL"),
        pytest.param({"url": GIT}, GIT, None, "", id="version control alone"),
        pytest.param({"packagename": "lamp", "url": GIT}, f"lamp @ {GIT}", f"lamp @ {GIT}", "", id="named VCS"),
        pytest.param({"packagename": f"Lamp @ {GIT}@v1"}, f"lamp @ {GIT}@v1", f"lamp @ {GIT}@v1", "", id="name @ VCS"),
        pytest.param(
            {"packagename": "https://x.example/lamp-1.0-py3-none-any.whl"},
            "lamp @ https://x.example/lamp-1.0-py3-none-any.whl",
            "lamp @ https://x.example/lamp-1.0-py3-none-any.whl", "", id="a wheel's address",
        ),
        pytest.param(
            {"packagename": "lamp", "url": "https://x.example/lamp-1.0-py3-none-any.whl"},
            "lamp @ https://x.example/lamp-1.0-py3-none-any.whl",
            "lamp @ https://x.example/lamp-1.0-py3-none-any.whl", "", id="a wheel where an index is expected",
        ),
    ],
)  # fmt: skip
def test_what_a_request_means(tmp_path: Path, members, requirement, line, index_url):
    """Name, URL and version become one requirement, one line of the file and perhaps an index."""
    wanted = read_request(InstallRequest(**members), OPEN, tmp_path)

    assert (wanted.requirement, wanted.line, wanted.index_url) == (requirement, line, index_url)


def test_a_path_is_relative_to_where_the_caller_is(tmp_path: Path):
    """The plugins file gets an absolute address, for it may stand elsewhere."""
    write_wheel(tmp_path, "lamp")

    wanted = read_request(InstallRequest(packagename="./lamp-1.0-py3-none-any.whl"), Policy(), tmp_path)

    assert wanted.line == f"lamp @ {tmp_path.as_uri()}/lamp-1.0-py3-none-any.whl"


def test_an_upload_is_listed_by_its_version(tmp_path: Path):
    """The uploaded file goes away, so the plugins file names the version."""
    upload = write_wheel(tmp_path, "lamp", "1.5")

    wanted = read_request(InstallRequest(wheel=upload), Policy(), tmp_path)

    assert (wanted.name, wanted.line) == ("lamp", "lamp==1.5")
    with pytest.raises(InvalidInputError) as refused:
        read_request(InstallRequest(wheel=upload, packagename="shade"), Policy(), tmp_path)
    assert list(refused.value.fields) == ["packagename"]


@pytest.mark.parametrize(
    ("members", "fields"),
    [
        pytest.param({}, {"packagename", "url"}, id="nothing"),
        pytest.param({"packagename": " ", "url": " ", "version": "1"}, {"packagename", "url"}, id="blanks"),
        pytest.param({"packagename": "<b>lamp</b>"}, {"packagename"}, id="HTML"),
        *(
            pytest.param({"packagename": f"lamp{char}x"}, {"non_field_errors"}, id=f"a forbidden {char}")
            for char in ";&|`$()"
        ),
        pytest.param({"packagename": "lamp", "url": "https://x.example/$(id)"}, {"non_field_errors"}, id="in the URL"),
        pytest.param({"packagename": "lamp\n-r x"}, {"non_field_errors"}, id="a line break"),
        pytest.param({"url": "https://x.example/simple"}, {"non_field_errors"}, id="an index without a name"),
        pytest.param({"packagename": "--target=/"}, {"packagename"}, id="an option as name"),
        pytest.param({"packagename": "lamp", "version": "-r"}, {"version"}, id="an option as version"),
        pytest.param({"packagename": "lamp", "url": "--pre"}, {"url"}, id="an option as URL"),
        pytest.param({"packagename": "lamp", "version": "one"}, {"version"}, id="no version"),
        pytest.param({"packagename": "lamp==1", "version": "2"}, {"version"}, id="two versions"),
        pytest.param({"packagename": "two words"}, {"packagename"}, id="no requirement"),
        pytest.param({"packagename": "./nowhere-1.0-py3-none-any.whl"}, {"packagename"}, id="no such file"),
        pytest.param({"packagename": "https://x.example/lamp.whl"}, {"packagename"}, id="no name of a wheel"),
        pytest.param({"packagename": f"x @ {WHEEL}"}, {"packagename"}, id="another's"),
        pytest.param(
            {"packagename": WHEEL, "version": "2"}, {"version"}, id="other version"
        ),
        pytest.param({"packagename": "lamp", "version": "9" * 5000}, {"version"}, id="an endless version"),
        pytest.param({"packagename": "lamp", "url": "http://[::1"}, {"url"}, id="half an address"),
        pytest.param({"packagename": "lamp @ http://[::1"}, {"packagename"}, id="half an address after the name"),
        pytest.param({"packagename": "lamp", "url": "http://x.example:99999/"}, {"url"}, id="no such port"),
        pytest.param(
            {"packagename": "lamp @ file://elsewhere/lamp-1.0-py3-none-any.whl"}, {"packagename"}, id="another machine"
        ),
        pytest.param({"url": "git+http://git.example/lamp"}, {"url"}, id="version control without encryption"),
    ],
)  # fmt: skip
def test_what_is_refused(tmp_path: Path, members, fields):
    """The refusal stands under the member that is wrong."""
    with pytest.raises(InvalidInputError) as refused:
        read_request(InstallRequest(**members), OPEN, tmp_path)

    assert set(refused.value.fields) == fields


@pytest.mark.parametrize(
    ("policy", "members", "reason"),
    [
        pytest.param(Policy(install_disabled=True), {"packagename": "lamp"}, "switched off", id="installing"),
        pytest.param(Policy(allow_builds=True), {"url": GIT}, "version control are not allowed", id="version control"),
        pytest.param(
            Policy(allow_vcs=True),
            {"packagename": "https://x.example/lamp-1.tar.gz"},
            "built from source",
            id="sources",
        ),
        pytest.param(Policy(allow_vcs=True), {"packagename": "."}, "built from source", id="a folder"),
    ],
)
def test_the_administrators_rules(tmp_path: Path, policy, members, reason):
    """What the administrator does not allow is refused before pip runs."""
    with pytest.raises(InvalidInputError, match=reason):
        read_request(InstallRequest(**members), policy, tmp_path)


def test_credentials_are_not_recorded():
    """The record of a request masks passwords, tokens and signatures."""
    request = InstallRequest(packagename="lamp", url="https://me:secret@x.example/simple?token=secret")

    assert request.as_json()["url"] == "https://****@x.example/simple?token=****"


def test_a_url_with_a_blank_is_refused(tmp_path: Path):
    """A form that was not encoded turns ``+`` into a blank; such a URL is not taken for something to ignore."""
    request = InstallRequest(packagename="lamp", url="git https://example.org/lamp.git")

    with pytest.raises(InvalidInputError) as refused:
        read_request(request, OPEN, tmp_path)

    assert "%2B" in refused.value.fields["url"][0]
