#!/usr/bin/env bash
# stress, from outside: its own queue, its report, and how it ends, on SQLite
# and on PostgreSQL.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=../postgres/server.sh
. "$(dirname "$0")/../postgres/server.sh"

schema=stress_$$
server=${READPAST_TEST_POSTGRES:?names the server}
sql() {
	psql -qAtX -v ON_ERROR_STOP=1 "$server" -c "$1"
}
undo() {
	sql "drop schema if exists $schema cascade" 2>/dev/null
}

queues() {
	readpast queue list --json | grep -oE '"queue":"[^"]*"' | cut -d'"' -f4 | paste -sd' '
}
# A value of the report that `status` left in out.
said() {
	field "$1" "$(cat out)"
}
clean() {
	equal "$(said P1) $(said P2) $(said P3) $(said P6)" 'ok ok ok ok'
}
more() { # NAME LEAST
	local n
	n=$(said "$1")
	((n >= $2)) && return
	echo "$1 is $n, expected $2 or more"
	return 1
}
only_mine() {
	equal "$(queues)" 'mine stress-of-my-own' &&
		equal "$(field ready "$(readpast stats mine --json)")" 3
}
# In the background, a group of its own: its processes are those of $pid.
launch() {
	setsid "$READPAST" stress "$@" >out 2>err &
	pid=$!
}
alone() {
	! pgrep -g "$pid" >/dev/null
}
at_work() {
	[[ $(readpast stats --json | grep '"stress-[^"]*-[0-9]*-') == *'"running":'[1-9]* ]]
}
json() {
	python3 -m json.tool out /dev/null
}

on() { # NAME
	readpast enqueue mine a b c --quiet
	readpast queue set stress-of-my-own >/dev/null

	check "$1: a plain run, exit 0" status 0 readpast stress --jobs 2k --seed 5 --json
	check "$1: ... keeps the promises" clean
	check "$1: ... has done all" equal "$(said 'done') $(said lost) $(said duplicates)" '2000 0 0'
	check "$1: ... says it in JSON" json
	check "$1: ... removed its queue, and touched no other" only_mine
	status 0 readpast stress --jobs 500 --fail-rate 0.3
	check "$1: the report for people" grep -qE '^P1 ok, P2 ok, P3 ok, P6 ok$' out
	check "$1: ... has a plot" grep -qE '^  done  .*[▁▂▃▄▅▆▇█].* [0-9,]+/s' out
	check "$1: ... and latencies" grep -qE '^  end to end +[0-9.]+ m?s' out

	check "$1: workers are killed" status 0 readpast stress --jobs 600 --workers 3 --work-time 5ms \
		--lease 500ms --kill-every 150ms --seed 5 --json
	check "$1: ... several" more kills 2
	check "$1: ... the promises hold" clean
	check "$1: workers come too late" status 0 readpast stress --jobs 60 --workers 4 --work-time 100ms \
		--lease 500ms --stall-every 300ms --seed 5 --json
	check "$1: ... several" more stalls 2
	check "$1: ... so jobs are tried again" more retries 1
	check "$1: ... the promises hold" clean
	check "$1: attempts fail by chance" status 0 readpast stress --jobs 400 --fail-rate 0.5 --json
	check "$1: ... some jobs five times" more dead 1
	check "$1: ... the promises hold" clean
	status 0 readpast stress --for 700ms --producers 2 --batch 10 --payload 1KiB --json
	check "$1: for a time" more enqueued 10
	check "$1: first all in line, then work" status 0 readpast stress --jobs 1k --fill --json

	rm -f h
	check "$1: with a history" status 0 readpast --history h stress --jobs 300
	check "$1: ... that can be checked" equal "$(readpast check h | tail -n 1)" \
		'P1 not checked, P2 ok, P3 ok, P6 ok'

	for signal in INT TERM; do
		launch --for 1h --work-time 1ms
		check "$1: it is at work, SIG$signal" eventually at_work
		kill -s "$signal" "$pid"
		wait "$pid"
		check "$1: ... exit 1" equal $? 1
		check "$1: ... it says so" grep -q interrupted err
		check "$1: ... after its report" grep -q '^P1 ok, P2 ok, P3 ok, P6 ok' out
		check "$1: ... nobody is left" alone
		check "$1: ... and no queue" only_mine
	done

	launch --for 1h --work-time 1ms
	eventually at_work
	kill -9 "$pid"
	{ wait "$pid"; } 2>/dev/null
	check "$1: killed with SIGKILL, its processes end" eventually alone
	check "$1: ... its queue is left" equal "$(queues | wc -w)" 3
	readpast queue set stress-elsewhere-17-0123abcd >/dev/null
	check "$1: the next run" status 0 readpast stress --jobs 10
	check "$1: ... removes what is left" grep -qE "^readpast: stress-.*-$pid-[0-9a-f]{8} was left behind .* removed$" err
	check "$1: ... names what another host has left" grep -qE 'stress-elsewhere-17-0123abcd is of a run on elsewhere' err
	check "$1: ... and leaves it" equal "$(queues)" 'mine stress-elsewhere-17-0123abcd stress-of-my-own'
	readpast queue drop stress-elsewhere-17-0123abcd --yes
}

