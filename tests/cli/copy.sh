#!/usr/bin/env bash
# Test `readpast copy`. After a copy the target has exactly the source's jobs, even if
# the copy was killed several times. READPAST_KILLS is the number of copies that are
# killed, 4 by default.
#
#   copy.sh READPAST sqlite: [postgres:]
#
# With `postgres:` the script copies a file to a server and a server to a file. Without
# this argument it copies one file to another.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"
server=
if [[ " $* " == *' postgres: '* ]]; then
	server=${READPAST_TEST_POSTGRES:?tools/run-tests says where}
fi
kills=${READPAST_KILLS:-4}
RANDOM=$$

# Print the URL of a target: a schema on the server, or a file if there is no server.
other_url() { # NAME
	local and='?'
	[[ $server != *\?* ]] || and='&'
	if [[ $server ]]; then
		echo "$server${and}schema=copy_$1_$$"
	else
		echo "sqlite:other_$1.db"
	fi
}
drop() { # NAME...
	local name
	for name; do
		rm -f "other_$name.db"*
		[[ ! $server ]] || psql -qX "$server" -c "set client_min_messages = error" \
			-c "drop schema if exists copy_${name}_$$ cascade"
	done
}
trap 'kill $(jobs -p) 2>/dev/null; drop pg pg2 kill >/dev/null 2>&1; cd /; rm -rf "$here"' EXIT

