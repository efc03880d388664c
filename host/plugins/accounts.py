"""Accounts: what plugins contribute to signing in."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from host.accounts.providers.settings import ProviderSettings, read_providers
from host.contract.accounts import SignInProvider
from host.contract.values import User
from host.plugins.calls import Calls
from host.plugins.current import Registries

_MEMBERS = ("type", "name", "client_id", "secret", "server_url")
_MOST_CHARACTERS = 500
_SENDERS = 2


class AccountPlugins:
    """Asks the plugins that take part in signing in.

    Args:
        registries: gives the registry in force.
        calls: calls the hooks.
        report: writes an error report (path, message, details).

    """

    def __init__(self, registries: Registries, calls: Calls, report: Callable[[str, str, str], None]) -> None:
        self._registries = registries
        self._calls = calls
        self._report = report

    def send_sms(self, phone: str, text: str) -> bool:
        """Let plugins deliver a text message, and tell whether one did; an error report says it when none does.

        It takes as long as the plugins take; keep it outside of transactions.
        """
        for implementation in self._registries.current.hooks.get("send_sms", ()):
            answer = self._calls.ask_first((implementation,), phone=phone, text=text)
            if answer is not None and answer.value is True:
                return True
        # Neither the number nor the text: whoever reads reports could sign in with them.
        message = "No plugin delivered a text message. Activate one that does; 'sms-log' writes them to the log."
        self._report("accounts.send_sms", message, "")
        return False

    def password_problems(self, password: str, user: User | None) -> list[str]:
        """Return what plugins have against a new password, in sentences; keep it outside of transactions."""
        hooks = self._registries.current.hooks.get("check_password", ())
        answers = self._calls.ask_all(hooks, password=password, user=user)
        return [sentence[:_MOST_CHARACTERS] for answer in answers for sentence in answer.value if sentence.strip()]

    def sign_in_providers(self) -> tuple[ProviderSettings, ...]:
        """Return the providers of all plugins; of two with one id the first, and what cannot be used is reported."""
        hooks = self._registries.current.hooks.get("sign_in_providers", ())
        found: dict[str, ProviderSettings] = {}
        for answer in self._calls.ask_all(hooks):
            for provider in answer.value:
                try:
                    _add(found, provider)
                except (TypeError, ValueError) as error:
                    message = f"A sign-in provider is left out. {error}"
                    self._report(f"plugin.{answer.plugin}.sign_in_providers", message, "")
        return tuple(found.values())


class TextMessages:
    """Sends text messages in the background, so that whoever waits for an answer cannot tell whether one is sent.

    Args:
        deliver: delivers one message.

    """

    def __init__(self, deliver: Callable[[str, str], object]) -> None:
        self._deliver = deliver
        self._senders: ThreadPoolExecutor | None = None

    def start(self) -> None:
        """Send in the background from now on; before, and after :meth:`stop`, messages are sent at once."""
        self._senders = ThreadPoolExecutor(_SENDERS, thread_name_prefix="plugyard-sms")

    def stop(self) -> None:
        """Send what is waiting, and end the work in the background."""
        senders, self._senders = self._senders, None
        if senders is not None:
            senders.shutdown()

    def __call__(self, phone: str, text: str) -> None:
        """Send one; call it after the transaction that led to it."""
        senders = self._senders
        if senders is None:
            self._deliver(phone, text)
        else:
            senders.submit(self._deliver, phone, text)


def _add(found: dict[str, ProviderSettings], provider: SignInProvider) -> None:
    members = {name: getattr(provider, name) for name in _MEMBERS}
    for settings in read_providers({provider.id: {**provider.settings, **members}}):
        if settings.id in found:
            raise ValueError(f"The id '{settings.id}' is taken by a plugin before it.")
        found[settings.id] = settings
