"""Asking pip what would be installed, without installing it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from host.errors import UnavailableError
from host.packages.masking import has_credentials, mask
from host.packages.pip_process import OnLine, Pip, PipRun
from host.packages.sources import Source, source_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What pip is to resolve."""

    requirements: Sequence[str]
    constraints: Sequence[str] = ()
    options: Sequence[tuple[str, str]] = ()
    """Options of the plugins file."""
    index_url: str = ""
    """Replaces every other index."""
    named: str = ""
    """The package that was named; messages begin with it."""
    dependencies: bool = True
    """Look for what the requirements need as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """One package that pip would install."""

    name: str
    """Canonical name."""
    version: str
    url: str
    """Without credentials, as pip reports it."""
    sha256: str = ""
    """Of the archive; empty for version control and folders."""
    source: Source
    is_direct: bool = False
    requested: bool = False
    yanked: str | None = None
    requires: tuple[str, ...] = ()
    direct_url: Mapping[str, Any] = field(default_factory=dict)


class ResolveFailedError(Exception):
    """pip found no answer; ``debug`` is its detailed log."""

    def __init__(self, run: PipRun, debug: str) -> None:
        super().__init__(run.output)
        self.run = run
        self.debug = debug


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """Where packages are looked for, beside pip's own configuration."""

    index_url: str = ""
    find_links: Sequence[str] = ()

    def arguments(self, question: Question) -> list[str]:
        """Return pip's options for a question."""
        index_url = question.index_url or self.index_url
        links = [part for link in self.find_links for part in ("--find-links", link)]
        return (["--index-url", index_url] if index_url else []) + links

    def lines(self, question: Question) -> list[str]:
        """Return the lines of a requirements file that say the options of the plugins file."""
        replaced = {"-i", "--index-url", "--no-index"} if question.index_url else set()
        return [f"{name} {value}".strip() for name, value in question.options if name not in replaced]


def resolve(
    pip: Pip, index: Index, question: Question, *, folder: Path, links: Path | None, on_line: OnLine, builds: bool
) -> tuple[Resolved, ...]:
    """Let pip resolve requirements against its environment and the constraints.

    ``folder`` takes temporary files; ``links`` is a folder of wheels to offer as well.

    Raises:
        ResolveFailedError: pip found no answer.
        UnavailableError: pip's report cannot be read.

    """
    folder.mkdir(parents=True, exist_ok=True)
    requirements, constraints = folder / "requirements.txt", folder / "constraints.txt"
    report, debug = folder / "report.json", folder / "pip.log"
    # pip's messages call a requirement by its name when it is an argument, and by its line when it is in a file; but
    # arguments are seen by everyone on the machine, and pip puts in environment variables in files alone.
    hidden = [one for one in question.requirements if "${" in one or has_credentials(one)]
    shown = [one for one in question.requirements if one not in hidden]
    requirements.write_text("\n".join([*index.lines(question), *hidden, ""]), encoding="utf-8")
    constraints.write_text("\n".join([*question.constraints, ""]), encoding="utf-8")
    for leftover in (report, debug):
        leftover.unlink(missing_ok=True)
    arguments = [
        "install", "--dry-run", "--report", str(report), "--log", str(debug),
        *([] if builds else ["--only-binary", ":all:"]),
        *([] if question.dependencies else ["--no-deps"]),
        *index.arguments(question),
        *(["--find-links", str(links)] if links else []),
        "--constraint", str(constraints), "--requirement", str(requirements), "--", *shown,
    ]  # fmt: skip
    run = pip.run(arguments, on_line=on_line)
    if run.code != 0:
        text = debug.read_text(encoding="utf-8", errors="replace") if debug.exists() else ""
        raise ResolveFailedError(run, mask(text))
    return _read(report)


def _read(report: Path) -> tuple[Resolved, ...]:
    try:
        content = json.loads(report.read_text(encoding="utf-8"))
        return tuple(_item(item) for item in content["install"])
    except (OSError, ValueError, KeyError) as error:
        raise UnavailableError(f"pip's report cannot be read: {error!r}.") from error


def _item(item: Mapping[str, Any]) -> Resolved:
    metadata, download = item["metadata"], item["download_info"]
    url = mask(download["url"])
    archive = download.get("archive_info") or {}
    hashes = archive.get("hashes") or {}
    if "vcs_info" in download:
        source = Source.VCS
    elif "dir_info" in download:
        source = Source.FOLDER
    else:
        source = source_of(url)
    return Resolved(
        name=canonicalize_name(metadata["name"]),
        version=metadata["version"],
        url=url,
        sha256=hashes.get("sha256", ""),
        source=source,
        is_direct=item["is_direct"],
        requested=item["requested"],
        yanked=(metadata.get("yanked_reason") or "yanked") if item.get("is_yanked") else None,
        requires=tuple(metadata.get("requires_dist") or ()),
        direct_url={**download, "url": url} if item["is_direct"] else {},
    )
