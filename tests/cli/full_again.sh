# full_again.sh - helpers of tests that kill a process that holds jobs. Soon afterwards
# each group must run as many jobs as its limit allows again. Scripts source this file
# after tap.sh.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors
# shellcheck shell=bash disable=SC2034,SC2154

groups=4
limit=3
all=$((groups * limit)) # jobs that may run at once
lease=3                 # seconds
slack=2                 # seconds after the end of a lease
[[ -z $(sanitizer_of "$READPAST") ]] || slack=6

# Make a queue. Each of its groups has more jobs than the group's limit. All later
# commands write their history to the file history-QUEUE.
make_groups() { # QUEUE
	export READPAST_HISTORY=$here/history-$1
	readpast queue set "$1" --group-limit $limit --lease ${lease}s --max-attempts 10 >/dev/null
	local group
	for ((group = 1; group <= groups; group++)); do
		seq 30 | readpast enqueue "$1" --group "g$group" --quiet
	done
}

# Start a worker with $all threads, one for each job that the limits let run at the same
# time. Sets $worker to the worker's pid.
start_worker() { # QUEUE HISTORY
	"$READPAST" --history "$2" work "$1" -j $all -- sleep 60 >/dev/null 2>&1 &
	worker=$!
}

listed() { # PID: the worker has begun to look for jobs
	readpast workers --json | grep -q "\"pid\":$1,"
}

started() { # HISTORY N: the worker has started N jobs
	(($(grep -cs '"started"' "$1") >= $2))
}

# HISTORY is the history of one worker. Check that the worker has started $all jobs (as
# many as the limits allow), and started the last of them at most a lease and $slack seconds
# after the time $died, at which a process was killed.
is_full() { # HISTORY
	eventually started "$1" $all || {
		echo "only $(grep -c '"started"' "$1") of $all jobs started"
		return 1
	}
	local late
	late=$(python3 - "$1" "$died" $all <<-'END'
		import json, sys
		at = sorted(e["at"] for e in map(json.loads, open(sys.argv[1])) if e["event"] == "started")
		print(at[int(sys.argv[3]) - 1] - int(sys.argv[2]))
	END
	)
	((late <= (lease + slack) * 1000000)) && return
	echo "all jobs ran only $late us after the crash"
	return 1
}

# The time of the clock that histories use, in microseconds.
now() {
	python3 -c 'import time; print(time.monotonic_ns() // 1000)'
}

# Check that the history of all clients breaks no promise. P13 is one of the promises: no
# group waits although it could run a job.
keeps_limits() { # QUEUE HISTORY...
	env -u READPAST_HISTORY "$READPAST" check "history-$1" "${@:2}" --left "$1" >out
	tail -n 1 out | grep -qE '^P1 ok, .*P10 ok, P13 ok$' && return
	tail -n 3 out
	return 1
}
