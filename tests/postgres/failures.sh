#!/usr/bin/env bash
# Test the command line on a PostgreSQL server that cannot be used. Each command must
# print one line, exit with the right status, and leave nothing half done. The script
# starts its own servers.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=../cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"
# shellcheck source=server.sh
. "$(dirname "$0")/server.sh"

guarded=$servers/guarded
start_server "$server" max_connections=50
url="postgres:///postgres?host=$server&user=postgres"
base="host=$server user=postgres"
on() { # URL COMMAND...: run the command on this database
	readpast --db "$@"
}

# ---- a server, a database and a user that do not exist ----

check 'a missing socket: the command exits with 1' refuses 1 '/nowhere.*No such file.*--db' \
	on 'postgres:///x?host=/nowhere' stats
check 'a port without a server: the command exits with 1' refuses 1 'Connection refused.*--db' \
	on 'postgres://127.0.0.1:1/x' stats
check 'several hosts without a server: one line' refuses 1 'Connection refused' \
	on 'postgres://127.0.0.1:1,127.0.0.1:2/x?target_session_attrs=read-write' stats
# silent_host: accepts connections and never answers. Writes its port to the file
# `port`.
silent_host() {
	exec python3 -c 'import socket, time
s = socket.create_server(("127.0.0.1", 0))
open("port", "w").write(str(s.getsockname()[1]) + "\n")
time.sleep(100)'
}
silent_host &
eventually test -s port
within() { # LEAST MOST COMMAND...: the command takes LEAST to MOST seconds
	local least=$1 most=$2 began=$SECONDS
	shift 2
	"$@"
	local r=$?
	((SECONDS - began >= least && SECONDS - began <= most)) && return $r
}
check 'a host that does not answer: the call ends after 10 s' within 9 13 \
	refuses 1 'timeout expired' on "postgres://127.0.0.1:$(cat port)/x" stats
check 'a timeout in the URL is used' within 1 5 \
	refuses 1 'timeout expired' on "postgres://127.0.0.1:$(cat port)/x?connect_timeout=2" stats
export PGCONNECT_TIMEOUT=2
check 'a timeout in the environment is used' within 1 5 \
	refuses 1 'timeout expired' on "postgres://127.0.0.1:$(cat port)/x" stats
unset PGCONNECT_TIMEOUT
check 'the message about a missing database has its name' refuses 1 'database "nosuch" does not exist' \
	on "postgres:///nosuch?host=$server&user=postgres" stats
check 'the message about a missing role has its name' refuses 1 'role "nosuch" does not exist' \
	on "postgres:///postgres?host=$server&user=nosuch" stats
check 'enqueue prints the same message' refuses 1 'database "nosuch" does not exist' \
	on "postgres:///nosuch?host=$server&user=postgres" enqueue q x
check 'a worker prints the same message when it starts' refuses 1 'database "nosuch" does not exist' \
	on "host=$server user=postgres dbname=nosuch" work q --drain -- true

# ---- URLs ----

for name in 'Bad' '1st' 'a-b' 'a.b' 'a%20b' '' "$(printf '%044d' 0 | tr 0 x)"; do
	check "schema=${name:0:9} is not a valid name: exit 2" refuses 2 'lower-case letters' on "$url&schema=$name" stats
done
check 'schema as a keyword of libpq is refused, and the message says where to write it' \
	refuses 2 'schema is an option of readpast: write it at the end of the URL' on 'host=/x dbname=d password=p schema=s' stats
check 'a keyword of SQL as the name of a schema is refused' refuses 2 'word of SQL' on "$url&schema=select" init
sql 'create role quoting superuser login; alter role quoting set quote_all_identifiers = on'
check 'a role whose session quotes all names can make a schema' \
	status 0 on "postgres:///postgres?host=$server&user=quoting&schema=jobs" init
check 'such a role is refused a keyword, too' \
	refuses 2 'word of SQL' on "postgres:///postgres?host=$server&user=quoting&schema=user" init
on "postgres:///postgres?host=$server&user=quoting&schema=jobs" enqueue q x --quiet
check 'a worker of this role runs a job' \
	status 0 on "postgres:///postgres?host=$server&user=quoting&schema=jobs" work q --drain -- true
sql 'drop schema jobs cascade' 2>out
sql 'create role olden superuser login; alter role olden set standard_conforming_strings = off'
check 'a role whose session treats each backslash as an escape can make a schema' \
	status 0 on "postgres:///postgres?host=$server&user=olden&schema=jobs" init
