#!/usr/bin/env bash
# Test which commands create a missing database, and that they print a message when they
# do so. Also test the SQL that `init --print` prints for users who create the tables
# themselves.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"

# `made` is the beginning of the message that reports a new database. `none` is the
# beginning of the message that reports that there is no database.
if [[ $2 == sqlite: ]]; then
	export READPAST_DB=sqlite:$here/readpast.db
	made="made the database $here/readpast.db" none="no database at $here/readpast.db"
else
	# In a database that has other tables, no command but `init` creates the
	# schema. So create an empty database for this test.
	own=made_$$
	export READPAST_DB=${READPAST_TEST_POSTGRES/\/postgres\?//$own?}
	made="created the queue's tables in schema readpast in " none="database $own has no schema readpast"
	psql -qAtX "$READPAST_TEST_POSTGRES" -c "create database $own"
	trap 'psql -qAtX "$READPAST_TEST_POSTGRES" -c "drop database $own with (force)"; cd /; rm -rf "$here"' EXIT
fi

remove_database() {
	case $READPAST_DB in
	sqlite:*) rm -f readpast.db* ;;
	*) sql 'drop schema if exists readpast cascade' 2>/dev/null ;;
	esac
}

# Check that the command prints that it has made a database. Then run the command again.
# Now the database exists, so the command must not print this message.
makes() {
	remove_database
	"$READPAST" "$@" >out 2>err </dev/null || cat err
	grep "^readpast: $made" err || return 1
	"$READPAST" "$@" >out 2>err </dev/null || cat err
	! grep "$made" err
}

check 'init makes a database, and reports it once' makes init
check 'enqueue makes a database, and reports it once' makes enqueue q x
check 'enqueue --quiet makes a database, and reports it once' makes enqueue q x --quiet
check 'queue set makes a database, and reports it once' makes queue set q --lease 1m
check 'stress makes a database, and reports it once' makes stress --jobs 10 --workers 1
readpast --db sqlite:source.db enqueue q x --quiet 2>/dev/null
check 'copy makes its target, and reports it once' makes copy sqlite:source.db "$READPAST_DB"

remove_database
for command in 'claim q --wait 1s' 'work q -- true' 'work q --drain --quiet -- true' stats 'list q'; do
	# shellcheck disable=SC2086
	check "$command makes no database and prints where it looked" refuses 1 "$none.*init" readpast $command
done
check 'a command without a database succeeds' status 0 readpast help
check 'a command without a database has made none' status 1 readpast stats

if [[ $2 == sqlite: ]]; then
	sqlite3 readpast.db 'create table theirs (x)'
	check 'init in a database with other tables prints what it has added' \
		refuses 0 "^readpast: created the queue's tables in $here/readpast.db\$" readpast init
	remove_database
fi

readpast init --print >schema.sql
check 'init --print connects to nothing' status 1 readpast stats
if [[ $2 == sqlite: ]]; then
	sqlite3 readpast.db <schema.sql >/dev/null
else
	psql -qAtX -v ON_ERROR_STOP=1 "$READPAST_DB" -f schema.sql
fi
readpast enqueue q x >/dev/null 2>err
check 'the SQL of init --print makes the whole database' equal "$(cat err)" ''
check 'the queue works in a database that was made by this SQL' refuses 0 '^serving q of .*: 1 ready, 1 at a time$' readpast work q --drain -- true
check 'init --print and --after-restore together are refused' refuses 2 either readpast init --print --after-restore
finish
