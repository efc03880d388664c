"""Installing a package: all of it, or nothing."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from host.errors import InvalidInputError, UnavailableError
from host.packages.policy import Policy
from host.packages.requests import InstallRequest
from tests.packages_area.wheelhouse import write_wheel
from tests.packages_area.yard import Yard


def refusal(yard: Yard, *args, **members) -> str:
    """Install something that must be refused and must leave nothing; return the first message."""
    before = (yard.file, yard.versions, yard.left, yard.packages.current())
    with pytest.raises(InvalidInputError) as refused:
        yard.install(*args, **members)
    assert (yard.file, yard.versions, yard.left, yard.packages.current()) == before
    return refused.value.fields["non_field_errors"][0]


def test_a_package_is_installed_beside_the_host(cold_yard: Yard):
    """The line is written, the folder can be imported from, and the host's environment stays the same."""
    cold_yard.wheel("plug-lamp", "1.2", requires=["bulb>=1", "starlette"])
    cold_yard.wheel("bulb", "1.1")
    environment = Path(sysconfig.get_path("purelib"))
    before = {path.name for path in environment.iterdir()}

    outcome = cold_yard.install("Plug_Lamp")

    assert (outcome.name, outcome.version, outcome.generation, outcome.changed) == ("plug-lamp", "1.2", 1, True)
    assert "plug_lamp-1.2" in outcome.output
    assert cold_yard.file == "plug-lamp\n"
    assert cold_yard.versions == {"bulb": "1.1", "plug-lamp": "1.2"}
    assert cold_yard.inspected == ["plug-lamp"]
    assert cold_yard.switches == [1]
    current = cold_yard.packages.current()
    assert [folder.name.rsplit("-", 1)[0] for folder in current.folders] == ["bulb-1.1", "plug-lamp-1.2"]
    script = (
        f"import sys; sys.path += {[str(folder) for folder in current.folders]}\n"
        "import bulb, plug_lamp, importlib.metadata as m\n"
        "print(bulb.VERSION, plug_lamp.VERSION, m.distribution('plug-lamp').read_text('INSTALLER').strip())"
    )
    found = subprocess.run([sys.executable, "-I", "-c", script], check=True, capture_output=True, text=True).stdout
    assert found.split() == ["1.1", "1.2", "plugyard"]
    assert {path.name for path in environment.iterdir()} == before


def test_a_plan_shows_what_would_happen_and_changes_nothing(yard: Yard):
    """A plan names every package with version, hash and origin, and can be sent as JSON."""
    yard.wheel("plug-lamp", requires=["bulb"])
    yard.wheel("bulb")

    plan = yard.packages.plan(InstallRequest(packagename="plug-lamp"))

    shown = json.loads(json.dumps(plan.as_json()))
    assert (shown["name"], shown["requirement"], shown["changes"]) == ("plug-lamp", "plug-lamp", True)
    assert [(one["name"], one["version"], len(one["sha256"])) for one in shown["add"]] == [
        ("bulb", "1.0", 64),
        ("plug-lamp", "1.0", 64),
    ]
    assert (yard.left, yard.file, yard.packages.operations()) == ([], "", [])


def test_a_conflict_with_the_host_names_both(yard: Yard):
    """A plugin can neither upgrade nor downgrade what the host runs, and is told by how much it misses."""
    yard.wheel("plug-old", requires=["starlette<0.50"])

    message = refusal(yard, "plug-old")

    assert message.startswith("plug-old 1.0 requires starlette<0.50, but the host (plugyard ")
    assert " runs starlette " in message


def test_a_conflict_between_plugins_names_both(yard: Yard):
    """What is installed is held, and whoever requires it is named."""
    yard.wheel("plug-a", requires=["dep<2"])
    yard.wheel("plug-b", requires=["dep>=2"])
    yard.wheel("dep", "1.0")
    yard.wheel("dep", "2.0")
    yard.install("plug-a")

    assert refusal(yard, "plug-b").startswith("plug-b 1.0 requires dep>=2, but plug-a 1.0 requires dep<2")

    yard.write("plug-a\nplug-b\n")
    yard.packages.uninstall("plug-a")
    with pytest.raises(InvalidInputError, match=r"plug-a 1.0 requires dep<2, but plug-b 1.0 requires dep>=2"):
        yard.install("plug-a")


