"""All endpoints of the account interface."""

from __future__ import annotations

from typing import Final

from api.auth import session
from api.auth.endpoint import AuthEndpoint

ENDPOINTS: Final[tuple[AuthEndpoint, ...]] = (*session.ENDPOINTS,)
