"""Why an operation on accounts cannot be done now; one place of the interface answers each."""

from __future__ import annotations

from host.accounts.problems import Problem
from host.errors import BusyError, NotAllowedError, NotSignedInError


class SignInNeededError(NotSignedInError):
    """Nobody is signed in, or the login has more stages to pass; answered with what may be done about it.

    ``stage`` tells that the operation belongs to a stage which is not waiting.
    """

    def __init__(self, *, stage: bool = False) -> None:
        super().__init__("Sign in first.")
        self.stage = stage


class ProofNeededError(NotSignedInError):
    """The caller is signed in, but has to prove again who they are."""

    def __init__(self) -> None:
        super().__init__("Confirm that it is you: your last proof is too old for this change.")


class FactorNeededError(NotSignedInError):
    """Everybody has to use a second factor, and the caller has not."""

    def __init__(self) -> None:
        super().__init__("A second factor is required here. Set one up, then sign in with it.")


class SessionGoneError(NotSignedInError):
    """The session that an app names is over."""

    def __init__(self) -> None:
        super().__init__("This session is over. Drop its token and sign in again.")


class ConflictError(BusyError):
    """The operation does not fit what is going on; ``problems`` say more where there is more to say."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__(problems[0].message if problems else "This does not fit what is going on now.")
        self.problems = problems


class ClosedError(NotAllowedError):
    """What is asked for is switched off."""
