"""What is mailed to prove an address, or to tell of what happened to one."""

from __future__ import annotations

from datetime import datetime, timedelta

from host.accounts.area import Area
from host.accounts.emails.links import EmailLinks
from host.accounts.emails.table import EmailAddress
from host.accounts.frontend_urls import CONFIRM_EMAIL, RESET_REQUEST, FrontendUrls
from host.accounts.limits import TooManyError
from host.accounts.sessions.visit import Work


class EmailMessages:
    """Mails links, codes and notices.

    Args:
        area: what account services share.
        urls: the pages that mails lead to.

    """

    def __init__(self, area: Area, urls: FrontendUrls) -> None:
        self._area = area
        self._urls = urls
        self._days = area.options.account_email_confirmation_expire_days
        self.links = EmailLinks(area.seals, days=self._days)

    def admit(self, work: Work, to: str) -> None:
        """Count a mail with a code.

        Raises:
            TooManyError: one went there a moment ago.

        """
        self._area.limits.consume_within(work.connection, "confirm_email_code", address=work.caller.address, key=to)

    def admit_link(self, work: Work, to: str) -> bool:
        """Count a mail with a link, and tell whether it may be sent."""
        limits = self._area.limits
        try:
            limits.consume_within(work.connection, "confirm_email", address=work.caller.address, key=to)
        except TooManyError:
            return False
        return True

    def send_link(self, work: Work, address: EmailAddress) -> bool:
        """Mail a link, unless one went there a short while ago; tell whether it was done."""
        if not self.admit_link(work, address.email):
            return False
        key = self.links.key(address)
        link = self._urls.url(CONFIRM_EMAIL, work.caller.mail_origin, key=key)
        context = {"link": link, "expires": work.now + timedelta(days=self._days)}
        self._area.mail(work.session, to=address.email, template="email_verification", context=context, secrets=(key,))
        return True

    def send_code(self, work: Work, to: str, code: str, expires: datetime) -> None:
        """Mail a code."""
        context = {"code": code, "expires": expires}
        self._area.mail(work.session, to=to, template="email_verification", context=context, secrets=(code,))

    def send_notice(self, work: Work, to: str) -> None:
        """Tell the owner of an address that somebody tried to sign up with it."""
        link = self._urls.url(RESET_REQUEST, work.caller.mail_origin)
        self._area.mail(work.session, to=to, template="account_already_exists", context={"link": link})
