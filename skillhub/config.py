"""One settings object, read once from `SKILLHUB_*` variables and passed down."""

from pathlib import Path
from typing import Literal

from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Everything a process of skillhub can be told from outside."""

    model_config = SettingsConfigDict(env_prefix="SKILLHUB_", extra="ignore")

    database_url: str = ""
    """`postgresql://user:password@host/database`; empty means the embedded server of `skillhub up`."""
    broker_url: str = ""
    """`redis://...`; empty means the embedded server of `skillhub up`."""
    data_dir: Path = Path(".skillhub")
    """Folder of the embedded servers, of the secret and of logs."""
    secret: str = ""
    """Key of the HMAC over API keys. `skillhub up` makes one and keeps it in the data folder."""
    embedding_model: str = "all-MiniLM-L6-v2"
    embedding_threads: int = 2
    """Cores one pass of the embedding model may use."""
    lease_seconds: int = 60
    """How long a claim on a job or trial holds without a sign of life."""
    max_attempts: int = 3
    """Claims a job gets before it is dead."""
    retry_seconds: float = 2.0
    """Pause before the second attempt at a job, less some chance; it doubles with each further one."""
    sweep_seconds: float = 2.0
    """Pause between two rounds of the sweeper."""
    shutdown_seconds: int = 10
    """How long requests and jobs in flight may go on after SIGTERM."""
    log_format: Literal["text", "json"] = "text"
    """How API and worker write their log: for people, or one JSON object a line."""
    metrics_token: str = ""
    """Bearer token that opens `/metrics`; without one that page is closed."""
    max_body_bytes: int = 64 * 1024 * 1024
    """Larger requests are refused before they are read."""
    max_streams: int = 200
    """Change feeds one API process keeps open."""
    reads_per_minute: int = 60_000
    """Requests of one key that only read, where the key has no limit of its own. Counted in the broker, for all replicas."""
    writes_per_minute: int = 30_000
    """Requests of one key that record or propose."""
    publications_per_minute: int = 30_000
    """Requests of one key that publish or administer."""
    publications_per_day: int = 1_000_000
    """The same over a day."""
    webhook_retry_seconds: float = 5.0
    """Pause before the second attempt at a webhook; four times as long before each further one."""
    webhook_allow_http: bool = False
    """Whether webhooks may go to `http://` addresses."""
    webhook_allowed_networks: str = ""
    """Private networks that webhooks may reach, in CIDR form with commas between, e.g. `10.1.0.0/16`."""
    search_wait_seconds: float = 5.0
    """Longest wait of a search for `min_seq`."""
