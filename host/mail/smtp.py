"""Handing mail to an SMTP server."""

from __future__ import annotations

import base64
import ipaddress
import smtplib
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from socket import SHUT_RDWR
from urllib.parse import unquote, urlsplit

_PORTS = {"smtp": 25, "smtps": 465}
_PERMANENT = range(500, 600)


class DeliveryError(Exception):
    """A mail could not be handed over.

    Args:
        code: the server's number, or a word of ours.
        message: what happened; never holds the password.
        is_final: trying again is of no use.
        is_general: no mail would have passed, not this one only.

    """

    def __init__(self, code: str, message: str, *, is_final: bool = False, is_general: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.is_final = is_final
        self.is_general = is_general

    def saying(self, message: str) -> DeliveryError:
        """Return the same error with another text."""
        return DeliveryError(self.code, message, is_final=self.is_final, is_general=self.is_general)


@dataclass(frozen=True, slots=True, kw_only=True)
class SmtpServer:
    """Where mail is handed over, and as whom."""

    host: str
    port: int
    is_tls: bool
    user: str = ""
    password: str = field(default="", repr=False)

    @classmethod
    def parse(cls, url: str) -> SmtpServer:
        """Read ``smtp://user:password@host:port`` or ``smtps://…``; what is special in a password is %-encoded.

        Raises:
            ValueError: it cannot be used; the text does not repeat it.

        """
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            raise ValueError(_wrong("it is no URL; write special characters of the password as %XX")) from None
        if parts.scheme not in _PORTS:
            raise ValueError(_wrong("it must begin with smtp:// or smtps://"))
        if not parts.hostname:
            raise ValueError(_wrong("it names no host"))
        if parts.path not in {"", "/"} or parts.query or parts.fragment:
            raise ValueError(_wrong("nothing may follow the host and port; write / ? # of the password as %XX"))
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        if not (user + password).isascii():
            raise ValueError(_wrong("SMTP takes only ASCII characters in user and password"))
        return cls(
            host=parts.hostname,
            port=port or _PORTS[parts.scheme],
            is_tls=parts.scheme == "smtps",
            user=user,
            password=password,
        )

    @property
    def is_local(self) -> bool:
        """Whether nobody is between us and the server."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def context(self) -> ssl.SSLContext:
        """Return how to encrypt; the certificate counts, except on this machine, where few have a proper one."""
        context = ssl.create_default_context()
        if self.is_local:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context

    def censor(self, text: str) -> str:
        """Return a text of the server without our password, should it repeat it."""
        if not self.password:
            return text
        plain = f"\0{self.user}\0{self.password}"
        for secret in (base64.b64encode(plain.encode()).decode(), base64.b64encode(self.password.encode()).decode()):
            text = text.replace(secret, "***")
        return text.replace(self.password, "***")


class SmtpTransport:
    """Hands mails to an SMTP server, each in a conversation of its own.

    Args:
        server: the server.
        timeout: longest time for a conversation, in seconds.
        name: how we introduce ourselves: a host name.

    """

    def __init__(self, server: SmtpServer, *, timeout: float, name: str) -> None:
        self._server = server
        self._timeout = timeout
        self._name = name

    def deliver(self, sender: str, to: str, message: str) -> None:
        """Hand over one mail.

        Raises:
            DeliveryError: the server did not take it.

        """
        late = threading.Event()
        with self._faults(late):
            smtp = self._connect()
        watch = threading.Timer(self._timeout, _hang_up, (smtp, late))
        watch.daemon = True
        watch.start()
        try:
            with self._faults(late):
                self._secure(smtp)
            with self._faults(late), self._refusals(to):
                smtp.sendmail(sender, [to], message.encode("ascii"))
            # The mail is theirs from here on: whatever goes wrong in parting must not have it sent again.
            with suppress(smtplib.SMTPException, OSError):
                smtp.quit()
        finally:
            watch.cancel()
            smtp.close()

    def _connect(self) -> smtplib.SMTP:
        host, port, name = self._server.host, self._server.port, self._name
        if self._server.is_tls:
            context = self._server.context()
            return smtplib.SMTP_SSL(host, port, local_hostname=name, timeout=self._timeout, context=context)
        return smtplib.SMTP(host, port, local_hostname=name, timeout=self._timeout)

    def _secure(self, smtp: smtplib.SMTP) -> None:
        server, is_safe = self._server, self._server.is_tls or self._server.is_local
        smtp.ehlo_or_helo_if_needed()
        if not server.is_tls and smtp.has_extn("starttls"):
            smtp.starttls(context=server.context())
            smtp.ehlo_or_helo_if_needed()
            is_safe = True
        if not server.user:
            return
        if not is_safe:
            raise DeliveryError(
                "tls",
                f"{server.host} offers no encryption, so the password was not sent to it. Use smtps://, another port, "
                "or no password.",
                is_general=True,
            )
        smtp.login(server.user, server.password)

    @contextmanager
    def _faults(self, late: threading.Event) -> Iterator[None]:
        """Raise what has to do with the server rather than with the mail as a general error."""
        try:
            yield
        except (smtplib.SMTPException, OSError) as error:
            # An exception of the library may hold the password; it is not chained.
            code, text = _code(error), self._server.censor(_text(error))
            if late.is_set() or isinstance(error, TimeoutError):
                code, text = "timeout", f"it took longer than {self._timeout:g} s"
            server = f"{self._server.host}:{self._server.port}"
            raise DeliveryError(code, f"The mail server {server} cannot be used: {text}", is_general=True) from None

    @contextmanager
    def _refusals(self, to: str) -> Iterator[None]:
        """Raise what the server says of this mail as an error of this mail."""
        try:
            yield
        except smtplib.SMTPRecipientsRefused as error:
            code, reply = error.recipients[to]
            raise self._refused(code, reply) from None
        except smtplib.SMTPDataError as error:
            raise self._refused(error.smtp_code, error.smtp_error) from None

    def _refused(self, code: int, reply: bytes | str) -> DeliveryError:
        text = self._server.censor(_decoded(reply))
        message = f"The mail server refused it: {code} {text}"
        return DeliveryError(str(code), message, is_final=code in _PERMANENT)


def _hang_up(smtp: smtplib.SMTP, late: threading.Event) -> None:
    late.set()
    connection = smtp.sock
    with suppress(OSError):
        if connection is not None:
            connection.shutdown(SHUT_RDWR)


def _code(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        return str(error.smtp_code)
    return "tls" if isinstance(error, ssl.SSLError) else "connection"


def _text(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        return f"{error.smtp_code} {_decoded(error.smtp_error)}"
    return str(error) or type(error).__name__


def _decoded(reply: bytes | str) -> str:
    text = reply.decode("utf-8", "replace") if isinstance(reply, bytes) else reply
    return " ".join(text.replace("\0", "").split())


def _wrong(reason: str) -> str:
    return f"PLUGYARD_SMTP_URL cannot be used: {reason}."
