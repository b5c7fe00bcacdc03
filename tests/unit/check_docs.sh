#!/usr/bin/env bash
# Test that tools/check_docs.py accepts the documents as they are, and names anything
# that is missing in them.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

source=$2
# shellcheck source-path=SCRIPTDIR source=../cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"

fresh() {
	rm -rf copy
	mkdir -p copy/tests/abi
	cp -r "$source"/{man,completions,include,cli,doctor,lib,sql} copy
	cp "$source/tests/abi/exports.txt" copy/tests/abi
}

docs() {
	"$source/tools/check_docs.py" "$READPAST" copy
}

# Check that the tool fails after this edit of a file, and that the only diagnostic line
# it prints is "# WHAT".
names() { # WHAT FILE EDIT
	fresh
	sed -i -E "$3" "copy/$2"
	cmp -s "copy/$2" "$source/$2" && echo 'the edit changed nothing' && return 1
	docs >said && echo 'it exits 0' && return 1
	equal "$(grep '^#' said)" "# $1" && grep -q '^not ok' said
}

fresh
check 'the present documents are complete' docs

check 'a command without a paragraph is found' names 'readpast(1): no command sweep' \
	man/readpast.1 's/^\.It Cm sweep/.It/'
check 'an option that is missing in the manual is found' names 'readpast(1): enqueue: no --replace' \
	man/readpast.1 's/^\.It Fl -replace/.It/'
check 'an option that no longer exists is found' names 'readpast(1): show: has no --deep' \
	man/readpast.1 's/^\.It Cm show.*/& Fl -deep/'
check 'a message that names a file of the source is found' \
	names 'messages: a message names docs/postgres.md: name a manual page' \
	doctor/checks.c 's,readpast.7.\, Grants,docs/postgres.md,'
check 'a message that names a missing section is found' names 'messages: readpast(7) has no Rights' \
	lib/db/postgres/backend.c 's/, Grants/, Rights/'
check 'a missing exit status is found' names 'readpast(1): no status 3' \
	man/readpast.1 's/^\.It 3$/.It 7/'
check 'an option that is missing in bash is found' names 'readpast.bash: claim: no --wait=' \
	completions/readpast.bash 's/ --wait=//'
check 'a case of bash that an earlier case hides is found' names 'readpast.bash: claim: no --wait=' \
	completions/readpast.bash 's/^\tclaim\) .*/\tclaim) options=(-n= --lease= --json) ;;\n&/'
check 'an option that is missing in zsh is found' names '_readpast: work: no --grace=' \
	completions/_readpast '/--grace/d'
check 'an option that is missing in fish is found' names 'readpast.fish: list: no --limit=' \
	completions/readpast.fish '/in list. -l limit/d'
check 'an option that is missing in a loop of fish is found' names 'readpast.fish: claim: no --json' \
	completions/readpast.fish 's/^for command in enqueue claim/for command in enqueue/'
check 'a value that bash does not complete is found' names \
	$'readpast.bash: claim: no --wait=\n# readpast.bash: claim: has no --wait' \
	completions/readpast.bash 's/ --wait=/ --wait/'
check 'a value that zsh does not complete is found' names \
	$'_readpast: work: no -j=\n# _readpast: work: has no -j' \
	completions/_readpast "s/'-j\[jobs at a time\]:count:'/'-j[jobs]'/"
check 'a value that fish does not complete is found' names \
	$'readpast.fish: list: no --limit=\n# readpast.fish: list: has no --limit' \
	completions/readpast.fish '/in list/s/-l limit -x/-l limit/'
check 'a value that the manual does not name is found' names \
	$'readpast(1): enqueue: no --skip=\n# readpast(1): enqueue: has no --skip' \
	man/readpast.1 's/^\.It Fl -skip Ar N/.It Fl -skip/'
check 'a missing technique is found' names 'readpast.fish: no technique worker-loop' \
	completions/readpast.fish 's/ worker-loop//'
check 'a missing check of the doctor is found' names 'readpast(1): no check bloat' \
	man/readpast.1 's/^\.It Li bloat/.It Li bloats/'
check 'a missing function is found' names 'readpast(3): no function rp_settle_and_claim' \
	man/readpast.3 's/Fn rp_settle_and_claim/Fn rp_claim/'
check 'a limit that has changed is found' names 'readpast(1): no limit at most 3651d' \
	include/readpast.h 's/(RP_MOST_DAYS) 3650/\1 3651/'
check 'a new error is found' names 'readpast(3): no error RP_ENEW' \
	include/readpast.h 's/^.X\(EDB,.*/&\n\tX(ENEW, -99, 0, "new") \\/'
check 'a default that has changed is found' names $'readpast(7): no setting max-attempts 3\n# readpast(7): there is no max-attempts 5' \
	man/readpast.7 's/max-attempts Ta 3/max-attempts Ta 5/'
finish
