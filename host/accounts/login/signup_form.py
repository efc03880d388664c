"""What somebody has to say who signs up, and what may be wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import Connection, select

from host.accounts.account import USERS
from host.accounts.addresses import clean_email, email_problems
from host.accounts.area import Area
from host.accounts.changes import has_username
from host.accounts.emails import owners
from host.accounts.persons import Problems, check_person
from host.accounts.phones import numbers
from host.accounts.problems import Problem, refuse
from host.accounts.usernames import fold_username, username_taken
from host.config.accounts import AccountOptions, required_fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A sign-up whose members are well formed."""

    username: str = ""
    """Empty: one is to be made up."""
    email: str = ""
    phone: str = ""
    password: str = field(default="", repr=False)

    def reach(self) -> dict[str, str]:
        """Return the address and the number, as far as they are given."""
        return {name: value for name, value in (("email", self.email), ("phone", self.phone)) if value}


class SignupForm:
    """Checks sign-ups; which members there are, and which must be given, is configured."""

    def __init__(self, area: Area) -> None:
        self._area = area
        options = area.options
        self._asked = dict(required_fields(options.account_signup_fields))
        if not options.account_phone_enabled:
            self._asked.pop("phone", None)

    def check(self, values: Mapping[str, str], *, with_password: bool) -> Form:
        """Return what was entered, in the form in which it is kept; members that are not asked for do not exist.

        Raises:
            RefusedValuesError: naming everything that is wrong, in the order of the members.

        """
        fields = {name: must for name, must in self._required().items() if with_password or name != "password"}
        given = {name: values.get(name, "") for name in fields}
        problems: Problems = {name: [] for name in ("username", "email", "phone", "password")}
        form = Form(
            username=self._username(given, problems),
            email=clean_email(given.get("email", "")),
            phone=numbers.clean_phone(given.get("phone", "")),
            password=given.get("password", ""),
        )
        if form.email:
            problems["email"] = email_problems(form.email) or domain_problems(form.email, self._area.options)
        if form.phone:
            problems["phone"] = numbers.phone_problems(form.phone)
        if form.password:
            problems["password"] = self._area.users.rules.check(form.password)
        for name, must in fields.items():
            if must and not given[name]:
                problems[name] = [_REQUIRED[name]]
        with self._area.database.read() as connection:
            self._add_clashes(connection, form, problems)
        refuse(problems)
        return form

    def check_free(self, connection: Connection, form: Form) -> None:
        """Check once more that nobody else has what only one can have.

        Raises:
            RefusedValuesError: somebody has.

        """
        problems: Problems = {}
        self._add_clashes(connection, form, problems)
        refuse(problems)

    def has_hidden_clash(self, connection: Connection, form: Form) -> bool:
        """Tell whether the address belongs to somebody else, where the caller must not learn of it.

        A number of somebody else is no clash: anybody may claim it, and the claim is never proved.
        """
        options = self._area.options
        if options.account_prevent_enumeration != "true" or options.account_email_verification != "mandatory":
            return False
        return bool(form.email) and owners.is_known(connection, form.email)

    def _required(self) -> Mapping[str, bool]:
        if not self._area.options.login_signup_mail_restriction:
            return self._asked
        # Whoever gave none would be let in unasked.
        return {**self._asked, "email": True}

    def _username(self, given: Mapping[str, str], problems: Problems) -> str:
        text = given.get("username", "")
        if not text:
            return ""
        options = self._area.options
        username = check_person({"username": text}, problems, blacklist=options.account_username_blacklist).get(
            "username", ""
        )
        if username and len(username) < options.account_username_min_length:
            message = f"A username has at least {options.account_username_min_length} characters."
            problems["username"] = [Problem("min_length", message)]
        elif username and not self._may_be_address(username, clean_email(given.get("email", ""))):
            # Else a username would tell whether somebody has an account with that address.
            message = "A username that is an e-mail address must be your own. Choose another username."
            problems["username"] = [Problem("invalid", message)]
        return username

    def _may_be_address(self, username: str, email: str) -> bool:
        mode = self._area.options.account_prevent_enumeration
        if mode == "false" or email_problems(clean_email(username)):
            return True
        return mode == "true" and clean_email(username) == email

    def _add_clashes(self, connection: Connection, form: Form, problems: Problems) -> None:
        prevention = self._area.options.account_prevent_enumeration
        if form.username and not problems.get("username") and _has_username(connection, form):
            problems["username"] = [username_taken(form.username)]
        if form.email and not problems.get("email") and prevention != "strict":
            hidden = prevention == "true" and self._area.options.account_email_verification == "mandatory"
            if not hidden and owners.is_known(connection, form.email):
                problems["email"] = [Problem("email_taken", "An account has this e-mail address already. Sign in.")]
        may_tell = prevention == "false" and not problems.get("phone")
        if form.phone and may_tell and numbers.find_verified(connection, form.phone):
            problems["phone"] = [Problem("phone_taken", "An account has this phone number already. Sign in.")]


def domain_problems(address: str, options: AccountOptions) -> list[Problem]:
    """List what is wrong with the domain of an address where only some domains may sign up."""
    domains = [domain.strip().lower().removeprefix("@") for domain in options.login_signup_mail_restriction]
    if not domains or address.rpartition("@")[2] in domains:
        return []
    return [Problem("invalid", f"Addresses of this domain cannot sign up; use one of: {', '.join(domains)}.")]


def _has_username(connection: Connection, form: Form) -> bool:
    folded = fold_username(form.username)
    if folded == fold_username(form.email):
        # The account that has the address is found, or hidden, as such.
        return connection.execute(select(USERS.c.id).where(USERS.c.username_folded == folded)).first() is not None
    return has_username(connection, folded)


_REQUIRED: Mapping[str, Problem] = {
    "username": Problem("required", "Enter a username."),
    "email": Problem("required", "Enter an e-mail address."),
    "phone": Problem("required", "Enter a phone number."),
    "password": Problem("required", "Enter a password."),
}
