#!/usr/bin/env bash
# Test waiting for the end of a job on PostgreSQL. A wait must not poll, must survive
# restarts of the server, and needs few rights. Also test the SQL function wait(). The
# script starts its own server.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=../cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"
# shellcheck source=server.sh
. "$(dirname "$0")/server.sh"
doc=$2/docs/postgres.md

start_server "$server" fsync=off autovacuum=off # whose commits would be counted
export READPAST_DB="postgres:///postgres?host=$server&user=postgres"
readpast init >/dev/null 2>&1

put() { # QUEUE PAYLOAD [OPTION...]: enqueue a job and print its id
	readpast enqueue "$@" 2>/dev/null
}
registered() { # registered: print how many rows job_waiter has
	sql 'select count(*) from readpast.job_waiter'
}
is_registered() { # ID
	[[ $(sql "select count(*) from readpast.job_waiter where job_id = $1") == 1 ]]
}
begin_wait() { # ARGUMENT...
	"$READPAST" wait "$@" >said 2>complained &
	wait=$!
}
# end_wait: wait until the command that begin_wait started has ended. Sets $got to its
# exit status and to what it printed.
end_wait() {
	wait $wait
	got="$? $(cat said complained)"
}

# ---- no polling ----

statements() { # statements: print how many statements all sessions have run so far
	sql "select sum(xact_commit) from pg_stat_database where datname = 'postgres'"
}
id=$(put q x)
claim=$(claim_of "$(readpast claim q)")
begin_wait "$id"
eventually is_registered "$id"
# A registered client also checks the job without a notification, at longer and longer
# intervals.
sleep 4
from=$(statements)
sleep 3
check 'a wait does not poll: it looks at most twice in 3 s' \
	test $(($(statements) - from)) -le 8
readpast complete "$claim"
end_wait
check 'the wait is notified' equal "$got" "0 $id done (not kept)"
check 'the wait leaves no registration' equal "$(registered)" 0

id=$(put q x)
begin_wait "$id"
eventually is_registered "$id"
sleep 4.5 # the client's next check of the job comes only 8 s after the registration
readpast purge q --state ready --yes >/dev/null
from=$SECONDS
end_wait
check 'a purge of a ready job ends a wait for it' equal "$got" "0 $id done (not kept)"
check 'this wait ends at once' test $((SECONDS - from)) -le 2

# ---- restarts ----

id=$(put q x)
claim=$(claim_of "$(readpast claim q)")
begin_wait "$id"
eventually is_registered "$id"
"$pg_temp" bounce "$server" immediate >/dev/null
check 'after a restart of the server the client registers again' eventually is_registered "$id"
readpast complete "$claim"
end_wait
check 'after the restart the wait is notified' equal "$got" "0 $id done (not kept)"

id=$(put q x)
claim=$(claim_of "$(readpast claim q)")
begin_wait "$id"
eventually is_registered "$id"
sql "select pg_terminate_backend(pid) from readpast.job_waiter" >/dev/null
readpast complete "$claim"
end_wait
check 'a wait whose session was ended looks again' equal "$got" "0 $id done (not kept)"

# ---- a transaction that is open while the wait begins ----

id=$(put q x)
claim=$(claim_of "$(readpast claim q)")
mkfifo statements
psql -qAtX "host=$server user=postgres dbname=postgres" <statements >/dev/null &
exec 9>statements
echo "begin; select readpast.complete($id, ${claim#*:});" >&9
is_settling() {
	[[ $(sql "select count(*) from pg_stat_activity where state = 'idle in transaction'") == 1 ]]
}
eventually is_settling
begin_wait "$id"
eventually is_registered "$id"
sleep 1
echo 'commit;' >&9
exec 9>&-
began=$(date +%s%N)
end_wait
check 'a verdict that was under way is found' equal "$got" "0 $id done (not kept)"
check 'the verdict is found within 3 s' test $((($(date +%s%N) - began) / 1000000)) -lt 3000

# ---- in SQL ----

id=$(put q x)
check 'wait() returns null when the time is over' equal \
	"$(sql "select readpast.wait($id, '30 ms') is null")" t
