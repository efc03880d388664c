"""Signing in, assembled: every service of the account interface, made from what they share."""

from __future__ import annotations

from collections.abc import Mapping

from host.accounts.area import Area
from host.accounts.factors.factors import Factors
from host.accounts.login.by_password import PasswordLogin
from host.accounts.login.flows import Flows
from host.accounts.login.logins import Logins
from host.accounts.sessions.sessions import Sessions
from host.accounts.sessions.visit import Visit


class SignIn:
    """The services of the account interface.

    Args:
        area: what they share.

    """

    def __init__(self, area: Area) -> None:
        self.area = area
        self.sessions = Sessions(area)
        self.factors = Factors(area.options, area.seals, area.clock)
        self.logins = Logins([])
        self.flows = Flows(
            area, self.logins, self.factors, providers=lambda _flow: [], describe_signup=dict
        )
        self.password_login = PasswordLogin(area, self.logins)

    def bearer_tokens(self, visit: Visit) -> Mapping[str, str]:
        """Return the JSON Web Tokens of a session, where the strategy has any."""
        del visit
        return {}
