#!/usr/bin/env bash
# Test that the program loads libpq only when it opens a PostgreSQL URL, and
# libmicrohttpd and libcurl only for the commands that need them.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"
server='postgres:///x?host=/nowhere'

# Run the command so that it loads the libraries in DIR, and not those of the system.
with() { # DIR COMMAND...
	LD_LIBRARY_PATH=$here/$1${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$READPAST" "${@:2}"
}
loads() { # PATTERN COMMAND...: the command loads a library whose name matches PATTERN
	LD_DEBUG=files "$READPAST" "${@:2}" 2>&1 | grep -q "file=$1.*generating link map"
}
not() {
	! "$@"
}

mkdir broken old
echo 'int PQlibVersion(void); int PQlibVersion(void) { return 80000; }' >old.c
for library in libpq.so.5 libmicrohttpd.so.12 libcurl.so.4; do
	: >broken/$library
	cc -shared -fPIC -o old/$library old.c
done

check 'a SQLite database can be made' readpast init
check 'a SQLite database loads no libpq' not loads 'libpq\.so' stats
check 'a SQLite database loads no library that libpq needs' not loads 'lib\(ssl\|krb5\|ldap\)' stats
check 'a PostgreSQL URL loads libpq' loads 'libpq\.so\.5' --db "$server" stats
check "for an unreachable server the message is that of libpq" refuses 1 'No such file.*--db' \
	readpast --db "$server" stats
for dir in broken old; do
	check "SQLite works beside a libpq that is $dir" status 0 with $dir enqueue q x
	check "a copy to SQLite works beside a libpq that is $dir" status 0 \
		with $dir copy sqlite:readpast.db "sqlite:$dir.db"
done
check 'a libpq that cannot be loaded: one line, and what helps' \
	refuses 1 'PostgreSQL needs libpq\.so\.5 \(Debian: apt install libpq5\): .*libpq\.so\.5: ' \
	with broken --db "$server" stats
check 'a libpq without a function: one line that names the function' \
	refuses 1 'libpq\.so\.5 is too old: it has no PQ[a-zA-Z]+$' \
	with old --db "$server" stats
for command in 'enqueue q x' doctor lab 'stress --jobs 1' 'work q --drain -- true'; do
	# shellcheck disable=SC2086
	check "$command prints the same message" refuses 1 'PostgreSQL needs libpq\.so\.5' \
		with broken --db "$server" $command
done
check 'a copy to PostgreSQL prints the same message' refuses 1 'PostgreSQL needs libpq\.so\.5' \
	with broken copy sqlite:readpast.db "$server"

check 'an enqueue loads no library for HTTP' \
	not loads 'lib\(microhttpd\|gnutls\|curl\)' enqueue q x
for dir in broken old; do
	check "a worker works beside libraries for HTTP that are $dir" status 0 \
		with $dir work q --drain -- true
done
serve=(serve --listen 127.0.0.1:0)
check 'a libmicrohttpd that cannot be loaded: one line, and what helps' refuses 1 \
	'serve needs libmicrohttpd\.so\.12 \(Debian: apt install libmicrohttpd12\): ' \
	with broken "${serve[@]}"
check 'a libmicrohttpd without a function: one line that names the function' \
	refuses 1 'libmicrohttpd\.so\.12 is too old: it has no MHD_[a-z_]+$' \
	with old "${serve[@]}"
check 'work --metrics prints the same message' \
	refuses 1 'work: --metrics needs libmicrohttpd\.so\.12' \
	with broken work q --drain --quiet --metrics 127.0.0.1:0 -- true
check 'a libcurl that cannot be loaded: one line, and what helps' refuses 1 \
	'work --post needs libcurl\.so\.4 \(Debian: apt install libcurl4\): ' \
	with broken work q --drain --post http://127.0.0.1:1/
check 'a libcurl without a function: one line that names the function' \
	refuses 1 'libcurl\.so\.4 is too old: it has no curl_[a-z_]+$' \
	with old work q --drain --post http://127.0.0.1:1/
finish
