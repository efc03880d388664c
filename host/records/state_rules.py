"""What status sets demand of the states that are added to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from host.contract.models import StatusSet


def rule_faults(wanted: Mapping[str, Any], sets: Mapping[str, StatusSet]) -> dict[str, list[str]]:
    """Return what the status set has against a state, by member; nothing where it fits."""
    name = wanted["reference_status"]
    known = sets.get(name)
    if known is None:
        names = ", ".join(sorted(sets))
        return {"reference_status": [f'"{name[:100]}" is not a valid choice. There are: {names}.']}
    faults: dict[str, list[str]] = {}
    key, logical_key = wanted["key"], wanted["logical_key"]
    keys = [state.key for state in known.states]
    if key == logical_key:
        faults["key"] = ["Key must be different from logical key."]
    elif key in keys:
        faults["key"] = [f"Key must be different from the built-in keys of {name}: {_listed(keys)}."]
    if logical_key not in keys:
        among = f"the built-in keys of {name}: {_listed(keys)}" if keys else f"{name}'s built-in keys, and it has none"
        faults["logical_key"] = [f"Logical key must be one of {among}."]
    if fault := _name_fault(wanted["name"], known):
        faults["name"] = [fault]
    return faults


def _name_fault(name: str, known: StatusSet) -> str | None:
    if not name.isidentifier():
        return "Name must be a valid identifier: letters, digits and '_', not beginning with a digit."
    if name != name.upper():
        return f"Name must be upper case: {name.upper()}."
    if name in {state.name.upper() for state in known.states}:
        return f"Name must be different from the names of {known.name}."
    return None


def _listed(keys: Iterable[int]) -> str:
    return ", ".join(map(str, keys))
