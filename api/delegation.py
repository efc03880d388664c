"""What nobody may do by a right that was only lent to them."""

from __future__ import annotations

from api.request import ApiRequest


def in_person(request: ApiRequest) -> bool:
    """Tell whether the caller is the account itself, not a client that somebody gave a part of their rights.

    Such a client must not make credentials: they would carry all rights, and outlive the grant.
    """
    return request.scheme != "bearer"
