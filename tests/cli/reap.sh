#!/usr/bin/env bash
# Test that a killed worker leaves no process behind, if a handler begins while another
# handler has ended, but waitpid() has not returned yet.
#
#   reap.sh READPAST LIBRARY   LIBRARY is the one built from reap.c
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

library=$(readlink -f "$2")
# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"

is_gone() {
	! kill -0 "$(cat begun)"
}

first=$(readpast enqueue q 'exit 0')
# The kernel kills a handler with its worker, but only the warden kills its children.
second='sleep 600 & echo $! >pid; mv pid begun; wait'
LD_PRELOAD="$(sanitizer_of "$READPAST") $library" "$READPAST" work q -j 2 \
	-- env -u LD_PRELOAD sh >log 2>&1 &
worker=$!
check 'the first handler is reaped' eventually test -e reaped
readpast enqueue q "$second" >/dev/null
check 'the second handler begins meanwhile' eventually test -e begun
check 'the first job is done' readpast wait "$first" --timeout 60s --quiet
kill_worker
check 'the child of the second handler is killed with the worker' eventually is_gone
kill "$(cat begun)" 2>/dev/null
finish
