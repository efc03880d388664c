"""Signing in, assembled: every service of the account interface, made from what they share."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from host.accounts.area import Area
from host.accounts.emails.correction import AddressCorrection
from host.accounts.emails.messages import EmailMessages
from host.accounts.emails.own_addresses import OwnAddresses
from host.accounts.emails.verification import EmailVerification
from host.accounts.factors.factors import Factors
from host.accounts.factors.operations_keys import OwnKeys
from host.accounts.factors.operations_own import OwnFactors
from host.accounts.factors.operations_passkeys import Passkeys
from host.accounts.factors.operations_proof import SecondFactors
from host.accounts.frontend_urls import FrontendUrls
from host.accounts.login.by_password import PasswordLogin
from host.accounts.login.code_proofs import CodeProofs
from host.accounts.login.codes import CodeLogin
from host.accounts.login.flows import Flows
from host.accounts.login.links import LinkLogin
from host.accounts.login.logins import Logins, Stage
from host.accounts.login.signup import Signup
from host.accounts.login.stages.login_by_code import LoginByCode
from host.accounts.login.stages.passkey_signup import PasskeySignup
from host.accounts.login.stages.second_factor import SecondFactor
from host.accounts.login.stages.trust import TrustBrowser
from host.accounts.login.stages.verify_email import VerifyEmail
from host.accounts.login.stages.verify_phone import VerifyPhone
from host.accounts.own_passwords.change import PasswordChange
from host.accounts.own_passwords.reset import PasswordReset
from host.accounts.password_guard import PasswordGuard
from host.accounts.phones.messages import PhoneMessages
from host.accounts.phones.own_number import OwnNumber
from host.accounts.phones.verification import PhoneVerification
from host.accounts.providers.client import Providers
from host.accounts.providers.operations import ProviderOperations
from host.accounts.providers.signup import describe_waiting
from host.accounts.sessions.sessions import Sessions
from host.accounts.sessions.visit import Visit
from host.accounts.sessions.web_tokens import WebTokens


class SignIn:
    """The services of the account interface.

    Args:
        area: what they share.
        providers: the third parties that vouch for people.
        site: where the host is reached; empty means wherever a caller asked it.
        rsa_key: PEM of the private key that signs web tokens; needed for RS256 only.

    """

    def __init__(self, area: Area, *, providers: Providers, site: str = "", rsa_key: str = "") -> None:
        self.area = area
        self.site = site.rstrip("/")
        self.urls = FrontendUrls(area.options, site)
        self.sessions = Sessions(area)
        self.web_tokens = WebTokens(area, self.sessions, rsa_key)
        self.factors = Factors(area.options, area.seals, area.clock)
        login_by_code = LoginByCode(area, self.urls)
        messages = EmailMessages(area, self.urls)
        email_proofs, phone_proofs = _email_proofs(area, messages), _phone_proofs(area)
        verify_phone = VerifyPhone(area, phone_proofs)
        verify_email = VerifyEmail(area, messages, email_proofs)
        addresses: list[Stage] = [login_by_code, verify_phone, verify_email]
        factors: list[Stage] = [SecondFactor(area, self.factors), TrustBrowser(area), PasskeySignup()]
        self.logins = Logins([*addresses, *factors], self.sessions.purge_now_and_then)
        self.password_guard = PasswordGuard(area, self.factors)
        self.flows = Flows(
            area,
            self.logins,
            self.factors,
            providers=lambda flow: [one.id for one in providers.with_flow(flow)],
            describe_signup=partial(describe_waiting, area, providers),
        )
        self.password_login = PasswordLogin(area, self.logins)
        self._assemble_addresses(messages, email_proofs, phone_proofs)
        self.signup = Signup(area, self.logins, emails=self.email_verification, phones=self.phone_verification)
        self.providers = ProviderOperations(
            area, providers, logins=self.logins, flows=self.flows, signup=self.signup, urls=self.urls
        )
        self.password_change = PasswordChange(area)
        self.password_reset = PasswordReset(area, self.logins, self.urls)
        self.code_login = CodeLogin(area, self.logins, login_by_code)
        self.link_login = LinkLogin(area, self.logins)
        self._assemble_factors()

    def _assemble_addresses(
        self, messages: EmailMessages, email_proofs: CodeProofs | None, phone_proofs: CodeProofs
    ) -> None:
        area = self.area
        self.email_verification = EmailVerification(area, self.logins, messages, email_proofs)
        self.phone_verification = PhoneVerification(
            area, self.logins, phone_proofs, pretend_email=self.email_verification.pretend
        )
        demand_proof, has_factor = self.flows.demand_proof_if_required, self.factors.are_needed
        self.own_addresses = OwnAddresses(
            area, messages, email_proofs, has_factor=has_factor, demand_proof=demand_proof
        )
        self.address_correction = AddressCorrection(area, email_proofs, has_factor=has_factor)
        self.own_number = OwnNumber(area, phone_proofs, has_factor=has_factor, demand_proof=demand_proof)

    def _assemble_factors(self) -> None:
        area = self.area
        self.second_factors = SecondFactors(area, self.factors, self.logins, self.urls)
        self.own_factors = OwnFactors(area, self.factors, self.flows)
        self.own_keys = OwnKeys(area, self.factors, self.flows, self.urls)
        self.passkeys = Passkeys(area, self.factors, self.logins, self.urls)

    def bearer_tokens(self, visit: Visit) -> Mapping[str, str]:
        """Return the JSON Web Tokens of a session, where the strategy has any."""
        return self.web_tokens.issue(visit)


def _email_proofs(area: Area, messages: EmailMessages) -> CodeProofs | None:
    options = area.options
    if not options.account_email_verification_by_code_enabled:
        return None
    return CodeProofs(
        area,
        VerifyEmail.flow,
        messages,
        seconds=options.account_email_verification_by_code_timeout,
        most_attempts=options.account_email_verification_by_code_max_attempts,
    )


def _phone_proofs(area: Area) -> CodeProofs:
    return CodeProofs(
        area,
        VerifyPhone.flow,
        PhoneMessages(area),
        seconds=area.options.account_phone_verification_timeout,
        most_attempts=area.options.account_phone_verification_max_attempts,
    )
