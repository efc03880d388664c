"""The pages that a person sees: plain HTML, without any script."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import Response

_FOLDER = Path(__file__).with_name("page_files")
_PLAIN_HOST = re.compile(r"[a-z0-9.-]+(?::\d+)?", re.IGNORECASE | re.ASCII)


def page(name: str, status: int, *, form_target: str = "", **values: Any) -> Response:
    """Return a page.

    Args:
        name: of its template.
        status: of the answer.
        form_target: where the form of the page may lead in the end, besides the host itself: browsers hold the
            redirect that follows it to the policy, too.
        values: for the template.

    """
    templates, style, digest = _templates()
    text = templates.get_template(f"{name}.html").render(style=style, **values)
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; frame-ancestors 'none'; "
        f"form-action 'self' {form_target}".rstrip()
    )
    return Response(
        text,
        status,
        media_type="text/html",
        headers={"content-security-policy": policy, "cache-control": "no-store"},
    )


def policy_source(uri: str) -> str:
    """Return how a content security policy names the place that a redirect URI leads to."""
    parts = urlsplit(uri)
    # Such a policy cannot name an IPv6 address, and the path of an app's own scheme means nothing to it.
    if parts.scheme in {"http", "https"} and _PLAIN_HOST.fullmatch(parts.netloc):
        return f"{parts.scheme}://{parts.netloc}"
    return f"{parts.scheme}:"


@cache
def _templates() -> tuple[Environment, Markup, str]:
    style = _FOLDER.joinpath("style.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    templates = Environment(loader=FileSystemLoader(_FOLDER), autoescape=True, undefined=StrictUndefined)
    return templates, Markup(style), digest  # noqa: S704 - a file of ours