sql 'drop schema jobs cascade' 2>out
check "a name that the server reserves is refused" refuses 2 'pg_mine' on "$url&schema=pg_mine" init
check 'an option that libpq does not know: the command exits with 2' refuses 2 'nonsense' on "$url&nonsense=1" stats
check 'an unknown option in a keyword/value string is refused' refuses 2 'nonsense' on "$base nonsense=1" stats

# ---- schema ----

check 'stats without a schema names the command that makes it' refuses 1 'no schema readpast: readpast init' on "$url" stats
check 'stats names the missing schema' refuses 1 'no schema other: readpast init' on "$url&schema=other" stats
check 'commands that read make no schema' equal "$(sql "select count(*) from pg_namespace where nspname = 'readpast'")" 0

new_database strangers
sql strangers 'create table theirs ()'
check "a database with other tables is not changed" refuses 1 'has other tables.*readpast init' readpast enqueue q x
check 'a worker does not serve a database with other tables' refuses 1 'no schema readpast: readpast init' readpast work q --drain -- true
sql strangers 'create schema readpast'
check 'an empty schema is not used' refuses 1 'readpast init' readpast stats
sql strangers "create schema readpast_of_others;
	grant usage on schema readpast_of_others to public;
	create function readpast_of_others.f() returns integer language sql as 'select 1';
	create table readpast_of_others.t ();
	grant select on readpast_of_others.t to public"
check 'init uses no schema that has other objects' refuses 1 \
	'^readpast: schema readpast_of_others already has objects: [^?]*[?]schema=NAME$' \
	on "$READPAST_DB&schema=readpast_of_others" init
readpast --db 'postgres:?schema=readpast_of_others' init --print >print.sql
check 'nor does the script of init --print' refuses 3 'already has objects' \
	psql -qX -v ON_ERROR_STOP=1 -v VERBOSITY=terse "$READPAST_DB" -f print.sql
check 'the rights on these objects stay' equal "$(sql strangers "select
	has_function_privilege('public', 'readpast_of_others.f()', 'execute'),
	has_table_privilege('public', 'readpast_of_others.t', 'select')")" 't|t'
sql strangers 'create role first login; create role second login; create role of_first login in role first;
	create schema first authorization first; create schema of_first authorization first'
as() { # ROLE COMMAND...: run the command line as this role, in the schema `first`
	on "${READPAST_DB/user=postgres/user=$1}&schema=first" "${@:2}"
}
check 'init uses no schema of another role' refuses 1 \
	'^readpast: schema first belongs to role first: run init as this role, or ' as second init
check 'the owner of an empty schema needs no right to create schemas' status 0 as first init
sql strangers 'drop schema first cascade; create schema first authorization first' 2>out
check 'nor does a role that has the rights of the owner' status 0 as of_first init
check 'doctor does not report this owner' equal \
	"$(as of_first doctor --json | grep -o '"check":"writable"')" ''
sql strangers 'alter default privileges in schema readpast grant select on tables to public'
check 'init uses an empty schema that was made in advance' refuses 0 \
	"^readpast: created the queue's tables in schema readpast in " readpast init

new_database long
name=$(printf '%043d' 0 | tr 0 x)
check 'init makes a schema with the longest name' status 0 on "$READPAST_DB&schema=$name" init
sql long "select $name.queue_create('q');
	insert into $name.waiter (queue_id, until, worker_id) select id, 'infinity', 9223372036854775807 from $name.queue;
	update $name.queue set waiters_until = 'infinity'" >out
check 'enqueue notifies a worker in this schema' status 0 on "$READPAST_DB&schema=$name" enqueue q x
check 'this worker is notified only once' equal "$(sql long "select count(*) from $name.waiter")" 0

new_database versions
check 'init succeeds' status 0 readpast init
sql versions "update readpast.meta set value = '1' where name = 'build'"
check 'a schema of an earlier build is refused' refuses 1 'made by an earlier build.*new schema' readpast enqueue q x
sql versions "update readpast.meta set value = '99' where name = 'schema'"
for command in stats init 'enqueue q x' 'work q --drain -- true'; do
	# shellcheck disable=SC2086
	check "a newer schema is refused: ${command%% *}" refuses 1 'version 99, newer.*upgrade' readpast $command
done
check 'no job was enqueued into the newer schema' equal "$(sql versions 'select count(*) from readpast.job')" 0

# ---- eight processes at once ----

