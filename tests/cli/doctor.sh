#!/usr/bin/env bash
# Test the command `doctor`. The script causes each problem that `doctor` can find:
# first problems that any database can have, then problems that only SQLite files have.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"
on_database "$2"
table=readpast_
if [[ $2 == postgres: ]]; then
	table=$schema.
	# Up to PostgreSQL 14 every user may create objects in the schema public.
	# `doctor` reports this right, so revoke it first.
	sql 'revoke create on schema public from public'
fi

check 'doctor with an argument exits with 2' refuses 2 'takes no arguments' readpast doctor q
check 'doctor with a wrong duration exits with 2' refuses 2 '--long' readpast doctor --long soon
check 'for a new queue doctor exits with 0' status 0 doctor
check 'doctor has done all checks' grep -qE '^[0-9]+ checks, 0 not done, 0 findings$' out
check 'doctor --json prints no finding either' equal "$(doctor --json)" ''

readpast enqueue lonely x --quiet
check 'a queue that has had no worker for a moment is a warning' finds nobody '"warning".*queue lonely .*no worker'
check 'with a warning doctor exits with 0' status 0 doctor
check 'the warning is printed' grep -q '^warning  queue lonely' out
check 'the warning has a fix' grep -q '^    fix: readpast work lonely' out
readpast enqueue "\$(id) a*" x --quiet
doctor >out
check 'the fix quotes a name for the shell, and work does not take it as a pattern' \
	grep -qF "    fix: readpast work '\$(id) a\\*' -- COMMAND" out
readpast queue drop "\$(id) a*" --yes
check 'a queue that has had no worker for long is a trouble' eventually finds nobody '"trouble".*queue lonely .*no worker' --long 5ms
check 'with a trouble doctor exits with 1' status 1 doctor --long 5ms
check 'the long wait of the first job of this queue is not reported again' lacks late --long 5ms
readpast hold lonely --for 1h
check 'a held queue is not reported as a queue without a worker' lacks nobody
readpast hold lonely --clear
readpast pause lonely --reason 'not before noon'
check 'a paused queue is not reported as a queue without a worker' lacks nobody
check 'a paused queue is not reported as late' lacks late --long 5ms
check 'a paused queue is reported as paused, because jobs wait in it' finds paused 'queue lonely.*has been paused for [^:]*: not before noon' --long 5ms
readpast purge lonely --state all --yes >/dev/null
check 'a paused queue without jobs is no finding' lacks paused --long 5ms
# `doctor` names 20 queues at most. The last queue by name has waited longest.
for name in $(seq 40 -1 18); do
	readpast enqueue "many$name" x --quiet
done
check 'of many queues without a worker the longest wait is reported' finds nobody 'queue many40 ' --long 5ms
check 'the others are not said to have too few workers' lacks late --long 5ms
for name in $(seq 18 40); do
	readpast queue drop "many$name" --yes
done

mkfifo hold
w=$(readpast enqueue w x --max-attempts 2)
readpast enqueue w y --quiet
start_worker w --lease 2s
check 'a worker runs a job' eventually is_running "$w"
check 'a queue with a worker is not reported as a queue without one' lacks nobody
check 'a queue with a worker is late if its next job waits and no job ends' finds late '"trouble".*queue w: .*jobs that are ready: about 1, finished' --long 5ms
readpast hold w --for 1h
check 'a held queue is not reported as late' lacks late --long 5ms
readpast hold w --clear
readpast queue set w --limit 1 >/dev/null
check 'a queue that is at its limit is not reported as late' lacks late --long 5ms
readpast queue set w --limit none >/dev/null
check 'without the limit the queue is late again' finds late 'queue w: ' --long 5ms
kill_worker
check 'a worker that was killed is not yet reported' lacks silent
check 'the job of the killed worker waits for a sweep' eventually finds sweep "\"warning\".*queue w: job $w .*no client sweeps"
check 'a job that has waited for a sweep for long is a trouble' finds sweep '"trouble".*queue w' --long 3s
readpast sweep >/dev/null
check 'after a sweep this finding is gone' lacks sweep
check 'a job that may have killed its worker is reported' finds killers "job $w of queue w .*attempt 1 of 2; it is ready again"
age_workers 60
check 'a worker without heartbeats is reported' finds silent "\"trouble\".*process $worker.*has not been heard from for [67][0-9]"
check 'the queue of this worker is not reported again' lacks nobody
start_worker w --lease 2s
check 'another worker takes the job' eventually is_running "$w"
check 'the worker without heartbeats is then only a warning' finds silent '"warning".*has not been heard from'
kill_worker
swept_dead() {
	readpast sweep >/dev/null
	[[ $(field state "$(readpast show "$w" --json)") == dead ]]
}
check 'the other worker is killed, too' eventually swept_dead
check 'a job that has killed its workers is reported' finds killers "job $w .*attempt 2 of 2; it is dead"
age_workers -3600
check 'times in the future are reported after the clock was set back' finds clock '(59|60) min in the future'
age_workers 3600
readpast purge w --state all --yes >/dev/null
sql "delete from ${table}worker"

