#!/usr/bin/env bash
# Run a test on a PostgreSQL server of its own, without autovacuum. Autovacuum locks rows
# and tables for a moment, also those of the system catalogs. So a test that gives up a
# lock after a few milliseconds may fail on a server that other tests use too.
#
#   alone.sh COMMAND [ARGUMENT...]
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

set -euo pipefail

pg_temp=$(readlink -f "$(dirname "$0")/../../tools/pg-temp")
server=$(mktemp -d /tmp/readpast-pg.XXXXXX)
trap '"$pg_temp" stop "$server" immediate' EXIT

READPAST_TEST_POSTGRES=$("$pg_temp" start "$server" autovacuum=off)
export READPAST_TEST_POSTGRES
"$@"
