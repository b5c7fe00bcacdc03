#!/usr/bin/env bash
# The findings of doctor that only PostgreSQL has. Each is provoked, on a server of its
# own that has bad settings.
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

# ---- settings of the server ----

check 'fsync is off' finds fsync 'fsync is off.*alter system set fsync = on'
check 'autovacuum is off' finds vacuum 'the server: autovacuum is off'
status 1 readpast doctor
check 'the worst comes first' grep -q '^danger .*fsync' <(head -n 1 out)
sql "alter system set fsync = on"
sql "alter system set synchronous_commit = off"
sql "select pg_reload_conf()" >/dev/null
check 'the fix helps' eventually lacks fsync
check 'commits do not wait for the disk' eventually finds commit 'synchronous is off for role postgres'
sql "alter system reset synchronous_commit"
sql "select pg_reload_conf()" >/dev/null
sql "create role sloppy; grant usage on schema readpast to sloppy;
	alter role sloppy set synchronous_commit = off"
check 'the setting of another role' finds commit 'off for role sloppy'
sql "alter role sloppy reset synchronous_commit"
check 'the finding is gone' eventually lacks commit
PGOPTIONS='-c default_transaction_isolation=serializable'
export PGOPTIONS
check 'a level where claims are refused' finds isolation 'isolation level of this role is serializable'
PGOPTIONS='-c default_transaction_read_only=on'
check 'nothing can be written' finds readonly 'default_transaction_read_only is on'
unset PGOPTIONS

# ---- tables and indexes ----

sql "alter table readpast.job set (autovacuum_enabled = false)"
check 'autovacuum is off for a table' finds vacuum 'table job.*reset .autovacuum_enabled'
sql "alter table readpast.job reset (autovacuum_enabled, fillfactor)"
check 'no room for a claim in its page' finds reloptions 'fillfactor 100'
sql "alter table readpast.job set (fillfactor = 45)"
check 'room again' lacks reloptions
sql "create index mine on readpast.job (lease_until)"
check 'an index that every claim has to write' finds index 'mine names a column.*drop index mine'
sql "drop index readpast.mine"
sql "grant usage on schema readpast to public; grant select on readpast.job to public"
check 'public may read jobs' finds public 'may select job'
sql "revoke all on readpast.job from public"
check 'revoked, the finding is gone' lacks public
sql "create role stranger"
# This right is revoked by default since version 15.
sql "revoke create on schema public from public"
check 'nobody else may create in a schema of the search_path' lacks path
check 'nor in our schema' lacks writable
sql "grant create on schema public to public"
check 'public may create in a schema of the path' finds path \
	'schema public is in the search_path of role postgres, and everybody may.*revoke create on schema public from public'
sql "revoke create on schema public from public; grant create on schema public to stranger"
check 'a role may create in it' finds path 'and role stranger may.*from stranger'
check 'which is only a warning' equal "$(readpast doctor --json | grep -c '"check":"path","level":"warning"')" 1
sql "revoke create on schema public from stranger; create schema \"A, b\"; create schema postgres;
	grant create on schema \"A, b\", postgres to stranger"
# The server splits these options, and not the shell.
# shellcheck disable=SC2089
PGOPTIONS='-c search_path="A,\ b"'
# shellcheck disable=SC2090
export PGOPTIONS
check 'a name with a comma' finds path 'schema A, b is.*revoke create on schema ..A, b..'
# shellcheck disable=SC2016
PGOPTIONS='-c search_path="$user",public'
check 'the schema that is named after the role' finds path 'schema postgres is'
unset PGOPTIONS
sql "drop schema postgres, \"A, b\"; grant create on schema readpast to stranger"
check 'others create in our schema' finds writable 'schema readpast holds .*, and role stranger may.*revoke create on schema readpast from stranger'
sql "revoke create on schema readpast from stranger"
check 'revoked, the finding is gone' lacks writable
sql "select setval('readpast.job_id_seq', 9000000000000000000)" >/dev/null
check 'ids near their end' finds sequence 'job_id_seq is at 90*.*9[78] %'
sql "select setval('readpast.job_id_seq', 1)" >/dev/null

seq 20000 | readpast enqueue q --quiet
check 'a claim is planned well' lacks plan
sql "select count(readpast.complete(id, claim_no)) from readpast.claim('q', 15000)" >/dev/null
check 'dead rows that vacuum does not remove' eventually finds bloat 'table job has about 1[0-9]{4} dead rows'
check 'the sweep is not far behind' lacks marks
# Use many numbers of the ready line without a sweep. The claim is made in SQL, because
# the command line would sweep.
sql "select setval('readpast.line', 1000000)" >/dev/null
sql "select readpast.claim('q', 5000)" >/dev/null
marked() {
	sql "select readpast.enqueue('q', 'far away'); select readpast.claim('q')" >/dev/null
	finds marks 'queue q: the sweep is [0-9]{6,7} numbers'
}
check 'claims without sweeps' eventually marked
swept() {
	readpast sweep >/dev/null
	lacks marks
}
check 'sweeps catch up' eventually swept
sql "vacuum readpast.job"
check 'vacuum removes the dead rows' eventually lacks bloat
sql "insert into readpast.job (lane_id, seq, run_at, created_at, queue_id, max_attempts, payload)
	select 1024 + 402, nextval('readpast.line'), now(), now(), 1, 3, '' from generate_series(1, 900000)"
