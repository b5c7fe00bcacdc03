#!/usr/bin/env bash
# Run the examples of a documentation page as they are written, with the installed
# files. The script runs every code block in sh, c, python, js or sql, in the page's
# order. A block of the language `text` shows output. The other blocks of the section
# must have printed each line of this block.
#
#   page.sh READPAST BUILD SOURCE PAGE
#
# The examples run in a new directory. A new database replaces
# postgres://app@db.example/app in their text, and a free port replaces 8080. If a
# section starts a server, the server keeps running in the following sections, and is
# stopped at the end of the page. If READPAST_TEST_POSTGRES names no server, the
# sections that need PostgreSQL are skipped.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

build=$(readlink -f "$2")
source=$(readlink -f "$3")
page=$(readlink -f "$4")
# shellcheck source-path=SCRIPTDIR source=../cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"
# shellcheck source-path=SCRIPTDIR source=root.sh
. "$source/tests/install/root.sh"

sections() {
	awk '/^```/ { fence = !fence } /^#+ / && !fence { sub(/^#+ /, ""); print }' "$page"
}

# Print a script that contains all blocks of a section. If the paragraph before a block
# begins with "`NAME`:", the script writes the block to a file of that name.
script() { # TITLE
	awk -v title="$1" '
		BEGIN { runs["sh"] = ""; runs["c"] = "cc -fsyntax-only -xc -"
			runs["python"] = "python3 -"; runs["js"] = "node -"
			runs["sql"] = "psql -qAtX -v ON_ERROR_STOP=1 \"$url\"" }
		/^```/ && fence { if (inside && with) print "END"; fence = inside = 0; next }
		/^```/ { fence = 1; language = substr($0, 4); inside = here && language in runs
			if (inside) with = file ? "cat >" file : runs[language]
			if (inside && with) print with " <<\"END\""
			file = ""; next }
		inside
		/^#+ / && !fence { sub(/^#+ /, ""); here = $0 == title }
		/^`[a-z_]+\.[a-z]+`:/ && !fence { file = substr($0, 2, index($0, ":") - 3) }' "$page" |
		sed "s,postgres://app@db.example/app,${url//&/\\&},; s,127.0.0.1:8080,127.0.0.1:$port,"
}

shown() { # TITLE: print the lines of the section's blocks of text
	awk -v title="$1" '/^```/ { fence = !fence; inside = fence && here && $0 == "```text"; next }
		/^#+ / && !fence { sub(/^#+ /, ""); here = $0 == title } inside' "$page"
}

runs() { # TITLE
	{
		script "$1"
		echo "jobs -p >>$PWD/started"
	} >"$1.sh"
	bash -eu "$1.sh" >"said in $1" 2>&1 && return
	cat "said in $1"
	return 1
}

said() { # TITLE LINE
	grep -qxF -- "$2" "said in $1" && return
	cat "said in $1"
	return 1
}

says_what_it_shows() { # TITLE
	while IFS= read -r line; do
		said "$1" "$line" || { echo "does not say: $line"; return 1; }
	done < <(shown "$1")
}

# http.md shows the whole output of a section, except where it says that it shows the
# output of the last call.
shows_all_it_says() { # TITLE
	diff <(shown "$1") "said in $1"
}

# Print what the section needs and this machine lacks: PostgreSQL, or npm's package pg.
# Tests do not download npm packages.
lacks_for() { # TITLE
	if [[ ! ${READPAST_TEST_POSTGRES-} ]] && script "$1" | grep -qE '^psql|postgres://'; then
		echo PostgreSQL
	elif script "$1" | grep -q "require('pg')" && ! node -e "require('pg')" 2>/dev/null; then
		echo "npm's pg"
	fi
}

# Check the statements that the README makes outside of its code blocks.
check_readme() {
	check 'the first command of the README is the demo, and the second one is test' \
		equal "$(grep -m 2 -E '^make ' "$page" | awk '{ print $2 }' | paste -sd' ')" 'demo test'
	check 'a payload is read, and not run as a command' said 'In the shell' 'Hello Ada; touch pwned'
	check 'the payload has made no file' test ! -e pwned
	check 'a job that died ends wait with status 7' said 'In the shell' 'status 7'
	check 'a worker does the job that the C example enqueued' said 'In C' 'sending Ada'
	check 'a claim is completed' said 'SQLite' 'done'
	check 'Python enqueues a job' equal "$(readpast --db sqlite:app.db stats mail --json | grep -o '"ready":1')" '"ready":1'
	check 'the check finds no broken promise' said 'What it promises' 'P1 ok, P2 ok, P3 ok, P6 ok'
	[[ ! ${READPAST_TEST_POSTGRES-} ]] && return
	check 'a claim is completed on PostgreSQL' said 'PostgreSQL' 'done'
	check 'Python enqueues a job on PostgreSQL' equal "$(readpast --db "$url" stats mail --json | grep -o '"ready":1')" '"ready":1'
}

url=postgres://app@db.example/app
if [[ ${READPAST_TEST_POSTGRES-} ]]; then
	psql -qX "$READPAST_TEST_POSTGRES" -c "create database page_$$"
	url=${READPAST_TEST_POSTGRES/\/postgres?//page_$$?}
fi
export url
port=$(python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1])')
check 'the install succeeds' install_it
use_installed
PATH=$(dirname "$(find "$root" -path '*/bin/readpast')"):$PATH
export LD_LIBRARY_PATH=${library%/*}
mkdir bin
ln -s /usr/bin/python3 bin # this Python has psycopg2
PATH=$here/bin:$PATH

mkdir page
cd page || exit 1
while IFS= read -r title <&3; do
	[[ $(script "$title") ]] || continue
	if [[ $(lacks_for "$title") ]]; then
		echo "# left out without $(lacks_for "$title"): $title"
		continue
	fi
	check "$title" runs "$title"
	[[ $(shown "$title") ]] || continue
	check "$title says what it shows" says_what_it_shows "$title"
	[[ $page != */http.md || $title == HTTP ]] ||
		check "$title shows all that it says" shows_all_it_says "$title"
done 3< <(sections)
[[ ! -s started ]] || xargs kill <started
[[ $page == */README.md && $page != */docs/* ]] && check_readme
if [[ ${READPAST_TEST_POSTGRES-} ]]; then
	psql -qX "$READPAST_TEST_POSTGRES" -c "drop database page_$$ with (force)"
fi
finish
