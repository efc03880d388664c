"""The plugins file keeps what people wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from host.errors import InvalidInputError, UnavailableError
from host.packages.plugins_file import PluginsFile
from host.packages.text_files import check_writable, read_text, write_text

WRITTEN = """\
# our plugins
--extra-index-url https://packages.example/simple

Foo_Bar==1.0   # pinned, see the wiki
other>=2,<3
"""


@pytest.mark.parametrize(
    ("text", "name", "line", "expected"),
    [
        pytest.param("", "foo", "foo", "foo\n", id="an empty file"),
        pytest.param("a\n", "foo", "foo==2", "a\nfoo==2\n", id="a new package goes to the end"),
        pytest.param("a", "foo", "foo", "a\nfoo\n", id="the last line has no ending"),
        pytest.param("a\r\nb\r\n", "foo", "foo", "a\r\nb\r\nfoo\r\n", id="line endings are kept"),
        pytest.param("Foo_Bar==1 # why\nb\n", "foo-bar", "foo-bar==2", "foo-bar==2 # why\nb\n", id="another spelling"),
        pytest.param("foo\nb\nFOO==1\n", "foo", "foo==2", "foo==2\nb\n", id="duplicates go"),
        pytest.param("foo==1 \\\n  --hash=sha256:00\nb\n", "foo", "foo==2", "foo==2\nb\n", id="continued lines"),
        pytest.param("# foo==1\n", "foo", "foo", "# foo==1\nfoo\n", id="a comment is no requirement"),
        pytest.param("\ufefffoo\n", "foo", "foo==1", "foo==1\n", id="a byte order mark"),
    ],
)
def test_a_package_has_one_line(text, name, line, expected):
    """A package's line is replaced where it stands, and everything else stays."""
    assert PluginsFile(text).with_requirement(name, line).text == expected


def test_what_is_not_touched_stays_byte_for_byte():
    """Adding and removing a package gives back the file that was there."""
    file = PluginsFile(WRITTEN)

    assert file.with_requirement("new", "new==1").without("NEW").text == WRITTEN
    assert file.without("foo.bar").text == WRITTEN.replace("Foo_Bar==1.0   # pinned, see the wiki\n", "")


def test_the_file_is_understood():
    """Requirements, options and hashes are read as pip reads them."""
    file = PluginsFile(
        WRITTEN + "lamp @ https://files.example/lamp-1.0-py3-none-any.whl\n"
        "./wheels/dim-2.0-py3-none-any.whl\n"
        "git+https://git.example/blink@main#egg=blink\n"
        "exact==1 --hash=sha256:AB --hash=sha512:cd\n"
        "-c pins.txt\n",
        Path("/srv/plugins"),
    )

    lines = {line.name: line for line in file.requirements()}

    assert list(lines) == ["foo-bar", "other", "lamp", "dim", "blink", "exact"]
    assert lines["dim"].url == "file:///srv/plugins/wheels/dim-2.0-py3-none-any.whl"
    assert lines["blink"].url == "git+https://git.example/blink@main#egg=blink"
    assert lines["exact"].hashes == (("sha256", "ab"), ("sha512", "cd"))
    assert file.options() == (
        ("--extra-index-url", "https://packages.example/simple"),
        ("-c", "/srv/plugins/pins.txt"),
    )


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        pytest.param("foo==", "Line 3", id="half a requirement"),
        pytest.param("one two", "Line 3", id="two words"),
        pytest.param("-r other.txt", "no option that may stand here", id="another file"),
        pytest.param("-e ./project", "no option that may stand here", id="an editable project"),
        pytest.param("--target /tmp", "no option that may stand here", id="an option that would change the host"),
        pytest.param("foo --config-settings=x=y", "only --hash is", id="an option of one requirement"),
        pytest.param("git+https://git.example/blink", "write 'name @ git+https", id="a repository without a name"),
        pytest.param("git+http://git.example/blink#egg=x", "is not supported", id="version control without encryption"),
        pytest.param("./project", "write 'name @", id="a path without a name"),
        pytest.param("--index-url 'https://x", "cannot be read", id="an open quote"),
    ],
)
def test_a_line_that_makes_no_sense_is_named(line, reason):
    """The refusal names the line by its number, and editing the file keeps such a line."""
    file = PluginsFile(f"a\n\n{line}\n")

    with pytest.raises(InvalidInputError, match=r"Line 3 of the plugins file") as refused:
        file.requirements()
    assert reason in str(refused.value)
    assert file.with_requirement("b", "b").text == f"a\n\n{line}\nb\n"


def test_writing_replaces_the_file_in_one_step(tmp_path: Path):
    """The file gets its text and keeps its mode, a link to it stays a link, and nothing else is left."""
    file, link = tmp_path / "kept" / "plugins.txt", tmp_path / "plugins.txt"
    write_text(file, "a\n")
    file.chmod(0o640)
    link.symlink_to(file)

    check_writable(link)
    write_text(link, "b\r\n")

    assert link.is_symlink()
    assert file.read_bytes() == b"b\r\n"
    assert file.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in file.parent.iterdir()] == ["plugins.txt"]


def test_a_file_that_is_no_text_is_refused(tmp_path: Path):
    """A file that is missing is none; one that cannot be read is named."""
    path = tmp_path / "plugins.txt"
    assert read_text(path) is None
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(UnavailableError, match=r"plugins\.txt"):
        read_text(path)