def test_what_is_installed_stays_unless_it_is_named(yard: Yard):
    """Newer versions move nothing by themselves; naming no version moves the named package to the newest."""
    yard.wheel("plug-a", "1.0", requires=["dep"])
    yard.wheel("plug-b", "1.0")
    yard.wheel("dep", "1.0")
    yard.install("plug-a")
    for name in ("plug-a", "dep"):
        yard.wheel(name, "2.0", requires=["dep"] if name == "plug-a" else [])

    yard.install("plug-b")
    assert yard.versions == {"dep": "1.0", "plug-a": "1.0", "plug-b": "1.0"}
    yard.install("plug-a")
    assert yard.versions == {"dep": "1.0", "plug-a": "2.0", "plug-b": "1.0"}
    yard.wheel("plug-a", "3.0", requires=["dep>=2"])
    outcome = yard.install("plug-a", version="3.0")
    assert yard.versions == {"dep": "2.0", "plug-a": "3.0", "plug-b": "1.0"}
    assert "dep moves from 1.0 to 2.0." in outcome.warnings
    assert yard.file == "plug-a==3.0\nplug-b\n"


def test_installing_again_changes_nothing(yard: Yard):
    """The same request again succeeds without a new generation, even when the index is gone."""
    wheel = yard.wheel("plug-a", "1.0")
    yard.install("plug-a", version="1.0")
    wheel.unlink()

    outcome = yard.install("plug-a", version="1.0")

    assert (outcome.changed, outcome.generation) == (False, 1)
    assert "already" in outcome.result


def test_edits_of_people_are_kept_and_followed(yard: Yard):
    """An install works on the file as it is now: comments, options and lines that somebody added."""
    for name in ("plug-a", "plug-b", "plug-c"):
        yard.wheel(name)
    yard.install("plug-a")
    yard.write("# ours\r\n--prefer-binary\r\nPlug_A  # the first\r\nplug-b\r\n")

    outcome = yard.install("plug-c")

    assert yard.file == "# ours\r\n--prefer-binary\r\nPlug_A  # the first\r\nplug-b\r\nplug-c\r\n"
    assert set(yard.versions) == {"plug-a", "plug-b", "plug-c"}
    assert any("was edited since generation 1 (added plug-b)" in warning for warning in outcome.warnings)


def test_a_package_without_a_plugin_is_refused(yard: Yard):
    """The refusal says what was found instead, and nothing is left of the package."""
    yard.wheel("tool", entry_points="[console_scripts]\ntool = tool:main\n")
    yard.wheel("library")

    assert refusal(yard, "tool") == (
        "tool 1.0 holds no plugin: its entry points are in console_scripts; a plugin declares the group 'plugyard'."
    )
    assert "it declares no entry points" in refusal(yard, "library")


def test_a_dependency_is_no_plugin_and_may_be_promoted_only_if_it_is(yard: Yard):
    """A package that is there as a dependency is refused by name as well when it holds no plugin."""
    yard.wheel("plug-a", requires=["library", "plug-b"])
    yard.wheel("plug-b")
    yard.wheel("library")
    yard.install("plug-a")

    assert "holds no plugin" in refusal(yard, "library")
    assert yard.install("plug-b").changed is False
    assert yard.file == "plug-a\nplug-b\n"
    yard.packages.uninstall("plug-a")
    assert set(yard.versions) == {"plug-b"}


def test_a_plugin_that_fails_inspection_is_refused(yard: Yard):
    """What the inspection finds is the message, and nothing is left of the package."""
    yard.wheel("plug-a")
    yard.problems = ["Key 'plug-a' is taken by plug-z.", "And more."]

    assert refusal(yard, "plug-a") == "Key 'plug-a' is taken by plug-z."


