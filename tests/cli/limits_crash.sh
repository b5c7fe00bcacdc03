#!/usr/bin/env bash
# Kill a worker with kill -9, and clients in the middle of a call. Test that soon
# afterwards each group runs as many jobs as its limit allows.
#
#   limits_crash.sh READPAST sqlite:|postgres:
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"
on_database "$2"
# shellcheck source=full_again.sh
. "$(dirname "$0")/full_again.sh"

make_groups killed
start_worker killed first
check 'a worker runs as many jobs as the limits allow' eventually started first $all
victim=$worker
start_worker killed second
check 'another worker is connected' eventually listed "$worker"
sleep 0.5
check '... and then another worker starts none' equal "$(grep -cs '"started"' second)" 0
# shellcheck disable=SC2034
died=$(now)
kill -9 "$victim"
check 'after kill -9 of the worker the limits are full again within a lease and 2 s' is_full second
kill -9 "$worker"
check 'the limits were kept' keeps_limits killed first second

# Kill clients at different moments of the call that completes their jobs. All jobs are
# claimed before. A job that is lost, claimed again and lost again would be a suspect, and
# a worker that holds other jobs does not start it.
make_groups calls
mapfile -t claims < <(readpast claim calls -n $all | claims_of)
for delay in 0 0.005 0.01 0.02 0.04 0.08; do
	"$READPAST" complete "${claims[@]:0:2}" >/dev/null 2>&1 &
	claims=("${claims[@]:2}")
	client=$!
	sleep $delay
	kill -9 $client 2>/dev/null
done
# shellcheck disable=SC2034
died=$(now)
start_worker calls third
check 'after kill -9 of clients in a call the limits are full again in time' is_full third
kill -9 "$worker"
check 'the limits were kept by the clients that died' keeps_limits calls third
wait 2>/dev/null
finish
