"""How accounts, groups, their rights, owners and tokens are listed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from sqlalchemy import ColumnElement, MetaData, Table, case, func, literal, select, true, union_all

from host.accounts.account import USERS
from host.accounts.groups import GROUPS, MEMBERSHIPS, RULESETS
from host.accounts.roles import ACTIONS, ROLES
from host.accounts.tokens import TOKENS
from host.contract.values import User
from host.storage.listing import Filter, Listing, by_boolean, by_choice, by_reference

_NAMES: Final = ("username", "first_name", "last_name", "email")
_FLAGS: Final = ("is_staff", "is_superuser", "is_active")


def _columns(table: Table, *names: str) -> dict[str, Any]:
    return {name: table.c[name] for name in names}


def _in_group(group_id: int) -> ColumnElement[bool]:
    return USERS.c.id.in_(select(MEMBERSHIPS.c.user_id).where(MEMBERSHIPS.c.group_id == group_id))


ACCOUNTS: Final = Listing(
    table=USERS,
    key=USERS.c.id,
    members={
        "pk": USERS.c.id,
        **_columns(USERS, *_NAMES, *_FLAGS, "profile"),
        "primary_group": USERS.c.primary_group_id,
    },
    filters={
        **{name: by_boolean(USERS.c[name]) for name in _FLAGS},
        "group": Filter(kind="reference", where=_in_group, target=GROUPS.c.id, help_text="Members of this group."),
    },
    ordering={"pk": USERS.c.id, **_columns(USERS, *_NAMES, *_FLAGS)},
    default_order=("username",),
    search=tuple(USERS.c[name] for name in _NAMES),
)
"""Accounts; ``primary_group`` is a part of the profile. ``Directory.complete`` adds the groups."""

# The order and the filters would tell what the members hide.
ACCOUNTS_IN_BRIEF: Final = replace(
    ACCOUNTS,
    filters={"is_active": by_boolean(USERS.c.is_active)},
    ordering={"pk": USERS.c.id, **_columns(USERS, *_NAMES, "is_active")},
)
"""Accounts, for callers who may not know what rights others have."""

GROUP_LIST: Final = Listing(
    table=GROUPS,
    key=GROUPS.c.id,
    members={"pk": GROUPS.c.id, "name": GROUPS.c.name},
    ordering={"pk": GROUPS.c.id, "name": GROUPS.c.name},
    default_order=("name",),
    search=(GROUPS.c.name,),
)
"""Groups."""

RULESET_LIST: Final = Listing(
    table=RULESETS,
    key=RULESETS.c.id,
    members={
        "pk": RULESETS.c.id,
        "name": RULESETS.c.name,
        "label": case(dict(ROLES), value=RULESETS.c.name, else_=RULESETS.c.name),
        "group": RULESETS.c.group_id,
        **_columns(RULESETS, *(f"can_{action}" for action in ACTIONS)),
    },
    filters={
        "group": by_reference(RULESETS.c.group_id, GROUPS.c.id),
        "name": by_choice(RULESETS.c.name, tuple(ROLES), "A role."),
    },
    ordering={"pk": RULESETS.c.id, "name": RULESETS.c.name, "group": RULESETS.c.group_id},
    default_order=("group",),
    search=(RULESETS.c.name,),
)
"""What each group may do in each role."""

_FULL_NAME: Final = func.trim(USERS.c.first_name + " " + USERS.c.last_name)
# One number for both kinds: even for groups, odd for accounts.
_OWNERS: Final = union_all(
    select(
        (2 * GROUPS.c.id).label("pk"),
        GROUPS.c.id.label("owner_id"),
        literal("group").label("owner_model"),
        GROUPS.c.name.label("name"),
        GROUPS.c.name.label("label"),
        true().label("is_active"),
    ),
    select(
        2 * USERS.c.id + 1,
        USERS.c.id,
        literal("user"),
        USERS.c.username,
        case((_FULL_NAME == "", USERS.c.username), else_=USERS.c.username + " (" + _FULL_NAME + ")"),
        USERS.c.is_active,
    ),
).subquery("owner")

OWNERS: Final = Listing(
    table=Table("owner", MetaData()),  # gives its name to messages; there is no such table
    key=_OWNERS.c.pk,
    source=_OWNERS,
    members={name: _OWNERS.c[name] for name in ("pk", "owner_id", "owner_model", "name", "label")},
    filters={
        "owner_model": by_choice(_OWNERS.c.owner_model, ("user", "group")),
        "is_active": by_boolean(_OWNERS.c.is_active, "Groups always are."),
    },
    ordering={name: _OWNERS.c[name] for name in ("pk", "name", "owner_model")},
    default_order=("name",),
    search=(_OWNERS.c.name, _OWNERS.c.label),
)
"""Accounts and groups, as what records can belong to."""


def _own(user: User | None) -> ColumnElement[bool]:
    return TOKENS.c.user_id == (user.id if user else None)


def _within_reach(user: User | None) -> ColumnElement[bool] | None:
    return None if user is not None and user.is_superuser else _own(user)


OWN_TOKENS: Final = Listing(
    table=TOKENS,
    key=TOKENS.c.id,
    source=TOKENS.join(USERS),
    view=_own,
    members={
        **_columns(TOKENS, "created", "expiry", "id", "last_seen", "name"),
        "token": TOKENS.c.masked,
        "revoked": TOKENS.c.revoked,
        "user": TOKENS.c.user_id,
        "user_detail.pk": USERS.c.id,
        **{f"user_detail.{name}": USERS.c[name] for name in _NAMES},
    },
    filters={"revoked": by_boolean(TOKENS.c.revoked), "user": by_reference(TOKENS.c.user_id, USERS.c.id)},
    ordering={
        **_columns(TOKENS, "created", "expiry", "last_seen", "name", "revoked"),
        "user": TOKENS.c.user_id,
    },
    default_order=("-created",),
    search=(TOKENS.c.name,),
)
"""The caller's tokens."""

TOKENS_WITHIN_REACH: Final = replace(OWN_TOKENS, view=_within_reach)
"""The tokens that the caller may see and revoke: the own ones, for superusers everybody's."""
