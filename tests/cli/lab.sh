#!/usr/bin/env bash
# Test the command `lab`, which compares techniques of taking jobs from a table. It must
# show the known properties of each technique, and remove everything that it creates.
#
#   lab.sh READPAST sqlite:|postgres:
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"

if [[ $2 == sqlite: ]]; then
	url=sqlite:$here/with%20space.db
	nowhere=sqlite:no/where.db
else
	url=$READPAST_TEST_POSTGRES
	nowhere='postgres:///x?host=/nowhere'
fi

# Print one number of a technique's result. The file `said` has the results, one line
# for each technique.
of() { # TECHNIQUE FIELD
	field "$2" "$(grep "\"technique\":\"$1\"" said)"
}
lab() { # ARGUMENT...
	readpast --db "$url" lab --json "$@" >said
}
# Check that an expression of awk is true. The expression can use the numbers of the
# technique's result as variables, such as `runs`.
is() { # TECHNIQUE EXPRESSION
	local line numbers
	line=$(grep "\"technique\":\"$1\"" said) || return 1
	mapfile -t numbers < <(grep -oE '"[a-z_]+":[0-9.]+' <<<"$line" | sed 's/"//g; s/:/=/; s/^/-v/')
	awk "${numbers[@]}" "BEGIN { exit !($2) }" && return
	echo "not $2: $line"
	return 1
}
share='blocked_ms / 1000 / seconds / workers'
exact() { # TECHNIQUE...
	local name
	for name; do
		is "$name" 'processed == jobs && runs == jobs && twice == 0 && lost == 0' || return 1
	done
}
says() { # TECHNIQUE PATTERN
	of "$1" says | grep -qE "$2" && return
	of "$1" says
	return 1
}
on_server() {
	psql -qAtX "$url" -c "$1"
}
# Check that no temporary schema, no temporary file and no worker is left.
nothing_left() {
	if [[ $url == sqlite:* ]]; then
		equal "$(find . -name '*-lab-*')" ''
	else
		equal "$(on_server "select count(*) from pg_namespace where nspname like 'readpast\_lab\_%'")" 0 &&
			equal "$(on_server "select count(*) from pg_stat_activity where application_name like 'readpast\_lab\_%'")" 0
	fi
}

# ---- the techniques ----

techniques_of_server() {
	# Each job takes longer than a commit on a busy disk. Otherwise the workers
	# would mostly wait for commits.
	check 'the lab runs all techniques' lab --workers 4 --jobs 60 --delay 20ms
	check 'the techniques run in their order' equal "$(grep -oE '"technique":"[^"]*' said | cut -d'"' -f4 | paste -sd' ')" \
		'naive updlock readpast marker merge applock worker-loop own'
	check 'naive runs jobs twice' is naive 'twice > 0 && processed == jobs && runs > jobs'
	check 'the lab says that naive runs jobs twice' says naive '^[0-9]+ of 60 jobs ran more than once: [0-9]+ % of the work was for nothing'
	check 'all other techniques run each job once' exact updlock readpast marker merge applock worker-loop own
	check 'with updlock one worker runs and the others wait' is updlock "$share > 0.4"
	check 'the lab says how long workers wait with updlock' says updlock 'one at a time; [0-9]+ % of the time was spent waiting for a row'
	check 'with readpast no worker waits' is readpast "$share < 0.05"
	check 'the lab says that no worker waits with readpast' says readpast 'each job ran once, [0-9.]+ at a time; (workers hardly waited|[1-4] %)'
	for name in marker applock worker-loop own; do
		check "with $name no worker waits" is "$name" "$share < 0.05"
	done
	# The technique `own` settles a job and claims the next one in one statement. If
	# `own` used a statement for each step, it would need at least two statements
	# for each job.
	check 'own needs fewer than two statements for each job, with those that find no job' is own 'statements_per_job < 2'
	check 'the lab counts the bytes of log' is own 'wal_bytes_per_job > 50'
	check 'the lab leaves nothing behind' nothing_left

	if (($(on_server 'show server_version_num') < 150000)); then
		check 'merge names the version of the server that it needs' refuses 1 'MERGE needs PostgreSQL 15' \
			readpast --db "$url" lab merge
		check 'the lab runs own at full speed' lab --workers 4 --jobs 300 --delay 0ms own
	else
		check 'the lab runs merge and own at full speed' lab --workers 4 --jobs 300 --delay 0ms merge own
		check 'with merge workers wait for the table' is merge "$share > 0.2"
		check 'the lab says that workers wait for the table' says merge 'waiting for the table'
	fi
	check 'with own no worker waits' is own "$share < 0.1"
}

techniques_of_file() {
	check 'the lab runs the techniques that SQLite supports' lab --workers 4 --jobs 60 --delay 5ms
	check 'the lab names the techniques that SQLite does not support' equal "$(grep '"cannot":"SQLite has no' said | grep -oE '"technique":"[^"]*' | cut -d'"' -f4 | paste -sd' ')" \
		'readpast merge applock'
	check 'naive runs jobs twice' is naive 'twice > 0 && runs > jobs'
	check 'SQLite aborts some transactions of naive' is naive 'deadlocks > 0'
	check 'all other techniques run each job once' exact updlock marker worker-loop own
	check 'with updlock one worker runs and the others wait' is updlock "$share > 0.4"
	check 'the lab says what workers wait for' says updlock 'one at a time; .* waiting for the file'
	check 'the lab leaves nothing behind' nothing_left
	check 'the lab has not made the database itself' equal "$(find . -name 'with*')" ''

	# Each job takes 60 ms, longer than a commit on a busy disk. Otherwise the waits
	# for other workers' commits, which both techniques have, would hide the
	# difference.
	check 'the lab runs jobs that take long' lab --workers 4 --jobs 24 --delay 60ms updlock own
	check 'own waits less than half as long as updlock' is own "blocked_ms < $(of updlock blocked_ms) / 2"
}
if [[ $2 == sqlite: ]]; then
	techniques_of_file
