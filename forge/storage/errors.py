"""What can go wrong with a run's durable record.

StorageError
├── RunLocked             another process works on this run directory; `pid` where it is known
├── LedgerMissing         there is no ledger in this folder
├── LedgerNewer           the ledger was written by a newer version of the product
├── LedgerDamaged         the file is not a ledger, or cannot be read any more
├── LedgerFull            the disk (or the file's size limit) is spent; nothing was half written
├── LedgerClosed          a write after the end
├── BlobMissing           a blob that the ledger names is not there
├── BlobCorrupt           a blob's content does not match its name
├── UnitBusy              a unit was started while it is being worked on
├── UnitNotOpen           a model call names a unit that nobody works on
└── UnitValueRefused      a unit's value cannot be stored and read back
"""

from pathlib import Path


class StorageError(Exception):
    """Base of all errors of the record."""


class RunLocked(StorageError):
    def __init__(self, run_dir: Path, pid: int | None) -> None:
        holder = f"process {pid}" if pid is not None else "another process"
        super().__init__(f"{run_dir}: {holder} is working on this run; wait for it, or stop it first")
        self.pid = pid


class LedgerMissing(StorageError):
    pass


class LedgerNewer(StorageError):
    def __init__(self, path: Path, found: int, known: int) -> None:
        super().__init__(
            f"{path}: written in ledger version {found}, and this program knows versions up to {known}; "
            "use a newer version of it"
        )
        self.found, self.known = found, known


class LedgerDamaged(StorageError):
    pass


class LedgerFull(StorageError):
    pass


class LedgerClosed(StorageError):
    pass


class BlobMissing(StorageError):
    pass


class BlobCorrupt(StorageError):
    pass


class UnitBusy(StorageError):
    pass


class UnitNotOpen(StorageError):
    pass


class UnitValueRefused(StorageError):
    pass
