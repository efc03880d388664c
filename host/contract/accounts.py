"""Accounts: deliver text messages, judge new passwords, and let people sign in through third parties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from host.contract.markers import Asked, MaybeAwaitable, hookspec
from host.contract.values import Json, User


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInProvider:
    """A third party that vouches for people.

    The members are those of the option ``PLUGYARD_SOCIALACCOUNT_PROVIDERS``; ``settings`` takes the ones that have no
    place of their own here.
    """

    id: str
    """Letters, digits, ``-`` and ``_``. It is kept with each connected account, so it never changes."""
    client_id: str
    name: str = ""
    """What people read on the button; empty means the id."""
    type: Literal["openid_connect", "github", "oauth2"] = "openid_connect"
    secret: str = field(default="", repr=False)
    server_url: str = ""
    """Of an OpenID Connect provider: where its discovery document is found."""
    settings: Mapping[str, Json] = field(default_factory=dict)


class AccountHooks:
    """Hooks of plugins that take part in signing in."""

    key = "auth"
    human_name = "Accounts"

    @hookspec(asked=Asked.FIRST, returns=bool, optional=True, secret=True)
    def send_sms(self, phone: str, text: str) -> MaybeAwaitable[bool | None]:
        """Deliver a text message.

        When: a code or a notice has to reach a phone number, after the change that led to it was committed. ``phone``
        begins with ``+`` and the country code; ``text`` may hold a code that opens an account: log it nowhere.
        Return: ``True`` when the message is on its way; ``False`` or ``None`` when this plugin does not deliver to that
        number, and the next plugin is asked.
        Failure: an error report is written, without the text of what was raised, and the next plugin is asked. When
        nobody delivers, another report says so.
        Since: 0.1.
        """
        raise NotImplementedError

    @hookspec(asked=Asked.ALL, returns=str, many=True, optional=True, secret=True)
    def check_password(self, password: str, user: User | None) -> MaybeAwaitable[Sequence[str] | None]:
        """Say what is wrong with a new password.

        When: somebody chooses a password, and the host's own rules have nothing against it. ``user`` is ``None`` when
        the account does not exist yet. Passwords in use are never checked again.
        Return: one sentence for each reason to refuse it, read by whoever chose it; none or ``None`` when it is good.
        Failure: an error report is written, without the text of what was raised, and the password is judged without
        this plugin.
        Since: 0.1.
        """
        raise NotImplementedError

    @hookspec(asked=Asked.ALL, returns=SignInProvider, many=True)
    def sign_in_providers(self) -> MaybeAwaitable[Sequence[SignInProvider]]:
        """Name the third parties through which people can sign in.

        When: a client asks what it can offer, and whenever somebody signs in through one; answer from memory.
        Return: the providers. Those of the configuration come first, and of two with one id the first counts.
        Failure: an error report is written; the providers of this plugin are missing until it answers again. A
        provider that is not well described is left out with a report, too.
        Since: 0.1.
        """
        raise NotImplementedError
