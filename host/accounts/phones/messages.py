"""The text messages that prove a number."""

from __future__ import annotations

from datetime import datetime

from host.accounts.area import Area
from host.accounts.sessions.visit import Work


class PhoneMessages:
    """Sends codes and notices as text messages, after the transaction that led to them."""

    def __init__(self, area: Area) -> None:
        self._area = area

    def admit(self, work: Work, to: str) -> None:
        """Count a text message.

        Raises:
            TooManyError: one went there a moment ago, or too many were asked for by this client.

        """
        self._area.limits.consume_within(work.connection, "verify_phone", address=work.caller.address, key=to)

    def send_code(self, work: Work, to: str, code: str, expires: datetime) -> None:
        """Send a code; how long it lives is no concern of a text message."""
        del expires
        text = f"{code} is your code to confirm this phone number at {self._area.instance}. Give it to nobody."
        work.after(lambda: self._area.sms(to, text))

    def send_notice(self, work: Work, to: str) -> None:
        """Tell the owner of a number that somebody tried to sign up with it."""
        instance = self._area.instance
        text = f"You have an account at {instance} already: sign in with it. If this was not you, do nothing."
        work.after(lambda: self._area.sms(to, text))
