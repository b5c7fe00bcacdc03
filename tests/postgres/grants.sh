#!/usr/bin/env bash
# Test the grants that docs/postgres.md lists for each role. They must be sufficient,
# and none of them may be superfluous. The script starts its own server.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=../cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"
# shellcheck source=server.sh
. "$(dirname "$0")/server.sh"
doc=$2/docs/postgres.md

start_server "$server" fsync=off

as() { # ROLE COMMAND...: run the command line as this role
	READPAST_DB="postgres:///postgres?host=$server&user=$1" readpast "${@:2}"
}
sql_as() { # ROLE SQL
	psql -qAtX -v ON_ERROR_STOP=1 "host=$server user=$1 dbname=postgres" -c "$2"
}
# Print those SQL blocks of the document that create a role with its grants.
statements() {
	awk '/^```sql/ { block = ""; inside = 1; next }
	     /^```/ { if (inside && block ~ /create role/) printf "%s", block
	              inside = 0 }
	     inside { block = block $0 "\n" }' "$doc"
}
as postgres init >/dev/null
check 'the documented grants are made' sql_as postgres "$(statements)"

# ---- a producer ----

enqueue() {
	as mail_producer enqueue mail "$@"
}
check 'a producer makes a queue when it enqueues' enqueue one
check 'a producer enqueues a job with all options' enqueue two \
	--priority 7 --delay 1ms --kind k --header a=1
check 'a producer enqueues many jobs' enqueue three four
check 'a producer enqueues a job that expires' enqueue brief --expire 1h
check 'a producer enqueues many jobs that expire' enqueue brief short --expire 1h
check 'a producer enqueues with a unique key' enqueue five --unique k
sql_as postgres "insert into readpast.taken_key values (1, 'l', 1, '-infinity')" >/dev/null
check 'a producer enqueues with a unique key at repeatable read' sql_as mail_producer \
	"begin isolation level repeatable read;
	select readpast.enqueue('mail', 'five', unique_key => 'm'); commit"
check 'a producer replaces a job' enqueue six --unique k --replace
check 'a producer enqueues in SQL' sql_as mail_producer "select readpast.enqueue('mail', 'seven')"
check 'a producer enqueues at repeatable read' sql_as mail_producer \
	"begin isolation level repeatable read;
	select readpast.enqueue('mail', 'eight'); commit"
sql_as postgres "select readpast.register_waiter(1, '{mail}')" >/dev/null
check 'a producer enqueues while a worker waits' enqueue nine
check 'the waiting worker is notified' equal "$(sql_as postgres 'select count(*) from readpast.waiter')" 0
check 'a producer may not claim' refuses 1 'permission denied' as mail_producer claim mail
check 'a producer may not read payloads' status 1 sql_as mail_producer \
	'select payload from readpast.job'

# ---- a worker ----

check 'a worker runs its job' as mail_worker work mail --drain -- true
check 'the worker has done all jobs' equal "$(sql_as postgres 'select count(*) from readpast.job')" 0
sql_as postgres "select readpast.queue_set('mail', max_attempts => 1)"
enqueue ten >/dev/null
check 'a worker reports failures' status 7 as mail_worker work mail --drain -- false
check 'a worker keeps dead jobs' equal \
	"$(sql_as postgres 'select state from readpast.jobs')" dead
enqueue eleven --priority 3 >/dev/null
check 'a worker in SQL registers a name' sql_as mail_worker \
	"select readpast.complete(id, claim_no)
	   from readpast.claim('mail', worker => 'me')"
check 'a worker may sweep' sql_as mail_worker 'select readpast.sweep()'
check 'a worker creates the queue that it serves' sql_as mail_worker \
	"select readpast.worker_named('me', '{mail,new}')"
enqueue twelve >/dev/null
sql_as postgres "update readpast.worker set seen_at = seen_at - interval '9 seconds'"
check 'a worker renews a lease as its heartbeat' sql_as mail_worker \
	"select readpast.extend(c.id, c.claim_no), readpast.release(c.id, c.claim_no)
	   from (select max(id) from readpast.worker where name = 'me') w(me),
	        readpast.claim('mail', worker_id => w.me) c"
check 'a worker may wait' sql_as mail_worker "select readpast.register_waiter(9, '{mail}')"
check 'a worker may unregister' sql_as mail_worker \
	"select readpast.worker_stop(readpast.worker_named('me', '{mail}'))"
check 'a worker may not drop a queue' refuses 1 'permission denied' as mail_worker queue drop mail --yes

# ---- a queue with limits ----

sql_as postgres "select readpast.queue_set('limited', run_limit => 2, group_limit => 1,
	rate => 100, per => '1 s')" >/dev/null
check 'a producer enqueues a job of a group' as mail_producer enqueue limited one --group g
check 'a producer enqueues many jobs of groups' as mail_producer enqueue limited two three --group g
check 'a producer enqueues a job with a group and a unique key' \
	as mail_producer enqueue limited four --group g --unique k
check 'a producer replaces a blocked job' \
	as mail_producer enqueue limited five --group h --unique k --replace
check 'a producer enqueues the first job of a group' \
	as mail_producer enqueue limited seven --group i --unique l
check 'a producer replaces it, with another priority' \
	as mail_producer enqueue limited eight --group i --unique l --priority 7 --replace
check 'a producer enqueues a job of a group at repeatable read' sql_as mail_producer \
	"begin isolation level repeatable read;
	select readpast.enqueue('limited', 'six', group_key => 'g'); commit"
claim=$(field claim "$(as mail_worker claim limited)")
check 'a worker gives a job back and holds its group' \
	as mail_worker release "$claim" --hold group --for 50ms
# Sweep, so that the hold ends when its time is over, and run the jobs.
drained() {
	sql_as mail_worker 'select readpast.sweep()' &&
		as mail_worker work limited -j2 --drain -- true &&
		equal "$(sql_as postgres "select count(*) from readpast.jobs where queue = 'limited'")" 0
}
check 'a worker runs all jobs' eventually drained

# ---- a role that only reads ----

reads() { # SQL
	sql_as mail_reader "$1" | grep -q .
}
for command in stats 'list limited' 'queue list' workers 'cron list' metrics; do
	# shellcheck disable=SC2086
	check "a reader runs $command" as mail_reader $command
done
check 'a reader calls the routines that read' reads "select count(*)
	from readpast.stats(), readpast.probe('mail'), readpast.groups('limited')"
check 'a reader reads the views' reads 'select (select count(*) from readpast.jobs),
	(select count(*) from readpast.kept), (select count(*) from readpast.schedules)'
sql_as postgres "select setval('readpast.job_id_seq', 9000000000000000000)" >/dev/null
check "with a reader's rights doctor does all checks" equal \
	"$(as mail_reader doctor --long 1h --json | grep -E '"not_done"|"(danger|trouble)"' | grep -o '"check":"[a-z]*"')" \
	$'"check":"fsync"\n"check":"sequence"\n"check":"privileges"'
sql_as postgres "select setval('readpast.job_id_seq', 1000)" >/dev/null
check 'a reader changes nothing' refuses 1 'permission denied' as mail_reader enqueue limited x
check 'a reader may not claim' refuses 1 'permission denied' as mail_reader claim limited

# ---- each optional block alone ----

# with_block ROLE NEW-ROLE WORDS: make a role with the grants of ROLE that have no
# condition, and those in the block whose comment contains WORDS.
with_block() {
	sql_as postgres "$(statements | awk -v role="$1" -v new="$2" -v words="$3" '
		/^create role/ { inside = $3 == role; wanted = 1; comment = 0 }
		/^--/ { wanted = comment ? wanted || index($0, words) : index($0, words)
		        comment = 1; next }
		{ comment = 0 }
		inside && wanted { gsub(role, new); print }')"
}
alone() { # ROLE NAME WORDS: with_block, which must be one of several blocks
	statements | grep -qe "^--.*$3" && with_block "$@"
}
sql_as postgres "select readpast.queue_create('other')" >/dev/null
with_block mail_producer plain 'no block'
check 'a producer without conditions enqueues jobs with all other options' \
	as plain enqueue other one two --priority 7 --delay 1h --kind k --header a=1 --expire 2h
check 'it may not create a queue' refuses 1 'permission denied' as plain enqueue another x
alone mail_producer groups 'have groups'
check 'the rights for groups are enough for groups' as groups enqueue limited one two --group g
check 'also for a single job' as groups enqueue limited one --group h --delay 1h
alone mail_producer creator 'create queues'
check 'the right to create queues is enough for a new queue' as creator enqueue created x
alone mail_producer repeatable 'repeatable read'
check 'the right for repeatable read is enough for it' sql_as repeatable \
	"begin isolation level repeatable read; select readpast.enqueue('other', 'x'); commit"
alone mail_producer keys 'unique keys'
check 'the rights for unique keys are enough for a key' as keys enqueue other one --unique k
check 'also to replace a ready job' as keys enqueue other two --unique k --replace
check 'also to replace a scheduled job' as keys enqueue other three --unique k --delay 1h --replace
sql_as postgres "select readpast.cancel(id) from readpast.jobs where queue in ('other', 'limited')" >/dev/null
alone mail_worker holder 'holds its queue'
as mail_producer enqueue limited one --group g >/dev/null
check 'the right to hold is enough to hold a group' \
	as holder release "$(field claim "$(as holder claim limited)")" --hold group --for 50ms
as mail_producer enqueue other one >/dev/null
check 'also to hold a queue' \
	as holder release "$(field claim "$(as holder claim other)")" --hold queue --for 50ms
alone mail_worker mourner 'dead_to'
sql_as postgres "select readpast.clear_hold('other'), readpast.queue_set('other', dead_to => 'buried'),
	readpast.queue_create('buried')" >/dev/null
check 'the rights for dead_to are enough for it' \
	as mourner fail "$(field claim "$(as mourner claim other)")" --for-good --error no
check 'the job has been enqueued' equal \
	"$(sql_as postgres "select count(*) from readpast.jobs where queue = 'buried'")" 1

# ---- an admin ----

check 'an admin changes a queue' as mail_admin queue set mail --priority 5
check 'an admin pauses a queue' as mail_admin pause mail
check 'an admin resumes a queue' as mail_admin resume mail
check 'an admin retries dead jobs' as mail_admin retry --dead mail
check 'an admin lists jobs' grep -q ten <(as mail_admin list mail)
check 'an admin purges jobs' as mail_admin purge mail --state all --yes
check 'an admin adds a schedule' sql_as mail_admin \
	"select readpast.schedule_set('beat', 'mail', 'every 1s', 'x')"
check 'a producer may not add a schedule' status 1 sql_as mail_producer \
	"select readpast.schedule_set('more', 'mail', 'every 1s', 'x')"
check 'an admin runs and removes a schedule' sql_as mail_admin \
	"select readpast.schedule_run('beat'), readpast.schedule_remove('beat')"
check 'an admin drops a queue' as mail_admin queue drop mail --yes
finish
