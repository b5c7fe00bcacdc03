#!/usr/bin/env bash
# Test the findings of the command `doctor` that are possible only on PostgreSQL. The
# script starts one temporary server with bad settings, and causes the problems there.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=../cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"
# shellcheck source=server.sh
. "$(dirname "$0")/server.sh"
undo() {
	[[ ! -e pool/pid ]] || kill "$(cat pool/pid)"
}
chmod 755 "$here"

start_server "$server" max_connections=50 max_prepared_transactions=5 \
	wal_level=logical fsync=off autovacuum=off
url="postgres:///postgres?host=$server&user=postgres"
export READPAST_DB=$url
base="host=$server user=postgres dbname=postgres"
readpast init >/dev/null

fix_of() { # NAME WORDS: print the fix of the finding that contains the words
	doctor --json | jq -r --arg name "$1" --arg words "$2" \
		'select(.check == $name and (.finding | contains($words))) | .fix'
}
mends() { # NAME WORDS: run this fix, and succeed if the finding is then gone
	local fix
	fix=$(fix_of "$@")
	[[ -n $fix ]] && sql "$fix" && equal "$(fix_of "$@")" ''
}

# ---- settings of the server ----

check 'fsync that is off is reported' finds fsync 'fsync is off.*alter system set fsync = on'
check 'autovacuum that is off is reported' finds vacuum 'the server: autovacuum is off'
status 1 doctor
check 'the worst finding comes first' grep -q '^danger .*fsync' <(head -n 1 out)
sql "alter system set fsync = on"
sql "alter system set synchronous_commit = off"
sql "select pg_reload_conf()" >/dev/null
check 'after the fix the finding is gone' eventually lacks fsync
check 'commits that do not wait for the disk are reported' eventually finds commit 'synchronous is off for role postgres'
sql "alter system reset synchronous_commit"
sql "select pg_reload_conf()" >/dev/null
sql "create role sloppy; grant usage on schema readpast to sloppy;
	alter role sloppy set synchronous_commit = off"
check 'the setting of another role is reported' finds commit 'off for role sloppy'
sql "alter role sloppy set synchronous_commit = False"
check 'the setting is reported however it is written' finds commit 'off for role sloppy'
sql "alter role sloppy reset synchronous_commit"
check 'after the reset of the setting the finding is gone' eventually lacks commit
PGOPTIONS='-c default_transaction_isolation=serializable'
export PGOPTIONS
check 'an isolation level that refuses claims is reported' finds isolation 'isolation level of this role is serializable'
PGOPTIONS='-c default_transaction_read_only=on'
check 'a session that can only read is reported' finds readonly 'default_transaction_read_only is on'
unset PGOPTIONS

# ---- tables and indexes ----

# A table of another program has the name of a table of the schema.
sql "create table public.job (lease_until timestamptz)"
sql "alter table readpast.job set (autovacuum_enabled = false)"
check 'autovacuum that is off for a table is reported' finds vacuum 'table readpast.job: '
check 'the fix turns it on' mends vacuum 'table '
sql "alter table readpast.job set (autovacuum_enabled = of)"
check 'autovacuum that is off is reported however it is written' finds vacuum 'table readpast.job: '
sql "alter table readpast.job reset (autovacuum_enabled)"
sql "alter table readpast.job reset (fillfactor)"
check 'a table whose pages have no room for a claim is reported' finds reloptions 'readpast.job has fillfactor 100'
check 'the fix leaves room in the pages' mends reloptions 'fillfactor'
sql "alter table readpast.job set (fillfactor = 45.0)"
check 'the number may have decimals' lacks reloptions
sql "create index mine on readpast.job (lease_until)"
check 'an index that every claim has to write is reported' finds index 'readpast.mine contains a column'
check 'the fix drops the index' mends index 'mine'
check 'the fixes have not changed the table of the other program' \
	equal "$(sql "select reloptions is null from pg_class where oid = 'public.job'::regclass")" t
sql "grant usage on schema readpast to public; grant select on readpast.job to public"
check 'a right of public to read jobs is reported' finds public 'may select readpast.job".*revoke all on readpast.job'
sql "revoke all on readpast.job from public"
check 'after a revoke the finding is gone' lacks public
sql "create role stranger; create role \"Other one\""
# Up to PostgreSQL 14 everybody may create objects in the schema public by default.
sql "revoke create on schema public from public"
check 'a schema of the search_path in which only its owner may create is not reported' lacks path
check 'the schema of readpast is not reported either' lacks writable
sql "grant create on schema public to public"
check 'a schema of the path in which public may create is reported' finds path \
	'schema public is in the search_path of role postgres, and everybody may.*revoke create on schema public from public'