sql "delete from readpast.job where payload = ''"
sql "vacuum readpast.job"
check 'an index that is nearly empty' eventually finds hollow 'index job_line takes [0-9]+ MiB.*reindex index concurrently job_line'
sql "reindex index readpast.job_line; reindex index readpast.job_pkey"
check 'rebuilt, the finding is gone' lacks hollow
sql "drop index readpast.job_line"
check 'an index is missing' finds index 'job_line is missing'
check 'so a claim scans the whole table' finds plan 'uses .*Scan'
sql "create index job_line on readpast.job (lane_id, seq) where seq is not null"
check 'the finding is gone' lacks plan

# ---- sessions that keep a snapshot open ----

coproc psql -qAtX "$base"
echo "begin isolation level repeatable read; select pg_backend_pid();" >&"${COPROC[1]}"
read -r pid <&"${COPROC[0]}"
check 'a snapshot that is not old' lacks snapshot
check 'a transaction that stays open' eventually finds snapshot \
	"session $pid of postgres \(psql\).*idle in transaction.*pg_terminate_backend\($pid\)" --long 500ms
sql "select pg_terminate_backend($pid)" >/dev/null
check 'the transaction has ended' eventually lacks snapshot --long 500ms
sql "begin; insert into readpast.lane values (0); prepare transaction 'forgotten'"
check 'a prepared transaction' eventually finds snapshot "prepared transaction forgotten.*rollback prepared" --long 500ms
check 'one that enqueues could not be prepared beside a worker' finds prepare 'prepared transactions in this database: 1\. .*readpast.notify = off'
sql "rollback prepared 'forgotten'"
check 'the finding is gone' lacks prepare
sql "select pg_create_logical_replication_slot('left', 'test_decoding')" >/dev/null
check 'an unused replication slot' finds snapshot "replication slot left.*pg_drop_replication_slot"
sql "select pg_drop_replication_slot('left')" >/dev/null

# ---- a worker that calls the routines in SQL ----

readpast enqueue sqlq job >/dev/null
job=$(sql "select id from readpast.claim('sqlq', worker => 'importer', lease => '1 hour')")
check 'why names it, and no process' grep -q 'worker importer has held it since' <(readpast why "$job")
sql "update readpast.worker set seen_at = seen_at - interval '2 minutes'"
check 'it fell silent at a place that is not known' finds silent 'worker importer has not been heard of for 2 min'
check 'so says why' grep -q 'importer has held it since .*That worker has not been heard of for 12[0-9]s' <(readpast why "$job")
sql "select readpast.worker_stop(max(id)) from readpast.worker" >/dev/null
check 'one that unregistered is not reported' lacks silent
sql "select readpast.complete(id, claim_no) from readpast.jobs where id = $job" >/dev/null

# ---- rights ----

sql "create role looker login; grant usage on schema readpast to looker;
	grant select on readpast.meta to looker"
READPAST_DB="postgres:///postgres?host=$server&user=looker"
check 'a role that may do nothing' finds privileges 'role looker may neither.*delete on job, insert on job'
status 1 readpast doctor
check 'checks that it may not do are listed' grep -q '^not done silent: permission denied for table worker' out
check "including other users' sessions" grep -q '^not done statistics: .*pg_read_all_stats' out
check 'the other checks were done' grep -q '^warning .*autovacuum is off' out
check 'checks that were not done are no findings' equal "$(readpast doctor --json | grep -c not_done)" "$(grep -c '^not done' out)"
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
check 'the pooler is there' eventually test -S pool/.s.PGSQL.6432
check 'notifications arrive without it' lacks wakeup
READPAST_DB="postgres:///postgres?host=$here/pool&port=6432&user=postgres"
check 'and do not arrive with it' finds wakeup 'a pooler stands between.*"came_back":false'
READPAST_DB=$url

# ---- a standby ----

check 'a standby is made' "$pg_temp" standby "$servers/standby" "$server"
check 'an asynchronous standby' eventually finds standby 'standby walreceiver is asynchronous \(streaming'
READPAST_DB="postgres:///postgres?host=$servers/standby&user=postgres"
check 'at the standby itself' finds readonly 'this server is a standby'
READPAST_DB=$url
sql "alter system set synchronous_standby_names = '*'"
sql "select pg_reload_conf()" >/dev/null
check 'a synchronous standby is no finding' eventually lacks standby
finish
