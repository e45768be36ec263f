#!/usr/bin/env bash
# Prints each customer's total.
tail -n +2 "$1" | awk -F, '{ total[$1] += $2 } END { for (name in total) print name, total[name] }' | sort
