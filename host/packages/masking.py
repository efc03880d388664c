"""Credentials in addresses, kept out of logs, answers and records."""

from __future__ import annotations

import re

_MASK = "****"
_USERINFO = re.compile(r"(?P<scheme>\b[a-z][a-z0-9+.-]*://)(?P<userinfo>[^/\s?#'\"<>]+)@", re.IGNORECASE)
_SECRET_PARAMETER = re.compile(
    r"(?P<name>[?&][\w.-]*(?:token|secret|signature|password|passwd|credential|apikey|api_key|sig|auth)[\w.-]*=)[^&\s#'\"]+",
    re.IGNORECASE,
)
_ONLY_VARIABLES = re.compile(r"(?:\$\{[A-Z0-9_]+\}:?)+")


def mask(text: str) -> str:
    """Replace passwords, tokens and signatures in every address that the text contains."""
    return _SECRET_PARAMETER.sub(rf"\g<name>{_MASK}", _USERINFO.sub(_masked, text))


def has_credentials(text: str) -> bool:
    """Tell whether an address spells out a secret; a reference to an environment variable does not."""
    for match in _USERINFO.finditer(text):
        userinfo = match["userinfo"]
        if not _is_plain_login(match) and not _ONLY_VARIABLES.fullmatch(userinfo):
            return True
    return _SECRET_PARAMETER.search(text) is not None


def _masked(match: re.Match[str]) -> str:
    kept = match["userinfo"] if _is_plain_login(match) else _MASK
    return f"{match['scheme']}{kept}@"


def _is_plain_login(match: re.Match[str]) -> bool:
    # `git+ssh://git@host` names the account that SSH signs in to with a key; elsewhere a bare name is often a token.
    return "ssh" in match["scheme"].lower() and ":" not in match["userinfo"]
