#!/usr/bin/env bash
# Test that no job is lost if PostgreSQL is stopped or killed under load. The script
# starts its own server.
#
#   kills.sh READPAST ROOT [TIMES]   repeat everything TIMES times (1 by default)
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=../cli/load.sh
. "$(dirname "$0")/../cli/load.sh"
# shellcheck source=../cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"
# shellcheck source=server.sh
. "$(dirname "$0")/server.sh"

times=${3:-1}

start_server "$server" max_connections=50

new_database restarts
start_load
for ((round = 1; round <= 3 * times; round++)); do
	"$pg_temp" bounce "$server" "$( ((round % 3 == 2)) && echo immediate || echo fast)" >/dev/null
	check "after restart $round work goes on" more_settled 20
done
check_load restarts

new_database kills
start_load
for ((round = 1; round <= 6 * times; round++)); do
	sql "select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = 'kills'" >/dev/null 2>&1
	check "after connections were ended in round $round work goes on" more_settled 10
done
check_load kills

new_database crashes
start_load
for ((round = 1; round <= 2 * times; round++)); do
	"$pg_temp" crash "$server"
	"$pg_temp" restart "$server" >/dev/null
	check "after crash $round work goes on" more_settled 20
done
# Kill one server process. The postmaster then ends all other server processes, and
# recovers the database.
for ((round = 1; round <= 2 * times; round++)); do
	sql "select pid from pg_stat_activity where datname = 'crashes' limit 1" | xargs -r kill -9 2>/dev/null
	check "after kill -9 of a server process in round $round work goes on" more_settled 20
done
check_load crashes
finish