sql "revoke create on schema public from public; grant create on schema public to stranger"
check 'a schema of the path in which a role may create is reported' finds path 'and role stranger may.*from stranger'
check 'the right of a single role is only a warning' equal "$(doctor --json | grep -c '"check":"path","level":"warning"')" 1
sql "revoke create on schema public from stranger; create schema \"A, b\"; create schema postgres;
	grant create on schema \"A, b\", postgres to stranger"
# The server, and not the shell, splits these options at blanks.
# shellcheck disable=SC2089
PGOPTIONS='-c search_path="A,\ b"'
# shellcheck disable=SC2090
export PGOPTIONS
check 'a schema with a comma in its name is reported' finds path 'schema A, b is.*revoke create on schema ..A, b..'
# shellcheck disable=SC2016
PGOPTIONS='-c search_path="$user",public'
check 'the schema that is named after the role is reported' finds path 'schema postgres is'
unset PGOPTIONS
sql "drop schema postgres, \"A, b\"; grant create on schema readpast to stranger"
check 'a role that may create in the schema of readpast is reported' finds writable 'schema readpast holds .*, and role stranger may.*revoke create on schema readpast from stranger'
sql "revoke create on schema readpast from stranger"
check 'after a revoke this finding is gone' lacks writable
sql "grant create on schema readpast to stranger; alter schema readpast owner to \"Other one\""
check 'another owner of the schema is reported, too' finds writable \
	'role Other one, role stranger may.*alter schema readpast owner to postgres; revoke create on schema readpast from stranger; then'
sql "alter schema readpast owner to postgres; revoke create on schema readpast from stranger"
check 'after the fix this finding is gone' lacks writable
sql "select setval('readpast.job_id_seq', 9000000000000000000)" >/dev/null
check 'ids near their end are reported' finds sequence 'job_id_seq is at 90*.*9[78] %'
sql "select setval('readpast.job_id_seq', 1)" >/dev/null

seq 20000 | readpast enqueue q --quiet
check 'a good plan of a claim is not reported' lacks plan
sql "select count(readpast.complete(id, claim_no)) from readpast.claim('q', 15000)" >/dev/null
check 'dead rows that vacuum does not remove are reported' eventually finds bloat 'table readpast.job has about 1[0-9]{4} dead rows.*vacuum .analyze. readpast.job'
check 'a sweep that keeps up is not reported' lacks marks
# Each job that becomes ready gets a number from the sequence `line`. Skip a million of
# these numbers without a sweep. The claim is made in SQL, because `readpast claim`
# would also sweep.
sql "select setval('readpast.line', 1000000)" >/dev/null
sql "select readpast.claim('q', 5000)" >/dev/null
marked() {
	sql "select readpast.enqueue('q', 'far away'); select readpast.claim('q')" >/dev/null
	finds marks 'queue q: the sweep lags behind the claims, by [0-9]{6,7} positions'
}
check 'claims without sweeps are reported' eventually marked
swept() {
	readpast sweep >/dev/null
	lacks marks
}
check 'after sweeps the finding is gone' eventually swept
sql "vacuum readpast.job"
check 'the finding is gone when vacuum has removed the dead rows' eventually lacks bloat
sql "insert into readpast.job (lane_id, seq, run_at, created_at, queue_id, max_attempts, payload)
	select 1024 + 402, nextval('readpast.line'), now(), now(), 1, 3, '' from generate_series(1, 900000)"
sql "delete from readpast.job where payload = ''"
sql "vacuum readpast.job"
check 'an index that is nearly empty is reported' eventually finds hollow 'index readpast.job_line takes [0-9]+ MiB'
check 'the fix rebuilds the index' mends hollow job_line
sql "reindex index readpast.job_pkey"
check 'after a rebuild of the primary key no such index is left' lacks hollow
sql "drop index readpast.job_line"
check 'a missing index is reported' finds index 'job_line is missing'
check 'a claim that scans the whole table is reported' finds plan 'uses .*Scan.*then run: analyze readpast.job"'
sql "create index job_line on readpast.job (lane_id, seq) where seq is not null"
check 'with the index the finding is gone' lacks plan

READPAST_DB="$url&schema=bare"
readpast init >/dev/null
indexes=$(sql "select 'bare.' || indexname from pg_indexes where schemaname = 'bare'" | sort)
sql "$(sql "select format('alter table %s drop constraint %I;', conrelid::regclass, conname)
	from pg_constraint where connamespace = 'bare'::regnamespace and contype in ('p', 'u')")"
sql "$(sql "select format('drop index bare.%I;', indexname) from pg_indexes where schemaname = 'bare'")"
check 'every index of the schema is reported if it is missing' equal \
	"$(doctor --json | jq -r 'select(.check == "index").about.index' | sort)" "$indexes"
READPAST_DB=$url

# ---- sessions that keep a snapshot open ----