# Print everything in a SQLite file that a copy must preserve. SHIFT is subtracted from
# the ids. JSON is normalised, because PostgreSQL formats JSON differently from SQLite.
dump() { # FILE [SHIFT]
	local shift=${2:-0}
	sqlite3 "$1" "
	select q.name, j.id - $shift, j.priority, j.class, j.run_at, j.claim_no, j.attempt, j.lost,
	       j.max_attempts, j.created_at, j.unique_key, j.kind, j.headers,
	       hex(j.payload), j.last_error, j.seq is not null,
	       j.expire_at, j.extra, j.group_key,
	       (select group_concat((value ->> 'attempt') || (value ->> 'at')
	                            || (value ->> 'text')) from json_each(j.failures))
	  from readpast_job j join readpast_queue q on q.id = j.queue_id
	 order by j.id;
	select q.name, a.id - $shift, a.state, a.finished_at, a.priority, a.run_at,
	       a.claim_no, a.attempt, a.max_attempts, a.worker, a.created_at,
	       a.unique_key, a.kind, a.headers, hex(a.payload), a.last_error,
	       a.expire_at, a.extra, a.group_key,
	       hex(a.result),
	       (select group_concat((value ->> 'attempt') || (value ->> 'at')
	                            || (value ->> 'text')) from json_each(a.failures))
	  from readpast_archive a join readpast_queue q on q.id = a.queue_id
	 order by a.id;
	select name, max_attempts, lease_ms, backoff_ms, backoff_max_ms, priority,
	       keep_done_ms, keep_dead_ms, max_payload, timeout_ms, dead_to, run_limit
	  from readpast_queue order by name;
	select s.name, s.queue, s.spec, s.zone, hex(s.content), s.kind, s.headers, s.priority,
	       s.missed, s.overlap, s.anchor, s.next_at, s.last_at, s.last_job_id - $shift,
	       s.last_error, s.created_at
	  from readpast_schedule s order by name;
	select q.name, k.unique_key, k.job_id - $shift, k.until
	  from readpast_taken_key k join readpast_queue q on q.id = k.queue_id
	 order by k.unique_key"
}
same_dump() { # FILE FILE [SHIFT]: both have the same jobs; SHIFT: second id minus first
	dump "$1" >one
	dump "$2" "${3:-0}" >two
	[[ -s one ]] && diff one two
}
in_order() { # URL QUEUE: print the ready jobs in the order of claims
	readpast --db "$1" list "$2" --state ready --limit 100000 --json |
		sed -E 's/.*"id":([0-9]+).*/\1/'
}
same_order() { # URL URL QUEUE [SHIFT]: both have the ready jobs in the same order
	diff <(in_order "$1" "$3") <(in_order "$2" "$3" | awk -v shift="${4:-0}" '{ print $1 - shift }')
}
first_id() { # FILE
	sqlite3 "$1" 'select min(id) from (select id from readpast_job union all select id from readpast_archive)'
}
count() { # URL QUEUE STATE: print the number of jobs
	field "$3" "$(readpast --db "$1" stats "$2" --json)"
}
recovered() {
	readpast sweep
	readpast stats mail --json | grep '"running":0,'
}
source_db() { # URL: make a database with jobs of all kinds
	export READPAST_DB=$1
	readpast queue set mail --max-attempts 7 --lease 90s --keep-done 1d --max-payload 1MiB --limit 1000 --group-limit 900 --group-on-failure pass --rate 5k/1h --dead-to other
	readpast queue set other --backoff 3s
	printf 'a\0b\xff' | readpast enqueue mail --one --quiet
	readpast enqueue mail 'ünïcode "quoted"' --kind k --header a='b "c"' --unique key --quiet
	readpast enqueue mail later --delay 1h --max-attempts 2 --quiet
	seq 30 | readpast enqueue mail --quiet
	seq 10 | readpast enqueue mail --priority 5 --group five --quiet
	seq 5 | readpast enqueue other --priority 250 --quiet
	local claims
	mapfile -t claims < <(readpast claim mail -n 8 | claims_of)
	readpast fail "${claims[0]}" --error 'first "failure"' --retry-in 1h
	readpast fail "${claims[1]}" --error 'again' --retry-in 0
	readpast fail "${claims[2]}" --error 'for good' --for-good
	readpast release "${claims[3]}"
	readpast complete "${claims[4]}" "${claims[5]}"
	readpast cancel "${claims[6]%:*}"
	# Let the lease of the eighth job run out, and then the leases of two other jobs.
	readpast extend "${claims[7]}" --lease 1ms
	eventually recovered
	readpast claim mail -n 2 --lease 1ms
	eventually recovered
	# Make a job with options of its own, a job with a result, a job with progress, a
	# unique key that stays taken, and two schedules. One of the schedules fires
	# before the copy.
	readpast enqueue mail terms --keep 3h --timeout 4m --expire 1d --backoff 1s,2s --unique terms \
		--unique-for 2h --quiet
	readpast enqueue once a --unique once --unique-for 1d --quiet
	readpast complete "$(readpast claim once | claims_of)"
	readpast queue set other --timeout 5m --keep-dead 9d
	readpast enqueue mail with-result --priority 0 --quiet
	printf 'the "result"' >result
	readpast complete "$(readpast claim mail | claims_of)" --result result
	readpast enqueue mail with-progress --priority 0 --quiet
	readpast extend "$(readpast claim mail | claims_of)" --progress half --lease 1ms
	eventually recovered
	readpast cron add mail fired 'every 1s' --zone Europe/Berlin --kind k --payload 'p "q"' \
		--priority 9 --missed all --overlap skip
	sleep 1.1
	readpast sweep
	readpast cron add mail fired '@yearly' --zone Europe/Berlin --kind k --payload 'p "q"' \
		--priority 9 --missed all --overlap skip --replace
	readpast cron add other asleep '@monthly'
	readpast cron pause asleep
	unset READPAST_DB
}

source_db sqlite:a.db >/dev/null 2>&1
check 'the source has jobs of all kinds' equal \
	"$(sqlite3 a.db 'select count(distinct class), count(failures) > 1 from readpast_job')" '3|1'
