"""Signing in, put together with what it needs of mail, plugins and keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from host.accounts.area import Area
from host.accounts.events import Emit
from host.accounts.limits import Limits
from host.accounts.oauth.server import OAuth
from host.accounts.oauth.work import Lifetimes
from host.accounts.passwords import Passwords
from host.accounts.providers.client import Providers
from host.accounts.providers.seen import SeenTokens
from host.accounts.providers.settings import read_providers
from host.accounts.seals import Seals
from host.accounts.services import SignIn
from host.accounts.sessions.web_tokens import new_rsa_key
from host.accounts.users import Users
from host.config.accounts import AccountOptions
from host.config.mail import MailOptions
from host.mail.couriers import Couriers
from host.mail.mailer import Mailer
from host.plugins.accounts import AccountPlugins, TextMessages
from host.storage.engine import Database
from host.storage.kept_texts import keep


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where and under what name people find the host."""

    instance: Callable[[], str]
    site_url: str
    home: Path
    secret_key: Callable[[], str]


class Entrance:
    """Signing in, and what it needs: each part is made when it is first asked for.

    Args:
        place: where and under what name people find the host.
        options: those of accounts.
        mail: those of mail.
        database: where everything is.
        users: writes accounts.
        passwords: hashes and checks.
        plugins: asks those that take part in signing in.
        couriers: may take mail before the mail server does, and see it.
        emit: stores events.
        report: keeps error reports.
        clock: the present moment.

    """

    def __init__(  # noqa: PLR0913 - each is a part of the host of its own
        self,
        *,
        place: Place,
        options: AccountOptions,
        mail: MailOptions,
        database: Database,
        users: Users,
        passwords: Passwords,
        plugins: AccountPlugins,
        couriers: Couriers,
        emit: Emit,
        report: Callable[..., Any],
        clock: Callable[[], datetime],
    ) -> None:
        self._place = place
        self._options = options
        self._mail = mail
        self._database = database
        self._users = users
        self._passwords = passwords
        self._plugins = plugins
        self._couriers = couriers
        self._emit = emit
        self._report = report
        self._clock = clock
        self.texts = TextMessages(plugins.send_sms)

    @cached_property
    def seals(self) -> Seals:
        """What signs and encrypts with the host's key."""
        return Seals(self._place.secret_key(), clock=self._clock)

    @cached_property
    def mailer(self) -> Mailer:
        """What sends mail."""
        return Mailer(
            self._database,
            self._mail,
            instance=self._place.instance,
            site=self._place.site_url,
            seals=self.seals,
            report=self._report,
            clock=self._clock,
            subject_prefix=self._options.account_email_subject_prefix,
            couriers=self._couriers,
        )

    @cached_property
    def oauth(self) -> OAuth:
        """The authorization server."""
        options = self._options
        lifetimes = Lifetimes(
            access=options.oauth_access_token_expires_in, refresh=options.oauth_refresh_token_expires_in
        )
        return OAuth(self._database, self._emit, lifetimes=lifetimes, clock=self._clock)

    @cached_property
    def providers(self) -> Providers:
        """The third parties that vouch for people."""
        return Providers(
            read_providers(self._options.socialaccount_providers),
            first_use=SeenTokens(self._database, clock=self._clock),
            more=self._plugins.sign_in_providers,
            enabled=lambda: self._options.login_enable_sso,
            clock=self._clock,
        )

    @cached_property
    def sign_in(self) -> SignIn:
        """What signs people in, and all they do with their accounts."""
        options, place = self._options, self._place
        limits = Limits(self._database, options.account_rate_limits, secret=place.secret_key(), clock=self._clock)
        area = Area(
            database=self._database,
            options=options,
            passwords=self._passwords,
            users=self._users,
            limits=limits,
            seals=self.seals,
            mail=self.mailer.send,
            sms=self.texts,
            emit=self._emit,
            name=place.instance,
            clock=self._clock,
        )
        return SignIn(area, providers=self.providers, site=place.site_url, rsa_key=self._rsa_key())

    def start(self) -> None:
        """Begin to send mail and text messages in the background."""
        self.mailer.start()
        self.texts.start()

    def stop(self) -> None:
        """End the work in the background."""
        self.texts.stop()
        self.mailer.stop()

    def _rsa_key(self) -> str:
        options = self._options
        if options.headless_token_strategy != "jwt" or options.headless_jwt_algorithm != "RS256":  # noqa: S105 - no password
            return ""
        return options.headless_jwt_private_key.get_secret_value() or keep(self._place.home / "jwt.key", new_rsa_key)
