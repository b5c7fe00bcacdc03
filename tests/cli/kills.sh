#!/usr/bin/env bash
# Test that no job is lost if workers on a SQLite file are killed with kill -9 under
# load, again and again.
#
#   kills.sh READPAST [TIMES]   kill ten workers, TIMES times (1 by default)
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=load.sh
. "$(dirname "$0")/load.sh"
# shellcheck source=tap.sh
. "$(dirname "$0")/tap.sh"

export READPAST_DB=sqlite:kills.db
start_load
for ((round = 1; round <= 10 * ${2:-1}; round++)); do
	i=$((round % 3 + 1))
	kill -9 "${workers[i]}"
	wait "${workers[i]}" 2>/dev/null
	load_worker "$i"
	check "worker $i is killed in round $round, and work goes on" more_settled 20
done
check_load kills
finish
