#!/usr/bin/env bash
# Test the result of `meson install`: the examples build with pkg-config alone, refer to
# the library by its soname, and run. Manual pages and all other files are installed.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

build=$(readlink -f "$2")
source=$(readlink -f "$3")
# shellcheck source-path=SCRIPTDIR source=../cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"
# shellcheck source-path=SCRIPTDIR source=root.sh
. "$source/tests/install/root.sh"

there() { # PATTERN: a file whose path ends in PATTERN was installed
	[[ $(find "$root" -path "*$1" -not -type d) ]]
}

compile() { # EXAMPLE [FLAG...]
	local name=$1
	shift
	# The shell must split the output of pkg-config into words.
	# shellcheck disable=SC2046
	cc -std=gnu99 -Wall -Werror "$@" -o "$name" "$source/examples/$name.c" \
		$(pkg-config --cflags --libs readpast)
}

needs() {
	objdump -p "$1" | grep -q "NEEDED *$2\$"
}

# An installed program finds the library at its install prefix. Here the prefix is below
# a staging directory, so LD_LIBRARY_PATH must name the library's folder.
run() {
	LD_LIBRARY_PATH=$(dirname "$library"):${LD_LIBRARY_PATH:-} "$@"
}

# Verify a unit for systemd, with the program in the staging directory.
unit_is_right() { # FILE UNIT
	sed "s,^ExecStart=/,ExecStart=$root/," "$1" >"${1##*/}"
	systemd-analyze verify --man=no "./$2"
}

# Print the links of the installed pages that lead to no installed file.
broken_links() {
	local page link
	find "$root" -path '*/doc/readpast/*.md' | while IFS= read -r page; do
		grep -oE '\]\([^)#:]+[#)]' "$page" | sed 's/^](//; s/.$//' | while IFS= read -r link; do
			[[ -e ${page%/*}/$link ]] || echo "${page#"$root"}: $link"
		done
	done
}

# The stop timeout of the unit must be longer than the default of `work --grace`.
waits_for_handlers() {
	local stop grace
	stop=$(sed -n 's/^TimeoutStopSec=//p' "$unit")
	grace=$(run "$root"/*/*/bin/readpast work --help | sed -nE 's/.*--grace.*\(([0-9]+)s\).*/\1/p')
	((stop > grace))
}

made_by_default() {
	ninja -C "$build" -t inputs product
}

check 'the install succeeds' install_it
use_installed
unit=$(find "$root" -name 'readpast-work@.service')
# If the library was built with a sanitizer, the program must be built with it, too.
flags=()
for sanitizer in asan:address tsan:thread; do
	needs "$library" "lib${sanitizer%:*}.so.*" && flags+=("-fsanitize=${sanitizer#*:}")
done

check 'the library has its soname' equal "$(objdump -p "$library" | awk '/SONAME/ { print $2 }')" libreadpast.so.0
check 'pkg-config has the version of the program' equal "$(pkg-config --modversion readpast)" "$(run "$root"/*/*/bin/readpast version | awk '{ print $2 }')"
check 'the manual of the program is installed' there '/man1/readpast.1'
check 'the manual of the library is installed' there '/man3/readpast.3'
check 'the manual of the model is installed' there '/man7/readpast.7'
check 'the completion is installed' there '/bash-completion/completions/readpast'
check 'the extension is installed' there '/readpast.so'
check 'pkg-config knows where the extension is' test -f "$(pkg-config --variable=extensiondir readpast)/readpast.so"
check 'the pages that messages and the manual name are installed' there '/doc/readpast/docs/postgres.md'
check 'the links of the installed pages lead to installed files' equal "$(broken_links)" ''
check 'the queue for SQL Server is installed' there '/doc/readpast/sql/sqlserver/install.sql'
check 'the unit for systemd is installed' test -f "$unit"
check 'the unit starts the installed program' test -x "$root$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "$unit")"
check 'the unit gives handlers time to end' waits_for_handlers
if command -v systemd-analyze >/dev/null; then
	check 'the unit is valid' unit_is_right "$unit" readpast-work@mail.service
	server=$(find "$root" -name 'readpast-serve.service')
	[[ ! $server ]] || check 'the unit of the server is valid' unit_is_right "$server" readpast-serve.service
fi
check 'make builds everything that is installed' grep -qF "cli/cmd_work.c" <(made_by_default)
check 'make builds neither tests nor benchmarks nor examples' equal "$(made_by_default | grep -E '^(\.\./)*(tests|bench|examples)/')" ''
for name in enqueue worker; do
	check "the example $name builds" compile "$name" "${flags[@]}"
	check "$name names the library by its soname" needs "$name" 'libreadpast\.so\.0'
done
check 'the example enqueue makes a job of each line' equal "$(printf 'a\nb\nc' | run ./enqueue sqlite:queue.db words | paste -sd' ')" '1 2 3'
check 'the example worker does each job' equal "$(run ./worker sqlite:queue.db words | sort | paste -sd' ')" 'a b c'
check 'the example worker has left no job' equal "$(run ./worker sqlite:queue.db words)" ''
check 'the example enqueue without arguments fails' status 1 run ./enqueue
check 'the example worker without a database fails' status 1 run ./worker sqlite:not/there.db words
finish
