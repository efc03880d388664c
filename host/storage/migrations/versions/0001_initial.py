"""Initial tables."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "account_group",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=150), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_account_group")),
        sa.UniqueConstraint("name", name=op.f("uq_account_group_name")),
    )
    op.create_table(
        "error_report",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("when", sa.DateTime(timezone=True), nullable=False),
        sa.Column("info", sa.Text(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("path", sa.String(length=200), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("first_seen", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_error_report")),
        sa.UniqueConstraint("fingerprint", name=op.f("uq_error_report_fingerprint")),
    )
    with op.batch_alter_table("error_report", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_error_report_path"), ["path"], unique=False)
        batch_op.create_index(batch_op.f("ix_error_report_when"), ["when"], unique=False)

    op.create_table(
        "event_outbox",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("data", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("claimed_by", sa.String(length=200), nullable=True),
        sa.Column("claimed_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event_outbox")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "host_lock",
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("owner", sa.String(length=200), nullable=False),
        sa.Column("expires", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_host_lock")),
    )
    op.create_table(
        "host_process",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("node", sa.String(length=255), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=50), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("package_generation", sa.Integer(), nullable=False),
        sa.Column("restart_required", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("last_seen", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_host_process")),
        sa.UniqueConstraint("node", "pid", name=op.f("uq_host_process_node_pid")),
    )
    op.create_table(
        "package_generation",
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("action", sa.String(length=500), nullable=False),
        sa.Column("requirements", sa.Text(), nullable=False),
        sa.Column("lock", sa.Text(), nullable=False),
        sa.Column("folders", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("previous", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_package_generation")),
    )
    op.create_table(
        "package_operation",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("stage", sa.String(length=50), nullable=False),
        sa.Column("progress", sa.Integer(), nullable=False),
        sa.Column("request", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("result", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=True),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("log", sa.Text(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished", sa.DateTime(timezone=True), nullable=True),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("generation", sa.Integer(), nullable=True),
        sa.Column("owner", sa.String(length=200), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_package_operation")),
    )
    with op.batch_alter_table("package_operation", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_package_operation_created"), ["created"], unique=False)
        batch_op.create_index(batch_op.f("ix_package_operation_status"), ["status"], unique=False)

    op.create_table(
        "package_state",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("current", sa.Integer(), nullable=False),
        sa.Column("requirements_written", sa.Boolean(), nullable=False),
        sa.Column("based_on", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_package_state")),
    )
    op.create_table(
        "plugin_config",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=True),
        sa.Column("package_name", sa.String(length=255), nullable=True),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("meta", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("mixins", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("mixin_keys", sa.Text(), nullable=False),
        sa.Column("is_builtin", sa.Boolean(), nullable=False),
        sa.Column("is_sample", sa.Boolean(), nullable=False),
        sa.Column("is_mandatory", sa.Boolean(), nullable=False),
        sa.Column("is_installed", sa.Boolean(), nullable=False),
        sa.Column("is_package", sa.Boolean(), nullable=False),
        sa.Column("metadata", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("quarantined", sa.Boolean(), nullable=False),
        sa.Column("quarantine_reason", sa.Text(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_plugin_config")),
        sa.UniqueConstraint("key", name=op.f("uq_plugin_config_key")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "plugin_setting",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("plugin_key", sa.String(length=255), nullable=False),
        sa.Column("key", sa.String(length=50), nullable=False),
        sa.Column("value", sa.String(length=2000), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_plugin_setting")),
        sa.UniqueConstraint("plugin_key", "key", name=op.f("uq_plugin_setting_plugin_key_key")),
    )
    op.create_table(
        "plugin_table",
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("plugin_key", sa.String(length=255), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_plugin_table")),
    )
    with op.batch_alter_table("plugin_table", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_plugin_table_plugin_key"), ["plugin_key"], unique=False)

    op.create_table(
        "registry_error",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("stage", sa.String(length=100), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_registry_error")),
    )
    op.create_table(
        "registry_state",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("package_generation", sa.Integer(), nullable=False),
        sa.Column("forced_generation", sa.Integer(), nullable=False),
        sa.Column("full_generation", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_registry_state")),
    )
    op.create_table(
        "account_ruleset",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("group_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=50), nullable=False),
        sa.Column("can_view", sa.Boolean(), nullable=False),
        sa.Column("can_add", sa.Boolean(), nullable=False),
        sa.Column("can_change", sa.Boolean(), nullable=False),
        sa.Column("can_delete", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["group_id"],
            ["account_group.id"],
            name=op.f("fk_account_ruleset_group_id_account_group"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_account_ruleset")),
        sa.UniqueConstraint("group_id", "name", name=op.f("uq_account_ruleset_group_id_name")),
    )
    op.create_table(
        "account_user",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("username", sa.String(length=150), nullable=False),
        sa.Column("username_folded", sa.String(length=450), nullable=False),
        sa.Column("first_name", sa.String(length=150), nullable=False),
        sa.Column("last_name", sa.String(length=150), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("password_hash", sa.String(length=255), nullable=True),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("is_staff", sa.Boolean(), nullable=False),
        sa.Column("is_superuser", sa.Boolean(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_login", sa.DateTime(timezone=True), nullable=True),
        sa.Column("password_changed", sa.DateTime(timezone=True), nullable=True),
        sa.Column("profile", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("primary_group_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["primary_group_id"],
            ["account_group.id"],
            name=op.f("fk_account_user_primary_group_id_account_group"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_account_user")),
        sa.UniqueConstraint("username_folded", name=op.f("uq_account_user_username_folded")),
    )
    with op.batch_alter_table("account_user", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_account_user_email"), ["email"], unique=False)
        batch_op.create_index(batch_op.f("ix_account_user_primary_group_id"), ["primary_group_id"], unique=False)

    op.create_table(
        "account_membership",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("group_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["group_id"],
            ["account_group.id"],
            name=op.f("fk_account_membership_group_id_account_group"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["account_user.id"],
            name=op.f("fk_account_membership_user_id_account_user"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("user_id", "group_id", name=op.f("pk_account_membership")),
    )
    with op.batch_alter_table("account_membership", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_account_membership_group_id"), ["group_id"], unique=False)

    op.create_table(
        "account_token",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("masked", sa.String(length=64), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expiry", sa.Date(), nullable=False),
        sa.Column("last_seen", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["account_user.id"], name=op.f("fk_account_token_user_id_account_user"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_account_token")),
        sa.UniqueConstraint("digest", name=op.f("uq_account_token_digest")),
    )
    with op.batch_alter_table("account_token", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_account_token_user_id"), ["user_id"], unique=False)

    op.create_table(
        "plugin_user_setting",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("plugin_key", sa.String(length=255), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=50), nullable=False),
        sa.Column("value", sa.String(length=2000), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["account_user.id"],
            name=op.f("fk_plugin_user_setting_user_id_account_user"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_plugin_user_setting")),
        sa.UniqueConstraint("plugin_key", "user_id", "key", name=op.f("uq_plugin_user_setting_plugin_key_user_id_key")),
    )
    with op.batch_alter_table("plugin_user_setting", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_plugin_user_setting_user_id"), ["user_id"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("plugin_user_setting", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_plugin_user_setting_user_id"))

    op.drop_table("plugin_user_setting")
    with op.batch_alter_table("account_token", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_account_token_user_id"))

    op.drop_table("account_token")
    with op.batch_alter_table("account_membership", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_account_membership_group_id"))

    op.drop_table("account_membership")
    with op.batch_alter_table("account_user", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_account_user_primary_group_id"))
        batch_op.drop_index(batch_op.f("ix_account_user_email"))

    op.drop_table("account_user")
    op.drop_table("account_ruleset")
    op.drop_table("registry_state")
    op.drop_table("registry_error")
    with op.batch_alter_table("plugin_table", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_plugin_table_plugin_key"))

    op.drop_table("plugin_table")
    op.drop_table("plugin_setting")
    op.drop_table("plugin_config")
    op.drop_table("package_state")
    with op.batch_alter_table("package_operation", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_package_operation_status"))
        batch_op.drop_index(batch_op.f("ix_package_operation_created"))

    op.drop_table("package_operation")
    op.drop_table("package_generation")
    op.drop_table("host_process")
    op.drop_table("host_lock")
    op.drop_table("event_outbox")
    with op.batch_alter_table("error_report", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_error_report_when"))
        batch_op.drop_index(batch_op.f("ix_error_report_path"))

    op.drop_table("error_report")
    op.drop_table("account_group")
