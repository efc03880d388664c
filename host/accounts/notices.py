"""Mails that tell people what was changed of their account."""

from __future__ import annotations

from typing import Any

from host.accounts.sessions.visit import Work

_AGENT_LENGTH = 200


def notify(work: Work, template: str, *, to: str | None = None, **context: Any) -> None:
    """Tell somebody what was done to their account, when and from where; not at all where that is not wanted.

    Args:
        work: the transaction in which it was done.
        template: says what.
        to: the address; that of the account which is signed in when it is left out.
        context: what the template says besides.

    """
    if to is None:
        to = work.account.email if work.account is not None else ""
    if not to or not work.area.options.account_email_notifications:
        return
    where = {"when": work.now, "address": work.caller.address, "user_agent": work.caller.user_agent[:_AGENT_LENGTH]}
    work.area.mail(work.session, to=to, template=template, context=where | context)