export READPAST_DB=sqlite:q.db
on SQLite
# A log that is read cannot be emptied, however long one waits; and then it can.
empties() {
	[[ $(sqlite3 -cmd '.timeout 1000' q.db 'pragma wal_checkpoint(truncate)') == "$1|"* ]]
}
launch --jobs 1 --work-time 1h --pin-snapshot
eventually at_work
readpast enqueue mine d --quiet
check 'SQLite: an old snapshot is held' empties 1
kill -9 "$pid"
{ wait "$pid"; } 2>/dev/null
check 'SQLite: ... and given back' eventually empties 0

export READPAST_DB="$server&schema=$schema"
readpast init >/dev/null
on PostgreSQL
status 0 readpast stress --jobs 2k --json
check 'PostgreSQL: the server is asked what it cost' \
	grep -qE '"per_job":\{"statements":null,"transactions":0\.[0-9]*[1-9].*"wal_bytes":[1-9]' out
launch --for 1h --pin-snapshot
pinned() {
	[[ $(sql "select count(*) from pg_stat_activity where application_name like 'stress-%-$pid-%' and state = 'idle in transaction' and xact_start < now() - interval '1 second'") == 1 ]]
}
check 'PostgreSQL: an old snapshot is held' eventually pinned
kill "$pid"
wait "$pid"
check 'PostgreSQL: ... and given back' equal "$(sql "select count(*) from pg_stat_activity where application_name like 'stress-%-$pid-%'")" 0
status 0 readpast stress --jobs 5k
check 'PostgreSQL: waits are sampled' grep -qE '^  blocked +[0-9.]+ s on locks, of [0-9.]*[1-9][0-9]* s at work' out

# ---- a terminal ----

script -qec "'$READPAST' stress --jobs 2k" /dev/null </dev/null >out 2>&1
check 'on a terminal one sees how far it is' grep -qE '[0-9]+ enqueued, [0-9]+ done, .*/s' out

# ---- bad input ----

before=$(queues)
refused() { # PATTERN ARGUMENT...
	local pattern=$1
	shift
	check "stress $*: exit 2" refuses 2 "$pattern" readpast stress "$@"
}
refused 'expected a count' --jobs many
refused 'expected 1 to' --jobs 0
refused 'expected 1 to 256' --workers 0
refused 'expected 1 to 256' --producers 1k
refused 'expected 1 to 1024' -j 0
refused 'expected 1 to 100000' --batch 0
refused 'at most 256MiB' --batch 100k --payload 1MiB
refused 'expected 0 to 1' --fail-rate 2
refused 'expected 0 to 1' --fail-rate nan
refused 'expected a duration' --kill-every 1
refused '50ms or more' --kill-every 1ms
refused '50ms or more' --stall-every 0
refused '100ms to 1h' --lease 1ms
refused '100ms to 1h' --lease 7d
refused 'not both' --jobs 1 --for 1s
refused 'more than 0' --for 0
refused 'fill needs --jobs' --for 1s --fill
refused 'takes no arguments' queue
check '... and nothing was made' equal "$(queues)" "$before"
check 'no server: exit 1, one line' refuses 1 'nowhere.*No such file' readpast --db 'postgres:///x?host=/nowhere' stress
sql "create role $schema login" && sql "grant usage on schema $schema to $schema"
check 'no rights: exit 1, one line' refuses 1 'permission denied' \
	readpast --db "${READPAST_DB/user=postgres/user=$schema}" stress --jobs 10
sql "drop owned by $schema" && sql "drop role $schema"

counting=$servers/counting
start_server "$counting" shared_preload_libraries=pg_stat_statements
READPAST_DB="postgres:///postgres?host=$counting&user=postgres"
psql -qX "$READPAST_DB" -c 'create extension pg_stat_statements'
status 0 readpast stress --jobs 2k --json
check 'a server that counts statements is asked how many' grep -qE '"statements":0\.[0-9]*[1-9]' out
finish