readpast queue set l --lease 1s >/dev/null
readpast enqueue l x --quiet
readpast claim l >/dev/null
check 'a lease that is not renewed is reported' eventually finds leases 'queue l: the lease of job [0-9]+, held by a client that is not a worker'
readpast enqueue d a b c --quiet
for error in 'no such user' 'no such user' 'disk full'; do
	readpast fail "$(claim_of "$(readpast claim d)")" --for-good --error "$error"
done
check 'the error with which jobs died is reported' finds dead '"warning".*jobs that died in the last 24 hours: 2, with the error: no such user.*retry --dead d'
check 'each error is a finding of its own' finds dead 'jobs that died in the last 24 hours: 1, with the error: disk full'
check 'dead jobs are a trouble after some time' eventually finds dead '"trouble".*no such user' --long 5ms
seq 22 | readpast enqueue lines --quiet
for line in {1..11} {1..11}; do
	readpast fail "$(claim_of "$(readpast claim lines)")" --for-good --error "line $line: not a number"
done
check 'many errors of one queue do not hide those of another' finds dead 'queue d: .*disk full'
check 'three errors of a queue are listed' equal \
	"$(doctor --json | grep -c 'queue lines: jobs that died')" 3
readpast purge lines --state all --yes >/dev/null
readpast enqueue client x y --quiet
readpast claim client >/dev/null
check 'a queue is not reported while a client has claimed a job' equal "$(doctor --json | grep -c '"queue":"client"')" 0
readpast purge client --state all --yes >/dev/null
readpast enqueue due x --quiet
readpast claim due --lease 2s >/dev/null
late=$(readpast enqueue due y --delay 1ms)
check 'a due job is reported if no client sweeps' eventually finds sweep "queue due: job $late"
check 'it is still reported when later the lease of an older job has run out, too' \
	eventually finds sweep "queue due: job $late should have been ready [4-9]"
readpast purge due --state all --yes >/dev/null
readpast enqueue over x --quiet
readpast claim over --lease 1ms >/dev/null
check 'a lease that has run out is reported if no client sweeps' eventually finds sweep 'queue over: job'
readpast cron add nightly beat 'every 1s' >/dev/null
check 'an overdue schedule is reported' eventually finds fires '"warning".*overdue schedules: 1; the first, beat, .*no client fires it'
check 'on PostgreSQL the fix names the table on which a right is needed' \
	finds fires "once a second${schema+; its role needs the right to update $schema.schedule}\""
readpast sweep >/dev/null
check 'after a sweep this finding is gone' lacks sweep
sweep_fires() {
	readpast sweep >/dev/null
	lacks fires
}
check 'after a sweep the schedule has fired' eventually sweep_fires
if [[ $2 == sqlite: ]]; then
	sql "update readpast_schedule
		set zone = 'Europe/Berln', next_at = unixepoch() * 1000 - 1"
else
	sql "update ${schema-}.schedule
		set zone = 'Europe/Berln', spec = '@daily', sets = (
		      select ${schema-}.parse_spec('@daily')),
		    next_at = clock_timestamp() - interval '1 ms'"
fi
readpast sweep >/dev/null
check 'a schedule with an unknown time zone is reported' finds zones '"warning".*the first is beat, .*time zone .*Europe/Berln'
check 'this schedule is not reported as overdue' lacks fires
readpast cron remove beat >/dev/null

readpast queue set groups --group-limit 1 >/dev/null
readpast sweep >/dev/null
readpast enqueue groups first second --group g --quiet
first=$(readpast list groups --json | jq .id | head -n 1)
readpast hold groups --group g --for 1ms
if [[ $2 == sqlite: ]]; then
	sql 'update readpast_group_wait set run_at = run_at - 11000'
else
	sql "update $schema.group_wait set run_at = run_at - interval '11 s'"
fi
check 'a group is not stuck if only the sweep after its hold is missing' lacks groups
sql "update ${table}group_hold set until = $([[ $2 == sqlite: ]] && echo 1 || echo "'2000-01-01'")"
check 'but the sweep is reported as missing' finds sweep "queue groups: job $first"
sql "delete from ${table}group_hold"
[[ $2 == sqlite: ]] || sql "delete from $schema.group_recheck"
check 'a stuck group is reported' finds groups "queue groups, group g: job $first has waited for "
readpast purge groups --state all --yes >/dev/null

