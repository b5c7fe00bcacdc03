#!/usr/bin/env bash
# Test ids after a backup is restored: new jobs must get none of the ids that jobs got
# between the backup and the restore.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"
on_database "$2"

# pg_dump refuses a server that is newer than pg_dump.
if [[ $2 == postgres: ]]; then
	version=$(sql 'show server_version_num')
	dump=$(pg_dump --version | grep -oE '[0-9]+' | head -n 1)
	if ((version / 10000 > dump)); then
		echo "1..0 # SKIP pg_dump $dump cannot read a server of version $((version / 10000))"
		exit
	fi
fi

back_up() {
	if [[ $READPAST_DB == sqlite:* ]]; then
		sqlite3 "${READPAST_DB#sqlite:}" '.backup backup.db'
	else
		pg_dump -n "$schema" "${READPAST_DB%&schema=*}" >backup.sql
	fi
}
put_back() {
	if [[ $READPAST_DB == sqlite:* ]]; then
		sqlite3 "${READPAST_DB#sqlite:}" '.restore backup.db'
	else
		sql "drop schema $schema cascade" 2>/dev/null
		psql -qX -v ON_ERROR_STOP=1 "${READPAST_DB%&schema=*}" -f backup.sql >/dev/null
	fi
}

readpast enqueue q before >/dev/null
held=$(claim_of "$(readpast claim q --lease 1h)")
readpast enqueue q --delay 1ms later >/dev/null
check 'a backup is made' back_up
lost=$(readpast enqueue q lost)
check 'the backup is restored' put_back
check 'the job enqueued after the backup is gone' status 3 readpast show "$lost"
check 'init --after-restore prints how many ids it skips' \
	grep -qx "new jobs get ids above $((lost - 1 + 1000000000)): skipped 1000000000 ids" \
	<(readpast init --after-restore)
check 'the id of the lost job is not given again' equal "$(readpast enqueue q new)" "$((lost + 1000000000))"
check 'a client that claimed before the backup may still settle' readpast complete "$held"
check 'a worker does the jobs, also those that were scheduled' readpast work q --drain --max-jobs 2 -- true
check 'no job is left' equal "$(readpast list q --json)" ''
check 'a second init --after-restore skips ids again' \
	grep -qx "new jobs get ids above $((lost + 2000000000)): .*" \
	<(readpast init --after-restore)
check 'init without --after-restore skips no ids' equal "$(readpast init >/dev/null && readpast enqueue q x)" "$((lost + 2000000001))"
if [[ $2 == sqlite: ]]; then
	sql "update sqlite_sequence set seq = 9223372036854775000 where name = 'readpast_job'"
	check 'init --after-restore is refused if not enough ids are left' refuses 1 'not enough ids are left' readpast init --after-restore
fi
finish