# init_at_once: run init in eight processes at the same time. Prints how often each exit
# status and each message occurred.
init_at_once() {
	for i in 1 2 3 4 5 6 7 8; do
		{ readpast init >"out.$i" 2>"err.$i"; echo $? >"status.$i"; } &
		pids[i]=$!
	done
	wait "${pids[@]}"
	echo "$(cat status.? | sort | uniq -c | tr -s ' ')," \
		"$(cat out.? | grep -c 'is ready$') ready, $(cat err.? | wc -l) lines"
}
# Print the number of objects in the schema.
objects() {
	sql "$1" "select count(*) from pg_depend where refobjid = 'readpast'::regnamespace"
}
declare -a pids sessions
complete=$(objects versions)
for round in 1 2 3; do
	new_database "together$round"
	check "init by eight processes, round $round: all succeed, and one prints that it made the schema" equal "$(init_at_once)" ' 8 0, 8 ready, 1 lines'
	check "after round $round the schema is complete" equal "$(objects "together$round")" "$complete"
done
check 'enqueue works in this schema' equal "$(readpast enqueue q x)" 1

new_database denied
sql denied "create role unable login; create role producer login"
READPAST_DB="postgres:///denied?host=$server&user=unable"
check 'init by eight processes without permission: one line each, and exit 1' equal "$(init_at_once)" ' 8 1, 0 ready, 8 lines'
check 'the line names the missing right' grep -q 'permission denied for database denied' err.1
check 'no part of the schema was made' equal "$(sql denied "select count(*) from pg_namespace where nspname = 'readpast'")" 0

sql "create database latin encoding 'LATIN1' lc_collate 'C' lc_ctype 'C' template template0"
check 'a database that is not UTF-8 is refused' refuses 1 'the encoding of database latin is LATIN1: use a database with the encoding UTF8' \
	on "postgres:///latin?host=$server&user=postgres" init

# ---- rights ----

check 'init by the owner succeeds' status 0 on "postgres:///denied?host=$server&user=postgres" init
check 'stats without a right to the schema is refused' refuses 1 'permission denied for schema readpast' readpast stats
check 'enqueue without a right to the schema is refused' refuses 1 'permission denied for schema readpast' readpast enqueue q x
sql denied 'grant usage on schema readpast to unable; grant select on readpast.meta to unable'
check 'enqueue without a right to execute a routine is refused' refuses 1 'permission denied for function.*lacks a grant' readpast enqueue q x
check 'a claim without the rights is refused' refuses 1 'permission denied for' readpast claim q
check 'a worker without the rights ends at once' refuses 1 'permission denied for' readpast work q --drain -- true
check 'no job was enqueued' equal "$(sql denied 'select count(*) from readpast.job')" 0
sql denied 'alter role producer connection limit 0'
check 'too many connections of a role are refused' refuses 1 'too many connections' on "postgres:///denied?host=$server&user=producer" stats

# ---- read-only ----

new_database standby
readpast init >/dev/null
readpast enqueue q x --quiet
sql 'alter database standby set default_transaction_read_only = on'
for command in 'enqueue q x' 'claim q' 'sweep' 'work q --drain --quiet -- true' 'cancel 1' 'queue pause q'; do
	# shellcheck disable=SC2086
	check "a session that can only read refuses ${command%% -*}" refuses 1 'read-only transaction: use the URL of a server that accepts writes' readpast $command
done
check 'a session that can only read prints stats' equal "$(field ready "$(readpast stats q --json)")" 1
check 'target_session_attrs=read-write refuses this session' refuses 1 'session is read-only' \
	on "$READPAST_DB&target_session_attrs=read-write" stats
sql 'alter database standby reset default_transaction_read_only'
set_read_only() { # on|off
	sql "alter system set default_transaction_read_only = $1" && sql 'select pg_reload_conf()' >/dev/null
}
mkfifo hold
start_worker moved
id=$(readpast enqueue moved x)
check 'a worker runs a job' eventually is_running "$id"
set_read_only on
echo >hold
check 'a worker whose server refuses writes for a while tries again' \
	eventually grep -q 'read-only transaction.*; trying again' log
set_read_only off
check 'when the server accepts writes, the worker settles the job' status 0 readpast wait "$id" --timeout 60s
kill "$worker"
wait "$worker"
check 'this worker ends without an error' equal $? 0
rm hold

# ---- input ----

id=$(printf 'a\0b' | readpast enqueue nul --one)
check 'a NUL in a payload is kept' equal "$(readpast work nul --drain -- od -An -c 2>/dev/null | head -n 1 | tr -d ' \n')" 'a\0b'
check 'the job with the NUL is done' status 3 readpast show "$id"
for bad in $'a\nb' $'a\x80' ''; do
	check "${bad@Q} is refused as a queue" refuses 2 "queue's name" readpast enqueue "$bad" x
	check "${bad@Q} is refused as a kind" refuses 2 'kind' readpast enqueue q x --kind "$bad"
