"""The own account, as the interface shows it to whoever is signed in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from host.accounts.account import Account
from host.accounts.rights import Rights
from host.accounts.users import Users


class OwnAccount:
    """Shows and changes what belongs to one's own account."""

    def __init__(self, users: Users, rights: Rights) -> None:
        self._users = users
        self._rights = rights

    def me(self, user_id: int, *, roles: bool = False) -> dict[str, Any]:
        """Return the account with its groups and profile, and on demand its roles and permissions.

        Raises:
            NotFoundError: there is no such account.

        """
        account = self._users.get(user_id)
        return show_account(account) | (self._granted(account) if roles else {})

    def roles(self, user_id: int) -> dict[str, Any]:
        """Return roles and permissions with the names and flags they belong to.

        Raises:
            NotFoundError: there is no such account.

        """
        account = self._users.get(user_id)
        return {
            "user": account.id,
            "username": account.username,
            "is_staff": account.is_staff,
            "is_superuser": account.is_superuser,
            **self._granted(account),
        }

    def change(self, user_id: int, values: Mapping[str, object], *, complete: bool = False) -> dict[str, Any]:
        """Change the own names, e-mail address and username; everything else is ignored.

        Raises:
            NotFoundError: there is no such account.
            RefusedValuesError: naming everything that is wrong; with ``complete``, also a missing username.

        """
        return show_account(self._users.change_own(user_id, values, complete=complete))

    def profile(self, user_id: int) -> dict[str, Any]:
        """Return the own profile.

        Raises:
            NotFoundError: there is no such account.

        """
        return dict(self._users.get(user_id).profile)

    def change_profile(self, user_id: int, values: Mapping[str, object]) -> dict[str, Any]:
        """Change members of the own profile; others are ignored.

        Raises:
            NotFoundError: there is no such account.
            RefusedValuesError: naming everything that is wrong.

        """
        return dict(self._users.change_profile(user_id, values).profile)

    def _granted(self, account: Account) -> dict[str, Any]:
        granted = self._rights.of(account.as_user())
        return {"roles": granted.roles(), "permissions": granted.permissions()}


def show_account(account: Account) -> dict[str, Any]:
    """Return an account in the form of the interface."""
    return {
        "pk": account.id,
        "username": account.username,
        "first_name": account.first_name,
        "last_name": account.last_name,
        "email": account.email,
        "groups": [{"pk": group.pk, "name": group.name} for group in account.groups],
        "is_staff": account.is_staff,
        "is_superuser": account.is_superuser,
        "is_active": account.is_active,
        "profile": dict(account.profile),
    }
