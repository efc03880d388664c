"""Mail: plugins that deliver it or see it, and what they hand to the host."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from uuid import UUID

from host.contract.mail import IncomingMail, MailDelivery, MailOutcome, OutgoingMail
from host.mail.couriers import Taken
from host.mail.inbox import Inbox
from host.plugins.calls import Calls, Implementation, PluginFailedError
from host.plugins.current import Registries
from host.plugins.failures import PluginQuarantinedError
from host.plugins.transactions import transaction
from host.storage.engine import Database

_MOST_CHARACTERS = 1000
_TEXTS = ("message_id", "error", "error_code")


def _always() -> bool:
    return True


class MailPlugins:
    """Asks the plugins that deliver or see mail; implements :class:`host.mail.couriers.Couriers`.

    Args:
        registries: gives the registry in force.
        calls: calls the hooks.
        report: writes an error report (path, message, details).
        seconds: how long a hook of this family may take.
        enabled: whether plugins have to do with mail at all.

    """

    def __init__(
        self,
        registries: Registries,
        calls: Calls,
        report: Callable[[str, str, str], None],
        *,
        seconds: float,
        enabled: Callable[[], bool] = _always,
    ) -> None:
        self._registries = registries
        self._calls = calls
        self._report = report
        self._enabled = enabled
        self.seconds = seconds

    def deliver(self, mail: OutgoingMail, goes_on: Callable[[], bool]) -> Taken:
        """Let the first plugin that can deliver a mail; those that fail are passed over."""
        failed: list[str] = []
        hooks = self._hooks("deliver_mail")
        for implementation in hooks:
            if not goes_on():
                break
            key = implementation.plugin
            try:
                answer = self._calls.ask_one(implementation, mail=mail)
            except PluginFailedError as error:
                # One that nobody asks any more counts as switched off.
                if not isinstance(error, PluginQuarantinedError):
                    failed.append(key)
                continue
            if answer is None:
                continue
            return Taken(by=key, delivery=self._checked(key, answer), asked=True)
        return Taken(failed=tuple(failed), asked=bool(hooks))

    def sent(self, mail: OutgoingMail) -> None:
        """Let plugins see a mail that has left."""
        self._calls.ask_all(self._hooks("mail_sent"), mail=mail)

    def received(self, mail: IncomingMail) -> None:
        """Let plugins see a mail that has come in."""
        self._calls.ask_all(self._hooks("incoming_mail"), mail=mail)

    def _hooks(self, name: str) -> Sequence[Implementation]:
        return self._registries.current.hooks.get(name, ()) if self._enabled() else ()

    def _checked(self, key: str, answer: MailDelivery) -> MailDelivery:
        given: Mapping[str, object] = {name: getattr(answer, name) for name in _TEXTS}
        wrong = [name for name, text in given.items() if not isinstance(text, str)]
        if wrong:
            # The mail may have left all the same, so nobody else is asked.
            message = f"{', '.join(wrong)} of a MailDelivery must be text"
            self._report(f"plugin.{key}.deliver_mail", message, "")
        texts = {name: _storable(text) if isinstance(text, str) else "" for name, text in given.items()}
        if "error" in wrong and given["error"] is not None:
            texts["error"] = "it says why, but not in text"
        return MailDelivery(**texts, is_final=answer.is_final is True)


class PluginMail:
    """What one plugin tells of mail; implements :class:`host.MailAccess`.

    Args:
        key: of the plugin.
        database: the host's database.
        inbox: keeps what comes in.

    """

    def __init__(self, key: str, database: Database, inbox: Callable[[], Inbox]) -> None:
        self._key = key
        self._database = database
        self._inbox = inbox

    def receive(self, message: bytes) -> UUID:
        """Store a mail that has come in, and let plugins see it soon after; return its id.

        Raises:
            TypeError: the message is not ``bytes``.
            ValueError: it is empty, or has more than 10 MiB.

        """
        received = self._inbox().read(message)
        with transaction(self._database, self._key) as session:
            return self._inbox().store(session, received)

    def note(self, message_id: str, outcome: MailOutcome, reason: str = "") -> bool:
        """Note in the mail log what has become of a mail; return whether the log has that mail.

        Raises:
            ValueError: there is no such outcome.

        """
        with transaction(self._database, self._key) as session:
            return self._inbox().note(session, message_id, outcome, reason)


def _storable(text: str) -> str:
    kept = "".join(sign for sign in text[:_MOST_CHARACTERS] if sign.isprintable() or sign == " ")
    return kept.encode("utf-8", "replace").decode("utf-8").strip()
