#!/usr/bin/env bash
# Test that the library exports exactly the functions that exports.txt lists. Also test
# that the library calls no function that prints or that ends the program.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

set -u
list=$(dirname "$0")/exports.txt
library=$1
header=$2

undefined() {
	nm -D --undefined-only "$library" | awk '{print $2}' | sed 's/@.*//'
}

echo 1..3
if diff <(sort "$list") <(nm -D --defined-only "$library" | awk '$2 == "T" {print $3}' | sort) >&2; then
	echo 'ok 1 - exports.txt lists what is exported'
else
	echo 'not ok 1 - exports.txt lists what is exported'
fi
if diff <(sort "$list") <(grep -oE '\brp_[a-z_]+\(' "$header" | tr -d '(' | sort -u | grep -xFf "$list") >&2; then
	echo 'ok 2 - the header declares them all'
else
	echo 'not ok 2 - the header declares them all'
fi
if undefined | grep -xE 'exit|_exit|abort|v?f?printf|puts|putchar|perror|signal|sigaction|setlocale' >&2; then
	echo 'not ok 3 - the library prints nothing, exits never, touches no signal'
else
	echo 'ok 3 - the library prints nothing, exits never, touches no signal'
fi