def test_what_the_host_has_is_not_managed_here(yard: Yard):
    """A package of the host's own environment cannot be installed or removed here."""
    assert "already in the host's own environment" in refusal(yard, "starlette")
    with pytest.raises(InvalidInputError, match="part of the host's own environment"):
        yard.packages.uninstall("Starlette")


@pytest.mark.parametrize(
    ("packagename", "reason"),
    [
        pytest.param("nonesuch", "No package named nonesuch was found", id="unknown package"),
        pytest.param("plug-a==9", "There is no version plug-a==9; the index has 1.0, 2.0.", id="unknown version"),
        pytest.param("plug-new", "plug-new needs Python >=99", id="another Python"),
        pytest.param("plug-lost", "No package named nothing (required by plug-lost) was found", id="a lost dependency"),
        pytest.param("source-only", "has no wheel that fits this machine, and building", id="sources only"),
        pytest.param("broken", "The wheel of broken is no readable archive", id="a broken archive"),
        pytest.param("plug-forged", "The wheel plug_forged-1.0-py3-none-any.whl is broken", id="a forged record"),
        pytest.param("plug-slip", "would be written outside its folder", id="a path that leads outside"),
    ],
)
def test_why_a_package_cannot_be_installed(yard: Yard, packagename, reason):
    """Each cause has a sentence of its own, and leaves nothing behind."""
    yard.wheel("plug-a", "1.0")
    yard.wheel("plug-a", "2.0")
    yard.wheel("plug-new", requires_python=">=99")
    yard.wheel("plug-lost", requires=["nothing"])
    yard.wheel("plug-forged", record={"plug_forged/__init__.py": "sha256=AAAA"})
    yard.wheel("plug-slip", files={"plug_slip/__init__.py": "", "../slipped.py": ""})
    (yard.wheelhouse / "source_only-1.0.tar.gz").write_bytes(b"")
    (yard.wheelhouse / "broken-1.0-py3-none-any.whl").write_bytes(b"not a zip")

    message = refusal(yard, packagename)

    assert reason in message
    operation = yard.packages.operations()[0]
    assert (operation.status, message in operation.error) == ("failed", True)


def test_pip_failures_are_reported_with_its_output(cold_yard: Yard):
    """The refusal carries pip's own lines, and the error report everything that pip printed."""
    with pytest.raises(InvalidInputError) as refused:
        cold_yard.install("nonesuch")

    messages = refused.value.fields["non_field_errors"]
    assert "ERROR: No matching distribution found for nonesuch" in messages
    assert [(path, info) for path, info, _ in cold_yard.reports] == [("pip:plugin_install", messages[0])]


def test_a_wheel_can_be_named_by_its_path(yard: Yard):
    """The plugins file names the address, and later installs do not need the file any more."""
    wheel = write_wheel(yard.root / "elsewhere", "plug-a", "1.5", plugin=True)
    yard.wheel("plug-b")

    yard.install(str(wheel))
    assert yard.file == f"plug-a @ {wheel.as_uri()}\n"
    wheel.unlink()
    yard.install("plug-b")
    assert yard.versions == {"plug-a": "1.5", "plug-b": "1.0"}
    assert yard.packages.sync().changed is False


def test_an_upload_is_kept(yard: Yard):
    """An uploaded wheel can be installed again after the upload is gone."""
    upload = write_wheel(yard.root / "upload", "plug-a", "1.5", plugin=True)

    outcome = yard.install(wheel=upload)
    upload.unlink()

    assert (outcome.version, yard.file) == ("1.5", "plug-a==1.5\n")
    assert yard.install("plug-a==1.5").changed is False
    package = yard.packages.generation(1).lock.by_name["plug-a"]
    assert (package.source, package.direct_url) == ("plug_a-1.5-py3-none-any.whl", {})


def test_a_hash_in_the_file_is_honoured(yard: Yard):
    """A wheel that has none of the hashes that a line allows is refused."""
    yard.wheel("plug-a")
    yard.write(f"plug-a --hash=sha256:{'0' * 64}\n")

    with pytest.raises(InvalidInputError, match="none of the hashes that the plugins file allows for plug-a"):
        yard.packages.sync()
    assert yard.left == []


