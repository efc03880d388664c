"""Text messages for development: each is written to the log instead of being sent."""

from __future__ import annotations

from host import Plugin, hookimpl


class SmsLog(Plugin):
    """Delivers to the log whatever no other plugin delivers."""

    title = "Text message log"
    description = "Writes text messages to the log where no other plugin sends them; for development"

    @hookimpl(trylast=True)
    def send_sms(self, phone: str, text: str) -> bool:
        # Codes in a log are what this plugin is for; whoever sends real messages has another one, or none.
        self.log.info("text message to %s: %s", phone, text)
        return True
