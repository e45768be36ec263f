"""Commits that no branch has any more, since a branch was reset, rebased or deleted."""

import json
from collections.abc import Mapping
from typing import Any

from solvers.rehearsal import shell
from solvers.rehearsal.phrases import chosen
from solvers.rehearsal.technique import Move, View

FIND = """\
import json, subprocess, sys

def git(*words):
    return subprocess.run(["git", "-C", sys.argv[1], *words], capture_output=True, text=True).stdout.splitlines()

branches = git("for-each-ref", "--format=%(refname:short)", "refs/heads")
tips = {}
for ref in ["HEAD", *branches]:
    entries = [line.split("\\t", 1) for line in git("log", "-g", "--format=%H\\t%gs", ref)]
    for (_, what), (before, _) in zip(entries, entries[1:]):
        words = what.split() or [""]
        left = words[3] if what.startswith("checkout: moving from ") else None
        if words[0] == "reset:" or (words[0] == "rebase" and "(finish):" in words) or (left and left not in branches):
            tips[before] = what
for tip, what in tips.items():
    names = ["--reverse", "--cherry-pick", "--right-only", "--no-merges", "--format=%H %s", f"HEAD...{tip}"]
    missing = [line.split(" ", 1) for line in git("log", *names)]
    if missing:
        ids, subjects = zip(*missing)
        print(json.dumps({"after": what, "ids": ids, "subjects": subjects}))
"""
OLD_IDS = (
    r"\b(?:same|old|original|former|previous) (?:commit )?(?:ids?|hash(?:es)?|shas?)\b",
    r"\b(?:ids|hashes|shas) (?:that )?they had\b",
    r"\bkeep (?:their|its) (?:commit )?(?:ids?|hash(?:es)?|shas?)\b",
)
NO_MERGES = (r"\bhistory (?:\w+ ){0,4}linear\b", r"\blinear history\b", r"\b(?:no|without(?: any)?) merge commits?\b")


class LostCommits:
    """Find in the reflogs what a branch had before it was moved, and put that beside what came since."""

    name = "recover lost commits"
    names = ("reflog",)

    def probe(self, view: View) -> Move | None:
        repository = _repository(view)
        if repository is None:
            return None
        return Move("A repository. Did a branch lose commits when it was moved or deleted?", _find(repository))

    def act(self, view: View) -> Move | None:
        repository = _repository(view)
        output = view.output_of(_find(repository)) if repository else None
        lost = _most(output.stdout) if output else None
        if repository is None or lost is None:
            return None
        ids, subjects = lost["ids"], ", ".join(map(str, lost["subjects"]))
        if chosen(view.prose(), OLD_IDS, NO_MERGES, default=False):
            thought = f"Lost: {subjects}. Their ids have to stay, so I merge the last of them."
            step = f"git merge --no-edit {shell.quote(str(ids[-1]))}"
        else:
            thought = f"Lost: {subjects}. I put them on top of what is there now."
            step = f"git cherry-pick {shell.quote(*map(str, ids))}"
        return Move(
            thought, f"cd {shell.quote(repository)} && {step} && git status --short && git log --oneline | head -n 30"
        )


def _repository(view: View) -> str | None:
    found = view.named(("/.git",))
    return found[0].removesuffix("/.git") if found else None


def _find(repository: str) -> str:
    return shell.run_python(FIND, repository)


def _most(shown: str) -> Mapping[str, Any] | None:
    """The finding that misses most commits."""
    findings = []
    for line in shown.splitlines():
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict) and all(
            isinstance(found.get(key), list) and found[key] for key in ("ids", "subjects")
        ):
            findings.append(found)
    return max(findings, key=lambda found: len(found["ids"]), default=None)
