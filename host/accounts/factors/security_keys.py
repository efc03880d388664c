"""Security keys and passkeys (WebAuthn): the options that browsers ask for, and the answers of keys to them.

A ceremony has two halves: ``begin_…`` gives the options for the client and a state to keep, ``finish_…`` takes that
state back with the key's answer. Whoever keeps the state hands it over once, in the same session.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from webauthn.authentication.verify_authentication_response import verify_authentication_response
from webauthn.helpers import base64url_to_bytes, bytes_to_base64url
from webauthn.helpers.cose import COSEAlgorithmIdentifier as Algorithm
from webauthn.registration.verify_registration_response import verify_registration_response

from host.accounts.account import Account
from host.accounts.factors.authenticators import Authenticator
from host.accounts.factors.credentials import (
    MALFORMED,
    allowed_origin,
    check_public_key,
    read_credential,
    says_passwordless,
    without_attestation,
)

ALGORITHMS = (
    Algorithm.ECDSA_SHA_256,
    Algorithm.EDDSA,
    Algorithm.ECDSA_SHA_512,
    Algorithm.RSASSA_PKCS1_v1_5_SHA_256,
    Algorithm.ML_DSA_44,
    Algorithm.ML_DSA_65,
    Algorithm.ML_DSA_87,
)
"""What keys may sign with, the preferred first: those that the library verifies as the standard has it."""

_CHALLENGE_BYTES = 32
_CREDENTIAL_ID = re.compile(r"[A-Za-z0-9_-]{1,1364}")  # 1023 bytes at most
_MAX_PUBLIC_KEY = 4096
_BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"

State = dict[str, Any]
"""What a ceremony remembers between its halves; it goes into JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """A key that was just made, to be stored."""

    credential_id: str
    public_key: str
    sign_count: int
    passwordless: bool | None
    """Whether it can sign in alone; ``None``: the client did not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """A key's proof."""

    key: Authenticator
    sign_count: int
    user_verified: bool
    """The key made sure who is using it, by a PIN or a finger."""