done
try_sql() { # SQL PATTERN: the statement is refused with this message
	! sql standby "$1" >out 2>&1 && grep -q "$2" out
}
check 'SQL: a NUL in a queue is refused' try_sql "select readpast.enqueue(E'a\\x00b', 'x')" 'invalid byte sequence'
check 'SQL: headers that are not JSON are refused' \
	try_sql "select readpast.enqueue('q', 'x', headers => 'garbage')" 'invalid input syntax for type json'
check 'SQL: headers that are an array are refused' try_sql "select readpast.enqueue('q', 'x', headers => '[1]')" 'not a JSON object'
check 'a header without a value: the command exits with 2' refuses 2 'NAME=VALUE' readpast enqueue q x --header garbage
check 'SQL: an invalid jsonb payload is refused' try_sql "select readpast.enqueue('q', '{\"a\"'::jsonb)" 'invalid input syntax for type json'
check 'SQL: a NUL in a jsonb payload is refused' try_sql "select readpast.enqueue('q', '{\"a\": \"\\u0000\"}'::jsonb)" 'cannot be converted to text'
check 'none of the refused jobs was enqueued' equal "$(sql standby 'select count(*) from readpast.job')" 1

# ---- locks of other sessions ----

is_done() { # ID: the job no longer exists
	! readpast show "$1"
}

psql -qAtX "$base dbname=standby" -c 'begin' -c 'lock table readpast.job' \
	-c 'select pg_sleep(60)' >/dev/null 2>&1 &
holder=$!
locked() {
	[[ $(sql standby "select count(*) from pg_locks where mode = 'AccessExclusiveLock' and granted and relation = 'readpast.job'::regclass") == 1 ]]
}
check 'another session locks the table of jobs' eventually locked
check 'a lock time-out is an error' refuses 1 'lock timeout' \
	on "$READPAST_DB&options=-clock_timeout%3D100" enqueue q x
check 'a statement timeout is an error, too' refuses 1 'statement timeout' \
	on "$READPAST_DB&options=-cstatement_timeout%3D100" enqueue q x
cut_off() {
	local pid got
	"$READPAST" --db "$READPAST_DB&application_name=cut" enqueue q 1 2 3 --skip 1 2>err &
	pid=$!
	eventually eval "sql standby \"select pg_terminate_backend(pid) from pg_stat_activity
		where application_name = 'cut' and wait_event_type = 'Lock'\" | grep t"
	wait "$pid"
	got=$?
	equal "$got" 1 || return
	grep 'outcome unknown.*; 0 jobs enqueued, and perhaps also the next 2: if they are in the queue, go on with --skip 3, else with --skip 1$' err && return
	cat err
	return 1
}
check 'an enqueue that is cut off says what is sure and what is not' cut_off
readpast --history h work q --drain -- true >work.out 2>&1 &
worker=$!
worker_waits() {
	[[ $(sql standby "select count(*) from pg_locks where not granted") == 1 ]]
}
check 'without a timeout a worker waits for the lock' eventually worker_waits
kill "$holder"
wait "$holder" 2>/dev/null
sql "select pg_terminate_backend(pid) from pg_stat_activity where query like '%pg_sleep(60)' and pid <> pg_backend_pid()" >/dev/null
wait "$worker"
check 'the worker goes on when the lock is released' equal "$?:$(tail -n 1 work.out)" \
	'0:1 done, 0 failed, 0 dead, 0 released'
check 'the worker has done no other job' equal "$(sql standby 'select count(*) from readpast.job')" 0
# Another session alters the table while a worker uses it.
"$READPAST" work q --quiet -- true >work.out 2>&1 &
worker=$!
job=$(readpast enqueue q x)
check 'a worker does a job' eventually is_done "$job"
sql standby 'alter table readpast.job add column more integer; alter table readpast.job set (fillfactor = 40)'
job=$(readpast enqueue q x)
check 'after the table was altered the worker goes on' eventually is_done "$job"
kill "$worker"
wait "$worker"
check 'the worker has printed no error' equal "$?:$(cat work.out)" 0:

# ---- passwords ----

"$pg_temp" start "$guarded" max_connections=5 superuser_reserved_connections=0 \
	max_wal_senders=0 password_encryption=scram-sha-256 >/dev/null
