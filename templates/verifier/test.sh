#!/usr/bin/env bash
# Copied as it is. Runs test_outputs.py and leaves reward.txt, ctrf.json and junit.xml in /logs/verifier.
# What was handed in is data here: no file of it is on a search path of this script, of pytest or of report.py.
# The seed is printed; GRADING_SEED=N grades with the same one again.
set -u
umask 077
cd /

results=/logs/verifier
mkdir -p "$results"
rm -rf "${results:?}"/*
chown root:root /tests "$results"
chmod 0700 /tests "$results"

# Files arrive with the modes of whoever made them, or with none; the tests run them as another user
if [ -d /app ] && [ ! -L /app ]; then chmod -R a+rX /app; fi

seed=${GRADING_SEED:-$RANDOM$RANDOM}
echo "grading seed: $seed"
began=$(date +%s%3N)

clean() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/nonexistent LANG=C.UTF-8 TZ=UTC "$@"; }

clean GRADING_SEED="$seed" PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 \
  /usr/bin/python3 -I -B -m pytest -c /tests/pytest.ini --rootdir=/tests --confcutdir=/tests --import-mode=importlib \
  -p no:cacheprovider -rA --junitxml="$results/junit.xml" /tests/test_outputs.py
status=$?

clean /usr/bin/python3 -I -B /tests/report.py "$status" "$began" "$results"
