"""The sessions of the own account: where one is signed in."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from api.auth import shapes
from api.auth.answers import AuthJson, authentication
from api.auth.call import AuthCall
from api.auth.endpoint import AuthEndpoint, AuthOperation
from api.fields import Boolean, Float, Integer
from api.nested_fields import ListOf, Nested
from api.shapes import Shape
from api.text_fields import Text
from host.accounts.problems import Problem, RefusedValuesError

SESSION: Final = Shape(
    "SignInSession",
    id=Integer(read_only=True),
    user_agent=Text(read_only=True),
    ip=Text(read_only=True),
    created_at=Float(read_only=True, help_text="Seconds since 1970."),
    is_current=Boolean(read_only=True),
    last_seen_at=Float(read_only=True, always=False),
)
_LIST: Final = shapes.answer("SessionsAnswer", data=ListOf(item=Nested(shape=SESSION), read_only=True))
_ENDED: Final = Shape("SessionsToEnd", sessions=ListOf(item=Integer()))


def list_sessions(call: AuthCall) -> Response:
    """List where the account is signed in."""
    return AuthJson(data=call.services.sessions.list(call.visit))


def end_sessions(call: AuthCall) -> Response:
    """End some sessions and list the others; 401 when the own one was among them."""
    sessions = call.services.sessions
    sessions.end(call.visit, _numbers(call.data.get("sessions")))
    if call.visit.account is None:
        return authentication(call)
    return AuthJson(data=sessions.list(call.visit))


def _numbers(value: object) -> list[int]:
    if value is None or value in ("", []):
        raise _refused("required", "Name the sessions to end.")
    if not isinstance(value, list):
        raise _refused("invalid_list", "Send a list of the numbers of sessions.")
    return [_number(item) for item in value]


def _number(item: object) -> int:
    if isinstance(item, int) and not isinstance(item, bool):
        return item
    if isinstance(item, str) and item.isascii() and item.isdigit() and len(item) < 20:  # noqa: PLR2004 - 64 bits
        return int(item)
    raise _refused("invalid_pk_value", "A session is named by its number.")


def _refused(code: str, message: str) -> RefusedValuesError:
    return RefusedValuesError({"sessions": [Problem(code, message)]})


ENDPOINTS: Final = (
    AuthEndpoint(
        "/auth/sessions",
        name="Sessions",
        operations={
            "GET": AuthOperation(
                summary="List the own sessions", handler=list_sessions, signed_in=True, answers={200: _LIST}
            ),
            "DELETE": AuthOperation(
                summary="End own sessions", handler=end_sessions, signed_in=True, body=_ENDED, answers={200: _LIST}
            ),
        },
    ),
)
