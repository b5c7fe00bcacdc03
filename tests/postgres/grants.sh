#!/usr/bin/env bash
# The grants of docs/postgres.md are enough for what each role does, and for no
# more. Starts a server of its own.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=../cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"
# shellcheck source=server.sh
. "$(dirname "$0")/server.sh"
doc=$2/docs/postgres.md

start_server "$server" fsync=off

as() { # ROLE COMMAND...: the command line as that role
	READPAST_DB="postgres:///postgres?host=$server&user=$1" readpast "${@:2}"
}
sql_as() { # ROLE SQL
	psql -qAtX -v ON_ERROR_STOP=1 "host=$server user=$1 dbname=postgres" -c "$2"
}
# The document's blocks of SQL that make a role, and all that they grant.
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
check 'a producer makes a queue by naming it' enqueue one
check 'with all that a job may have' enqueue two \
	--priority 7 --delay 1ms --kind k --header a=1
check 'many' enqueue three four
check 'with a unique key' enqueue five --unique k
check 'that is replaced' enqueue six --unique k --replace
check 'in SQL' sql_as mail_producer "select readpast.enqueue('mail', 'seven')"
check 'at repeatable read' sql_as mail_producer \
	"begin isolation level repeatable read;
	select readpast.enqueue('mail', 'eight'); commit"
sql_as postgres "select readpast.going_to_sleep(1, '{mail}')" >/dev/null
check 'while a worker sleeps' enqueue nine
check '... which is woken' equal "$(sql_as postgres 'select count(*) from readpast.sleeper')" 0
check 'it claims nothing' refuses 1 'permission denied' as mail_producer claim mail
check 'and reads no payload' status 1 sql_as mail_producer \
	'select payload from readpast.job'

# ---- a worker ----

check 'a worker works' as mail_worker work mail --drain -- true
check 'until nothing is left' equal "$(sql_as postgres 'select count(*) from readpast.job')" 0
sql_as postgres "select readpast.queue_set('mail', max_attempts => 1)"
enqueue ten >/dev/null
check 'what fails is told' as mail_worker work mail --drain -- false
check 'and kept, when it was for the last time' equal \
	"$(sql_as postgres 'select state from readpast.jobs')" dead
enqueue eleven --priority 3 >/dev/null
check 'a client in SQL that gives itself a name' sql_as mail_worker \
	"select readpast.complete(id, claim_no)
	   from readpast.claim('mail', worker => 'me')"
check 'that sweeps' sql_as mail_worker 'select readpast.sweep()'
check 'that sleeps' sql_as mail_worker "select readpast.going_to_sleep(9, '{mail}')"
check 'none of them drops a queue' refuses 1 'permission denied' as mail_worker queue drop mail --yes

# ---- an admin ----

check 'an admin changes a queue' as mail_admin queue set mail --priority 5
check 'pauses it' as mail_admin pause mail
check 'resumes it' as mail_admin resume mail
check 'retries what is dead' as mail_admin retry --dead mail
check 'lists it' grep -q ten <(as mail_admin list mail)
check 'purges it' as mail_admin purge mail --state all --yes
check 'drops it' as mail_admin queue drop mail --yes
finish
