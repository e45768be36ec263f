#!/bin/bash
if bash /tests/test_outputs.sh; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
