"""Clients of the account interface: one that works like a browser, one that works like an app."""

from __future__ import annotations

from typing import Any

import httpx2

PREFIX = "/api/auth/v1"


class Answer:
    """An answer: its status and its body."""

    def __init__(self, response: httpx2.Response) -> None:
        self.response = response
        self.status = response.status_code
        self.body: Any = response.json() if response.content else None

    def __repr__(self) -> str:
        return f"{self.status} {self.body}"

    @property
    def data(self) -> Any:
        """The member ``data``."""
        return self.body["data"]

    @property
    def meta(self) -> dict[str, Any]:
        """The member ``meta``."""
        return dict(self.body["meta"])

    @property
    def flows(self) -> list[str]:
        """The ids of all flows."""
        return [flow["id"] for flow in self.data["flows"]]

    @property
    def pending(self) -> list[str]:
        """The ids of the flows that wait."""
        return [flow["id"] for flow in self.data["flows"] if flow.get("is_pending")]

    @property
    def errors(self) -> list[tuple[str, str | None]]:
        """The codes of the errors with the member that each is about."""
        return [(error["code"], error.get("param")) for error in self.body["errors"]]

    @property
    def methods(self) -> list[str]:
        """The steps of the session."""
        return [step["method"] for step in self.data["methods"]]


class Client:
    """A client of either kind; paths are those below the prefix, or whole ones."""

    kind = ""

    def __init__(self, url: str, **options: Any) -> None:
        # Reading the certificates of the world takes longer than most tests; there is only http here.
        self.http = httpx2.Client(base_url=url, **{"verify": False, **options})

    def call(self, method: str, path: str, body: Any = None, **options: Any) -> Answer:
        """Send a request."""
        headers = {**self._headers(method), **options.pop("headers", {})}
        whole = path if path == "/auth/" or path.startswith(("/api/", "/o/")) else PREFIX + path
        if body is not None:
            options["json"] = body
        answer = Answer(self.http.request(method, whole, headers=headers, **options))
        self._note(answer)
        return answer

    def get(self, path: str, **options: Any) -> Answer:
        """Send a GET request."""
        return self.call("GET", path, **options)

    def post(self, path: str, body: Any = None, **options: Any) -> Answer:
        """Send a POST request."""
        return self.call("POST", path, {} if body is None else body, **options)

    def put(self, path: str, body: Any = None, **options: Any) -> Answer:
        """Send a PUT request."""
        return self.call("PUT", path, {} if body is None else body, **options)

    def patch(self, path: str, body: Any = None, **options: Any) -> Answer:
        """Send a PATCH request."""
        return self.call("PATCH", path, {} if body is None else body, **options)

    def delete(self, path: str, body: Any = None, **options: Any) -> Answer:
        """Send a DELETE request."""
        return self.call("DELETE", path, body, **options)

    def login(self, name: str, password: str) -> Answer:
        """Sign in by password."""
        return self.post("/auth/login", {"username": name, "password": password})

    def _headers(self, method: str) -> dict[str, str]:
        raise NotImplementedError

    def _note(self, answer: Answer) -> None:
        raise NotImplementedError


class Browser(Client):
    """Keeps cookies, and sends the CSRF token with what changes something."""

    kind = "browser"

    def _headers(self, method: str) -> dict[str, str]:
        if method == "GET":
            return {}
        if "csrftoken" not in self.http.cookies:
            self.http.get(f"{PREFIX}/auth/session")
        return {"X-CSRFToken": self.http.cookies["csrftoken"]}

    def _note(self, answer: Answer) -> None:
        pass

    @property
    def session_key(self) -> str | None:
        """The key of the session."""
        return self.http.cookies.get("sessionid")


class App(Client):
    """Keeps the session token and no cookie."""

    kind = "app"

    def __init__(self, url: str, **options: Any) -> None:
        super().__init__(url, **options)
        self.session_key: str | None = None

    def _headers(self, method: str) -> dict[str, str]:
        del method
        self.http.cookies.clear()
        return {"X-Session-Token": self.session_key} if self.session_key is not None else {}

    def _note(self, answer: Answer) -> None:
        if isinstance(answer.body, dict) and "session_token" in (answer.body.get("meta") or {}):
            self.session_key = answer.body["meta"]["session_token"]
        elif answer.status == 410:
            self.session_key = None