pg=$(other_url pg)
readpast --db "$pg" init >/dev/null
check 'a copy to another database succeeds' status 0 readpast copy sqlite:a.db "$pg"
check 'the copy prints how many jobs were copied' grep -q '^3 queues: 48 live and 5 kept jobs of the source were compared with the target;' out
check 'the copy prints how many schedules were copied' grep -qx '2 schedules copied, and paused in the target' out
check 'the copied jobs are in the same order' same_order sqlite:a.db "$pg" mail
check 'the source is not paused after the copy' equal "$(readpast --db sqlite:a.db queue list | grep -c paused)" 0
check 'the target is paused after the copy' equal "$(readpast --db "$pg" queue list | grep -c paused)" 3
check 'the schedules of the target are paused after the copy' equal "$(readpast --db "$pg" cron list | grep -c '(paused)')" 2
check 'the copy does not pause schedules of the source' equal "$(readpast --db sqlite:a.db cron list | grep '(paused)')" 'asleep (paused)'
check 'the source has a job with each setting, a group, a result, progress and a key that stays taken' equal "$(sqlite3 a.db "
	select count(extra ->> 'keep_ms') > 0, count(extra ->> 'timeout_ms') > 0, count(expire_at) > 0,
	       count(extra ->> 'backoff') > 0, count(extra ->> 'unique_for_ms') > 0,
	       count(extra ->> 'progress') > 0, count(group_key) > 0, (select count(result) from readpast_archive), (select count(*) from readpast_taken_key)
	  from readpast_job")" '1|1|1|1|1|1|1|1|1'
check 'a copy back to SQLite succeeds' status 0 readpast copy "$pg" sqlite:b.db --json
check 'after the copy back all fields are unchanged' same_dump a.db b.db
check 'after the copy back the order is unchanged' same_order sqlite:a.db sqlite:b.db mail
check 'copy --json prints the counts' equal "$(field live "$(cat out)"),$(field id_shift "$(cat out)")" 48,0
check 'a copy from SQLite to SQLite succeeds' status 0 readpast copy sqlite:a.db sqlite:c.db
check 'a copy to SQLite leaves all fields unchanged' same_dump a.db c.db
check 'a copy of one queue succeeds' status 0 readpast copy sqlite:a.db sqlite:d.db other
check 'the copy of one queue makes no other queue' equal "$(sqlite3 d.db 'select group_concat(name) from readpast_queue')" other

# Change the source: add, remove and change some jobs.
readpast --db sqlite:a.db enqueue mail new --quiet
readpast --db sqlite:a.db cancel "$(in_order sqlite:a.db mail | tail -n 2 | head -n 1)"
readpast --db sqlite:a.db purge other --state ready --yes >/dev/null
readpast --db sqlite:a.db enqueue mail 'another' --unique key --replace --quiet
check 'a second copy brings the target up to date' status 0 readpast copy sqlite:a.db sqlite:c.db
check 'the second copy makes all fields equal' same_dump a.db c.db

# Copy into a database that has used some ids, so copied jobs need larger ids.
seq 100 | readpast --db sqlite:e.db enqueue first --quiet
check 'a copy into a database with another queue succeeds' status 0 readpast copy sqlite:a.db sqlite:e.db mail
check 'the ids in the target are larger' grep -q 'ids: each is 100 larger than in the source' out
check 'all other fields are unchanged' equal "$(sqlite3 e.db "attach 'a.db' as a;
	select count(*) from readpast_job n join a.readpast_job o on n.id = o.id + 100 and n.payload = o.payload
	 where n.queue_id = (select id from readpast_queue where name = 'mail')")" \
	"$(sqlite3 a.db 'select count(*) from readpast_job')"
check 'the jobs of the other queue stay' equal "$(count sqlite:e.db first ready)" 100
readpast --db sqlite:a.db enqueue mail one-more --quiet
readpast --db sqlite:e.db enqueue first between --quiet
check 'copying again after a new job succeeds' status 0 readpast copy sqlite:a.db sqlite:e.db mail
check 'the new job is in the target once' equal "$(sqlite3 e.db "select count(*) from readpast_job where payload = cast('one-more' as blob)")" 1

# Move jobs to another database.
pg2=$(other_url pg2)
readpast --db "$pg2" init >/dev/null
readpast --db "$pg2" enqueue first x --quiet
begun() {
	readpast --db "$pg2" queue list | grep paused
}
held=$(readpast --db sqlite:a.db claim mail --lease 10m)
check 'a move with --running leave succeeds' status 0 readpast copy --move --running leave sqlite:a.db "$pg2" mail
check 'the move prints that a running job stays' grep -q 'running jobs that stay in the source: 1' out
check 'the running job is all that is left in the source' equal \
	"$(sqlite3 a.db "select count(*), (select count(*) from readpast_archive) from readpast_job")" '1|0'
