#!/usr/bin/env bash
# `cron next`: what it prints, what it refuses, and that it needs no database.
#
#   cron.sh READPAST
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"

next() {
	readpast cron next "$@"
}
prints() { # LINES ARGUMENT...
	local lines=$1
	shift
	equal "$(next "$@")" "$lines"
}
berlin=(--zone Europe/Berlin)

check 'a skipped local time is a field of the next line' prints \
	'{"at":"2026-03-28T01:30:00Z","local":"2026-03-28T02:30:00+01:00","abbreviation":"CET"}
{"at":"2026-03-30T00:30:00Z","local":"2026-03-30T02:30:00+02:00","abbreviation":"CEST","skipped":"2026-03-29T02:30:00"}' \
	'30 2 * * *' "${berlin[@]}" -n 2 --from 2026-03-27T12:00:00Z --json
check 'and so is one that came twice' prints \
	'{"at":"2026-10-26T01:30:00Z","local":"2026-10-26T02:30:00+01:00","abbreviation":"CET","doubled":"2026-10-25T02:30:00"}' \
	'30 2 * * *' "${berlin[@]}" -n 1 --from 2026-10-25T00:30:00Z --json
check 'several are counted' prints \
	'{"at":"2026-03-30T00:00:00Z","local":"2026-03-30T02:00:00+02:00","abbreviation":"CEST","skipped":"2026-03-29T02:00:00","skipped_count":4}' \
	'*/15 2 * * *' "${berlin[@]}" -n 1 --from 2026-03-29T00:45:00Z --json
check 'fires are strictly after --from' prints '2026-01-02T00:00:00Z  Fri 2026-01-02 00:00:00 UTC' \
	@daily -n 1 --from 2026-01-01T00:00:00Z
check 'an interval counts from --from' prints \
	'2026-01-01T00:01:30.500Z  Thu 2026-01-01 00:01:30 UTC' 'every 90s' -n 1 --from 2026-01-01T00:00:00.5Z
check 'five lines, and from now on' equal "$(next @hourly | wc -l)" 5
check 'no database was made' test ! -e readpast.db
check 'nor is one needed' status 0 readpast --db postgres://nobody@nowhere.invalid/x cron next @daily
check 'a wrong spec' refuses 2 'hour 25: expected 0 to 23' next '0 25 * * *'
check 'a spec that can never fire' refuses 2 'never fires' next '0 0 30 2 *'
check 'an unknown zone' refuses 2 'did you mean Europe/Berlin\?' next @daily --zone Europe/Berlim
check 'a zone that leads elsewhere' refuses 2 'unknown time zone' next @daily --zone ../../../etc/passwd
check 'a wrong time' refuses 2 'expected a time' next @daily --from tomorrow
check 'no spec' refuses 2 'which SPEC' next
check 'a spec without quotes' refuses 2 'put it in quotes' next 0 2 1 1 1
check 'no line' refuses 2 'expected 1 to' next @daily -n 0
check 'a time that a clock never shows' refuses 3 'no such time' next '30 2 25-31 3 */7' "${berlin[@]}"
check 'a command that is none' refuses 2 'no such command: cron nxt' readpast cron nxt
finish
