"""Writing down that an account has proved an address, with everything that follows from it."""

from __future__ import annotations

from host.accounts.area import Area
from host.accounts.changes import lock_account
from host.accounts.emails import addresses
from host.accounts.emails.addresses import Verification
from host.accounts.notices import notify
from host.accounts.sessions.visit import Work


def prove_email(area: Area, work: Work, user_id: int, email: str, *, member: str = "email") -> Verification:
    """Make an address a proved one of an account, which gets it if it does not have it, and tell of it.

    Args:
        area: what account services share.
        work: the transaction.
        user_id: who proved it.
        email: the address.
        member: the member of the input to which a refusal belongs.

    Raises:
        NotFoundError: there is no such account.
        RefusedValuesError: another account has proved it; or the account may not have another address.

    """
    lock_account(work.connection, user_id)
    is_new = addresses.find(work.connection, user_id, email) is None
    former = addresses.primary_of(work.connection, user_id)
    proof = addresses.mark_verified(work.connection, user_id, email, area.options, member=member, moment=work.now)
    address = proof.address.email
    if is_new:
        work.emit("user.email_added", user_id, email=address)
    if proof.newly:
        work.emit("user.email_verified", user_id, email=address)
    if proof.became_primary:
        work.emit("user.email_changed", user_id, email=address, former=former.email if former else "")
        if former is not None and former.email != address:
            notify(work, "email_changed", to=former.email, email=address)
    for gone in proof.replaced:
        work.emit("user.email_removed", user_id, email=gone)
    return proof