check 'the move deletes only schedules of the moved queue in the source' equal "$(readpast --db sqlite:a.db cron list --json | jq -r .name)" asleep
check 'the moved schedules are not paused in the target' equal "$(readpast --db "$pg2" cron list --json | jq -c '[.name, .last_at != null, .paused // false]')" '["fired",true,false]'
check 'the target of the move is not paused' equal "$(readpast --db "$pg2" queue list | grep -c paused)" 0
check 'the source of the move is paused' equal "$(readpast --db sqlite:a.db queue list | grep '(paused')" 'mail (paused)'
check 'the source says why it is paused' grep -qx '  paused           its jobs were moved to another database' <(readpast --db sqlite:a.db queue list)
first=$(readpast --db "$pg2" claim mail)
readpast --db "$pg2" complete "$(claim_of "$first")" >/dev/null
# One job still runs in the source. A later move puts this job into the target's ready
# line, at a small number. First enqueue and claim many jobs in the target, so that
# claims there start at a larger number than that of the job.
for _ in 1 2 3; do
	seq 200 | readpast --db "$pg2" enqueue mail --quiet
	mapfile -t claims < <(readpast --db "$pg2" claim mail -n 1000 | claims_of)
	readpast --db "$pg2" complete "${claims[@]}" >/dev/null
	sleep 0.1
done
finished=$(count "$pg2" mail 'done')
before=$(count "$pg2" mail ready)
"$READPAST" copy --move sqlite:a.db "$pg2" mail >out 2>err &
waiting=$!
eventually begun
check 'the move waits for the running job' kill -0 "$waiting"
readpast --db sqlite:a.db fail "$(claim_of "$held")" --error x --retry-in 0 >/dev/null
wait "$waiting"
check 'the move succeeds when the job has ended' equal $? 0
# In the target, claims start at a larger number of the ready line than that of the
# moved job. So only a sweep finds the job.
readpast --db "$pg2" sweep >/dev/null
check 'the last job is moved, too' equal "$(count sqlite:a.db mail ready),$(count "$pg2" mail ready)" "0,$((before + 1))"
handed_out() {
	readpast --db "$pg2" sweep
	readpast --db "$pg2" claim mail -n 1000 >rest
	[[ $(wc -l <rest) -ge $((before + 1)) ]]
}
check 'the last job can be claimed from the target' eventually handed_out
check 'the jobs that the target has done stay done' equal "$(count "$pg2" mail 'done')" "$finished"

# Test copies that must be refused.
ln -s a.db link.db
ln c.db hard.db
check 'a copy of a database into itself is refused' refuses 2 'the same database' readpast copy sqlite:a.db sqlite:a.db
check 'a copy of a database into itself by another name is refused' refuses 2 'the same database' readpast copy sqlite:a.db "sqlite:$PWD/./link.db"
[[ ! $server ]] || check 'a copy of a server into itself by another URL is refused' refuses 2 'the same database' readpast copy "$pg" "$pg&application_name=x"
check 'a copy of a missing queue is refused' refuses 3 'no queue named nil' readpast copy sqlite:c.db sqlite:f.db mail nil
check 'a copy of a missing database is refused' refuses 1 'no database at nil.db$' readpast copy sqlite:nil.db sqlite:f.db
readpast --db sqlite:g.db enqueue mail x --quiet
check 'a copy is refused if the queue has jobs in the target' refuses 4 'queue mail has jobs in the target' \
	readpast copy sqlite:c.db sqlite:g.db
check 'the refused copy has done nothing' equal \
	"$(sqlite3 g.db 'select count(*) from readpast_job'),$(readpast --db sqlite:c.db queue list | grep -c paused)" 1,3
readpast --db sqlite:d.db enqueue other x --quiet
readpast --db sqlite:d.db resume other
readpast --db sqlite:a.db enqueue other y --quiet
check 'a copy is refused if the queue was resumed in the target' refuses 4 'was resumed in the target' \
	readpast copy sqlite:a.db sqlite:d.db other