claim=$(claim_of "$(readpast claim q)")
sql "select readpast.wait($id)" >said &
wait=$!
sleep 0.3
readpast complete "$claim"
wait $wait
check 'wait() returns the state' equal "$(cat said)" 'done'
id=$(put q x)
readpast cancel "$id"
check 'wait() returns the state cancelled' equal "$(sql "select readpast.wait($id)")" cancelled
refused() { # PATTERN SQL: each line of SQL is a statement; the error matches PATTERN
	psql -qAtX -v ON_ERROR_STOP=1 "host=$server user=postgres dbname=postgres" \
		<<<"${2//$'\n'/;$'\n'};" >out 2>err
	grep -q -- "$1" err
}
check 'wait() refuses an id that was never given' refused 'no job has the id' 'select readpast.wait(9999)'
check 'wait() refuses a timeout that is too long' refused 'within 0..' "select readpast.wait($id, '1 day')"
for change in "select readpast.enqueue('q', 'x')" \
	'set transaction isolation level repeatable read'; do
	check "wait() is refused after: $change" refused 'end the transaction first' \
		"begin"$'\n'"$change"$'\n'"select readpast.wait($id)"
done
# Most drivers send the parameters apart from the statement, as pgbench does here.
echo "select readpast.wait(:id)" >script
for mode in simple extended prepared; do
	check "wait() is not refused in the protocol $mode" pgbench -n -t 1 -U postgres \
		-M "$mode" -D "id=$id" -f script -h "$server" postgres
done

# ---- rights ----

sql "$(awk '/^```sql/ { block = ""; inside = 1; next }
	/^```/ { if (inside && block ~ /create role mail_waiter/) printf "%s", block
	         inside = 0 }
	inside { block = block $0 "\n" }' "$doc")" >/dev/null
id=$(put q x)
claim=$(claim_of "$(readpast claim q)")
READPAST_DB="postgres:///postgres?host=$server&user=mail_waiter" begin_wait "$id"
eventually is_registered "$id"
readpast complete "$claim"
end_wait
check 'the documented rights of a waiter are sufficient' equal "$got" "0 $id done (not kept)"
check 'the documented rights of a waiter are sufficient for a wait for a queue' env READPAST_DB="postgres:///postgres?host=$server&user=mail_waiter" \
	"$READPAST" wait --queue q
check 'the queue no longer has a time for waiting clients after a while' equal \
	"$(sql "update readpast.queue set job_waiters_until = now() - interval '1 s';
		update readpast.job_waiter set until = now();
		select count(*) from readpast.sweep_kept(10);
		select count(job_waiters_until) from readpast.queue" | tail -n 1)" 0
waiter="postgres:///postgres?host=$server&user=mail_waiter"
as_waiter() { # ARGUMENT...
	readpast --db "$waiter" wait "$@"
}
readpast queue set kept --keep-done 1h --max-attempts 1
id=$(put kept x)
printf answer | readpast complete "$(claim_of "$(readpast claim kept)")" --result -
dead=$(put kept x)
readpast fail "$(claim_of "$(readpast claim kept)")" --error broken
for option in --result --json; do
	check "a waiter that may not read the result fails with $option" \
		refuses 1 "^readpast: job $id is done, but its result cannot be read: permission denied" as_waiter "$id" "$option"
	check "nothing is printed in place of the result with $option" equal "$(cat out)" ''
done
check 'a waiter that may not read the job sees that it is done' status 0 as_waiter "$id"
check 'a waiter is told that it cannot read the error' \
	refuses 7 "^readpast: job $dead is dead, but its error cannot be read: permission denied" as_waiter "$dead"
check 'it sees that the job is dead' equal "$(cat out)" "$dead dead"
sql "$(awk '/^```sql/ { inside = 1; next } /^```/ { inside = 0 }
	inside && /readpast.live, readpast.kept/' "$doc")"
check 'with the documented right a waiter reads the result' status 0 as_waiter "$id" --result
check 'this is the result' equal "$(cat out)" answer
check 'with this right a waiter reads the error' refuses 7 "job $dead is dead: broken" as_waiter "$dead"

# ---- an enqueue that cannot wait ----

sql "create role half login;
	grant usage on schema readpast to half;
	grant execute on all functions in schema readpast to half;
	grant select, insert, update on all tables in schema readpast to half;
	grant usage, select on all sequences in schema readpast to half;
	revoke insert on readpast.job_waiter from half"
for option in --result --json --quiet; do
	check "enqueue --wait $option that may not wait says that the job is enqueued" \
		refuses 1 '^readpast: permission denied .*; job [0-9]+ is enqueued \(readpast wait waits for it again\)$' \
		readpast --db "postgres:///postgres?host=$server&user=half" enqueue kept x --wait "$option"
done
finish