coproc psql -qAtX "$base"
echo "begin isolation level repeatable read; select pg_backend_pid();" >&"${COPROC[1]}"
read -r pid <&"${COPROC[0]}"
check 'a young snapshot is not reported' lacks snapshot
check 'a transaction that stays open is reported' eventually finds snapshot \
	"session $pid of postgres \(psql\).*idle in transaction.*pg_terminate_backend\($pid\)" --long 500ms
sql "select pg_terminate_backend($pid)" >/dev/null
check 'the finding is gone when the transaction has ended' eventually lacks snapshot --long 500ms
sql "begin; insert into readpast.lane values (0); prepare transaction 'forgotten'"
check 'a prepared transaction is reported' eventually finds snapshot "prepared transaction forgotten.*rollback prepared" --long 500ms
check 'beside prepared transactions, notify = on is reported' finds prepare 'prepared transactions in this database: 1\. .*set local readpast.notify = off'
READPAST_DB="$url&schema=other"
readpast init >/dev/null
check 'in another schema the setting has the name of this schema' finds prepare 'set local other.notify = off'
READPAST_DB=$url
sql "rollback prepared 'forgotten'"
check 'the finding is gone when nothing is prepared' lacks prepare
sql "select pg_create_logical_replication_slot('left', 'test_decoding')" >/dev/null
check 'an unused replication slot is reported' finds snapshot "replication slot left.*pg_drop_replication_slot"
sql "select pg_drop_replication_slot('left')" >/dev/null

# ---- a worker that calls the routines in SQL ----

readpast enqueue sqlq job >/dev/null
job=$(sql "select id from readpast.claim('sqlq', worker => 'importer', lease => '1 hour')")
check 'why names a worker in SQL without a process' grep -q 'worker importer has held it since' <(readpast why "$job")
readpast queue set sqlg --group-limit 1 >/dev/null
readpast enqueue sqlg first second --group g --quiet
sql "select id from readpast.claim('sqlg', worker => 'importer')" >/dev/null
check 'why names it, and no host, if a job waits for its group' grep -q 'running since .* on worker importer' \
	<(readpast why --queue sqlg --state blocked)
readpast purge sqlg --state all --yes >/dev/null
sql "update readpast.worker set seen_at = seen_at - interval '2 minutes'"
check 'a silent worker in SQL is reported' finds silent 'worker importer has not been heard from for 2 min'
check 'why says that the worker in SQL is silent' grep -q 'importer has held it since .*That worker has not been heard from for 12[0-9]s' <(readpast why "$job")
sql "select readpast.worker_stop(max(id)) from readpast.worker" >/dev/null
check 'a worker that has unregistered is not reported' lacks silent
sql "select readpast.complete(id, claim_no) from readpast.jobs where id = $job" >/dev/null

# ---- rights ----

sql "create role looker login; grant usage on schema readpast to looker;
	grant select on readpast.meta to looker"
READPAST_DB="postgres:///postgres?host=$server&user=looker"
check 'a role that has no rights is reported' finds privileges 'role looker may neither.*delete on job, insert on job'
status 1 doctor
check 'checks for which the role has no rights are listed as not done' grep -q '^not done silent: permission denied for table worker' out
check "the check of other sessions is listed as not done" grep -q '^not done statistics: .*pg_read_all_stats' out
check 'the other checks were done' grep -q '^warning .*autovacuum is off' out
check 'checks that were not done are no findings' equal "$(doctor --json | grep -c not_done)" "$(grep -c '^not done' out)"
READPAST_DB=$url

# ---- a pooler in front of the server ----

mkdir pool
cat >pool/ini <<END
[databases]
postgres = host=$server user=postgres
[pgbouncer]
listen_addr =
listen_port = 6432
unix_socket_dir = $here/pool
auth_type = any
pool_mode = transaction
ignore_startup_parameters = options
logfile = $here/pool/log
pidfile = $here/pool/pid
END
((EUID != 0)) || chown -R postgres pool
as_server pgbouncer -q -d pool/ini
check 'the pooler accepts connections' eventually test -S pool/.s.PGSQL.6432
check 'notifications arrive without the pooler' lacks wakeup
READPAST_DB="postgres:///postgres?host=$here/pool&port=6432&user=postgres"
check 'notifications that do not arrive through the pooler are reported' finds wakeup 'a pooler is in between.*"came_back":false'
READPAST_DB=$url

# ---- a standby ----

check 'a standby is made' "$pg_temp" standby "$servers/standby" "$server"
check 'an asynchronous standby is reported' eventually finds standby 'standby walreceiver is asynchronous \(streaming'
READPAST_DB="postgres:///postgres?host=$servers/standby&user=postgres"
check 'at the standby itself it is reported that it only reads' finds readonly 'this server is a standby'
READPAST_DB=$url
sql "alter system set synchronous_standby_names = '*'"
sql "select pg_reload_conf()" >/dev/null
check 'a synchronous standby is not reported' eventually lacks standby
finish
