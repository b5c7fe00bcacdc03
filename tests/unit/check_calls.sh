#!/usr/bin/env bash
# Test that tools/check_calls finds functions that are too long, and calls that form a
# cycle.
#
#   check_calls.sh SOURCE
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

source=$(readlink -f "$1")
# shellcheck source-path=SCRIPTDIR source=../cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"

git init -q .
mkdir -p tools copy build/lib lib/worker lib/db/one lib/db/two
cp "$source/tools/check_calls" tools/

# file PATH CALLEE...: create the C file PATH. It has one function, whose name is made
# from the path. The function calls each CALLEE.
file() {
	local path=$1 called text=
	for called in "${@:2}"; do
		text+="void $called(void);"$'\n'
	done
	text+="void"$'\n'"$(name_of "$path")(void)"$'\n{\n'
	for called in "${@:2}"; do
		text+=$'\t'"$called();"$'\n'
	done
	echo "$text}" >"$path"
	git add "$path"
}
name_of() {
	local name=${1%.c}
	echo "${name//\//_}"
}
# Make an archive as meson would make it.
archive() {
	local path object
	rm -f build/lib/*
	for path in $(git ls-files 'lib/*.c' 'copy/*.c'); do
		object=../$path
		[[ $path != lib/* ]] || object=${path#lib/}
		cc -w -c -o "build/lib/${object//\//_}.o" "$path" || return 1
	done
	(cd build/lib && ar rcT libreadpast_objects.a ./*.o)
}
calls() {
	archive && tools/check_calls build >found
}
round() { # WAY: the tool finds the cycle WAY, and no other cycle
	! calls && equal "$(grep -c '^calls go round' found)" 1 &&
		equal "$(head -n 1 found)" "calls go round: $1"
}
long() { # LINES
	{
		printf 'int\nlong_one(void)\n{\n\tconst char *text = "}";\n'
		for ((i = 0; i < $1 - 4; i++)); do
			echo "	text++; /* { */"
		done
		printf '\treturn *text;\n}\n'
	} >long.c
	git add long.c
}

file lib/a.c lib_b lib_db_one_x
file lib/b.c
file lib/db/one/x.c lib_db_one_y
file lib/db/one/y.c lib_db_one_x
file lib/worker/x.c lib_worker_y lib_a
file lib/worker/y.c lib_worker_x
file copy/x.c copy_y lib_b
file copy/y.c copy_x
check 'cyclic calls are allowed inside one folder' calls
check 'nothing is printed about allowed cycles' equal "$(cat found)" ''
file lib/b.c lib_a
check 'cyclic calls between two files of lib/ are refused' round 'lib/a.c -> lib/b.c -> lib/a.c'
check 'the calls of the cycle are listed' grep -q 'lib/b.c -> lib/a.c: lib_a$' found
file lib/b.c
file lib/db/one/y.c lib_a
check 'a cycle through a call from a folder to the folder above is refused' round 'lib/a.c -> lib/db/one/x.c -> lib/db/one/y.c -> lib/a.c'
file lib/db/one/y.c lib_db_two_x
file lib/db/two/x.c lib_db_one_y
check 'cyclic calls between two folders are refused' round 'lib/db/one/y.c -> lib/db/two/x.c -> lib/db/one/y.c'
long 60
check 'a function may have 60 lines' tools/check_calls
long 61
check 'a function of 61 lines is refused' status 1 tools/check_calls
check 'the function that is too long is listed' grep -q '^long.c:2: long_one() has 61 lines$' out
finish
