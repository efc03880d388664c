"""The reference page of the command line."""

from __future__ import annotations

from host.cli.reference import render

__all__ = ["render"]
