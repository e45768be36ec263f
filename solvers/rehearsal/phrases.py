"""Reading a choice out of plain English: which of two meanings the documents state."""

import re
from collections.abc import Sequence


def states(prose: str, patterns: Sequence[str]) -> bool:
    """Whether any of the patterns occurs in the prose (View.prose: lower-case, one line)."""
    return any(re.search(pattern, prose) for pattern in patterns)


def chosen(prose: str, yes: Sequence[str], no: Sequence[str], default: bool) -> bool:
    """Which of two meanings is stated; the default where neither is, or both are."""
    says_yes, says_no = states(prose, yes), states(prose, no)
    return default if says_yes == says_no else says_yes
