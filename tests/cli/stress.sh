#!/usr/bin/env bash
# Test the command `stress`: its queue, its report, and how it ends.
#
#   stress.sh READPAST sqlite:|postgres:
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"
on_database "$2"

queues() {
	readpast queue list --json | grep -oE '"queue":"[^"]*"' | cut -d'"' -f4 | paste -sd' '
}
# Print a value of the JSON report in the file `out`.
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
# Start the command in the background, in a process group of its own. Sets $pid to its
# pid.
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

readpast enqueue mine a b c --quiet
readpast queue set stress-of-my-own >/dev/null

check 'a plain run exits with 0' status 0 readpast stress --jobs 2k --seed 5 --json
check 'the plain run keeps the promises' clean
check 'all jobs of the plain run are done' equal "$(said 'done') $(said lost) $(said duplicates)" '2000 0 0'
check 'the plain run prints JSON' json
check 'the plain run has removed its own queue, and no other' only_mine
status 0 readpast stress --jobs 500 --fail-rate 0.3
check 'the report for people has the promises' grep -qE '^P1 ok, P2 ok, P3 ok, P6 ok$' out
check 'the report for people has a plot' grep -qE '^  done  .*[▁▂▃▄▅▆▇█].* [0-9,]+/s' out
check 'the report for people has latencies' grep -qE '^  end to end +[0-9.]+ m?s' out

check 'a run that kills workers exits with 0' status 0 readpast stress --jobs 600 --workers 3 --work-time 5ms \
	--lease 500ms --kill-every 150ms --seed 5 --json
check 'workers were killed several times' more kills 2
check 'the promises hold although workers are killed' clean
check 'a run that stops workers exits with 0' status 0 readpast stress --jobs 60 --workers 4 --work-time 100ms \
	--lease 500ms --stall-every 300ms --seed 5 --json
check 'workers were stopped several times' more stalls 2
check 'jobs of stopped workers are retried' more retries 1
check 'the promises hold although workers are stopped' clean
check 'a run in which attempts fail by chance exits with 0' status 0 readpast stress --jobs 400 --fail-rate 0.5 --json
check 'some jobs have died' more dead 1
check 'the promises hold although attempts fail' clean
status 0 readpast stress --for 700ms --producers 2 --batch 10 --payload 1KiB --json
check 'a run with --for enqueues jobs' more enqueued 10
check 'a run with --fill exits with 0' status 0 readpast stress --jobs 1k --fill --json

rm -f h
check 'a run with a history exits with 0' status 0 readpast --history h stress --jobs 300
check 'the history can be checked' equal "$(readpast check h | tail -n 1)" \
	'P1 not checked, P2 ok, P3 ok, P6 ok'

for signal in INT TERM; do
	launch --for 1h --work-time 1ms
	check "a run is at work before SIG$signal" eventually at_work
	kill -s "$signal" "$pid"
	wait "$pid"
	check 'the signal ends the run with exit 1' equal $? 1
	check 'the message says that the run was interrupted' grep -q interrupted err
	check 'the interrupted run still prints its report' grep -q '^P1 ok, P2 ok, P3 ok, P6 ok' out
	check 'the interrupted run leaves no process' alone
	check 'the interrupted run leaves no queue' only_mine
done

launch --for 1h --work-time 1ms
eventually at_work
kill -9 "$pid"
{ wait "$pid"; } 2>/dev/null
check 'the processes of a run end when it is killed with SIGKILL' eventually alone
check 'the killed run leaves its queue' equal "$(queues | wc -w)" 3
readpast queue set stress-elsewhere-17-0123abcd >/dev/null
check 'the next run exits with 0' status 0 readpast stress --jobs 10
check 'the next run removes the queue of the killed run' grep -qE "^readpast: removed queue stress-.*-$pid-[0-9a-f]{8}, left by a run that was killed$" err
check 'the next run names the queue of a run on another host' grep -qE 'stress-elsewhere-17-0123abcd belongs to a run on host elsewhere' err
check 'the next run does not remove the queue of another host' equal "$(queues)" 'mine stress-elsewhere-17-0123abcd stress-of-my-own'
readpast queue drop stress-elsewhere-17-0123abcd --yes

