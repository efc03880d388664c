"""The options of mail."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, Field, SecretStr


class MailOptions(BaseModel):
    """How mail leaves the host."""

    smtp_url: SecretStr = Field(
        SecretStr(""),
        description="Mail server: smtp://user:password@host:port, smtps://; empty means the log takes all mail.",
    )
    mail_from: str = Field("", description="Sender of mail; empty means plugyard@ and the site's host.")
    mail_templates: Path | None = Field(None, description="Folder whose templates replace those that come with it.")
    mail_timeout: float = Field(30.0, gt=0, description="Longest time for one conversation with the mail server.")
    mail_attempts: int = Field(5, ge=1, description="How often sending a mail is tried.")
