#!/usr/bin/env bash
# doctor: what it finds on any database, and on a file of SQLite, each provoked.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"
on_database "$2"
table=readpast_
[[ $2 == sqlite: ]] || table=$schema.

check 'an argument: exit 2' refuses 2 'takes no arguments' readpast doctor q
check 'not a span: exit 2' refuses 2 '--long' readpast doctor --long soon
check 'a new queue is clean: exit 0' status 0 readpast doctor
check 'all was done' grep -qE '^[0-9]+ checks, 0 not done, 0 findings$' out
check 'for programs, too' equal "$(readpast doctor --json)" ''

readpast enqueue lonely x --quiet
check 'a queue that nobody serves' finds nobody 'queue lonely .*nobody'
check 'findings: exit 1' status 1 readpast doctor
check 'each has a fix' grep -q '^    fix: readpast work lonely' out
sleep 0.01
check 'the first in line waits, and nothing is done' finds late 'queue lonely: .*some 1 .an estimate' --long 5ms
readpast pause lonely
check 'a paused one is not served on purpose' lacks nobody
check 'nor is it late' lacks late --long 5ms
check 'but jobs wait in it' finds paused 'queue lonely.*is paused' --long 5ms
readpast purge lonely --state all --yes >/dev/null
check 'none do' lacks paused --long 5ms

mkfifo hold
w=$(readpast enqueue w x --max-attempts 2)
readpast enqueue w y --quiet
start_worker w --lease 300ms
check 'a worker at work' eventually is_running "$w"
check 'it serves its queue' lacks nobody
kill_worker
check 'it is dead, but not long enough to tell' lacks silent
check 'its job is left where it was' eventually finds sweep "queue w: job $w .*nobody sweeps"
readpast sweep >/dev/null
check 'swept' lacks sweep
check 'a job that may have killed its worker' finds killers "job $w of queue w .*attempt 1 of 2; it is in line"
age_workers 60
check 'the worker fell silent' finds silent "process $worker.*has not been heard of for 6[0-9]"
check 'so nobody serves its queue' finds nobody 'queue w '
start_worker w --lease 300ms
check 'another takes it up' eventually is_running "$w"
kill_worker
swept_dead() {
	readpast sweep >/dev/null
	[[ $(field state "$(readpast show "$w" --json)") == dead ]]
}
check 'and dies, too' eventually swept_dead
check 'a job that killed its workers' finds killers "job $w .*attempt 2 of 2; it is dead"
age_workers -3600
check 'times from before the clock was set back' finds clock 'seen (59|60) min from now'
age_workers 3600
readpast purge w --state all --yes >/dev/null
sql "delete from ${table}worker"

readpast queue set l --lease 1s >/dev/null
readpast enqueue l x --quiet
readpast claim l >/dev/null
check 'a lease that is not renewed' eventually finds leases 'queue l: the lease of job [0-9]+, held by a client that is no worker'
readpast enqueue d a b c --quiet
for error in 'no such user' 'no such user' 'disk full'; do
	readpast fail "$(claim_of "$(readpast claim d)")" --for-good --error "$error"
done
check 'what jobs died of' finds dead '2 died within a day of: no such user.*retry --dead d'
check 'each by itself' finds dead '1 died within a day of: disk full'
late=$(readpast enqueue due x --delay 1ms)
check 'due, and nobody sweeps' eventually finds sweep "queue due: job $late"
readpast queue drop due --yes
readpast enqueue over x --quiet
readpast claim over --lease 1ms >/dev/null
check 'a lease ran out, and nobody sweeps' eventually finds sweep 'queue over: job'
readpast sweep >/dev/null
check 'somebody does' lacks sweep

# A process that stays in a transaction which reads FILE. $reader
start_reader() {
	python3 -uc '
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("begin")
db.execute("select * from readpast_queue").fetchall()
print("reads")
sys.stdin.read()' "$1" <hold >reads &
	reader=$!
	exec 9>hold
	check "a process reads $1" eventually grep -q reads reads
}
end_reader() {
	exec 9>&-
	wait "$reader"
}