sqlite3 g.db "update readpast_meta set value = 99 where name = 'schema'"
check 'a target with a newer schema is refused' refuses 1 'schema 99, newer' readpast copy sqlite:c.db sqlite:g.db
check 'a source with a newer schema is refused' refuses 1 'schema 99, newer' readpast copy sqlite:g.db sqlite:f.db
# source_kept STATUS PATTERN COMMAND...: the command prints one line, exits with STATUS,
# and changes nothing in its source, c.db
source_kept() {
	local before
	before=$(sqlite3 c.db .dump)
	refuses "$@" || return 1
	[[ $(sqlite3 c.db .dump) == "$before" ]] && return
	echo 'the source was changed'
	return 1
}
readpast --db sqlite:no-list.db init >/dev/null
sqlite3 no-list.db 'drop table readpast_queue'
check 'a copy to a file whose queues cannot be listed is refused' source_kept 1 'readpast_queue; the source is unchanged' \
	readpast copy sqlite:c.db sqlite:no-list.db
check 'a move to a file whose queues cannot be listed is refused' source_kept 1 'readpast_queue; the source is unchanged' \
	readpast copy --move sqlite:c.db sqlite:no-list.db
fresh_other() {
	drop kill
	readpast --db "$(other_url kill)" init >/dev/null
}
server_sql() {
	psql -qXAt -v ON_ERROR_STOP=1 "$server" -c "$1"
}
while_locked() { # TABLE COMMAND...
	local locker status
	PGAPPNAME=lock$$ psql -qX "$server" -c "begin;
		lock table copy_kill_$$.$1 in access exclusive mode; select pg_sleep(60)" >/dev/null 2>&1 &
	locker=$!
	eventually eval "server_sql \"select 1 from pg_locks where mode = 'AccessExclusiveLock'
		and relation = 'copy_kill_$$.$1'::regclass and granted\" | grep 1"
	"${@:2}"
	status=$?
	server_sql "select pg_terminate_backend(pid) from pg_stat_activity
		where application_name = 'lock$$'" >/dev/null
	wait "$locker"
	return "$status"
}
impatient() { # SETTING
	echo "$(other_url kill)&options=-c%20$1%3D100"
}
as_role() {
	readpast copy "$@" sqlite:c.db "$(other_url kill)&user=copy_role_$$"
}
what_a_server_refuses() {
	fresh_other
	check 'a copy to a server where meta is locked is refused' while_locked meta source_kept 1 'target: .*lock timeout' \
		readpast copy sqlite:c.db "$(impatient lock_timeout)"
	for table in queue job archive; do
		check "a copy to a server where $table is locked is refused" while_locked $table \
			source_kept 1 'lock timeout; the source is unchanged' \
			readpast copy sqlite:c.db "$(impatient lock_timeout)"
	done
	check 'a copy to a server that takes too long is refused' while_locked queue \
		source_kept 1 'statement timeout; the source is unchanged' \
		readpast copy --move sqlite:c.db "$(impatient statement_timeout)"
	server_sql "create role copy_role_$$ login;
		grant usage on schema copy_kill_$$ to copy_role_$$;
		grant execute on all functions in schema copy_kill_$$ to copy_role_$$;
		grant all on copy_kill_$$.meta to copy_role_$$"
	check 'a role that may not read the tables cannot copy' source_kept 1 'permission denied for table schedule: the role lacks a grant' as_role
	server_sql "grant select on all tables in schema copy_kill_$$ to copy_role_$$;
		grant all on copy_kill_$$.queue to copy_role_$$"
	check 'a role that may not write jobs cannot move' source_kept 1 'permission denied for table .*: the role lacks a grant' as_role --move
	server_sql "drop owned by copy_role_$$; drop role copy_role_$$"
	check 'a role with the missing grant can copy' status 0 readpast copy sqlite:c.db "$(other_url kill)"
}
[[ ! $server ]] || what_a_server_refuses

check 'copy with one argument is refused' refuses 2 'give two URLs' readpast copy sqlite:a.db
check 'an unknown word after --running is refused' refuses 2 'expected wait or leave' readpast copy --running x sqlite:a.db sqlite:f.db
check 'a refused copy makes no file' test ! -e f.db

