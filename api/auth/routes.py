"""All endpoints of the account interface."""

from __future__ import annotations

from typing import Final

from api.auth import (
    authenticators,
    codes,
    config,
    email,
    passwords,
    phone,
    providers,
    session,
    sessions,
    signup,
    tokens,
    two_factor,
    webauthn,
)
from api.auth.endpoint import AuthEndpoint

ENDPOINTS: Final[tuple[AuthEndpoint, ...]] = (
    *config.ENDPOINTS,
    *session.ENDPOINTS,
    *signup.ENDPOINTS,
    *passwords.ENDPOINTS,
    *providers.ENDPOINTS,
    *codes.ENDPOINTS,
    *email.ENDPOINTS,
    *phone.ENDPOINTS,
    *sessions.ENDPOINTS,
    *tokens.ENDPOINTS,
    *two_factor.ENDPOINTS,
    *authenticators.ENDPOINTS,
    *webauthn.ENDPOINTS,
)
