#!/usr/bin/env bash
# Brings what is missing: .venv, Docker Engine, a base image. Says nothing where nothing is missing.
#   bash scripts/setup.sh [venv] [engine] [base_image]      all three by default
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 3
for part in common venv engine base_image; do
    # shellcheck source=/dev/null
    source "scripts/$part.sh"
done

mkdir -p .setup
if command -v flock >/dev/null 2>&1; then
    # Two at once would install into the same folder.
    exec 9>.setup/lock
    flock 9
fi
for step in "${@:-venv engine base_image}"; do
    for name in $step; do
        "ensure_$name" || exit
    done
done
