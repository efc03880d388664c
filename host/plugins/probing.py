"""Probe distributions: each in a child process with limits, two at a time, and only when nothing is known of them."""

from __future__ import annotations

import json
import os
import select
import signal
import site
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

import host
from host.plugins.manifest import Distribution, EntryPoint, Failure, Manifest, Origin, PluginManifest
from host.plugins.manifests import Composer, ManifestStore, Seen, clash, has_failed
from host.plugins.metadata import describe, name_of
from host.plugins.objects import DOING

_KEPT_VARIABLES = frozenset(
    {"PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "VIRTUAL_ENV", "PYTHONHOME", "PYTHONPATH", "PYTHONUTF8"}
)
_KEPT_PREFIXES = ("LC_", "LD_LIBRARY_PATH", "DYLD_")
_LONGEST_ANSWER = 8 * 1024 * 1024
_GLANCE_MS = 50


Retry = Callable[[Distribution, float], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a probe may use."""

    seconds: float = 20.0
    """For each plugin, by the clock; also the processor time of the whole probe."""
    memory: int = 2 * 1024**3
    """Bytes of address space."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """What a distribution holds that is not installed yet."""

    distribution: Distribution | None
    """``None`` when the folders hold no such distribution or it declares no plugin."""
    plugins: tuple[PluginManifest, ...] = ()
    failures: tuple[Failure, ...] = ()
    """Why it or some of its plugins cannot be used."""
    clashes: tuple[Failure, ...] = ()
    """Keys that other distributions have taken."""


@dataclass(slots=True)
class _Progress:
    seen: dict[str, dict[str, Any]] = field(default_factory=dict)
    key: str | None = None
    stage: str = "import"
    is_done: bool = False


class Probing:
    """Makes manifests.

    Args:
        store: where manifests are kept.
        composer: adds what the configuration says of plugins.
        environment: the folders of the host's own environment, as discovery has them.
        limits: what one probe may use.
        at_once: how many probes run side by side.

    """

    def __init__(
        self,
        *,
        store: ManifestStore,
        composer: Composer,
        environment: Sequence[Path],
        limits: Limits | None = None,
        at_once: int = 2,
    ) -> None:
        self._store = store
        self._composer = composer
        self._environment = tuple(environment)
        self._limits = limits or Limits()
        self._at_once = at_once

    def manifests(
        self, distributions: Sequence[Distribution], folders: Sequence[Path], *, retry: Retry | None = None
    ) -> tuple[Manifest, ...]:
        """Return a manifest for each distribution, probing those of which none is kept.

        ``folders`` are those of the package store, for what the plugins import. Where the last probe found something
        wrong, ``retry`` tells by the distribution and the seconds since then whether to probe again.
        """
        known = {distribution: self._store.load(distribution) for distribution in distributions}
        due = [one for one, seen in known.items() if seen is None or self._is_due(one, seen, retry)]
        if due:
            with ThreadPoolExecutor(self._at_once, thread_name_prefix="plugyard-probe") as pool:
                known.update(zip(due, pool.map(lambda one: self._probe(one, folders), due), strict=True))
        return tuple(self._composer.manifest(one, seen) for one, seen in known.items() if seen is not None)

    def inspect(self, folders: Sequence[Path], name: str, known: Mapping[str, PluginManifest]) -> Inspection:
        """Probe one distribution that lies in store folders, beside all that it requires.

        ``known`` are the plugins of the registry, for keys that are taken.
        """
        wanted = canonicalize_name(name)
        info = next((path for folder in folders for path in _infos(folder) if name_of(path) == wanted), None)
        if info is None:
            return Inspection(distribution=None)
        described = describe(info, Origin.STORE)
        if described.distribution is None:
            return Inspection(distribution=None, failures=described.failures)
        (manifest,) = self.manifests([described.distribution], folders, retry=lambda _one, _age: True)
        failures = [*described.failures, *(plugin.failure for plugin in manifest.plugins if plugin.failure)]
        clashes = [
            clash(plugin, known[plugin.key])
            for plugin in manifest.plugins
            if plugin.key in known and canonicalize_name(known[plugin.key].identity.distribution) != wanted
        ]
        return Inspection(
            distribution=described.distribution,
            plugins=manifest.plugins,
            failures=tuple(failures),
            clashes=tuple(clashes),
        )

    def rehearse(self, entry: EntryPoint, folders: Sequence[Path]) -> str | None:
        """Run a plugin's ``start`` in a probe, with nothing behind it; return how it ends the process, if it does.

        An exception is no obstacle here: the plugin may miss what only the host can give.
        """
        progress, end = self._run([entry], folders, rehearse=True)
        if entry.key in progress.seen or progress.stage != "start":
            return None
        return f"{end} {DOING[progress.stage]}"

    def _is_due(self, distribution: Distribution, seen: Seen, retry: Retry | None) -> bool:
        return retry is not None and has_failed(seen) and retry(distribution, self._store.age(distribution))

    def _probe(self, distribution: Distribution, folders: Sequence[Path]) -> Seen:
        home = distribution.path if distribution.origin is Origin.STORE else None
        remaining = list(distribution.entry_points)
        seen: dict[str, dict[str, Any]] = {}
        while remaining:
            progress, end = self._run(remaining, folders, home=home)
            seen.update(progress.seen)
            remaining = [entry for entry in remaining if entry.key not in seen]
            if progress.key is None or progress.is_done:
                seen.update({entry.key: {"failure": ["import", f"The probe {end}."]} for entry in remaining})
                break
            # The others get a probe without the one that was at work when it died.
            seen.setdefault(progress.key, {"failure": [progress.stage, f"{end} {DOING[progress.stage]}"]})
            remaining = [entry for entry in remaining if entry.key not in seen]
        self._store.save(distribution, seen)
        return seen

    def _run(
        self,
        entries: Sequence[EntryPoint],
        folders: Sequence[Path],
        *,
        home: Path | None = None,
        rehearse: bool = False,
    ) -> tuple[_Progress, str]:
        progress = _Progress()
        reading, writing = os.pipe()
        with tempfile.TemporaryFile() as request, os.fdopen(reading, "rb", buffering=0):
            try:
                request.write(self._request(entries, folders, home=home, rehearse=rehearse))
                request.flush()
                request.seek(0)
                process = _started(request.fileno(), writing)
            except OSError as error:
                return progress, f"could not be started: {error.strerror}"
            finally:
                os.close(writing)
            try:
                ended_itself = self._follow(process.pid, reading, progress)
            finally:
                _kill_group(process.pid)
                code = process.wait()
        return progress, self._end(code) if ended_itself else f"took longer than {self._limits.seconds:g} s"

    def _request(
        self, entries: Sequence[EntryPoint], folders: Sequence[Path], *, home: Path | None, rehearse: bool
    ) -> bytes:
        request = {
            "parent": os.getpid(),
            "folders": [str(folder) for folder in (*self._environment, *folders)],
            "entry_points": [[entry.key, entry.value] for entry in entries],
            "memory": self._limits.memory,
            "home": str(home) if home is not None else None,
            "rehearse": rehearse,
            "cpu": int(self._limits.seconds) * len(entries) + 1,
        }
        return json.dumps(request).encode()

    def _follow(self, pid: int, reading: int, progress: _Progress) -> bool:
        """Read until the probe has ended (true) or a plugin has taken too long (false)."""
        poller = select.poll()
        poller.register(reading, select.POLLIN)
        deadline = time.monotonic() + self._limits.seconds
        rest, length, key = b"", 0, None
        while (left := deadline - time.monotonic()) > 0:
            if not poller.poll(min(left * 1000, _GLANCE_MS)):
                # A child of the plugin's own may keep the pipe open; and the last words may have come this moment.
                if _has_ended(pid) and not poller.poll(0):
                    return True
                continue
            data = os.read(reading, 65536)
            length += len(data)
            if not data or length > _LONGEST_ANSWER:
                return _ends_within(pid, left)
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                _take(progress, line)
            if progress.is_done:
                return True
            if progress.key != key:
                key, deadline = progress.key, time.monotonic() + self._limits.seconds
        return False

    def _end(self, code: int) -> str:
        if code == -signal.SIGXCPU:
            return f"used more than {self._limits.seconds:g} s of processor time"
        if code < 0:
            return f"was killed by signal {-code}"
        return f"ended the probe process with exit code {code}"


def _started(request: int, answer: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "host.plugins.probe", str(request), str(answer)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=tempfile.gettempdir(),
        env=_environment(),
        pass_fds=(request, answer),
        process_group=0,
    )


def _take(progress: _Progress, line: bytes) -> None:
    match _parsed(line):
        case {"done": True}:
            progress.is_done = True
        case {"key": str(key), "stage": str(stage)} if stage in DOING:
            progress.key, progress.stage = key, stage
        case {"key": str(key), "failure": [str(stage), str(message)]} if key == progress.key:
            progress.seen[key] = {"failure": [stage, message]}
        case {"key": str(key), "manifest": {"name": str(_), "hooks": [*_], "mixins": dict(_)} as manifest} if (
            key == progress.key
        ):
            progress.seen[key] = {"manifest": manifest}
        case _:
            # A plugin has written to a descriptor that is not its own.
            return


def _parsed(line: bytes) -> object:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _has_ended(pid: int) -> bool:
    # The process is left unreaped, so that its number stays the group's until the group has been killed.
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def _ends_within(pid: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not _has_ended(pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.002)
    return True


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _infos(folder: Path) -> list[Path]:
    return sorted(path for pattern in ("*.dist-info", "*.egg-info") for path in folder.glob(pattern))


def _environment() -> dict[str, str]:
    """Keep what an interpreter needs; everything else may hold secrets."""
    kept = {
        name: value for name, value in os.environ.items() if name in _KEPT_VARIABLES or name.startswith(_KEPT_PREFIXES)
    }
    kept.update(PYTHONDONTWRITEBYTECODE="1", PYTHONSAFEPATH="1")
    root = str(Path(host.__file__).parent.parent)
    if root not in site.getsitepackages():
        kept["PYTHONPATH"] = os.pathsep.join(filter(None, (root, kept.get("PYTHONPATH", ""))))
    return kept