# As in a container that has one file of a volume, and another's directory.
mounted() { # COMMAND...
	export READPAST here
	READPAST_DB=sqlite:container/named.db unshare -m bash -c "
		$(declare -f readpast finds lacks lacks_names_in_directory)
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
	check 'an index is missing' finds index 'index readpast_archive_state is missing'
	READPAST_DB="$url?synchronous=normal"
	check 'commits that may be lost' finds commit 'synchronous is normal'
	status 1 readpast doctor
	check 'the worst comes first' grep -q '^danger' <(head -n 1 out)
	READPAST_DB=$url
	sql "update sqlite_sequence set seq = 9000000000000000000 where name = 'readpast_job'"
	check 'ids near their end' finds sequence 'readpast_job is at 90*'

	# Another process reads, and the -wal grows behind it.
	READPAST_DB=sqlite:starved.db
	readpast init >/dev/null
	start_reader starved.db
	head -c 4000000 /dev/zero >large
	for _ in 1 2 3 4 5 6; do
		readpast enqueue q --one --quiet <large
	done
	check 'checkpoints wait for a reader' finds checkpoint "the -wal has 2[0-9] MiB .*process $reader \(python3\)"
	end_reader
	readpast enqueue q x --quiet
	check 'it is gone' lacks checkpoint
	readpast purge q --state all --yes >/dev/null
	check 'half of the file is free' finds pages '2[0-9] MiB of 2[0-9] MiB'

	# Two names of one file.
	READPAST_DB=sqlite:named.db
	readpast init >/dev/null
	ln -s named.db symbolic.db
	check 'a symbolic link is no other name' lacks names
	ln named.db hard.db
	check 'a hard link is' finds names 'named.db has 2 names'
	rm hard.db
	if ((EUID == 0)) && unshare -m true 2>/dev/null; then
		mkdir container
		touch container/named.db
		check 'a file that is mounted by itself' \
			mounted finds names 'container/named.db is mounted there by itself.*mount its directory'
		check 'but not one whose directory is' mounted lacks_names_in_directory
	fi

	# A file that a reader keeps in another journal mode.
	READPAST_DB=sqlite:old.db
	readpast init >/dev/null
	sqlite3 old.db 'pragma journal_mode = delete' >/dev/null
	start_reader old.db
	check 'another journal mode' finds journal 'journal mode is delete'
	end_reader

	# A page of the file is overwritten.
	READPAST_DB=sqlite:damaged.db
	seq 20000 | readpast enqueue q --quiet
	readpast stats >/dev/null
	sqlite3 damaged.db 'pragma wal_checkpoint(truncate)' >/dev/null
	dd if=/dev/urandom of=damaged.db bs=4096 seek=40 count=2 conv=notrunc status=none
	check 'a damaged file' finds integrity 'the file is damaged: .*[Pp]age'
	echo 'this is no database' >damaged.db
	rm -f damaged.db-wal damaged.db-shm
	check 'none at all' finds schema 'damaged.db'

	if [[ $(stat -f -c %T /dev/shm) == tmpfs ]]; then
		READPAST_DB=sqlite:$(mktemp -d /dev/shm/readpast.XXXXXX)/x.db
		readpast init >/dev/null
		check 'a file in memory' finds filesystem 'is on tmpfs.*when the host restarts'
		rm -rf "$(dirname "${READPAST_DB#sqlite:}")"
	fi
fi

READPAST_DB=${url-$READPAST_DB}
sql "update ${table}meta set value = 99 where name = 'schema'"
check 'a newer schema is a finding' finds schema 'upgrade readpast'
check 'no database is none: exit 1' refuses 1 'no database at' readpast --db sqlite:nowhere.db doctor
finish
