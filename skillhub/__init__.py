"""skillhub: the memory that trains with your agents."""

__version__ = "0.1.0"
