"""`python -m skillhub.cli`."""

from skillhub.cli import app

app()