readpast enqueue groups first second --group g --quiet
sql "delete from ${table}job where id = $(readpast list groups --state ready --json | jq .id)"
second=$(readpast list groups --json | jq .id)
if [[ $2 == sqlite: ]]; then
	sql 'update readpast_group_wait set run_at = run_at - 11000'
else
	sql "update $schema.group_wait set run_at = run_at - interval '11 s';
	     delete from $schema.group_recheck"
fi
check 'a group is stuck if the job that had its slot was deleted by SQL' finds groups "queue groups, group g: job $second has waited for "
readpast queue set groups --group-limit none >/dev/null
readpast queue set groups --group-limit 1 >/dev/null
readpast sweep >/dev/null
check 'the fix of this finding makes the next job of the group ready' \
	equal "$(readpast list groups --state ready --json | jq .id)" "$second"
check 'then the group is not stuck' lacks groups
readpast purge groups --state all --yes >/dev/null

# hold_open FILE SQL: run SQL in a process that keeps the file open. Sets $holder to its
# pid.
hold_open() {
	rm -f held
	sqlite3 "$1" <hold &
	holder=$!
	exec 9>hold
	echo "$2" $'\n.shell touch held' >&9
	check "a process has $1 open: $2" eventually test -e held
}
let_go() {
	exec 9>&-
	wait "$holder"
}
reads='begin; select name from readpast_queue where 0;'

# mounted() runs a command in a mount namespace, as a container does. Only the database
# file is mounted into the namespace, under another name.
# lacks_names_in_directory() is run in this namespace. It also mounts the directory of the
# file, and runs `doctor` on the file in the mounted directory.
mounted() { # COMMAND...
	export READPAST here
	READPAST_DB=sqlite:container/named.db unshare -m bash -c "
		$(declare -f readpast doctor finds lacks lacks_names_in_directory)
		mount --bind named.db container/named.db || exit
		"'"$@"' mounted "$@"
}
lacks_names_in_directory() {
	mkdir -p directory && mount --bind . directory &&
		READPAST_DB=sqlite:directory/named.db lacks names
}

