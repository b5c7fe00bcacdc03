#!/bin/sh
# worker.sh - a worker written in the shell, which claims and settles jobs itself. It
# writes the checksum of each file beside the file.
#
#   find /usr/include -name '*.h' | readpast enqueue sums
#   ./worker.sh sums                    # run several, if you like
#
# A worker may die after it has written the sum and before it has settled the job. Then
# the job is done twice, which does no harm. The sum is written under another name and
# then renamed, so the file is complete or does not exist. Most scripts do not need this
# loop, because `readpast work` can run them. The loop is for a script that keeps
# something open between jobs.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# Do the work. `timeout` ends the work before the lease ends, so the lease need not be
# renewed.
write_sum() {
	timeout "${LIMIT:-50}" sha256sum "$1" >"$1.sum.$$" && mv "$1.sum.$$" "$1.sum"
}

while :; do
	# `readpast claim` waits for a job, and does the queue's maintenance while it waits.
	# If this script dies during the wait, `readpast claim` cannot print the job that it
	# claims, and releases that job.
	job=$(readpast claim "$1" --wait 5s --lease "${LEASE:-1m}")
	case $? in
	0) ;;
	3) continue ;; # there was no job for 5 s
	*) exit 1 ;;
	esac
	claim=$(printf '%s' "$job" | jq -r .claim)
	file=$(printf '%s' "$job" | jq -r .payload)
	case $file in -*) file=./$file ;; esac # a name, and not an option
	if error=$(write_sum "$file" 2>&1); then
		readpast complete "$claim"
	else
		readpast fail "$claim" --error "${error:-failed}"
		rm -f "$file.sum.$$"
	fi # If the lease was lost, the verdict is refused: another worker has the job.
done
