#!/usr/bin/env bash
# Test a readpast that was built without PostgreSQL. It refuses the URL of a server and
# says why. The program contains no reference to libpq.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"
server='postgres:///x?host=/nowhere'
without='this readpast was built without PostgreSQL'

knows() {
	ldd "$READPAST" | grep -q "$1" || grep -qaF "$1" "$READPAST"
}
not() {
	! "$@"
}

check 'a SQLite database can be made' readpast init
check 'a SQLite database can be used' status 0 readpast enqueue q x
check 'the program neither links nor names libpq' not knows 'libpq.so'
check 'the program has no SQL for PostgreSQL' not knows 'pg_catalog'
for command in init 'enqueue q x' 'claim q' 'work q --drain -- true' stats 'list q' sweep doctor \
	lab 'lab own' 'stress --jobs 1'; do
	# shellcheck disable=SC2086
	check "$command refuses a URL of a server and says why" refuses 1 "$without" readpast --db "$server" $command
done
for url in postgresql://host/x postgres://; do
	check "$url is refused, with the reason" refuses 1 "^readpast: $without$" readpast --db "$url" stats
done
check 'a copy to a server is refused' refuses 1 "$without" readpast copy sqlite:readpast.db "$server"
check 'a copy from a server is refused' refuses 1 "$without" readpast copy "$server" sqlite:other.db
check 'the refused copy makes no file' test ! -e other.db
finish
