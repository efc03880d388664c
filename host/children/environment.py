"""The environment that child processes of the host run in."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import Final

_ABOVE_THE_HOST: Final = Path(__file__).parents[2]
"""The folder that holds the package ``host``."""


def child_environment(kept: Collection[str]) -> dict[str, str]:
    """Return variables with which an interpreter finds the host, and which hold no secrets.

    Args:
        kept: names in capitals of the variables of this process that the child gets, in whatever case they are there.

    """
    found = {name: value for name, value in os.environ.items() if name.upper() in kept}
    paths = [str(_ABOVE_THE_HOST), os.environ.get("PYTHONPATH", "")]
    return found | {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONDONTWRITEBYTECODE": "1"}
