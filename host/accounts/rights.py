"""Rights: what an account may do with the records of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sqlalchemy import select

from host.accounts.groups import MEMBERSHIPS, RULESETS, Ruleset
from host.accounts.roles import ACTIONS, ROLES, Action
from host.contract.values import User
from host.storage.engine import Database


@dataclass(frozen=True, slots=True)
class Granted:
    """The rights of one account at one moment: everything for superusers, else the union of its groups' rights."""

    is_superuser: bool
    actions: Mapping[str, frozenset[str]]
    """Role → actions; roles without any action are missing."""
    models: Mapping[str, str]
    """Model → role, empty for a model that no role covers."""

    def may(self, model: str, action: Action) -> bool:
        """Tell whether the account may do this to records of a model.

        A model that no role covers, and one that nobody registered, is for superusers only.
        """
        return self.is_superuser or action in self._actions_on(model)

    def roles(self) -> dict[str, list[str] | None]:
        """Return the actions of every role; ``None`` where there are none."""
        if self.is_superuser:
            return {role: list(ACTIONS) for role in ROLES}
        return {role: _ordered(self.actions.get(role, frozenset())) or None for role in ROLES}

    def permissions(self) -> dict[str, list[str]]:
        """Return the actions on every model; models without any are left out."""
        granted = {
            model: _ordered(frozenset(ACTIONS) if self.is_superuser else self._actions_on(model))
            for model in sorted(self.models)
        }
        return {model: actions for model, actions in granted.items() if actions}

    def _actions_on(self, model: str) -> frozenset[str]:
        return self.actions.get(self.models.get(model, ""), frozenset())


def _no_models() -> Mapping[str, str]:
    return MappingProxyType({})


class Rights:
    """Answers who may do what with the records of a model.

    Args:
        database: where the groups are.
        models: gives every known model and the role that covers it, empty for none; asked each time, since plugins
            bring models and take them away.

    """

    def __init__(self, database: Database, models: Callable[[], Mapping[str, str]] = _no_models) -> None:
        self._database = database
        self._models = models

    def of(self, user: User) -> Granted:
        """Return all rights of an account, for asking more than once."""
        actions = {} if user.is_superuser else self._granted(user.id)
        return Granted(user.is_superuser, actions, self._models())

    def given_by(self, rulesets: Iterable[Ruleset]) -> Granted:
        """Return the rights that rule sets give."""
        actions = {
            ruleset.name: frozenset(action for action in ACTIONS if getattr(ruleset, f"can_{action}"))
            for ruleset in rulesets
        }
        return Granted(is_superuser=False, actions=actions, models=self._models())

    def may(self, user: User, model: str, action: Action) -> bool:
        """Tell whether the account may do this to records of a model.

        Nobody may by default, superusers always; being staff gives nothing here.
        """
        return user.is_superuser or self.of(user).may(model, action)

    def _granted(self, user_id: int) -> dict[str, frozenset[str]]:
        columns = [RULESETS.c[f"can_{action}"] for action in ACTIONS]
        statement = (
            select(RULESETS.c.name, *columns)
            .join(MEMBERSHIPS, MEMBERSHIPS.c.group_id == RULESETS.c.group_id)
            .where(MEMBERSHIPS.c.user_id == user_id)
        )
        granted: dict[str, frozenset[str]] = {}
        with self._database.read() as connection:
            for role, *flags in connection.execute(statement):
                actions = {action for action, allowed in zip(ACTIONS, flags, strict=True) if allowed}
                granted[role] = granted.get(role, frozenset()) | actions
        return granted


def _ordered(actions: frozenset[str]) -> list[str]:
    return [action for action in ACTIONS if action in actions]
