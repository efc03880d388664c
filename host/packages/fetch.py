"""Getting the wheels of a plan: copied, downloaded or built, always checked."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

from host.packages.conflicts import Setting, explain
from host.packages.failures import PackageRefusedError
from host.packages.lockfile import Lock, LockedPackage
from host.packages.masking import mask
from host.packages.pip_process import OnLine, Pip, PipRun
from host.packages.plan import Plan
from host.packages.plugins_file import PluginsFile
from host.packages.resolve import Index, Question, Resolved
from host.packages.sources import Source, file_name, local_path
from host.packages.unpack import inspect_wheel
from host.packages.wheels import hash_of

_REVISION = re.compile(r"(?<=/)(?P<path>[^/]+?)@[^/@]*$")


@dataclass(frozen=True, slots=True)
class Fetched:
    """A wheel that is at hand, and what the lock will say of it."""

    path: Path
    package: LockedPackage
    entry_points: Mapping[str, tuple[str, ...]]


class Fetcher:
    """Fetches what a plan names; keeps nothing itself."""

    def __init__(self, pip: Pip, index: Index) -> None:
        self._pip = pip
        self._index = index

    def fetch(self, plan: Plan, *, index_url: str, folder: Path, on_line: OnLine) -> list[Fetched]:
        """Get every package of a plan that is not kept already into a temporary folder.

        Raises:
            PackageRefusedError: a download or build failed, a hash differs, or a wheel is not what was planned.
            OSError: the folder cannot be written.

        """
        folder.mkdir(parents=True, exist_ok=True)
        file = PluginsFile(plan.text, folder)
        urls = {line.name: line.url for line in file.lines if line.name}
        question = Question(requirements=(), options=file.options(), index_url=index_url)
        items = [target.fetched for target in plan.targets if target.fetched is not None]
        paths: dict[str, Path] = {}
        remote = []
        for item in items:
            path = self._local(item, folder / item.name)
            if path is not None:
                paths[item.name] = path
            elif item.source is Source.WHEEL:
                remote.append(item)
            else:
                paths[item.name] = self._build(item, urls.get(item.name), question, folder / item.name, on_line)
        paths |= self._download(remote, urls, question, folder, on_line)
        return [self._checked(item, paths[item.name], plan, urls.get(item.name)) for item in items]

    def _local(self, item: Resolved, folder: Path) -> Path | None:
        path = local_path(item.url) if item.source is Source.WHEEL else None
        if path is None:
            return None
        folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copyfile(path, folder / path.name))

    def _download(
        self, items: list[Resolved], urls: Mapping[str, str | None], question: Question, folder: Path, on_line: OnLine
    ) -> dict[str, Path]:
        if not items:
            return {}
        target = folder / "downloads"
        lines = [f"{item.name} @ {self._address(item, urls)} --hash=sha256:{item.sha256}" for item in items]
        requirements = self._requirements(question, lines, folder)
        run = self._pip.run(
            ["download", "--no-deps", "--require-hashes", "--only-binary", ":all:", "--dest", str(target),
             *self._index.arguments(question), "--requirement", str(requirements)],
            on_line=on_line,
        )  # fmt: skip
        self._check(run)
        return {item.name: target / file_name(item.url) for item in items}

    def _build(self, item: Resolved, url: str | None, question: Question, folder: Path, on_line: OnLine) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        line = f"{item.name} @ {_pinned(item, url)}"
        if item.source is Source.SDIST and item.sha256:
            line += f" --hash=sha256:{item.sha256}"
        requirements = self._requirements(question, [line], folder)
        run = self._pip.run(
            ["wheel", "--no-deps", "--wheel-dir", str(folder), *self._index.arguments(question),
             "--requirement", str(requirements)],
            on_line=on_line,
        )  # fmt: skip
        self._check(run)
        built = list(folder.glob("*.whl"))
        if len(built) != 1:
            raise PackageRefusedError(f"Building {item.name} {item.version} made no wheel.", output=run.output)
        return built[0]

    def _requirements(self, question: Question, lines: list[str], folder: Path) -> Path:
        path = folder / "fetch.txt"
        path.write_text("\n".join([*self._index.lines(question), *lines, ""]), encoding="utf-8")
        return path

    def _check(self, run: PipRun) -> None:
        if run.code != 0:
            setting = Setting(host={}, host_label="the host", lock=Lock(), builds=True, limit=self._pip.limit)
            raise explain(run, "", setting)

    def _address(self, item: Resolved, urls: Mapping[str, str | None]) -> str:
        # pip reports addresses without their credentials; the plugins file has them.
        url = urls.get(item.name)
        return url if item.is_direct and url else item.url

    def _checked(self, item: Resolved, path: Path, plan: Plan, url: str | None) -> Fetched:
        if not path.is_file():
            raise PackageRefusedError(f"The wheel of {item.name} {item.version} was not downloaded.")
        sha256 = hash_of(path)
        if item.source is Source.WHEEL and item.sha256 and sha256 != item.sha256:
            raise PackageRefusedError(
                f"{path.name} changed while it was fetched; its hash is not the planned one. Try again."
            )
        self._check_hashes(item, path, plan)
        content = inspect_wheel(path)
        if content.name != item.name or Version(content.version) != Version(item.version):
            raise PackageRefusedError(
                f"{path.name} holds {content.name} {content.version}, and {item.name} {item.version} was planned."
            )
        package = LockedPackage(
            name=item.name,
            version=content.version,
            filename=path.name,
            sha256=sha256,
            size=path.stat().st_size,
            requires=content.requires,
            requested=item.name in plan.requested,
            source=mask(url or (path.name if self._is_upload(item, plan) else item.url)),
            direct_url={} if self._is_upload(item, plan) else item.direct_url,
        )
        return Fetched(path, package, content.entry_points)

    def _is_upload(self, item: Resolved, plan: Plan) -> bool:
        return (
            item.is_direct and item.name in plan.requested and item.name == plan.name and " @ " not in plan.requirement
        )

    def _check_hashes(self, item: Resolved, path: Path, plan: Plan) -> None:
        allowed = (plan.hashes or {}).get(item.name, ())
        if allowed and not any(hash_of(path, algorithm) == digest for algorithm, digest in allowed):
            raise PackageRefusedError(
                f"{path.name} has none of the hashes that the plugins file allows for {item.name}."
            )


def relabelled(package: LockedPackage, plan: Plan) -> LockedPackage:
    """Return a kept package as the plugins file sees it now."""
    return replace(package, requested=package.name in plan.requested)


def _pinned(item: Resolved, url: str | None) -> str:
    """Return the address to build from: for version control, at the very commit that was resolved."""
    if item.source is not Source.VCS:
        return url or item.url
    info = item.direct_url["vcs_info"]
    address = Requirement(f"x @ {url}").url if url else None
    address = address or f"{info['vcs']}+{item.url}"
    base, _, fragment = address.partition("#")
    pinned = f"{_REVISION.sub(lambda match: match['path'], base)}@{info['commit_id']}"
    return f"{pinned}#{fragment}" if fragment else pinned