# Kill a copy at a random moment, or cut its connection. Then run the copy again.
big() { # FILE
	seq -f '%0200g' 20000 | readpast --db "sqlite:$1" enqueue q --quiet
	readpast --db "sqlite:$1" queue set q --keep-done 1d >/dev/null
	readpast --db "sqlite:$1" claim q -n 500 | claims_of |
		xargs "$READPAST" --db "sqlite:$1" complete >/dev/null
	seq 50 | readpast --db "sqlite:$1" enqueue q --priority 1 --quiet
	readpast --db "sqlite:$1" cron add q yearly @yearly --payload x >/dev/null
	readpast --db "sqlite:$1" cron add q asleep @monthly >/dev/null
	readpast --db "sqlite:$1" cron pause asleep
}
big big.db
killed=0
kill_once() { # FROM TO OPTION...: kill a copy after a random time
	"$READPAST" copy "$@" >/dev/null 2>&1 &
	local pid=$! end=$((RANDOM % 400))
	sleep "0.$(printf %03d "$end")"
	kill -9 "$pid" 2>/dev/null && killed=$((killed + 1))
	wait "$pid" 2>/dev/null
}
survives() { # TO OPTION...
	local to=$1 i shift
	shift
	cp big.db from.db
	for ((i = RANDOM % 3; i >= 0; i--)); do
		kill_once sqlite:from.db "$to" "$@"
	done
	timeout 60 "$READPAST" copy sqlite:from.db "$to" "$@" >/dev/null || return 1
	if [[ $to != sqlite:to.db ]]; then
		rm -f to.db
		timeout 60 "$READPAST" copy "$to" sqlite:to.db >/dev/null || return 1
	fi
	# A killed run may have used up ids of the target's sequence, and a sequence
	# never goes back. So the last run may give the jobs ids that are larger by
	# `shift`.
	shift=$(($(first_id to.db) - $(first_id big.db)))
	same_dump big.db to.db "$shift" || return 1
	same_order sqlite:big.db sqlite:to.db q "$shift" || return 1
	[[ $* != *--move* ]] || equal "$(sqlite3 from.db \
		'select count(*), (select count(*) from readpast_archive),
		        (select count(*) from readpast_schedule) from readpast_job')" '0|0|0'
}
wrong=
for ((k = 0; k < kills; k++)); do
	rm -f from.db* to.db*
	fresh_other
	case $((k % 4)) in
	0) survives sqlite:to.db >why || wrong+=" to a file: $(head -n 3 why)" ;;
	1) survives sqlite:to.db --move >why || wrong+=" moved to a file: $(head -n 3 why)" ;;
	2) survives "$(other_url kill)" >why || wrong+=" to another database: $(head -n 3 why)" ;;
	3) survives "$(other_url kill)" --move >why || wrong+=" moved to another database: $(head -n 3 why)" ;;
	esac
done
check "copies killed $killed times in $kills lose no job and double none" equal "$wrong" ''
check 'some of the copies were killed before their end' test "$killed" -gt 0

terminate() { # APPLICATION CONDITION
	psql -qXAt "$server" -c "
		select pg_terminate_backend(pid) from pg_stat_activity
		 where application_name = '$1' and $2" | grep t
}
# Cut the copy's connection within a transaction, while the copy waits for a table that
# this test has locked.
cut_line() {
	local url pid got
	url=$(other_url kill)
	readpast --db "$url" init >/dev/null
	PGAPPNAME=lock$$ psql -qX "$server" -c "begin;
		do \$\$ begin
			while not exists (select 1 from copy_kill_$$.meta
			                   where value like 'copying%') loop
				perform pg_sleep(0.001);
			end loop;
		end \$\$;
		lock table copy_kill_$$.job in share mode; select pg_sleep(60)" >/dev/null 2>&1 &
	eventually eval "server_sql \"select 1 from pg_stat_activity where application_name = 'lock$$' and state = 'active'\" | grep 1"
	"$READPAST" copy sqlite:from.db "$url&application_name=cut$$" >out 2>err &
	pid=$!
	eventually terminate "cut$$" "wait_event_type = 'Lock'" || echo 'it never waited'
	wait "$pid"
	got=$?
	terminate "lock$$" true >/dev/null
	((got == 1)) && (($(wc -l <err) == 1)) && grep 'run the command again to continue' err && return
	echo "exit status $got; $(cat out err)"
	return 1
}
if [[ $server ]]; then
	rm -f from.db* to.db*
	cp big.db from.db
	fresh_other
	check 'a copy that loses its connection prints one line' cut_line
	check 'the copy succeeds when it is run again' status 0 readpast copy sqlite:from.db "$(other_url kill)"
	check 'the second run has completed the copy' grep -q '19550 live and 500 kept jobs' out
