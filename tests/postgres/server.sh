# Start servers for one test script, which sources this file after tap.sh. When the
# script ends, the servers are stopped. Then the script's function `undo` is called, in
# which the script cleans up.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors
# shellcheck shell=bash

pg_temp=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../../tools/pg-temp")
servers=$(mktemp -d /tmp/readpast-pg.XXXXXX)
chmod 711 "$servers"
server=$servers/main

undo() {
	:
}
# shellcheck disable=SC2154 # $here is tap.sh's
clean_up() {
	# shellcheck disable=SC2046
	kill $(jobs -p) 2>/dev/null
	local one
	for one in "$servers"/*; do
		[[ ! -d $one ]] || "$pg_temp" stop "$one" immediate
	done
	undo
	cd /
	rm -rf "$here" "$servers"
}
trap clean_up EXIT

start_server() { # FOLDER [SETTING=VALUE...]
	"$pg_temp" start "$@" >/dev/null && return
	echo 'Bail out! no server'
	exit 1
}
as_server() { # COMMAND...: run as the servers' user
	if ((EUID == 0)); then
		runuser -u postgres -- "$@"
	else
		"$@"
	fi
}
sql() { # [DATABASE] SQL
	psql -qAtX -v ON_ERROR_STOP=1 \
		"host=$server user=postgres dbname=$([[ $# == 2 ]] && echo "$1" || echo postgres)" -c "${*: -1}"
}
new_database() { # NAME
	sql "create database $1" && export READPAST_DB="postgres:///$1?host=$server&user=postgres"
}