else
	techniques_of_server
fi

# ---- the table and the explanations ----

check 'the lab prints a table' status 0 readpast --db "$url" lab --jobs 10 --workers 2 marker
check 'the table has a line for the technique, and a line that explains it' grep -qE '^marker +10 +0 +0 ' out
check 'the lab lists all techniques' equal "$(readpast --db "$nowhere" lab --list | wc -l)" 8
check 'the lab explains a technique' status 0 readpast --db "$nowhere" lab --explain merge
if [[ $2 == sqlite: ]]; then
	check 'for a database without this SQL the explanation says why' grep -q 'SQLite has no MERGE' out
else
	check 'the explanation has the SQL' grep -q '^	merge into queue' out
fi

# ---- the scripts for SQL Server ----

check 'the lab lists the techniques for SQL Server' equal "$(readpast --db "$nowhere" lab --dialect sqlserver --list | cut -d' ' -f1 | paste -sd' ')" \
	'naive updlock readpast marker merge applock worker-loop own'
for name in naive updlock readpast marker merge applock worker-loop own; do
	check "the lab explains $name for SQL Server" status 0 readpast --db "$nowhere" lab --dialect sqlserver --explain "$name"
	check "$name begins with its idea" grep -qE "^-- $name: ." out
	check "$name has steps for two sessions" eval "grep -qE '^-- Step 1, session A: ' out && grep -qE '^-- Step [0-9]+, session B: ' out"
	check "the steps of $name have no gap" equal "$(sed -nE 's/^-- Step ([0-9]+), .*/\1/p' out | paste -sd' ')" \
		"$(seq -s' ' "$(grep -cE '^-- Step ' out)")"
done
check 'the lab has the hints of SQL Server' eval "readpast lab --dialect sqlserver --explain readpast | grep -qF 'with (updlock, readpast)'"
check 'with --dialect the URL is not read' status 0 readpast --db nosql:x lab --dialect sqlserver --explain merge
check 'another dialect than that of the database is explained' eval "readpast --db '$nowhere' lab --dialect sqlite --explain own | grep -q '^-- own: '"
check 'the scripts for SQL Server are not run' refuses 2 'lab: --dialect sqlserver: these scripts are not run here; print one with --explain T' \
	readpast --db "$url" lab --dialect sqlserver
check 'a named script for SQL Server is not run either' refuses 2 'lab: --dialect sqlserver: these scripts are not run here' \
	readpast --db "$url" lab --dialect sqlserver own
check 'an unknown dialect is refused' refuses 2 'no such dialect: oracle' readpast lab --dialect oracle --list

# ---- bad input ----

check 'an unknown technique is refused' refuses 2 'no such technique: fifo' readpast lab fifo
check 'an unknown technique cannot be explained' refuses 2 'no such technique: scratch' readpast lab --explain scratch
check 'the list is no JSON' refuses 2 'give either --json or --list, not both' readpast lab --list --json
check 'an explanation is no JSON' refuses 2 'give either --json or --explain, not both' readpast lab --explain own --json
for bad in '--workers 0' '--workers 65' '--jobs 0' '--jobs 2M' '--delay 11s' '--delay x' '--jobs -1'; do
	# shellcheck disable=SC2086
	check "wrong arguments are refused: $bad" refuses 2 "lab: ${bad% *}" readpast lab $bad
done
check 'a database that does not exist is refused' refuses 1 'lab: naive: cannot create a schema or file for the lab: ' readpast --db "$nowhere" lab
if [[ $2 == sqlite: ]]; then
	check 'a technique that this database does not support is refused' refuses 1 'merge: SQLite has no MERGE' readpast lab own merge
	check 'the refused call has run nothing' equal "$(cat out)" ''
else
	check 'the message of the server is printed' grep -q 'No such file' err
	on_server 'create role readpast_lab_poor login' >/dev/null
	check 'without the right to make a schema the lab is refused' refuses 1 'cannot create a schema or file for the lab: permission denied for database' \
		readpast --db "$url&user=readpast_lab_poor" lab
	on_server 'drop role readpast_lab_poor' >/dev/null
fi

# ---- stopped, killed ----

at_work() {
	if [[ $url == sqlite:* ]]; then
		[[ -s $(find . -name '*-lab-*-wal') ]]
	else
		equal "$(on_server "select count(*) > 4 from pg_stat_activity where application_name like 'readpast\_lab\_%'")" t
	fi
}
begin() {
	"$READPAST" --db "$url" lab --jobs 100k updlock >out 2>err &
	pid=$!
	eventually at_work
}
for signal in INT TERM; do
	begin
	kill "-$signal" "$pid"
	wait "$pid"
	check "SIG$signal ends the lab with exit 1" equal $? 1
	check 'the lab says that it was stopped' grep -q 'lab: stopped; its tables were removed' err
	check 'the stopped lab leaves nothing behind' nothing_left
done
begin
kill -9 "$pid"
wait "$pid" 2>/dev/null
check 'a lab that is killed leaves something behind' eval '! nothing_left'
check 'the next run succeeds' status 0 readpast --db "$url" lab --jobs 4 own
check 'the next run reports what it removes' grep -q 'lab: removed .*, left by a run that was killed' err
check 'after the next run nothing is left' nothing_left
finish
