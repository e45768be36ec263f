"""Opening a ledger's SQLite file, for its one writer or for a reader."""

import errno
import os
import sqlite3
from importlib.resources import files
from pathlib import Path

from forge.storage.errors import LedgerDamaged, LedgerFull, LedgerMissing, LedgerNewer, StorageError

LEDGER_NAME = "ledger.db"
SCHEMA_VERSION = 1
APPLICATION_ID = 0x54464C47


def connect_writer(run_dir: Path) -> sqlite3.Connection:
    """The connection that may write; makes the file and its tables where they are missing.

    Raises LedgerNewer, LedgerDamaged, LedgerFull."""
    path = run_dir / LEDGER_NAME
    connection = _connected(path)
    try:
        if not _is_empty(connection):
            _check_version(connection, path)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        if _is_empty(connection):
            connection.executescript(files("forge.storage").joinpath("schema.sql").read_text())
    except sqlite3.Error as error:
        connection.close()
        raise translated(error, path) from error
    except StorageError:
        connection.close()
        raise
    return connection


def connect_reader(run_dir: Path) -> sqlite3.Connection:
    """A connection that cannot write, beside a writer or alone. Usable from any thread, one at a time.

    Raises LedgerMissing, LedgerNewer, LedgerDamaged."""
    path = run_dir / LEDGER_NAME
    if not path.is_file():
        raise LedgerMissing(f"{run_dir}: no {LEDGER_NAME} in this folder")
    # Without a log beside it and without the right to make one, SQLite opens a WAL database only as immutable.
    frozen = not path.with_name(f"{LEDGER_NAME}-wal").exists() and not os.access(run_dir, os.W_OK)
    uri = f"{path.resolve().as_uri()}?mode=ro{'&immutable=1' if frozen else ''}"
    connection = _connected(path, uri)
    try:
        if _is_empty(connection):
            raise LedgerMissing(f"{path}: no run has been started in this folder")
        _check_version(connection, path)
    except sqlite3.Error as error:
        connection.close()
        raise translated(error, path) from error
    except StorageError:
        connection.close()
        raise
    return connection


def _connected(path: Path, uri: str = "") -> sqlite3.Connection:
    """Raises LedgerFull, LedgerDamaged."""
    try:
        return sqlite3.connect(uri or path, uri=bool(uri), isolation_level=None, check_same_thread=False, timeout=30.0)
    except sqlite3.Error as error:
        raise translated(error, path) from error


def translated(error: Exception, path: Path) -> StorageError:
    """The storage error that a SQLite or OS error on a file below the run directory means."""
    code = getattr(error, "sqlite_errorcode", None)
    if is_full(error) or (code is not None and code & 0xFF == sqlite3.SQLITE_IOERR and _no_space(path)):
        return LedgerFull(f"{path}: no space left; free some on this disk and resume the run ({error})")
    return LedgerDamaged(f"{path}: {error}")


def is_full(error: Exception) -> bool:
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def _no_space(path: Path) -> bool:
    disk = os.statvfs(path.parent)
    return disk.f_bavail * disk.f_frsize < 1 << 20 or (disk.f_files > 0 and disk.f_favail == 0)


def _is_empty(connection: sqlite3.Connection) -> bool:
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    return bool(tables == 0)


def _check_version(connection: sqlite3.Connection, path: Path) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise LedgerDamaged(f"{path}: not a ledger")
    if version > SCHEMA_VERSION:
        raise LedgerNewer(path, version, SCHEMA_VERSION)
