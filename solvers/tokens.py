"""A token count where nobody tells one."""


def estimated_tokens(text: str) -> int:
    """One token for every four bytes of UTF-8, rounded up: what programs report as theirs, and what counts against a
    token limit where an endpoint reports nothing."""
    return -(-len(text.encode("utf-8", "replace")) // 4)


MOST_TOKENS = 10**9
"""More than any one call can have."""


def counted(told: object, most: int = MOST_TOKENS) -> int | None:
    """A count of tokens as an endpoint told it; None, unknown, where it cannot be one: spend never shrinks."""
    return told if isinstance(told, int) and 0 <= told <= most else None