def test_building_is_off_for_dependencies_too(cold_yard: Yard):
    """A dependency that names an archive of sources is not built, not even to read its metadata."""
    project = cold_yard.root / "src"
    project.mkdir()
    (project / "setup.py").write_text(f"open({str(cold_yard.root / 'built')!r}, 'w')\n")
    cold_yard.wheel("plug-a", requires=[f"src @ {project.as_uri()}"])

    assert "switched off" in refusal(cold_yard, "plug-a")
    assert not (cold_yard.root / "built").exists()


def test_a_file_that_cannot_be_written_refuses_first(yard: Yard):
    """Where the plugins file cannot be written nothing is installed."""
    yard.wheel("plug-a")
    blocker = yard.root / "blocker"
    blocker.write_text("a file, no folder")
    yard.configure(plugins_file=blocker / "plugins.txt")

    with pytest.raises(UnavailableError, match=r"plugins\.txt"):
        yard.install("plug-a")
    assert yard.left == []


def test_nothing_is_left_when_the_disk_is_full(yard: Yard):
    """A folder that cannot be written stops the install without a trace."""
    yard.wheel("plug-a")
    store = yard.options.home / "store"
    store.parent.mkdir(parents=True)
    store.write_text("a file stands where the store should be")

    with pytest.raises(UnavailableError, match="could not be written"):
        yard.install("plug-a")
    assert (yard.file, yard.left, yard.packages.current().number) == ("", [], 0)


def test_pip_has_limited_time(cold_yard: Yard):
    """A pip that takes too long is ended, and that is the reason given."""
    cold_yard.wheel("plug-a")
    cold_yard.configure(pip_seconds=0.01)

    assert "did not finish within 0.01 seconds" in refusal(cold_yard, "plug-a")


def test_installing_can_be_switched_off(yard: Yard):
    """Then nothing can be changed, whichever way."""
    yard.configure(policy=Policy(install_disabled=True))

    for attempt in (
        lambda: yard.install("plug-a"),
        lambda: yard.packages.uninstall("plug-a"),
        yard.packages.sync,
        lambda: yard.packages.restore(1),
    ):
        with pytest.raises(InvalidInputError, match="switched off"):
            attempt()


def test_a_plugins_file_that_was_lost_is_written_again(yard: Yard):
    """Installing and synchronising make it anew, also when no package changes."""
    yard.wheel("plug-lamp")
    yard.install("plug-lamp")
    for again in (lambda: yard.install("plug-lamp"), yard.packages.sync):
        yard.options.plugins_file.unlink()

        assert not again().changed

        assert yard.file == "plug-lamp\n"


def test_two_lines_that_contradict_each_other_are_named(yard: Yard):
    """The message says what to do about them."""
    yard.wheel("plug-lamp", "1.0")
    yard.wheel("plug-lamp", "2.0")
    yard.options.plugins_file.write_text("plug-lamp==1.0\nPlug_Lamp==2.0\n")

    with pytest.raises(InvalidInputError) as refused:
        yard.packages.sync()

    message = refused.value.fields["non_field_errors"][0]
    assert message.startswith("the plugins file asks for plug-lamp==")
    assert message.endswith("keep one of the lines.")


@pytest.mark.parametrize("uploaded", [True, False])
@pytest.mark.parametrize("installed", [True, False])
def test_a_wheel_is_named_after_what_it_holds(yard: Yard, uploaded: bool, installed: bool):
    """A lock or a plugins file that names another version than the wheel holds could never be followed again."""
    wheel = write_wheel(yard.root / "upload", "plug-lamp", "1.0", plugin=True)
    if installed:
        yard.install(wheel=wheel)
    renamed = wheel.rename(wheel.with_name("plug_lamp-2.0-py3-none-any.whl"))

    message = refusal(yard, wheel=renamed) if uploaded else refusal(yard, str(renamed))

    assert message == "plug_lamp-2.0-py3-none-any.whl holds plug-lamp 1.0. A wheel must be named after what it holds."