fi

# Move a schedule while sweeps, which fire schedules, run in both databases. Kill the
# move several times. In each second the schedule must fire in exactly one database.
sweep_both() { # URL URL
	while :; do
		readpast --db "$1" sweep
		readpast --db "$2" sweep
		sleep 0.1
	done >/dev/null 2>&1
}
fires_once() { # TO
	local i sweeps times
	rm -f from.db* to.db*
	cp big.db from.db
	readpast --db sqlite:from.db cron add ticks tick 'every 1s' --missed all >/dev/null
	sweep_both sqlite:from.db "$1" &
	sweeps=$!
	sleep 1
	for i in 1 2 3 4; do
		kill_once sqlite:from.db "$1" --move
	done
	timeout 60 "$READPAST" copy sqlite:from.db "$1" --move >/dev/null || return 1
	sleep 2
	kill "$sweeps"
	wait "$sweeps" 2>/dev/null
	timeout 60 "$READPAST" copy sqlite:from.db "$1" --move >/dev/null || return 1
	times=$(readpast --db "$1" list ticks --limit 1000 --json |
		jq -r '.headers["readpast-scheduled-for"][0:19] + "Z" | fromdate')
	sort -n <<<"$times" | awk 'NR > 1 && $1 != last + 1 { print "after", last, "comes", $1; wrong = 1 }
		{ last = $1 } END { exit wrong || NR < 3 }'
}
check 'a schedule fires once a second while it is moved to a file' fires_once sqlite:to.db
fresh_other
check 'a schedule fires once a second while it is moved to another database' fires_once "$(other_url kill)"

# A script can tell a copy that a signal has stopped from one that was refused.
seq 200000 | readpast --db sqlite:long.db enqueue long --quiet
"$READPAST" copy sqlite:long.db sqlite:stopped.db >/dev/null 2>err &
copier=$!
eventually test -s stopped.db
kill "$copier"
wait "$copier"
check 'a copy that a signal stops ends by the signal' equal "$?" 143
check 'it can be continued' status 0 readpast copy sqlite:long.db sqlite:stopped.db
rm -f long.db* stopped.db*

# Copy while another process enqueues jobs, and while a second copy runs.
rm -f from.db* to.db*
cp big.db from.db
(for ((i = 0; i < 100; i++)); do readpast --db sqlite:from.db enqueue q "late $i" --quiet; done) &
readpast copy --move sqlite:from.db sqlite:to.db >/dev/null 2>&1 &
readpast copy --move sqlite:from.db sqlite:to.db >/dev/null 2>&1
wait
check 'a copy of jobs that were enqueued meanwhile succeeds' status 0 readpast copy --move sqlite:from.db sqlite:to.db
readpast copy --move sqlite:from.db sqlite:to.db >out
check 'a move that finds no job in the source says nothing about the jobs of the target' \
	grep -qE '^[0-9]+ queues?: 0 live and 0 kept jobs of the source were compared with the target;$' out
check 'these jobs are in the target once' equal "$(sqlite3 to.db "
	select count(*), count(distinct payload) from readpast_job where cast(payload as text) glob 'late*'"),$(
	sqlite3 from.db 'select count(*) from readpast_job')" '100|100,0'
check 'all other jobs are in the target, too' equal "$(sqlite3 to.db "select count(*) from readpast_job")" 19650
finish