# ---- tests only for SQLite, and tests only for PostgreSQL ----

# empties BUSY: try to empty -wal with a checkpoint. If BUSY is 0, the checkpoint must
# succeed. If BUSY is 1, it must fail, because another process reads the file.
empties() {
	[[ $(sqlite3 -cmd '.timeout 1000' readpast.db 'pragma wal_checkpoint(truncate)') == "$1|"* ]]
}
on_file() {
	launch --jobs 1 --work-time 1h --pin-snapshot
	eventually at_work
	readpast enqueue mine d --quiet
	check 'the run keeps an old snapshot open' empties 1
	kill -9 "$pid"
	{ wait "$pid"; } 2>/dev/null
	check 'the snapshot ends with the killed run' eventually empties 0
}

sessions() { # CONDITION: print the number of this run's sessions
	sql "select count(*) from pg_stat_activity where application_name like 'stress-%-$pid-%' and $1"
}
pinned() {
	[[ $(sessions "state = 'idle in transaction' and xact_start < now() - interval '1 second'") == 1 ]]
}
on_server() {
	status 0 readpast stress --jobs 2k --json
	check "the report has the counters of the server" \
		grep -qE '"per_job":\{"statements":null,"transactions":0\.[0-9]*[1-9].*"wal_bytes":[1-9]' out
	launch --for 1h --pin-snapshot
	check 'the run keeps an old snapshot open' eventually pinned
	kill "$pid"
	wait "$pid"
	check 'the snapshot ends with the run' equal "$(sessions true)" 0
	status 0 readpast stress --jobs 5k
	check 'the run takes samples of waits' grep -qE '^  blocked +[0-9.]+ s on locks, of [0-9.]*[1-9][0-9]* s at work' out
	check 'a missing server: stress prints one line and exits with 1' refuses 1 'nowhere.*No such file' \
		readpast --db 'postgres:///x?host=/nowhere' stress
	sql "create role $schema login" && sql "grant usage on schema $schema to $schema"
	check 'missing rights: exit 1 and one line' refuses 1 'permission denied' \
		readpast --db "${READPAST_DB/user=postgres/user=$schema}" stress --jobs 10
	sql "drop owned by $schema" && sql "drop role $schema"
}
if [[ $2 == sqlite: ]]; then
	on_file
else
	on_server
fi

# ---- a terminal ----

script -qec "'$READPAST' stress --jobs 2k" /dev/null </dev/null >out 2>&1
check 'on a terminal stress shows its progress' grep -qE '[0-9]+ enqueued, [0-9]+ done, .*/s' out

# ---- bad input ----

before=$(queues)
refused() { # PATTERN ARGUMENT...
	local pattern=$1
	shift
	check "stress $* exits with 2" refuses 2 "$pattern" readpast stress "$@"
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
refused 'at least 1ms' --for 0
refused 'fill needs --jobs' --for 1s --fill
refused 'takes no arguments' queue
check 'the refused calls have made no queue' equal "$(queues)" "$before"

if [[ $2 == postgres: ]]; then
	# shellcheck source=../postgres/server.sh
	. "$(dirname "$0")/../postgres/server.sh"
	undo() {
		psql -qX "$READPAST_TEST_POSTGRES" -c "drop schema $schema cascade" 2>/dev/null
	}
	counting=$servers/counting
	start_server "$counting" shared_preload_libraries=pg_stat_statements
	READPAST_DB="postgres:///postgres?host=$counting&user=postgres"
	psql -qX "$READPAST_DB" -c 'create extension pg_stat_statements'
	status 0 readpast stress --jobs 2k --json
	check 'the report counts statements' grep -qE '"statements":0\.[0-9]*[1-9]' out
fi
finish
