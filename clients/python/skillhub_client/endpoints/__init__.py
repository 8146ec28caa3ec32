"""Every endpoint, defined once: arguments in, a `Call` out. The sync and the async client both send these.

All raise the errors of `skillhub_client.errors`: NotFound for unknown names, labels and numbers, Invalid for input that is
refused, Conflict where it contradicts what is stored.
"""
