#!/usr/bin/env bash
set -euo pipefail
sed -i 's/+= \$2/+= $3/' /app/report.sh
