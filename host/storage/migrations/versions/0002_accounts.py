"""Signing in: sessions, addresses, second factors, providers, OAuth, rate limits; and the mail log."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "account_limit",
        sa.Column("bucket", sa.String(length=64), nullable=False),
        sa.Column("times", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("expires", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("bucket", name=op.f("pk_account_limit")),
    )
    with op.batch_alter_table("account_limit", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_account_limit_expires"), ["expires"], unique=False)

    op.create_table(
        "account_seen_token",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("expiry", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_account_seen_token")),
    )
    with op.batch_alter_table("account_seen_token", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_account_seen_token_expiry"), ["expiry"], unique=False)

    op.create_table(
        "mail_message",
        sa.Column("global_id", sa.String(length=36), nullable=False),
        sa.Column("message_id_key", sa.String(length=250), nullable=True),
        sa.Column("thread_id_key", sa.String(length=250), nullable=True),
        sa.Column("thread", sa.String(length=36), nullable=True),
        sa.Column("subject", sa.String(length=250), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("to", sa.String(length=254), nullable=False),
        sa.Column("sender", sa.String(length=254), nullable=False),
        sa.Column("status", sa.String(length=1), nullable=False),
        sa.Column("direction", sa.String(length=1), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("timestamp", sa.DateTime(timezone=True), nullable=False),
        sa.Column("headers", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=True),
        sa.Column("full_message", sa.Text(), nullable=True),
        sa.Column("delivery_options", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=True),
        sa.Column("error_code", sa.String(length=50), nullable=True),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("error_timestamp", sa.DateTime(timezone=True), nullable=True),
        sa.Column("template", sa.String(length=100), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_attempt", sa.DateTime(timezone=True), nullable=True),
        sa.Column("expires", sa.DateTime(timezone=True), nullable=True),
        sa.Column("payload", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("global_id", name=op.f("pk_mail_message")),
    )
    with op.batch_alter_table("mail_message", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_mail_message_next_attempt"), ["next_attempt"], unique=False)
        batch_op.create_index(batch_op.f("ix_mail_message_timestamp"), ["timestamp"], unique=False)

    op.create_table(
        "account_authenticator",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("type", sa.String(length=20), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("data", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("credential_id", sa.Text(), nullable=True),
        sa.Column("sign_count", sa.Integer(), nullable=False),
        sa.Column("passwordless", sa.Boolean(), nullable=True),
        sa.Column("last_step", sa.Integer(), nullable=True),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_used", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["account_user.id"],
            name=op.f("fk_account_authenticator_user_id_account_user"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_account_authenticator")),
        sa.UniqueConstraint("credential_id", name=op.f("uq_account_authenticator_credential_id")),
    )
    with op.batch_alter_table("account_authenticator", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_account_authenticator_user_id"), ["user_id"], unique=False)
        batch_op.create_index(
            "uq_account_authenticator_one_of_a_kind",
            ["user_id", "type"],
            unique=True,
            sqlite_where=sa.text("type IN ('totp', 'recovery_codes')"),
            postgresql_where=sa.text("type IN ('totp', 'recovery_codes')"),
        )

    op.create_table(
        "account_email",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("verified", sa.Boolean(), nullable=False),
        sa.Column("primary", sa.Boolean(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["account_user.id"], name=op.f("fk_account_email_user_id_account_user"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_account_email")),
        sa.UniqueConstraint("user_id", "email", name=op.f("uq_account_email_user_id_email")),
    )
    with op.batch_alter_table("account_email", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_account_email_email"), ["email"], unique=False)
        batch_op.create_index(
            "uq_account_email_primary",
            ["user_id"],
            unique=True,
            sqlite_where=sa.text('"primary"'),
            postgresql_where=sa.text('"primary"'),
        )
        batch_op.create_index(
            "uq_account_email_verified_owner",
            ["email"],
            unique=True,
            sqlite_where=sa.text("verified"),
            postgresql_where=sa.text("verified"),
        )

    op.create_table(
        "account_phone",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("phone", sa.String(length=16), nullable=False),
        sa.Column("verified", sa.Boolean(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["account_user.id"], name=op.f("fk_account_phone_user_id_account_user"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_account_phone")),
        sa.UniqueConstraint("user_id", name=op.f("uq_account_phone_user_id")),
    )
    with op.batch_alter_table("account_phone", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_account_phone_phone"), ["phone"], unique=False)
        batch_op.create_index(
            "uq_account_phone_verified_owner",
            ["phone"],
            unique=True,
            sqlite_where=sa.text("verified"),
            postgresql_where=sa.text("verified"),
        )

    op.create_table(
        "account_provider_account",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("provider", sa.String(length=64), nullable=False),
        sa.Column("uid", sa.String(length=255), nullable=False),
        sa.Column("display", sa.String(length=255), nullable=False),
        sa.Column("extra", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_login", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["account_user.id"],
            name=op.f("fk_account_provider_account_user_id_account_user"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_account_provider_account")),
        sa.UniqueConstraint("provider", "uid", name=op.f("uq_account_provider_account_provider_uid")),
    )
    with op.batch_alter_table("account_provider_account", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_account_provider_account_user_id"), ["user_id"], unique=False)

    op.create_table(
        "account_session",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("password_changed", sa.DateTime(timezone=True), nullable=True),
        sa.Column("client", sa.String(length=10), nullable=False),
        sa.Column("methods", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("data", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("user_agent", sa.String(length=200), nullable=False),
        sa.Column("address", sa.String(length=64), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_seen", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["account_user.id"], name=op.f("fk_account_session_user_id_account_user"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_account_session")),
        sa.UniqueConstraint("digest", name=op.f("uq_account_session_digest")),
    )
    with op.batch_alter_table("account_session", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_account_session_expires"), ["expires"], unique=False)
        batch_op.create_index(batch_op.f("ix_account_session_user_id"), ["user_id"], unique=False)

    op.create_table(
        "oauth_client",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("client_id", sa.String(length=32), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("public", sa.Boolean(), nullable=False),
        sa.Column("secret_digest", sa.String(length=64), nullable=True),
        sa.Column("redirect_uris", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("scopes", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("owner_id", sa.Integer(), nullable=True),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["owner_id"], ["account_user.id"], name=op.f("fk_oauth_client_owner_id_account_user"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_oauth_client")),
        sa.UniqueConstraint("client_id", name=op.f("uq_oauth_client_client_id")),
    )
    with op.batch_alter_table("oauth_client", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_oauth_client_owner_id"), ["owner_id"], unique=False)

    op.create_table(
        "account_pending_login",
        sa.Column("session_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("stage", sa.String(length=40), nullable=False),
        sa.Column("methods", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("facts", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("state", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("started", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"],
            ["account_session.id"],
            name=op.f("fk_account_pending_login_session_id_account_session"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["account_user.id"],
            name=op.f("fk_account_pending_login_user_id_account_user"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("session_id", name=op.f("pk_account_pending_login")),
    )
    with op.batch_alter_table("account_pending_login", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_account_pending_login_user_id"), ["user_id"], unique=False)

    op.create_table(
        "oauth_grant",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("client_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["client_id"], ["oauth_client.id"], name=op.f("fk_oauth_grant_client_id_oauth_client"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["account_user.id"], name=op.f("fk_oauth_grant_user_id_account_user"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_oauth_grant")),
    )
    with op.batch_alter_table("oauth_grant", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_oauth_grant_client_id"), ["client_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_oauth_grant_user_id"), ["user_id"], unique=False)

    op.create_table(
        "oauth_code",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("grant_id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("redirect_uri", sa.String(length=2000), nullable=False),
        sa.Column("challenge", sa.String(length=128), nullable=False),
        sa.Column("scopes", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("expires", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["grant_id"], ["oauth_grant.id"], name=op.f("fk_oauth_code_grant_id_oauth_grant"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_oauth_code")),
        sa.UniqueConstraint("digest", name=op.f("uq_oauth_code_digest")),
    )
    with op.batch_alter_table("oauth_code", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_oauth_code_grant_id"), ["grant_id"], unique=False)

    op.create_table(
        "oauth_token",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("grant_id", sa.Integer(), nullable=False),
        sa.Column("access_digest", sa.String(length=64), nullable=False),
        sa.Column("refresh_digest", sa.String(length=64), nullable=True),
        sa.Column("scopes", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires", sa.DateTime(timezone=True), nullable=False),
        sa.Column("refresh_expires", sa.DateTime(timezone=True), nullable=True),
        sa.Column("refreshed", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["grant_id"], ["oauth_grant.id"], name=op.f("fk_oauth_token_grant_id_oauth_grant"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_oauth_token")),
        sa.UniqueConstraint("access_digest", name=op.f("uq_oauth_token_access_digest")),
        sa.UniqueConstraint("refresh_digest", name=op.f("uq_oauth_token_refresh_digest")),
    )
    with op.batch_alter_table("oauth_token", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_oauth_token_grant_id"), ["grant_id"], unique=False)

    # Accounts had one address so far, which nobody had verified.
    op.execute(
        sa.text(
            'INSERT INTO account_email (user_id, email, verified, "primary", created) '
            "SELECT id, email, false, true, created FROM account_user WHERE email <> ''"
        )
    )


def downgrade() -> None:
    with op.batch_alter_table("oauth_token", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_oauth_token_grant_id"))

    op.drop_table("oauth_token")
    with op.batch_alter_table("oauth_code", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_oauth_code_grant_id"))

    op.drop_table("oauth_code")
    with op.batch_alter_table("oauth_grant", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_oauth_grant_user_id"))
        batch_op.drop_index(batch_op.f("ix_oauth_grant_client_id"))

    op.drop_table("oauth_grant")
    with op.batch_alter_table("account_pending_login", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_account_pending_login_user_id"))

    op.drop_table("account_pending_login")
    with op.batch_alter_table("oauth_client", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_oauth_client_owner_id"))

    op.drop_table("oauth_client")
    with op.batch_alter_table("account_session", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_account_session_user_id"))
        batch_op.drop_index(batch_op.f("ix_account_session_expires"))

    op.drop_table("account_session")
    with op.batch_alter_table("account_provider_account", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_account_provider_account_user_id"))

    op.drop_table("account_provider_account")
    with op.batch_alter_table("account_phone", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_account_phone_verified_owner", sqlite_where=sa.text("verified"), postgresql_where=sa.text("verified")
        )
        batch_op.drop_index(batch_op.f("ix_account_phone_phone"))

    op.drop_table("account_phone")
    with op.batch_alter_table("account_email", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_account_email_verified_owner", sqlite_where=sa.text("verified"), postgresql_where=sa.text("verified")
        )
        batch_op.drop_index(
            "uq_account_email_primary", sqlite_where=sa.text('"primary"'), postgresql_where=sa.text('"primary"')
        )
        batch_op.drop_index(batch_op.f("ix_account_email_email"))

    op.drop_table("account_email")
    with op.batch_alter_table("account_authenticator", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_account_authenticator_one_of_a_kind",
            sqlite_where=sa.text("type IN ('totp', 'recovery_codes')"),
            postgresql_where=sa.text("type IN ('totp', 'recovery_codes')"),
        )
        batch_op.drop_index(batch_op.f("ix_account_authenticator_user_id"))

    op.drop_table("account_authenticator")
    with op.batch_alter_table("mail_message", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_mail_message_timestamp"))
        batch_op.drop_index(batch_op.f("ix_mail_message_next_attempt"))

    op.drop_table("mail_message")
    with op.batch_alter_table("account_seen_token", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_account_seen_token_expiry"))

    op.drop_table("account_seen_token")
    with op.batch_alter_table("account_limit", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_account_limit_expires"))

    op.drop_table("account_limit")
