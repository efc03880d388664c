"""What a start loads."""

from __future__ import annotations

import json
import subprocess
import sys

_SCRIPT = """
import gc, json, sys
from host.cli.main import app
early = [name for name in ("pydantic", "sqlalchemy", "starlette", "uvicorn") if name in sys.modules]
from host.cli.loading import quick_imports
with quick_imports():
    assert not gc.isenabled()
    with quick_imports():
        import api.app, host.server
    assert not gc.isenabled()
assert gc.isenabled()
frozen = gc.get_freeze_count()
with quick_imports():
    assert gc.isenabled()
late = [name for name in ("alembic", "psycopg", "requests") if name in sys.modules]
print(json.dumps({"early": early, "late": late, "frozen": frozen, "again": gc.get_freeze_count() - frozen}))
"""


def test_large_libraries_are_loaded_where_they_are_used():
    """Help needs none of them and a start only some; garbage is not looked for in what is loaded, once and for all."""
    done = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert (seen["early"], seen["late"], seen["again"]) == ([], [], 0)
    assert seen["frozen"] > 100_000
