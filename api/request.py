"""A request, as handlers see it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from ipaddress import IPv6Address
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from starlette.requests import cookie_parser
from starlette.types import Scope

from host.contract.values import User
from host.errors import NotSignedInError

if TYPE_CHECKING:
    from api.authentication import Scheme
    from api.context import Context
    from host.server import Host

# Readers of addresses do not agree on a host with other characters: for a browser, `evil.example\@localhost` is evil.
_HOST = re.compile(r"(?:[\w.~-]+|\[([0-9A-Fa-f:.]+)\])(?::[0-9]{1,5})?", re.ASCII)


class ApiRequest:
    """One request, after the endpoint has checked it.

    ``data`` is the cleaned body, ``sent`` the body as it came, which was a form if ``is_form``, ``parameters`` the
    cleaned query parameters that the operation declares.
    """

    def __init__(self, scope: Scope, context: Context) -> None:
        self.scope = scope
        self.context = context
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.path_params: Mapping[str, Any] = scope.get("path_params", {})
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        self.user: User | None = None
        self.scheme: Scheme | None = None
        self.obstacle: NotSignedInError | None = None
        """Why the caller counts as nobody, where that has a reason of its own."""
        self.data: dict[str, Any] = {}
        self.sent: Mapping[str, Any] = {}
        self.is_form = False
        self.parameters: dict[str, Any] = {}

    @property
    def host(self) -> Host:
        """The host."""
        return self.context.host

    @property
    def caller(self) -> User:
        """The account that is calling, on operations that are not for anyone.

        Raises:
            RuntimeError: the operation is open and nobody is signed in.

        """
        if self.user is None:
            msg = f"{self.path} is open to anyone; ask for user instead"
            raise RuntimeError(msg)
        return self.user

    @cached_property
    def query(self) -> Mapping[str, str]:
        """The query parameters; of one that is repeated, the last."""
        return dict(self.query_list)

    @cached_property
    def query_list(self) -> Sequence[tuple[str, str]]:
        """The query parameters in their order."""
        text: bytes = self.scope["query_string"]
        if not text:
            return ()
        try:
            return parse_qsl(text.decode("latin-1"), keep_blank_values=True, max_num_fields=1000)
        except ValueError:
            return ()

    @cached_property
    def cookies(self) -> Mapping[str, str]:
        """The cookies; of one that is repeated, the last."""
        found: dict[str, str] = {}
        for name, value in self.scope["headers"]:
            if name == b"cookie":
                found |= cookie_parser(value.decode("latin-1"))
        return found

    @cached_property
    def origin(self) -> str:
        """Scheme and host, as the client addressed them; where it says nothing usable, where the connection arrived."""
        host = self.headers.get(b"host", b"").decode("latin-1")
        if not _is_host(host):
            name, port = self.scope.get("server") or ("localhost", None)
            name = f"[{name}]" if ":" in name else name
            host = name if port is None else f"{name}:{port}"
        return f"{self.scope.get('scheme', 'http')}://{host}"

    @property
    def url(self) -> str:
        """The whole address."""
        text: bytes = self.scope["query_string"]
        return self.address + (f"?{text.decode('latin-1')}" if text else "")

    @property
    def address(self) -> str:
        """The address without the query."""
        return self.origin + quoted_path(self.scope)


def quoted_path(scope: Scope) -> str:
    """Return the path as it was sent."""
    raw: bytes | None = scope.get("raw_path")
    return raw.partition(b"?")[0].decode("latin-1") if raw else str(scope["path"])


def _is_host(text: str) -> bool:
    found = _HOST.fullmatch(text)
    try:
        return found is not None and (found[1] is None or bool(IPv6Address(found[1])))
    except ValueError:
        return False