if [[ $2 == sqlite: ]]; then
	url=$READPAST_DB
	sql 'drop index readpast_archive_state'
	check 'a missing index is reported' finds index 'index readpast_archive_state is missing'
	READPAST_DB=sqlite:bare.db
	readpast init >/dev/null
	indexes=$(sql "select name from sqlite_schema where type = 'index' and sql is not null order by name")
	for index in $indexes; do
		sql "drop index $index"
	done
	check 'every index of the schema is reported if it is missing' equal \
		"$(doctor --json | jq -r 'select(.check == "index").about.index' | sort)" "$indexes"
	READPAST_DB="$url?synchronous=normal"
	check 'a setting that can lose commits is reported' finds commit 'synchronous is normal'
	status 1 doctor
	check 'the worst finding comes first' grep -q '^danger' <(head -n 1 out)
	READPAST_DB=$url
	sql "update sqlite_sequence set seq = 9000000000000000000 where name = 'readpast_job'"
	check 'ids near their end are reported' finds sequence 'readpast_job is at 90*'

	# Another process keeps a read transaction open, so -wal grows.
	READPAST_DB=sqlite:starved.db
	readpast init >/dev/null
	hold_open starved.db "$reads"
	head -c 4000000 /dev/zero >large
	for _ in 1 2 3 4 5 6; do
		readpast enqueue q --one --quiet <large
	done
	check 'a reader that blocks checkpoints is reported' finds checkpoint "the -wal file has 2[0-9] MiB .*process $holder \(sqlite3\)"
	let_go
	readpast enqueue q x --quiet
	check 'the finding is gone when the reader has ended' lacks checkpoint
	readpast purge q --state all --yes >/dev/null
	check 'free pages are reported if they are half of the file' finds pages '2[0-9] MiB of 2[0-9] MiB'

	# First start a process that commits often, then a process that begins a
	# transaction and does not commit it. Only the second process must be reported.
	READPAST_DB=sqlite:locked.db
	readpast enqueue waits x --quiet
	yes 'begin immediate; update readpast_queue set lease_ms = lease_ms + 1; commit;' | sqlite3 locked.db &
	busy=$!
	check 'a process commits again and again' eventually test -s locked.db-wal
	# On a busy machine a single commit may take so long that it is reported.
	check 'a process that commits is not reported as holding the lock' eventually lacks lock
	check 'a process that commits is not reported by a second run either' eventually lacks lock
	kill "$busy"
	wait "$busy"
	hold_open locked.db 'begin immediate;'
	check 'a process that keeps the write lock is reported' finds lock "\"warning\".*process $holder .sqlite3. holds the write lock of .*locked.db, .*kill $holder"
	check 'a write lock that is kept for long is a trouble' finds lock "\"trouble\".*\"pid\":$holder" --long 5ms
	check 'the lock explains why jobs wait, so this is not reported again' lacks nobody --long 5ms
	let_go
	check 'the finding is gone when the writer has ended' lacks lock
	check 'now the queue without a worker is reported' finds nobody 'queue waits'

	# The file has two names.
	READPAST_DB=sqlite:named.db
	readpast init >/dev/null
	ln -s named.db symbolic.db
	check 'a symbolic link is not reported as another name' lacks names
	ln named.db hard.db
	check 'a hard link is reported as another name' finds names 'named.db has 2 names'
	rm hard.db
	if ((EUID == 0)) && unshare -m true 2>/dev/null; then
		mkdir container
		touch container/named.db
		check 'a file that is mounted by itself is reported' \
			mounted finds names 'container/named.db is mounted as a single file.*mount its directory'
		check 'a file whose directory is mounted is not reported' mounted lacks_names_in_directory
	fi

	# The file's journal mode is not WAL, and another process keeps the file locked.
	READPAST_DB=sqlite:old.db
	readpast init >/dev/null
	sqlite3 old.db 'pragma journal_mode = delete' >/dev/null
	hold_open old.db "$reads"
	check 'another journal mode is reported' finds journal 'journal mode is delete'
	let_go
	hold_open old.db 'begin immediate;'
	check 'in another journal mode, the holder of the write lock is reported' finds lock "process $holder .sqlite3. holds the write lock of .*old.db"
	let_go
	hold_open old.db 'begin exclusive;'
	READPAST_DB="sqlite:old.db?busy=100ms"
	check 'the holder of the lock is reported even if no other process can open the file' finds lock "process $holder .sqlite3. holds the write lock of .*old.db"
	let_go

	# Overwrite a page of the file.
	READPAST_DB=sqlite:damaged.db
	seq 20000 | readpast enqueue q --quiet
	readpast stats >/dev/null
	sqlite3 damaged.db 'pragma wal_checkpoint(truncate)' >/dev/null
	dd if=/dev/urandom of=damaged.db bs=4096 seek=40 count=2 conv=notrunc status=none
	check 'a damaged file is reported' finds integrity 'the database is damaged: .*[Pp]age.*sqlite3 FILE .recover'
	dd if=/dev/urandom of=damaged.db bs=1 seek=100 count=2000 conv=notrunc status=none
	check 'a file that is too damaged to be opened is reported' finds integrity 'the database is damaged: .*malformed.*sqlite3 FILE .recover'
	check 'for a damaged file doctor does not advise init' lacks schema
	echo 'this is no database' >damaged.db
	rm -f damaged.db-wal damaged.db-shm
	check 'a file that is not a database is reported' finds format 'damaged.db is not a SQLite database.*the right file in the URL'
	check 'a file that is not a database is not called damaged' lacks integrity
	check 'a file that is not a database is not reported as lacking a queue' lacks schema
	READPAST_DB=sqlite:empty.db
	sqlite3 empty.db 'create table other (x)'
	check 'a database without a queue is reported' finds schema 'empty.db has no queue in it: readpast init'

	# Fill the disk.
	mkdir disk
	if ((EUID == 0)) && mount -t tmpfs -o size=3m none disk 2>/dev/null; then
		READPAST_DB=sqlite:disk/full.db
		readpast enqueue q x --quiet
		check 'a disk with free space is not reported' lacks disk
		hold_open disk/full.db "$reads"
		cat /dev/zero >disk/more 2>/dev/null
		check 'a full disk is reported' finds disk '"trouble".*nothing can be written to .*full.db: its file system is full'
		check 'the full disk explains why jobs wait' lacks nobody
		let_go
		rm -f disk/full.db-wal disk/full.db-shm
		cat /dev/zero >>disk/more 2>/dev/null
		check 'a full disk is reported even if no process has the file open' finds disk 'its file system is full'
		rm disk/more
		check 'with free space again the finding is gone' lacks disk
		umount disk
	fi

	if [[ $(stat -f -c %T /dev/shm) == tmpfs ]]; then
		READPAST_DB=sqlite:$(mktemp -d /dev/shm/readpast.XXXXXX)/x.db
		readpast init >/dev/null
		check 'a file in memory is reported' finds filesystem 'is on tmpfs.*when the host restarts'
		rm -rf "$(dirname "${READPAST_DB#sqlite:}")"
	fi
fi

READPAST_DB=${url-$READPAST_DB}
sql "update ${table}meta set value = 99 where name = 'schema'"
check 'a newer schema is reported' finds schema 'upgrade readpast'
check 'for a missing database doctor exits with 1' refuses 1 'no database at' readpast --db sqlite:nowhere.db doctor
finish
