"""Sample: take part in signing in.

Refuses passwords that hold the name of the product, and offers an identity provider once its address is set.
"""

from __future__ import annotations

from collections.abc import Sequence

from host import Plugin, Setting, SignInProvider, User, hookimpl


class SampleSignIn(Plugin):
    """A check of new passwords, and a sign-in provider made from settings."""

    title = "Sample: sign-in"
    description = "A rule for passwords, and an identity provider from settings"

    @hookimpl
    def plugin_settings(self) -> Sequence[Setting]:
        return [
            Setting(key="WORD", name="Word", description="No password may hold it", default="plugyard"),
            Setting(key="SERVER", name="Address of the identity provider"),
            Setting(key="CLIENT_ID", name="Client id", default="plugyard"),
            Setting(key="CLIENT_SECRET", name="Client secret", protected=True),
        ]

    @hookimpl
    def check_password(self, password: str, user: User | None) -> Sequence[str]:
        word = str(self.settings.get("WORD") or "")
        if not word or word.casefold() not in password.casefold():
            return []
        self.log.info("a password of %s was refused", user.username if user else "a new account")
        return [f"A password may not hold the word '{word}'. Choose another one."]

    @hookimpl
    def sign_in_providers(self) -> Sequence[SignInProvider]:
        server = str(self.settings.get("SERVER") or "")
        if not server:
            return []
        return [
            SignInProvider(
                id="sample",
                name="Sample identity provider",
                client_id=str(self.settings.get("CLIENT_ID")),
                secret=str(self.settings.get("CLIENT_SECRET") or ""),
                server_url=server,
            )
        ]