psql -qX "host=$guarded user=postgres" -c "create role app login superuser password 'open-sesame'"
printf 'local all postgres trust\nlocal all all scram-sha-256\n' >"$guarded/data/pg_hba.conf"
psql -qAtX "host=$guarded user=postgres" -c 'select pg_reload_conf()' >/dev/null
rm -f all.out
silent() { # COMMAND...: run the command, and append its output to all.out
	readpast "$@" >one.out 2>one.err
	local r=$?
	cat one.out one.err >>all.out
	cat one.out
	cat one.err >&2
	return $r
}
with() { # PASSWORD: print a URL with this password
	echo "postgres://app:$1@/postgres?host=$guarded"
}
ready_with_password() {
	psql -qAtX "host=$guarded user=app password=open-sesame dbname=postgres" -c 'select 1'
}
eventually ready_with_password
check 'a wrong password: the command exits with 1' refuses 1 'password authentication failed for user "app"' \
	silent --db "$(with xyzzy-wrong)" stats
check 'a missing password is refused' refuses 1 'no password supplied' silent --db "postgres:///postgres?host=$guarded&user=app" stats
check 'the right password is accepted' status 0 silent --db "$(with open-sesame)" init
check 'the password in a keyword/value string is accepted' status 0 silent --db "host=$guarded user=app password=open-sesame dbname=postgres" init
check "the password in the query of the URL is accepted" status 0 silent --db "postgres:///postgres?host=$guarded&user=app&password=open-sesame" init
for url_of_it in "$(with open-%zz-sesame)" "$(with open-@-sesame)" "$(with open-/-sesame)" \
	"$(with open-sesame)&x=1" \
	"host=$guarded user=app password='open-sesame" "host=$guarded password=open-sesame x=1" \
	"host=$guarded user=app password=open -sesame"; do
	check "a wrong URL is refused: ${url_of_it//$guarded/DIR}" refuses 2 . silent --db "$url_of_it" stats
done
check 'a worker with the password works' status 0 silent --db "$(with open-sesame)" work q --drain -- true
check 'no password was ever printed' equal "$(grep -c 'sesame\|xyzzy\|open-' all.out)" 0
check 'the commands have printed some output' test -s all.out

# ---- a server that refuses connections ----

there="postgres:///postgres?host=$guarded&user=postgres"
for i in 1 2 3 4; do
	psql -qAtX "host=$guarded user=postgres" -c 'select pg_sleep(60)' >/dev/null 2>&1 &
	sessions[i]=$!
done
crowded() {
	[[ $(psql -qAtX "host=$guarded user=postgres" -c "select count(*) from pg_stat_activity where query like 'select pg_sleep%'") == 4 ]]
}
eventually crowded
# Take the last free connection. This fails until the session that used the connection
# before has ended.
takes_the_last() {
	: >fifth
	psql -qAtX "host=$guarded user=postgres" -c "select 'in'" -c 'select pg_sleep(60)' >fifth 2>/dev/null &
	sessions[5]=$!
	# shellcheck disable=SC2317
	in_or_refused() {
		[[ -s fifth ]] || ! kill -0 "${sessions[5]}" 2>/dev/null
	}
	eventually in_or_refused
	[[ -s fifth ]]
}
eventually takes_the_last
check 'no connection is free: the command exits with 1' refuses 1 'too many clients' on "$there" stats
check 'a worker without a free connection exits with 1' refuses 1 'too many clients' on "$there" work q --drain -- true
data=$guarded/data
pg_ctl=$(dirname "$(readlink "/proc/$(head -n 1 "$data/postmaster.pid")/exe")")/pg_ctl
(cd / && as_server "$pg_ctl" -D "$data" -s -W -m smart stop)
check 'the server is shutting down: the command exits with 1' refuses 1 'shutting down' on "$there" stats
(cd / && as_server "$pg_ctl" -D "$data" -s -m immediate stop)
wait "${sessions[@]}"
check 'a server that has ended: another message' refuses 1 'No such file|Connection refused' on "$there" stats
as_server touch "$data/recovery.signal"
echo "restore_command = 'sleep 60; false'" >>"$data/postgresql.conf"
(cd / && as_server "$pg_ctl" -D "$data" -s -W start >/dev/null)
starts() {
	psql -qAtX "host=$guarded user=postgres" -c '' 2>&1 | grep -q 'starting up'
}
eventually starts
check 'the server is starting up: the command exits with 1' refuses 1 'starting up' on "$there" stats
"$pg_temp" stop "$guarded" immediate

finish
