#!/usr/bin/env bash
# Test a worker that cannot watch its handlers, because it has no free file descriptor.
#
#   no_pidfd.sh READPAST LIBRARY   LIBRARY is the one built from no_pidfd.c
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

library=$(readlink -f "$2")
# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"

id=$(readpast enqueue q x --max-attempts 1)
check 'the worker reports the job and ends' status 7 env LD_PRELOAD="$(sanitizer_of "$READPAST") $library" \
	timeout 60 "$READPAST" work q --drain -- sh -c 'sleep 1; touch late'
check 'the attempt has failed' equal "$(readpast show "$id" --json | jq -r '.state + ": " + .last_error')" \
	'dead: cannot run sh: Too many open files'
check 'the handler was killed' test ! -e late
finish
