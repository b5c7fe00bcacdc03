#!/usr/bin/env bash
# Test the library behind a pooler in transaction mode, which may run each transaction
# in a different session. The script runs the conformance programs that prepare
# statements, keep transactions open, and wait.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=../cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"
# shellcheck source=server.sh
. "$(dirname "$0")/server.sh"
build=$2
undo() {
	kill "$(cat pool/pid)"
}

listens() {
	[[ -S pool/.s.PGSQL.6432 ]]
}

chmod 755 "$here"
start_server "$server" max_connections=50
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
default_pool_size = 8
ignore_startup_parameters = options
logfile = $here/pool/log
pidfile = $here/pool/pid
END
((EUID != 0)) || chown -R postgres pool
as_server pgbouncer -q -d pool/ini
check 'the pooler accepts connections' eventually listens

export READPAST_TEST_POSTGRES="postgres:///postgres?host=$here/pool&port=6432&user=postgres"
for name in claim queue race settle txn unique wait worker; do
	check "the program $name passes behind the pooler" "$build/tests/conformance_$name" postgres:
done

# Change the default isolation level of all sessions. The programs must work, and must
# not change this setting.
psql -qX "host=$server user=postgres" -c "alter role postgres set default_transaction_isolation = 'repeatable read'" \
	-c "do \$\$
	declare
		others integer[] := array(select pid from pg_stat_activity
			where pid <> pg_backend_pid() and usename = 'postgres');
	begin
		perform pg_terminate_backend(pid) from unnest(others) as pid;
		while exists (select from pg_stat_activity where pid = any (others)) loop
			perform pg_sleep(0.01), pg_stat_clear_snapshot();
		end loop;
	end \$\$"
# Ended sessions may still be in the pool. Repeat a query until it gets a new session.
eventually psql -qAtX "$READPAST_TEST_POSTGRES" -c 'select 1' >/dev/null 2>&1
for name in claim worker; do
	check "the program $name passes if the default is repeatable read" "$build/tests/conformance_$name" postgres:
done
check 'the default is still repeatable read' equal \
	"$(psql -qAtX "$READPAST_TEST_POSTGRES" -c 'show default_transaction_isolation')" 'repeatable read'
finish
