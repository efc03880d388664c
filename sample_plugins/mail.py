"""Sample: deliver mail into a folder, see what leaves and comes in, and hand in mail over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from host import IncomingMail, MailDelivery, OutgoingMail, Plugin, Setting, access, hookimpl


class SampleMail(Plugin):
    """Stands for a mail service: writes mails into a folder, and takes those that the service hands on."""

    title = "Sample: mail"
    description = "Writes mails into a folder, once one is named, and takes incoming ones"

    @hookimpl
    def plugin_settings(self) -> Sequence[Setting]:
        return [Setting(key="FOLDER", name="Folder", description="Mails become files in it; empty: none do")]

    @hookimpl
    def deliver_mail(self, mail: OutgoingMail) -> MailDelivery | None:
        folder = str(self.settings.get("FOLDER") or "")
        if not folder:
            return None  # others deliver it
        if not Path(folder).is_dir():
            # Nobody else is asked; the host tries again later.
            return MailDelivery(error="its folder does not exist", error_code="no-folder")
        (Path(folder) / f"{mail.id}.eml").write_bytes(mail.message)
        return MailDelivery(message_id=f"file-{mail.id}")

    @hookimpl
    def mail_sent(self, mail: OutgoingMail) -> None:
        # Links and codes are masked here, so the subject may go to the log.
        self.log.info("mail %s has left: %s", mail.id, mail.subject)

    @hookimpl
    def incoming_mail(self, mail: IncomingMail) -> None:
        # Anybody can write any sender into a mail: never do what it says because of who seems to have sent it.
        self.log.info("mail %s has come in: %s", mail.id, mail.subject)

    @hookimpl
    def routes(self) -> Sequence[Route]:
        return [
            Route("/incoming/", self.incoming, methods=["POST"]),
            Route("/outcome/", self.outcome, methods=["POST"]),
        ]

    # A mail service would prove who it is by a signature; this sample lets the host check for a member of staff.
    @access("staff")
    async def incoming(self, request: Request) -> Response:
        """Take a whole mail, as the body of the request."""
        try:
            mail_id = self.services.mail.receive(await request.body())
        except ValueError as error:
            return JSONResponse({"detail": str(error)}, 400)
        return JSONResponse({"id": str(mail_id)}, 201)

    @access("staff")
    async def outcome(self, request: Request) -> Response:
        """Take ``{"message_id", "outcome", "reason"}``, as a service tells what became of a mail."""
        try:
            told = await request.json()
            known = self.services.mail.note(told["message_id"], told["outcome"], told.get("reason", ""))
        except (ValueError, TypeError, KeyError, AttributeError):
            return JSONResponse({"detail": 'Send {"message_id": "…", "outcome": "delivered"}.'}, 400)
        return JSONResponse({"known": known})
