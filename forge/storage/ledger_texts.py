"""Texts of requests and replies in the ledger: each stored once, messages as chains that share their beginnings.

The n-th request of a conversation repeats all earlier messages; stored as a chain it costs its new messages only."""

import hashlib
import sqlite3
import zlib
from collections.abc import Sequence

from solvers.model import Message

MESSAGES_OF_NODE = """
WITH RECURSIVE chain (parent, role, text, depth) AS (
    SELECT parent, role, text, 0 FROM messages WHERE node = ?
    UNION ALL
    SELECT m.parent, m.role, m.text, chain.depth + 1 FROM messages m JOIN chain ON m.node = chain.parent
)
SELECT chain.role, t.body FROM chain JOIN texts t ON t.digest = chain.text ORDER BY chain.depth DESC
"""


def store_messages(connection: sqlite3.Connection, messages: Sequence[Message]) -> bytes | None:
    """Store a conversation and return the name of its last link, None for no messages."""
    nodes: list[bytes] = []
    for message in messages:
        before = nodes[-1] if nodes else b""
        text = hashlib.sha256(encode(message.content)).digest()
        nodes.append(hashlib.sha256(before + text + message.role.encode()).digest())
    for index in reversed(range(len(nodes))):
        # A link that exists has all links before it: both were committed together.
        if connection.execute("SELECT 1 FROM messages WHERE node = ?", (nodes[index],)).fetchone():
            break
        message = messages[index]
        parent = nodes[index - 1] if index else None
        link = (nodes[index], parent, message.role, store_text(connection, message.content))
        connection.execute("INSERT INTO messages (node, parent, role, text) VALUES (?, ?, ?, ?)", link)
    return nodes[-1] if nodes else None


def store_text(connection: sqlite3.Connection, text: str) -> bytes:
    """Store a text unless it is there, and return its name."""
    data = encode(text)
    digest = hashlib.sha256(data).digest()
    if not connection.execute("SELECT 1 FROM texts WHERE digest = ?", (digest,)).fetchone():
        connection.execute("INSERT INTO texts (digest, body) VALUES (?, ?)", (digest, zlib.compress(data)))
    return digest


def encode(text: str) -> bytes:
    # A model's text may hold lone surrogates, which plain UTF-8 refuses.
    return text.encode("utf-8", "surrogatepass")


def decode(body: bytes) -> str:
    """A stored text's body as it was."""
    return zlib.decompress(body).decode("utf-8", "surrogatepass")
