"""Text messages in the log, for development."""

from __future__ import annotations

import logging

from builtin_plugins.sms_log.plugin import SmsLog


def test_a_message_is_written_to_the_log(load, caplog):
    """One line with the number and the whole text; it counts as delivered."""
    plugin = SmsLog()
    load(plugin, "sms-log")

    with caplog.at_level(logging.INFO):
        assert plugin.send_sms("+441632960123", "Your code is BCDF-GHJK") is True

    assert caplog.record_tuples == [
        (
            "plugyard.plugin.sms-log",
            logging.INFO,
            "text message to +441632960123: Your code is BCDF-GHJK",
        )
    ]


def test_others_are_asked_before_it():
    """A plugin that really sends messages comes first, whatever its key."""
    assert SmsLog.send_sms.plugyard_impl["trylast"] is True  # type: ignore[attr-defined]  # the marker of the hook