class SecurityKeys:
    """Runs ceremonies; it stores nothing.

    Args:
        allow_insecure_origin: accept pages that come by http from elsewhere than this machine.

    """

    def __init__(self, *, allow_insecure_origin: bool = False) -> None:
        self._insecure = allow_insecure_origin

    def begin_registration(
        self, account: Account, keys: Sequence[Authenticator], *, passwordless: bool, rp_id: str, rp_name: str
    ) -> tuple[dict[str, Any], State]:
        """Return what a browser needs to make a key for an account, and the state to keep.

        Args:
            account: whose key.
            keys: the account's own ones; none of them serves twice.
            passwordless: the key shall be able to sign in alone.
            rp_id: the site, from ``rp_id_of``.
            rp_name: the site's name, for people.

        """
        challenge = bytes_to_base64url(secrets.token_bytes(_CHALLENGE_BYTES))
        wish = "required" if passwordless else "discouraged"
        options = {
            "rp": {"id": rp_id, "name": rp_name},
            "user": {
                "id": bytes_to_base64url(user_handle(account.id)),
                "name": account.email or account.username,
                "displayName": account.username,
            },
            "challenge": challenge,
            "pubKeyCredParams": [{"type": "public-key", "alg": int(algorithm)} for algorithm in ALGORITHMS],
            "excludeCredentials": _descriptors(keys),
            "authenticatorSelection": {
                "residentKey": wish,
                "requireResidentKey": passwordless,
                "userVerification": wish,
            },
            "extensions": {"credProps": True},
        }
        state = {"challenge": challenge, "rp_id": rp_id, "user_id": account.id, "verify_user": passwordless}
        return {"publicKey": options}, state

    def finish_registration(self, state: State | None, credential: object) -> NewKey | None:
        """Return the key that a browser made; ``None``: its answer does not fit the ceremony.

        Raises:
            RefusedValuesError: the credential is missing, or no object.

        """
        answer = read_credential(credential)
        if state is None:
            return None
        try:
            made = verify_registration_response(
                credential=without_attestation(answer),
                expected_challenge=base64url_to_bytes(state["challenge"]),
                expected_rp_id=state["rp_id"],
                expected_origin=allowed_origin(answer, state["rp_id"], insecure=self._insecure),
                require_user_verification=state["verify_user"],
                supported_pub_key_algs=list(ALGORITHMS),
            )
            check_public_key(made.credential_public_key, longest=_MAX_PUBLIC_KEY)
        except MALFORMED:
            return None
        credential_id = bytes_to_base64url(made.credential_id)
        if credential_id != answer["id"] or not _CREDENTIAL_ID.fullmatch(credential_id):
            return None
        return NewKey(
            credential_id=credential_id,
            public_key=bytes_to_base64url(made.credential_public_key),
            sign_count=made.sign_count,
            passwordless=says_passwordless(answer),
        )

    def begin_authentication(
        self, keys: Sequence[Authenticator] | None, *, rp_id: str, user_id: int | None = None
    ) -> tuple[dict[str, Any], State]:
        """Return what a browser needs to ask a key for a proof, and the state to keep.

        Args:
            keys: the account's own ones; ``None`` asks for a passkey of whichever account.
            rp_id: the site, from ``rp_id_of``.
            user_id: whose proof; ``None``, with ``keys``, leaves it to the key: it then has to verify its user, for
                it stands for a password and a second factor at once.

        """
        challenge = bytes_to_base64url(secrets.token_bytes(_CHALLENGE_BYTES))
        options = {
            "challenge": challenge,
            "rpId": rp_id,
            "allowCredentials": _descriptors(keys or ()),
            "userVerification": "preferred",
        }
        state = {"challenge": challenge, "rp_id": rp_id, "user_id": user_id, "verify_user": user_id is None}
        return {"publicKey": options}, state

    def finish_authentication(
        self, state: State | None, credential: object, find_key: Callable[[str], Authenticator | None]
    ) -> Assertion | None:
        """Return the proof of a key; ``None``: the answer is wrong, or another ceremony's, or another account's.

        Args:
            state: of the first half; ``None`` when there was none.
            credential: what the client sends.
            find_key: finds a key by its credential id.

        Raises:
            RefusedValuesError: the credential is missing, or no object.

        """
        answer = read_credential(credential)
        credential_id = answer.get("id")
        if state is None or not isinstance(credential_id, str) or not _CREDENTIAL_ID.fullmatch(credential_id):
            return None
        key = find_key(credential_id)
        if key is None or not _belongs(key, answer, state["user_id"]):
            return None
        try:
            proof = verify_authentication_response(
                credential=answer,
                expected_challenge=base64url_to_bytes(state["challenge"]),
                expected_rp_id=state["rp_id"],
                expected_origin=allowed_origin(answer, state["rp_id"], insecure=self._insecure),
                credential_public_key=base64url_to_bytes(key.data["public_key"]),
                credential_current_sign_count=key.sign_count,
                require_user_verification=state["verify_user"],
            )
        except MALFORMED:
            return None
        return Assertion(key=key, sign_count=proof.new_sign_count, user_verified=proof.user_verified)


def rp_id_of(address: str) -> str:
    """Return the name under which keys know a site: the host of an origin, or of ``host:port``, without the port.

    Empty where there is none.
    """
    try:
        return urlsplit(address if "://" in address else f"//{address}").hostname or ""
    except ValueError:
        return ""


def default_name(keys: int) -> str:
    """Return the name of a new key that was given none, by how many there are already."""
    return {0: "Master key", 1: "Backup key"}.get(keys, f"Key nr. {keys + 1}")


def user_handle(user_id: int) -> bytes:
    """Return what a passkey remembers of its account: the id in base 36."""
    digits = ""
    while user_id:
        user_id, digit = divmod(user_id, len(_BASE36))
        digits = _BASE36[digit] + digits
    return digits.encode()


def _descriptors(keys: Sequence[Authenticator]) -> list[dict[str, str | None]]:
    return [{"type": "public-key", "id": key.credential_id} for key in keys]


def _belongs(key: Authenticator, answer: Mapping[str, Any], user_id: int | None) -> bool:
    response = answer.get("response")
    handle = response.get("userHandle") if isinstance(response, dict) else None
    if handle is None:
        # Keys that keep no account, only a secret, name none: they serve where it is known who is asked.
        return key.user_id == user_id
    if not isinstance(handle, str):
        return False
    try:
        named = base64url_to_bytes(handle)
    except ValueError:
        return False
    return named == user_handle(key.user_id) and user_id in {None, key.user_id}
