"""The options of background tasks."""

from __future__ import annotations

from pydantic import BaseModel, Field, SecretStr, field_validator

_SCHEMES = ("sqlite:///", "postgresql://", "redis://", "rediss://", "unix://")


class TaskOptions(BaseModel):
    """Where the queue is, and how many tasks run at once."""

    queue_url: SecretStr = Field(
        SecretStr(""),
        description="Queue: redis://, postgresql:// or sqlite:///path; empty means the database where that is "
        "PostgreSQL, else a file in the home folder.",
    )
    worker_threads: int = Field(2, ge=1, le=64, description="How many background tasks one process runs at once.")
    worker_stop_timeout: float = Field(
        10.0, ge=0, description="How long a process that ends waits for its background tasks, in seconds."
    )

    @field_validator("queue_url")
    @classmethod
    def _is_known(cls, value: SecretStr) -> SecretStr:
        url = value.get_secret_value()
        if url and not url.startswith(_SCHEMES):
            # Without the URL: it may hold a password.
            msg = f"must begin with {', '.join(_SCHEMES)}"
            raise ValueError(msg)
        return value
