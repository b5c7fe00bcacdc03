#!/bin/sh
# worker.sh - a worker in the shell that claims and settles itself: write the checksum
# of each file beside it.
#
#   find /usr/include -name '*.h' | readpast enqueue sums
#   ./worker.sh sums                    # several, if you like
#
# A file that is written under another name and then renamed is there as a whole or not
# at all, so it does no harm that a job is done twice: a worker may die when the sum is
# there and before it has said so. `readpast work` needs no such loop; this is for a
# script that keeps something open between its jobs.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# Do the work. It ends before the lease does, so nothing has to renew the lease.
write_sum() {
	timeout "${LIMIT:-50}" sha256sum "$1" >"$1.sum.$$" && mv "$1.sum.$$" "$1.sum"
}

while :; do
	# This waits for a job, and sweeps while it waits. If this script dies, the
	# claim is released.
	job=$(readpast claim "$1" --wait 5s --lease "${LEASE:-1m}")
	case $? in
	0) ;;
	3) continue ;; # nothing to claim for so long
	*) exit 1 ;;
	esac
	claim=$(printf '%s' "$job" | jq -r .claim)
	file=$(printf '%s' "$job" | jq -r .payload)
	if error=$(write_sum "$file" 2>&1); then
		readpast complete "$claim"
	else
		readpast fail "$claim" --error "${error:-failed}"
		rm -f "$file.sum.$$"
	fi # Refused, if the lease was lost: then another worker has the job.
done
