-- The ledger of one run. Times are seconds since the epoch, costs US dollars, *_blob sha256 names in the blob store.
-- Version: user_version at the end. A change of this file needs a new number and a migration from the last one.
BEGIN IMMEDIATE;

PRAGMA application_id = 0x54464C47;

CREATE TABLE run (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    name TEXT NOT NULL,
    config TEXT NOT NULL,
    versions TEXT NOT NULL,
    seed INTEGER NOT NULL,
    substitutes TEXT NOT NULL,
    started_at REAL NOT NULL
);

CREATE TABLE clues (
    id TEXT PRIMARY KEY,
    position INTEGER NOT NULL,
    body TEXT NOT NULL
) WITHOUT ROWID;

-- Finished units of work and their values; "started" means that an attempt runs or was interrupted.
CREATE TABLE units (
    candidate TEXT NOT NULL,
    unit TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('started', 'finished')),
    value TEXT,
    started_at REAL NOT NULL,
    finished_at REAL,
    PRIMARY KEY (candidate, unit),
    CHECK ((state = 'finished') = (value IS NOT NULL))
) WITHOUT ROWID;

-- Texts of requests and replies, zlib-compressed, each once.
CREATE TABLE texts (
    digest BLOB PRIMARY KEY,
    body BLOB NOT NULL
) WITHOUT ROWID;

-- A request's messages as a chain from the last to the first: requests that share a beginning share its links.
CREATE TABLE messages (
    node BLOB PRIMARY KEY,
    parent BLOB,
    role TEXT NOT NULL,
    text BLOB NOT NULL REFERENCES texts (digest)
) WITHOUT ROWID;

-- One row for each answered model call. found_by: the later attempt that took its reply and finished the unit, else 0.
CREATE TABLE calls (
    id INTEGER PRIMARY KEY,
    candidate TEXT NOT NULL,
    unit TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    digest TEXT NOT NULL,
    sample INTEGER NOT NULL,
    model TEXT NOT NULL,
    parameters TEXT NOT NULL,
    messages BLOB REFERENCES messages (node),
    reply BLOB NOT NULL REFERENCES texts (digest),
    reasoning BLOB REFERENCES texts (digest),
    prompt_tokens INTEGER,
    completion_tokens INTEGER,
    cached_tokens INTEGER,
    cost_usd REAL,
    latency_sec REAL NOT NULL,
    finish_reason TEXT,
    recorded_at REAL NOT NULL,
    found_by INTEGER NOT NULL DEFAULT 0,
    FOREIGN KEY (candidate, unit) REFERENCES units (candidate, unit)
);
CREATE INDEX calls_by_request ON calls (candidate, unit, digest, sample);

CREATE TABLE candidates (
    id TEXT PRIMARY KEY,
    state TEXT NOT NULL,
    reason TEXT NOT NULL,
    detail TEXT NOT NULL,
    rounds INTEGER NOT NULL,
    started_at REAL NOT NULL,
    ended_at REAL
) WITHOUT ROWID;

CREATE TABLE revisions (
    candidate TEXT NOT NULL,
    number INTEGER NOT NULL,
    task_digest TEXT NOT NULL,
    instruction TEXT NOT NULL,
    environment TEXT NOT NULL,
    verifier TEXT NOT NULL,
    solution TEXT NOT NULL,
    metadata TEXT NOT NULL,
    tree_blob TEXT NOT NULL,
    reason TEXT NOT NULL,
    diff_blob TEXT NOT NULL,
    PRIMARY KEY (candidate, number)
) WITHOUT ROWID;

-- The columns of forge.domain.outcome.Trial.
CREATE TABLE trials (
    candidate TEXT NOT NULL,
    round INTEGER NOT NULL,
    solver TEXT NOT NULL,
    sample INTEGER NOT NULL,
    solver_digest TEXT NOT NULL,
    revision INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    verdict TEXT,
    stop TEXT NOT NULL,
    steps INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    cost_usd REAL,
    time_sec REAL NOT NULL,
    last_message TEXT NOT NULL,
    error TEXT NOT NULL,
    trajectory_blob TEXT NOT NULL,
    artifacts_blob TEXT NOT NULL,
    manifest_blob TEXT NOT NULL,
    regraded_from INTEGER,
    PRIMARY KEY (candidate, round, solver, sample)
) WITHOUT ROWID;

CREATE TABLE rounds (
    candidate TEXT NOT NULL,
    number INTEGER NOT NULL,
    task_digest TEXT NOT NULL,
    kind TEXT NOT NULL,
    diagnosis TEXT,
    solver TEXT,
    reason TEXT NOT NULL,
    PRIMARY KEY (candidate, number)
) WITHOUT ROWID;

-- One run of one stage of validation on one revision; number counts its repairs.
CREATE TABLE validations (
    candidate TEXT NOT NULL,
    revision INTEGER NOT NULL,
    number INTEGER NOT NULL,
    stage TEXT NOT NULL,
    ok INTEGER NOT NULL,
    findings TEXT NOT NULL,
    PRIMARY KEY (candidate, revision, number, stage)
);

CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    candidate TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    at REAL NOT NULL,
    key TEXT UNIQUE
);
CREATE INDEX events_by_candidate ON events (candidate);

-- A call is lost when it was paid in an attempt that did not finish, and neither the attempt that finished the unit took
-- its reply nor, where none finished, can one come any more since the candidate has ended for good.
CREATE VIEW spending AS
SELECT c.*, CASE
    WHEN u.state = 'finished' THEN c.attempt < u.attempt AND c.found_by = 0
    ELSE coalesce(k.state IN ('retained', 'discarded'), 0)
END AS lost
FROM calls c
JOIN units u ON u.candidate = c.candidate AND u.unit = c.unit
LEFT JOIN candidates k ON k.id = c.candidate;

PRAGMA user_version = 1;
COMMIT;
