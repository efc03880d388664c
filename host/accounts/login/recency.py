"""By what and when somebody proved who they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

Methods = Sequence[Mapping[str, Any]]


def entry(method: str, now: datetime, **members: Any) -> dict[str, Any]:
    """Return the entry of a session for a step that was just passed; members that are ``None`` are left out."""
    return {"method": method, "at": now.timestamp(), **{k: v for k, v in members.items() if v is not None}}


def is_recent(methods: Methods, now: datetime, seconds: float) -> bool:
    """Tell whether the last proof is recent enough for a sensitive change."""
    return bool(methods) and now.timestamp() - float(methods[-1]["at"]) < seconds


def factors_used(methods: Methods) -> bool:
    """Tell whether a second factor or a passkey was among the proofs."""
    return any(step.get("method") == "mfa" for step in methods)
