"""The generic records, settings, notifications and background tasks."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "background_task",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.String(length=32), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("func", sa.String(length=255), nullable=False),
        sa.Column("args", sa.Text(), nullable=False),
        sa.Column("kwargs", sa.Text(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("is_open", sa.Boolean(), nullable=False),
        sa.Column("lock", sa.DateTime(timezone=True), nullable=True),
        sa.Column("pushed", sa.DateTime(timezone=True), nullable=True),
        sa.Column("worker", sa.String(length=200), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started", sa.DateTime(timezone=True), nullable=True),
        sa.Column("stopped", sa.DateTime(timezone=True), nullable=True),
        sa.Column("has_failed", sa.Boolean(), nullable=False),
        sa.Column("result", sa.Text(), nullable=True),
        sa.Column("progress", sa.BigInteger(), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_background_task")),
        sa.UniqueConstraint("task_id", name=op.f("uq_background_task_task_id")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("background_task", schema=None) as batch_op:
        batch_op.create_index("ix_background_task_has_failed_func", ["has_failed", "func"], unique=False)
        batch_op.create_index("ix_background_task_has_failed_started", ["has_failed", "started"], unique=False)
        batch_op.create_index("ix_background_task_has_failed_stopped", ["has_failed", "stopped"], unique=False)
        batch_op.create_index("ix_background_task_has_failed_task_id", ["has_failed", "task_id"], unique=False)
        batch_op.create_index("ix_background_task_is_open_id", ["is_open", "id"], unique=False)
        batch_op.create_index("ix_background_task_status_pushed_lock", ["status", "pushed", "lock"], unique=False)
        batch_op.create_index(batch_op.f("ix_background_task_stopped"), ["stopped"], unique=False)
        batch_op.create_index(batch_op.f("ix_background_task_worker"), ["worker"], unique=False)

    op.create_table(
        "content_type",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("app_label", sa.String(length=255), nullable=False),
        sa.Column("model", sa.String(length=255), nullable=False),
        sa.Column("app_labeled_name", sa.String(length=513), nullable=False),
        sa.Column("is_plugin", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_content_type")),
        sa.UniqueConstraint("model", name=op.f("uq_content_type_model")),
    )
    op.create_table(
        "exchange_rates",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("base", sa.String(length=3), nullable=False),
        sa.Column("rates", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("plugin", sa.String(length=255), nullable=False),
        sa.Column("updated", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_exchange_rates")),
    )
    op.create_table(
        "news_entry",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("feed_id", sa.String(length=250), nullable=False),
        sa.Column("title", sa.String(length=250), nullable=False),
        sa.Column("link", sa.String(length=250), nullable=False),
        sa.Column("published", sa.DateTime(timezone=True), nullable=False),
        sa.Column("author", sa.String(length=250), nullable=False),
        sa.Column("summary", sa.String(length=250), nullable=False),
        sa.Column("read", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_news_entry")),
        sa.UniqueConstraint("feed_id", name=op.f("uq_news_entry_feed_id")),
    )
    with op.batch_alter_table("news_entry", schema=None) as batch_op:
        batch_op.create_index("ix_news_entry_author_id", ["author", "id"], unique=False)
        batch_op.create_index("ix_news_entry_published_id", ["published", "id"], unique=False)
        batch_op.create_index("ix_news_entry_read_id", ["read", "id"], unique=False)

    op.create_table(
        "news_feed",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("etag", sa.String(length=250), nullable=False),
        sa.Column("modified", sa.String(length=250), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_news_feed")),
    )
    op.create_table(
        "news_seen",
        sa.Column("feed_id", sa.String(length=250), nullable=False),
        sa.Column("last", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("feed_id", name=op.f("pk_news_seen")),
    )
    with op.batch_alter_table("news_seen", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_news_seen_last"), ["last"], unique=False)

    op.create_table(
        "setting",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=50), nullable=False),
        sa.Column("value", sa.String(length=2000), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_setting")),
        sa.UniqueConstraint("key", name=op.f("uq_setting_key")),
    )
    op.create_table(
        "task_schedule",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("func", sa.String(length=255), nullable=False),
        sa.Column("definition", sa.String(length=300), nullable=False),
        sa.Column("schedule_type", sa.String(length=2), nullable=False),
        sa.Column("repeats", sa.Integer(), nullable=False),
        sa.Column("next_run", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_run", sa.DateTime(timezone=True), nullable=True),
        sa.Column("success", sa.Boolean(), nullable=True),
        sa.Column("task", sa.String(length=32), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_task_schedule")),
        sa.UniqueConstraint("name", name=op.f("uq_task_schedule_name")),
    )
    with op.batch_alter_table("task_schedule", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_task_schedule_func"), ["func"], unique=False)
        batch_op.create_index(batch_op.f("ix_task_schedule_last_run"), ["last_run"], unique=False)
        batch_op.create_index(batch_op.f("ix_task_schedule_next_run"), ["next_run"], unique=False)
        batch_op.create_index(batch_op.f("ix_task_schedule_task"), ["task"], unique=False)

    op.create_table(
        "task_worker",
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("place", sa.String(length=200), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("threads", sa.Integer(), nullable=False),
        sa.Column("started", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_seen", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_task_worker")),
    )
    op.create_table(
        "custom_state",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(length=250), nullable=False),
        sa.Column("label", sa.String(length=250), nullable=False),
        sa.Column("color", sa.String(length=20), nullable=False),
        sa.Column("logical_key", sa.BigInteger(), nullable=False),
        sa.Column("model", sa.Integer(), nullable=False),
        sa.Column("reference_status", sa.String(length=250), nullable=False),
        sa.ForeignKeyConstraint(["model"], ["content_type.id"], name=op.f("fk_custom_state_model_content_type")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_custom_state")),
        sa.UniqueConstraint("reference_status", "key", name=op.f("uq_custom_state_reference_status_key")),
        sa.UniqueConstraint("reference_status", "name", name=op.f("uq_custom_state_reference_status_name")),
    )
    with op.batch_alter_table("custom_state", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_custom_state_key"), ["key"], unique=False)
        batch_op.create_index(batch_op.f("ix_custom_state_model"), ["model"], unique=False)

    op.create_table(
        "attachment",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("model_type", sa.String(length=100), nullable=False),
        sa.Column("model_id", sa.BigInteger(), nullable=False),
        sa.Column("path", sa.String(length=255), nullable=True),
        sa.Column("filename", sa.String(length=100), nullable=True),
        sa.Column("thumbnail", sa.String(length=255), nullable=True),
        sa.Column("link", sa.String(length=2000), nullable=True),
        sa.Column("comment", sa.String(length=250), nullable=False),
        sa.Column("file_size", sa.BigInteger(), nullable=False),
        sa.Column("is_image", sa.Boolean(), nullable=False),
        sa.Column("upload_date", sa.Date(), nullable=False),
        sa.Column("upload_user_id", sa.Integer(), nullable=True),
        sa.Column("tags", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("metadata", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("is_file", sa.Boolean(), nullable=False),
        sa.Column("is_link", sa.Boolean(), nullable=False),
        sa.Column("has_thumbnail", sa.Boolean(), nullable=False),
        sa.CheckConstraint("is_link = (link IS NOT NULL AND link <> '')", name=op.f("ck_attachment_is_link")),
        sa.CheckConstraint("has_thumbnail = (thumbnail IS NOT NULL)", name=op.f("ck_attachment_has_thumbnail")),
        sa.CheckConstraint("is_file = (path IS NOT NULL)", name=op.f("ck_attachment_is_file")),
        sa.ForeignKeyConstraint(
            ["upload_user_id"],
            ["account_user.id"],
            name=op.f("fk_attachment_upload_user_id_account_user"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_attachment")),
        sa.UniqueConstraint("path", name=op.f("uq_attachment_path")),
        sa.UniqueConstraint("thumbnail", name=op.f("uq_attachment_thumbnail")),
    )
    with op.batch_alter_table("attachment", schema=None) as batch_op:
        batch_op.create_index("ix_attachment_file_size_id", ["file_size", "id"], unique=False)
        batch_op.create_index("ix_attachment_has_thumbnail_id", ["has_thumbnail", "id"], unique=False)
        batch_op.create_index("ix_attachment_is_file_id", ["is_file", "id"], unique=False)
        batch_op.create_index("ix_attachment_is_image_id", ["is_image", "id"], unique=False)
        batch_op.create_index("ix_attachment_is_link_id", ["is_link", "id"], unique=False)
        batch_op.create_index("ix_attachment_model_id_id", ["model_id", "id"], unique=False)
        batch_op.create_index("ix_attachment_model_type_id", ["model_type", "id"], unique=False)
        batch_op.create_index("ix_attachment_model_type_model_id_id", ["model_type", "model_id", "id"], unique=False)
        batch_op.create_index("ix_attachment_upload_date_id", ["upload_date", "id"], unique=False)
        batch_op.create_index("ix_attachment_upload_user_id_id", ["upload_user_id", "id"], unique=False)

    op.create_table(
        "data_output",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.Column("progress", sa.BigInteger(), nullable=False),
        sa.Column("complete", sa.Boolean(), nullable=False),
        sa.Column("output_type", sa.String(length=100), nullable=True),
        sa.Column("template_name", sa.String(length=100), nullable=True),
        sa.Column("plugin", sa.String(length=100), nullable=True),
        sa.Column("output", sa.String(length=500), nullable=True),
        sa.Column("errors", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"], ["account_user.id"], name=op.f("fk_data_output_user_id_account_user"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_data_output")),
        sa.UniqueConstraint("output", name=op.f("uq_data_output_output")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("data_output", schema=None) as batch_op:
        batch_op.create_index("ix_data_output_created_id", ["created", "id"], unique=False)
        batch_op.create_index("ix_data_output_output_type_id", ["output_type", "id"], unique=False)
        batch_op.create_index("ix_data_output_plugin_id", ["plugin", "id"], unique=False)
        batch_op.create_index("ix_data_output_user_id_id", ["user_id", "id"], unique=False)

    op.create_table(
        "import_session",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("timestamp", sa.DateTime(timezone=True), nullable=False),
        sa.Column("data_file", sa.String(length=255), nullable=False),
        sa.Column("update_records", sa.Boolean(), nullable=False),
        sa.Column("model_type", sa.String(length=100), nullable=False),
        sa.Column("available_fields", sa.JSON(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("columns", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("field_defaults", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=True),
        sa.Column("field_overrides", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=True),
        sa.Column("field_filters", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=True),
        sa.Column("row_count", sa.Integer(), nullable=False),
        sa.Column("completed_row_count", sa.Integer(), nullable=False),
        sa.Column("row_count_history", sa.Integer(), nullable=False),
        sa.Column("completed_row_count_history", sa.Integer(), nullable=False),
        sa.Column("file_rows", sa.Integer(), nullable=False),
        sa.Column("run", sa.Integer(), nullable=False),
        sa.Column("read_until", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.String(length=32), nullable=True),
        sa.Column("error", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["account_user.id"], name=op.f("fk_import_session_user_id_account_user"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_import_session")),
        sa.UniqueConstraint("data_file", name=op.f("uq_import_session_data_file")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("import_session", schema=None) as batch_op:
        batch_op.create_index("ix_import_session_model_type_id", ["model_type", "id"], unique=False)
        batch_op.create_index("ix_import_session_status_id", ["status", "id"], unique=False)
        batch_op.create_index("ix_import_session_timestamp_id", ["timestamp", "id"], unique=False)
        batch_op.create_index("ix_import_session_user_id_id", ["user_id", "id"], unique=False)

    op.create_table(
        "notification",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("category", sa.String(length=250), nullable=False),
        sa.Column("name", sa.String(length=250), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("creation", sa.DateTime(timezone=True), nullable=False),
        sa.Column("read", sa.Boolean(), nullable=False),
        sa.Column("unread_key", sa.String(length=64), nullable=True),
        sa.Column("target_name", sa.String(length=250), nullable=False),
        sa.Column("target_model", sa.String(length=100), nullable=False),
        sa.Column("target_id", sa.BigInteger(), nullable=True),
        sa.Column("target_link", sa.String(length=2000), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["account_user.id"], name=op.f("fk_notification_user_id_account_user"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notification")),
        sa.UniqueConstraint("user_id", "unread_key", name=op.f("uq_notification_user_id_unread_key")),
    )
    with op.batch_alter_table("notification", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_notification_creation"), ["creation"], unique=False)
        batch_op.create_index("ix_notification_user_id_category", ["user_id", "category"], unique=False)
        batch_op.create_index("ix_notification_user_id_creation", ["user_id", "creation"], unique=False)

    op.create_table(
        "user_setting",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=50), nullable=False),
        sa.Column("value", sa.String(length=2000), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["account_user.id"], name=op.f("fk_user_setting_user_id_account_user"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_user_setting")),
        sa.UniqueConstraint("user_id", "key", name=op.f("uq_user_setting_user_id_key")),
    )
    op.create_table(
        "attachment_tag",
        sa.Column("folded", sa.String(length=300), nullable=False),
        sa.Column("attachment_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["attachment_id"],
            ["attachment.id"],
            name=op.f("fk_attachment_tag_attachment_id_attachment"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("folded", "attachment_id", name=op.f("pk_attachment_tag")),
    )
    with op.batch_alter_table("attachment_tag", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_attachment_tag_attachment_id"), ["attachment_id"], unique=False)

    op.create_table(
        "import_column_map",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("session_id", sa.Integer(), nullable=False),
        sa.Column("field", sa.String(length=100), nullable=False),
        sa.Column("column", sa.String(length=100), nullable=False),
        sa.Column("label", sa.String(length=2000), nullable=False),
        sa.Column("description", sa.String(length=2000), nullable=False),
        sa.Column("lookup_field", sa.String(length=2000), nullable=True),
        sa.ForeignKeyConstraint(
            ["session_id"],
            ["import_session.id"],
            name=op.f("fk_import_column_map_session_id_import_session"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_import_column_map")),
        sa.UniqueConstraint("session_id", "field", name=op.f("uq_import_column_map_session_id_field")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "import_row",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("session_id", sa.Integer(), nullable=False),
        sa.Column("row_index", sa.Integer(), nullable=False),
        sa.Column("row_data", sa.JSON(), nullable=False),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.Column("errors", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=True),
        sa.Column("valid", sa.Boolean(), nullable=False),
        sa.Column("complete", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"],
            ["import_session.id"],
            name=op.f("fk_import_row_session_id_import_session"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_import_row")),
        sa.UniqueConstraint("session_id", "row_index", name=op.f("uq_import_row_session_id_row_index")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("import_row", schema=None) as batch_op:
        batch_op.create_index("ix_import_row_complete_id", ["complete", "id"], unique=False)
        batch_op.create_index("ix_import_row_row_index_id", ["row_index", "id"], unique=False)
        batch_op.create_index(
            "ix_import_row_session_id_complete_valid", ["session_id", "complete", "valid"], unique=False
        )
        batch_op.create_index("ix_import_row_session_id_valid", ["session_id", "valid"], unique=False)
        batch_op.create_index("ix_import_row_valid_id", ["valid", "id"], unique=False)

    with op.batch_alter_table("error_report", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_error_report_when"))
        batch_op.create_index("ix_error_report_when_id", ["when", "id"], unique=False)

    with op.batch_alter_table("mail_message", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_mail_message_timestamp"))
        batch_op.create_index("ix_mail_message_direction_global_id", ["direction", "global_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_mail_message_message_id_key"), ["message_id_key"], unique=False)
        batch_op.create_index("ix_mail_message_sender_global_id", ["sender", "global_id"], unique=False)
        batch_op.create_index("ix_mail_message_status_global_id", ["status", "global_id"], unique=False)
        batch_op.create_index("ix_mail_message_subject_global_id", ["subject", "global_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_mail_message_thread_id_key"), ["thread_id_key"], unique=False)
        batch_op.create_index("ix_mail_message_timestamp_global_id", ["timestamp", "global_id"], unique=False)
        batch_op.create_index("ix_mail_message_to_global_id", ["to", "global_id"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("mail_message", schema=None) as batch_op:
        batch_op.drop_index("ix_mail_message_to_global_id")
        batch_op.drop_index("ix_mail_message_timestamp_global_id")
        batch_op.drop_index(batch_op.f("ix_mail_message_thread_id_key"))
        batch_op.drop_index("ix_mail_message_subject_global_id")
        batch_op.drop_index("ix_mail_message_status_global_id")
        batch_op.drop_index("ix_mail_message_sender_global_id")
        batch_op.drop_index(batch_op.f("ix_mail_message_message_id_key"))
        batch_op.drop_index("ix_mail_message_direction_global_id")
        batch_op.create_index(batch_op.f("ix_mail_message_timestamp"), ["timestamp"], unique=False)

    with op.batch_alter_table("error_report", schema=None) as batch_op:
        batch_op.drop_index("ix_error_report_when_id")
        batch_op.create_index(batch_op.f("ix_error_report_when"), ["when"], unique=False)

    with op.batch_alter_table("import_row", schema=None) as batch_op:
        batch_op.drop_index("ix_import_row_valid_id")
        batch_op.drop_index("ix_import_row_session_id_valid")
        batch_op.drop_index("ix_import_row_session_id_complete_valid")
        batch_op.drop_index("ix_import_row_row_index_id")
        batch_op.drop_index("ix_import_row_complete_id")

    op.drop_table("import_row")
    op.drop_table("import_column_map")
    with op.batch_alter_table("attachment_tag", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_attachment_tag_attachment_id"))

    op.drop_table("attachment_tag")
    op.drop_table("user_setting")
    with op.batch_alter_table("notification", schema=None) as batch_op:
        batch_op.drop_index("ix_notification_user_id_creation")
        batch_op.drop_index("ix_notification_user_id_category")
        batch_op.drop_index(batch_op.f("ix_notification_creation"))

    op.drop_table("notification")
    with op.batch_alter_table("import_session", schema=None) as batch_op:
        batch_op.drop_index("ix_import_session_user_id_id")
        batch_op.drop_index("ix_import_session_timestamp_id")
        batch_op.drop_index("ix_import_session_status_id")
        batch_op.drop_index("ix_import_session_model_type_id")

    op.drop_table("import_session")
    with op.batch_alter_table("data_output", schema=None) as batch_op:
        batch_op.drop_index("ix_data_output_user_id_id")
        batch_op.drop_index("ix_data_output_plugin_id")
        batch_op.drop_index("ix_data_output_output_type_id")
        batch_op.drop_index("ix_data_output_created_id")

    op.drop_table("data_output")
    with op.batch_alter_table("attachment", schema=None) as batch_op:
        batch_op.drop_index("ix_attachment_upload_user_id_id")
        batch_op.drop_index("ix_attachment_upload_date_id")
        batch_op.drop_index("ix_attachment_model_type_model_id_id")
        batch_op.drop_index("ix_attachment_model_type_id")
        batch_op.drop_index("ix_attachment_model_id_id")
        batch_op.drop_index("ix_attachment_is_link_id")
        batch_op.drop_index("ix_attachment_is_image_id")
        batch_op.drop_index("ix_attachment_is_file_id")
        batch_op.drop_index("ix_attachment_has_thumbnail_id")
        batch_op.drop_index("ix_attachment_file_size_id")

    op.drop_table("attachment")
    with op.batch_alter_table("custom_state", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_custom_state_model"))
        batch_op.drop_index(batch_op.f("ix_custom_state_key"))

    op.drop_table("custom_state")
    op.drop_table("task_worker")
    with op.batch_alter_table("task_schedule", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_task_schedule_task"))
        batch_op.drop_index(batch_op.f("ix_task_schedule_next_run"))
        batch_op.drop_index(batch_op.f("ix_task_schedule_last_run"))
        batch_op.drop_index(batch_op.f("ix_task_schedule_func"))

    op.drop_table("task_schedule")
    op.drop_table("setting")
    with op.batch_alter_table("news_seen", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_news_seen_last"))

    op.drop_table("news_seen")
    op.drop_table("news_feed")
    with op.batch_alter_table("news_entry", schema=None) as batch_op:
        batch_op.drop_index("ix_news_entry_read_id")
        batch_op.drop_index("ix_news_entry_published_id")
        batch_op.drop_index("ix_news_entry_author_id")

    op.drop_table("news_entry")
    op.drop_table("exchange_rates")
    op.drop_table("content_type")
    with op.batch_alter_table("background_task", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_background_task_worker"))
        batch_op.drop_index(batch_op.f("ix_background_task_stopped"))
        batch_op.drop_index("ix_background_task_status_pushed_lock")
        batch_op.drop_index("ix_background_task_is_open_id")
        batch_op.drop_index("ix_background_task_has_failed_task_id")
        batch_op.drop_index("ix_background_task_has_failed_stopped")
        batch_op.drop_index("ix_background_task_has_failed_started")
        batch_op.drop_index("ix_background_task_has_failed_func")

    op.drop_table("background_task")
