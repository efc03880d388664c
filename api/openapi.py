"""The OpenAPI document, made of the same declarations that answer requests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from api.answers import JSON_TYPE
from api.fields import Field, Schema
from api.negotiation import FORM, MULTIPART
from api.nested_fields import ListOf, Nested, Object
from api.oauth.scopes import needed_scope
from api.operations import Content, Described, Operation, PageOf
from api.pages import envelope_schema
from api.shapes import Shape
from host.accounts.oauth.scopes import SCOPES

_PARAMETER = re.compile(r"\{(\w+)(?::(\w+))?\}")
_KINDS: Final[Mapping[str, Schema]] = {
    "str": {"type": "string", "minLength": 1},
    "int": {"type": "integer", "format": "int64", "minimum": 0},
    "uuid": {"type": "string", "format": "uuid"},
}
_DETAIL: Final = "Detail"
_FAULTS: Final = "Faults"
_FAILURE: Final = "Failure"
_ERRORS: Final[Mapping[str, Schema]] = {
    _DETAIL: {
        "type": "object",
        "properties": {"detail": {"type": "string"}, "url": {"type": "string"}},
        "required": ["detail"],
    },
    _FAULTS: {
        "type": "object",
        "description": "Member of the input → what is wrong with it; `non_field_errors` holds what concerns no member.",
        "additionalProperties": True,
    },
    _FAILURE: {
        "type": "object",
        "properties": {
            "error": {"type": "string"},
            "error_class": {"type": "string"},
            "detail": {"type": "string"},
            "path": {"type": "string"},
            "status_code": {"type": "integer"},
        },
        "required": ["error", "error_class", "detail", "path", "status_code"],
    },
}
_SECURITY: Final[Mapping[str, Any]] = {
    "basicAuth": {"type": "http", "scheme": "basic"},
    "tokenAuth": {
        "type": "apiKey",
        "in": "header",
        "name": "Authorization",
        "description": "The word `Token`, a blank and the token.",
    },
    "cookieAuth": {"type": "apiKey", "in": "cookie", "name": "sessionid"},
    "oauth2": {
        "type": "oauth2",
        "description": "The word `Bearer`, a blank and the access token.",
        "flows": {
            "authorizationCode": {
                "authorizationUrl": "/o/authorize/",
                "tokenUrl": "/o/token/",
                "refreshUrl": "/o/token/",
                "scopes": dict(SCOPES),
            },
            "clientCredentials": {"tokenUrl": "/o/token/", "scopes": dict(SCOPES)},
        },
    },
    "sessionAuth": {"type": "apiKey", "in": "header", "name": "X-Session-Token"},
}
_SCHEMES: Final[Sequence[Mapping[str, list[str]]]] = [
    {"tokenAuth": []},
    {"basicAuth": []},
    {"cookieAuth": []},
    {"sessionAuth": []},
]
_WORDS: Final[Mapping[int, str]] = {200: "Done.", 201: "Created.", 202: "Accepted.", 204: "Done; there is no body."}
_ALWAYS: Final[Mapping[int, str]] = {
    405: "The path has no such method.",
    406: "The client accepts none of the media types that can be sent.",
}
_FAILED: Final = "The server failed; the error was recorded."
_WITH_BODY: Final[Mapping[int, str]] = {
    413: "The body is too large.",
    415: "The body has a media type that is not understood.",
}


def openapi_document(endpoints: Iterable[Described], *, title: str, version: str, description: str = "") -> Schema:
    """Return the OpenAPI 3.1 document of some endpoints."""
    writer = _Writer()
    paths: dict[str, Any] = {}
    tags: dict[str, None] = {}
    for endpoint in endpoints:
        operations = writer.path(endpoint)
        if operations:
            paths[_PARAMETER.sub(r"{\1}", endpoint.path)] = operations
            tags[endpoint.tag] = None
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": version, "description": description},
        "paths": paths,
        "tags": [{"name": tag} for tag in tags],
        "components": {
            "schemas": dict(sorted({**_ERRORS, **writer.schemas()}.items())),
            "securitySchemes": dict(_SECURITY),
        },
    }


class _Writer:
    def __init__(self) -> None:
        self._shapes: dict[str, tuple[Shape, bool, bool]] = {}

    def schemas(self) -> dict[str, Schema]:
        """Write all shapes that were referred to, and those that they refer to."""
        written: dict[str, Schema] = {}
        while len(written) < len(self._shapes):
            for name, (shape, answer, partial) in list(self._shapes.items()):
                if name not in written:
                    written[name] = shape.schema(answer=answer, partial=partial)
                    for field in shape.fields.values():
                        self._follow(field, answer=answer)
        return written

    def path(self, endpoint: Described) -> dict[str, Any]:
        operations: dict[str, Any] = {}
        for method, operation in endpoint.operations.items():
            if not operation.hidden:
                operations[method.lower()] = self._operation(endpoint, method, operation)
        parameters = [
            {"name": name, "in": "path", "required": True, "schema": _KINDS[kind or "str"]}
            for name, kind in _PARAMETER.findall(endpoint.path)
        ]
        if operations and parameters:
            operations["parameters"] = parameters
        return operations

    def _operation(self, endpoint: Described, method: str, operation: Operation) -> Schema:
        written: Schema = {
            "operationId": operation.id or _operation_id(endpoint.path, method),
            "summary": operation.summary,
            "tags": [endpoint.tag],
            "responses": self._responses(endpoint, operation),
            "x-access": operation.access,
            "security": _security(endpoint, method, operation),
        }
        description = operation.description or endpoint.description
        if description:
            written["description"] = description
        parameters = [_query(parameter.name, parameter.field) for parameter in operation.parameters]
        if parameters:
            written["parameters"] = parameters
        shape = operation.body or operation.takes
        if shape is not None and shape.is_writable:
            written["requestBody"] = self._body(shape, partial=operation.partial, only_json=operation.envelope)
        return written

    def _body(self, shape: Shape, *, partial: bool, only_json: bool) -> Schema:
        schema = {"$ref": self._refer(shape, answer=False, partial=partial)}
        if only_json:
            return {"required": False, "content": {JSON_TYPE: {"schema": schema}}}
        types = (MULTIPART, FORM, JSON_TYPE) if shape.has_files else (JSON_TYPE, FORM, MULTIPART)
        required = not partial and any(field.must_be_given for field in shape.fields.values())
        return {"required": required, "content": {kind: {"schema": schema} for kind in types}}

    def _responses(self, endpoint: Described, operation: Operation) -> Schema:
        responses: Schema = {}
        for status, content in operation.answers.items():
            responses[str(status)] = self._response(_WORDS.get(status, "Done."), content, operation.produces)
        for status, text in sorted(_faults(endpoint, operation).items()):
            content = operation.fault_shapes.get(status, _error_content(status))
            if operation.envelope and status == 405:  # noqa: PLR2004 - Method Not Allowed
                content = None
            responses[str(status)] = self._response(text, content, (JSON_TYPE,))
        return responses

    def _response(self, description: str, content: Content, produces: Sequence[str]) -> Schema:
        if content is None:
            return {"description": description}
        schema = self._content(content)
        return {"description": description, "content": {kind: {"schema": schema} for kind in produces}}

    def _content(self, content: Shape | Field | PageOf | Schema) -> Schema:
        if isinstance(content, Shape):
            return {"$ref": self._refer(content, answer=True)}
        if isinstance(content, Field):
            self._follow(content, answer=True)
            return content.schema(answer=True)
        if isinstance(content, PageOf):
            schema = envelope_schema({"$ref": self._refer(content.shape, answer=True)})
            if content.other is not None:
                schema["oneOf"].append({"$ref": self._refer(content.other, answer=True)})
            return schema
        return content

    def _follow(self, field: Field, *, answer: bool) -> None:
        if isinstance(field, Nested):
            self._refer(field.shape, answer=answer)
        elif isinstance(field, ListOf):
            self._follow(field.item, answer=answer)
        elif isinstance(field, Object) and field.values is not None:
            self._follow(field.values, answer=answer)

    def _refer(self, shape: Shape, *, answer: bool, partial: bool = False) -> str:
        name = shape.component(answer=answer, partial=partial)
        known = self._shapes.setdefault(name, (shape, answer, partial))
        if known[0] is not shape:
            msg = f"two shapes are called {shape.name}"
            raise ValueError(msg)
        return shape.reference(answer=answer, partial=partial)


def _security(endpoint: Described, method: str, operation: Operation) -> list[Mapping[str, list[str]]]:
    scope = needed_scope(method, endpoint.path)
    found = [*_SCHEMES, *([{"oauth2": [scope]}] if scope is not None else [])]
    return [*found, {}] if operation.access == "anyone" else found


def _faults(endpoint: Described, operation: Operation) -> dict[int, str]:
    if operation.envelope:
        return {405: _ALWAYS[405], 500: _FAILED} | dict(operation.faults)
    faults: dict[int, str] = {401: "The credentials are not good."} | dict(_ALWAYS)
    if operation.access != "anyone":
        faults[401] = "The caller is not signed in, or the credentials are not good."
    faults[403] = "The caller lacks the right, or a session sent no CSRF token."
    faults[404] = "There is nothing at this address."
    faults[400] = "The body or a parameter cannot be understood."
    if operation.body is not None or operation.takes is not None:
        faults |= _WITH_BODY
    if "{" not in endpoint.path:
        faults[404] = "The parameter `format` names another format than JSON."
    return faults | {500: _FAILED} | dict(operation.faults)


def _error_content(status: int) -> Schema:
    if status == 400:  # noqa: PLR2004 - Bad Request
        return {"$ref": f"#/components/schemas/{_FAULTS}"}
    if status == 500:  # noqa: PLR2004 - Internal Server Error
        return {"$ref": f"#/components/schemas/{_FAILURE}"}
    return {"$ref": f"#/components/schemas/{_DETAIL}"}


def _query(name: str, field: Field) -> Schema:
    written: Schema = {"name": name, "in": "query", "required": field.must_be_given, "schema": field.schema()}
    if field.help_text:
        written["description"] = field.help_text
    return written


def _operation_id(path: str, method: str) -> str:
    words = [word for word in re.split(r"[^A-Za-z0-9]+", _PARAMETER.sub(r"\1", path)) if word and word != "api"]
    return "_".join([*words, method.lower()])
