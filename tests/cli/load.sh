# load.sh - run producers and workers that continue even if the database fails.
# Scripts source this file before tap.sh, which changes the directory.
#
#   start_load           start three producers and three workers on READPAST_DB
#   load_worker I        start one of the workers again, after it was killed
#   more_settled N       wait until N more jobs are settled
#   check_load WHAT      stop producers and workers, and check that all jobs are done,
#                        that the history shows no broken promise, and that each
#                        process that failed has printed one line
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors
# shellcheck shell=bash

declare -a workers producers
payload='%.0f'     # format for printf that makes the payload of a job
handler=(-- true) # the end of the workers' command lines

# Enqueue jobs until the test stops the load. After a failed call, continue with the
# next one. Each failure prints one line.
producer() {
	while [[ ! -e stop ]]; do
		seq -f "$payload" 5 | readpast --history h enqueue q --quiet 2>>producer.err || echo $? >>producer.status
	done
}
load_worker() {
	"$READPAST" --history h work q --quiet -j 2 --lease 1s "${handler[@]}" >>"work.$1" 2>>"work.err.$1" &
	workers[$1]=$!
}
start_load() {
	rm -f stop producer.* work.*
	: >h
	readpast init >/dev/null
	readpast queue set q --backoff 0s --max-attempts 1000 >/dev/null
	: >producer.err
	: >producer.status
	for i in 1 2 3; do
		load_worker "$i"
		producer &
		producers[i]=$!
	done
	more_settled 20
}
settled() {
	grep -c '"event":"settled".*"result":"ok"' h
}
settled_at_least() { # N
	(($(settled) >= $1))
}
more_settled() { # N: wait until N more jobs than now are settled
	eventually settled_at_least $(($(settled) + $1))
}
empty() {
	[[ $(readpast stats q --json | grep -oE '"(scheduled|ready|running|dead)":[0-9]+' | paste -sd,) == '"scheduled":0,"ready":0,"running":0,"dead":0' ]]
}
# Wait until the queue is empty, for as long as jobs are settled.
wait_until_empty() {
	local before
	until
		before=$(settled)
		empty
	do
		eventually settled_at_least $((before + 1)) || return 1
	done
}
# Stop the load. Check that all jobs have ended, and that no promise was broken.
check_load() { # WHAT
	touch stop
	wait "${producers[@]}"
	check "$1: every job is done" wait_until_empty
	for i in 1 2 3; do
		kill -TERM "${workers[i]}"
		wait "${workers[i]}"
		check "$1: worker $i has survived" equal $? 0
	done
	check "$1: the history agrees" \
		equal "$(readpast check h --left q 2>&1 | tail -n 1)" 'P1 ok, P2 ok, P3 ok, P6 ok'
	check "$1: each enqueue that failed has printed one line and exited with 1" \
		equal "$(sort -u producer.status | paste -sd,):$(wc -l <producer.err)" \
		"$(sort -u producer.status | grep -x 1 | paste -sd,):$(wc -l <producer.status)"
	check "$1: this line is a message of readpast" equal "$(grep -v '^readpast: ..*' producer.err)" ''
	[[ $READPAST_DB == sqlite:* ]] ||
		check "$1: workers have printed what went wrong" grep -q '^readpast: .*; trying again$' work.err.1 work.err.2 work.err.3
	check "$1: workers have printed nothing else" equal "$(cat work.err.? | grep -cvE '; trying again$|is no longer ours|lost its lease')" 0
}
