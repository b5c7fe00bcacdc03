#!/usr/bin/env bash
# Test a hot standby, which is read-only and takes over from its primary. The script
# starts its own servers.
#
#   standby.sh READPAST ROOT [ROUNDS]   kill ROUNDS primaries under load (1 by default)
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=../cli/load.sh
. "$(dirname "$0")/../cli/load.sh"
# shellcheck source=../cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"
# shellcheck source=server.sh
. "$(dirname "$0")/server.sh"

rounds=${3:-1}
primary=$servers/primary
standby=$servers/standby

sql() { # DIR SQL
	psql -qAtX -v ON_ERROR_STOP=1 "host=$1 user=postgres dbname=postgres" -c "$2"
}
is_in_step() {
	[[ $(sql "$primary" "select count(*) from pg_stat_replication where sync_state = 'sync'") == 1 ]]
}
# Start a synchronous standby. The primary acknowledges a commit only when the standby
# has it.
start_standby() {
	"$pg_temp" standby "$standby" "$primary" >/dev/null
	sql "$primary" "alter system set synchronous_standby_names = '*'"
	sql "$primary" 'select pg_reload_conf()' >/dev/null
	eventually is_in_step
}
waits_for_standby() {
	[[ $(sql "$primary" "select count(*) from pg_stat_activity where wait_event = 'SyncRep'") != 0 ]]
}

start_server "$primary" max_connections=50
there="postgres:///postgres?host=$standby&user=postgres"
export READPAST_DB="postgres:///postgres?host=$primary,$standby&user=postgres&target_session_attrs=read-write"
check 'a standby follows the primary' start_standby
readpast init >/dev/null
readpast enqueue q x y --quiet
# Wait until the standby has replayed all earlier commits: a commit with remote_apply
# waits for this. The transaction writes a message to the WAL, because a commit without
# any WAL does not wait.
sql "$primary" "set synchronous_commit = remote_apply
	; select pg_logical_emit_message(true, 'test', '')" >/dev/null

# ---- read-only ----

for command in stats 'list q' 'show 1' workers 'queue list'; do
	# shellcheck disable=SC2086
	check "$command works on a standby" status 0 readpast --db "$there" $command
done
for command in 'enqueue q x' 'enqueue new x' 'enqueue q x y' 'enqueue q x --unique k' 'claim q' \
	'complete 1:1' 'extend 1:1 --lease 1s' sweep 'cancel 1' 'retry 1' \
	'purge q --state all --yes' 'pause q' 'queue set q --lease 1s' 'queue drop q --yes' \
	'work q --drain --quiet -- true'; do
	# shellcheck disable=SC2086
	check "${command%% -*} is refused on a standby" \
		refuses 1 '(read-only|during recovery).*: use the URL of a server that accepts writes' \
		readpast --db "$there" $command
done
check 'target_session_attrs=read-write chooses the primary' status 0 readpast enqueue q z
check 'the standby has not changed' equal "$(field ready "$(readpast stats q --json)")" 3
check 'init is refused on a standby' refuses 1 'read-only|during recovery' \
	readpast --db "$there&schema=other" init

# ---- a commit that has not reached the standby ----

kill -STOP "$(head -n 1 "$standby/data/postmaster.pid")"
pkill -STOP -P "$(head -n 1 "$standby/data/postmaster.pid")"
readpast enqueue q unsure >unsure.out 2>unsure.err &
unsure=$!
check 'a commit waits for the standby' eventually waits_for_standby
sql "$primary" "select count(pg_cancel_backend(pid)) from pg_stat_activity where wait_event = 'SyncRep'" >/dev/null
wait "$unsure"
check 'a commit that was cancelled is not acknowledged: exit 1' equal "$?" 1
check 'one line says that the outcome is unknown' equal "$(wc -l <unsure.err):$(grep -c 'outcome unknown.*standby' unsure.err)" 1:1
pkill -CONT -P "$(head -n 1 "$standby/data/postmaster.pid")"
kill -CONT "$(head -n 1 "$standby/data/postmaster.pid")"
readpast purge q --state all --yes >/dev/null

# ---- failover ----

# This worker may use any host, so after the crash of the primary its connection reaches
# the standby.
READPAST_DB=${READPAST_DB%&target*} "$READPAST" work any -- true >any.out 2>any.err &
any=$!
start_load
for ((round = 1; round <= rounds; round++)); do
	: >any.err
	"$pg_temp" crash "$primary"
	check "a worker on the standby tries again, round $round" \
		eventually grep -q 'accepts writes; trying again$' any.err
	"$pg_temp" promote "$standby"
	check "after takeover $round this worker runs a job" \
		status 0 readpast --history /dev/null wait "$(readpast enqueue any x)" --timeout 60s
	check "after takeover $round work goes on" more_settled 50
	((round < rounds)) || break
	# The two servers change places for the next round.
	"$pg_temp" stop "$primary" immediate
	read -r primary standby <<<"$standby $primary"
	check "after takeover $round a new standby follows" start_standby
	more_settled 50
done
check_load takeover
kill "$any"
wait "$any"
check 'the worker that was on the standby ends without an error' equal $? 0
finish
