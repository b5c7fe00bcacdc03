# tap.sh - the functions that all tests of the command line use. Scripts source it.
#
#   check 'a sentence' COMMAND...   ok if the command succeeds
#   status N COMMAND...             succeeds if the command exits with N
#   finish                          print the plan; call this last
#
# Each test runs in a directory of its own, which contains its database.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors
# shellcheck shell=bash

set -u
READPAST=$(readlink -f "$1")
# shellcheck disable=SC2034
man=$(readlink -f "$(dirname "$0")/../../man/readpast.1")
readpast() {
	"$READPAST" "$@"
}
here=$(mktemp -d)
cd "$here" || exit 1
trap 'kill $(jobs -p) 2>/dev/null; cd /; rm -rf "$here"' EXIT
unset READPAST_DB READPAST_HISTORY

cases=0
check() {
	local name=$1 out
	shift
	cases=$((cases + 1))
	if out=$("$@" 2>&1); then
		echo "ok $cases - $name"
	else
		echo "not ok $cases - $name"
		echo "# $* said: ${out//$'\n'/$'\n'# }"
	fi
}

status() {
	local expected=$1 got
	shift
	"$@" >out 2>err </dev/null
	got=$?
	((got == expected)) && return
	echo "exit status $got, expected $expected; $(cat out err)"
	return 1
}

# refuses N PATTERN COMMAND...: succeeds if the command exits with N and prints exactly
# one line to its standard error. This line must match the pattern.
refuses() {
	local expected=$1 pattern=$2
	shift 2
	status "$expected" "$@" || return 1
	(($(wc -l <err) == 1)) && grep -qE -- "$pattern" err && return
	echo "expected one line like '$pattern': $(cat err)"
	return 1
}

equal() {
	[[ $1 == "$2" ]] && return
	echo "got '$1', expected '$2'"
	return 1
}

# Print a field of a JSON object, without quotes.
field() {
	grep -oE -m1 "\"$1\":(\"([^\"\\\\]|\\\\.)*\"|[^,}]*)" <<<"$2" | head -n 1 |
		sed -E "s/^\"$1\"://; s/^\"(.*)\"\$/\1/"
}

# Print the claim (ID:CLAIMNO) of a claimed job.
claim_of() {
	field claim "$1"
}

# Read jobs as JSON lines from standard input, and print the claim of each job.
claims_of() {
	sed -nE 's/^\{"id":.*"claim":"([0-9]+:[0-9]+)".*/\1/p'
}

# Print the file name of the sanitizer's runtime that a program or a library needs.
# Prints nothing if it needs none.
sanitizer_of() {
	ldd "$1" | awk '/lib[a-z]*asan/ { print $3; exit }'
}

# hosted LIBRARY COMMAND...: run a program that loads the library. If the library was
# built with a sanitizer, preload the sanitizer's runtime, because it must be loaded
# before all other libraries. The sanitizer does not report leaks, because the program
# has leaks of its own.
hosted() (
	runtime=$(sanitizer_of "$1")
	shift
	[[ -z $runtime ]] || export LD_PRELOAD=$runtime ASAN_OPTIONS=detect_leaks=0
	"$@"
)

# Run a command until it succeeds, for a minute at most.
eventually() {
	local end=$((SECONDS + 60))
	until "$@" >/dev/null 2>&1; do
		((SECONDS < end)) || return 1
		sleep 0.02
	done
}

# Set READPAST_DB to a new database: a file for `sqlite:`, a schema for `postgres:`.
on_database() {
	[[ $1 == sqlite: ]] && export READPAST_DB=sqlite:$here/readpast.db
	if [[ $1 == postgres: ]]; then
		schema=test_$$
		export READPAST_DB="$READPAST_TEST_POSTGRES&schema=$schema"
		trap 'kill $(jobs -p) 2>/dev/null; sql "drop schema if exists $schema cascade" 2>/dev/null; cd /; rm -rf "$here"' EXIT
	fi
	readpast init >/dev/null
}

# Run SQL on this database. The columns of the output are separated by |.
sql() {
	case $READPAST_DB in
	sqlite:*) sqlite3 -cmd '.timeout 10000' "${READPAST_DB#sqlite:}" "$1" ;;
	*) psql -qAtX -v ON_ERROR_STOP=1 "${READPAST_DB%&schema=*}" -c "$1" ;;
	esac
}

# age_workers N: set the workers' last heartbeats back by N seconds.
age_workers() {
	case $READPAST_DB in
	sqlite:*) sql "update readpast_worker set seen_at = seen_at - $1 * 1000" ;;
	*) sql "update $schema.worker set seen_at = seen_at - $1 * interval '1 second'" ;;
	esac
}

# Start a worker, and set $worker to its pid. Its handlers block until a line is written
# to ./hold.
start_worker() {
	"$READPAST" work "$@" -- sh -c 'exec cat hold' >>log 2>&1 &
	worker=$!
}
kill_worker() {
	kill -9 "$worker"
	wait "$worker" 2>/dev/null
}
is_running() {
	[[ $(field state "$(readpast show "$1" --json)") == running ]]
}

# doctor [OPTION...]: run `doctor`. It gives up a check that takes longer than 300 ms. If
# this happens, because the machine is busy, run it again.
doctor() {
	local said got i
	for ((i = 0; i < 20; i++)); do
		said=$(readpast doctor "$@")
		got=$?
		[[ $said == *'stopped after '* ]] || break
	done
	[[ -z $said ]] || printf '%s\n' "$said"
	return $got
}

# finds CHECK PATTERN [OPTION...]: run `doctor`. Succeeds if the check CHECK has a finding
# that matches the pattern, and if the exit status of `doctor` is correct: 1 if it has a
# finding worse than a warning, otherwise 0.
# lacks CHECK [OPTION...]: run `doctor`. Succeeds if the check CHECK has no finding.
finds() {
	local name=$1 pattern=$2 said got bad=0
	shift 2
	said=$(doctor --json "$@")
	got=$?
	! grep -qE '"level":"(danger|trouble)"' <<<"$said" || bad=1
	((got == bad)) && grep "^{\"check\":\"$name\",\"level\"" <<<"$said" | grep -qE -- "$pattern" && return
	echo "no $name like '$pattern': $said"
	return 1
}
lacks() {
	local name=$1
	shift
	! doctor --json "$@" | grep "^{\"check\":\"$name\""
}

finish() {
	echo "1..$cases"
}
