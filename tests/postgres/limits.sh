#!/usr/bin/env bash
# Test that a group whose last job ends needs no recheck request. Then let the server
# crash together with a worker. Test that soon afterwards each group runs as many jobs as
# its limit allows. The script starts its own server.
#
#   limits.sh READPAST ROOT
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=../cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"
# shellcheck source=server.sh
. "$(dirname "$0")/server.sh"

start_server "$server" max_connections=50
new_database crash
readpast init >/dev/null

# No other transaction is open, so the calls can lock the group, and need no request.
readpast queue set calm --group-limit 1
readpast enqueue calm last --group g --quiet
readpast complete "$(claim_of "$(readpast claim calm)")"
check 'the end of the last job of a group adds no recheck request' equal \
	"$(sql crash 'select count(*) from readpast.group_recheck where group_key <> $$$$')" 0

# shellcheck source=../cli/full_again.sh
. "$(dirname "$0")/../cli/full_again.sh"

make_groups crash
start_worker crash first
check 'a worker runs as many jobs as the limits allow' eventually started first $all
victim=$worker
start_worker crash second
check 'another worker is connected' eventually listed "$worker"
kill -9 "$victim"
"$pg_temp" crash "$server"
"$pg_temp" restart "$server" >/dev/null
# shellcheck disable=SC2034
died=$(now)
check 'after a crash of the server the limits are full again within a lease and 2 s' is_full second
kill -9 "$worker"
check 'the limits were kept' keeps_limits crash first second
wait 2>/dev/null
finish
