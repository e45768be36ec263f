"""What a subcommand raises where it was called wrongly."""


class UsageError(Exception):
    """One message: what is wrong and what to do instead."""
