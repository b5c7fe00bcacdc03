#!/usr/bin/env bash
# The history and its checker: clean under kill -9, and no broken promise passes.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"

# 3,000 jobs, four workers; two of them are killed while they work.
seq 3000 | readpast --history h enqueue q --quiet
pids=()
for _ in 1 2 3 4; do
	"$READPAST" --history h work q -j 2 --lease 1s --drain -- true >/dev/null 2>&1 &
	pids+=($!)
done
half() {
	(($(field ready "$(readpast stats q --json)") < $1))
}
eventually half 2200
kill -9 "${pids[0]}"
eventually half 1200
kill -9 "${pids[1]}"
wait "${pids[2]}" && wait "${pids[3]}"
check 'the others drain the queue' equal "$?" 0
check 'every job took effect, and the history agrees' \
	equal "$(readpast check h --left q | tail -n 1)" 'P1 ok, P2 ok, P3 ok, P6 ok'
check 'nothing is left' equal "$(readpast stats q --json | grep -oE '"(ready|running|dead)":[0-9]+' | paste -sd,)" '"ready":0,"running":0,"dead":0'

# Histories as they must not be, each with the promise it breaks.
enqueued='{"at":10,"client":"a:1","event":"enqueued","id":1,"queue":"q","outcome":"added"}'
claim() { # AT CLAIM ATTEMPT [MAX]
	echo "{\"at\":$1,\"client\":\"a:1\",\"event\":\"claimed\",\"id\":1,\"claim\":$2,\"attempt\":$3,\"max_attempts\":${4:-3},\"lease_ms\":1000,\"asked\":$(($1 - 5))}"
}
verdict() { # AT CLAIM VERDICT [RESULT]
	echo "{\"at\":$1,\"client\":\"a:1\",\"event\":\"settled\",\"id\":1,\"claim\":$2,\"verdict\":\"$3\",\"result\":\"${4:-ok}\",\"asked\":$(($1 - 5)),\"lease_ms\":1000}"
}
begun() { # AT CLAIM VERDICT
	echo "{\"at\":$1,\"client\":\"a:1\",\"event\":\"settling\",\"id\":1,\"claim\":$2,\"verdict\":\"$3\"}"
}
audited='{"at":99000000,"client":"a:1","event":"audited","queue":"q"}'
left='{"at":98000000,"client":"a:1","event":"left","id":1,"state":"ready"}'
says() { # STATUS PATTERN LINE...
	local expected=$1 pattern=$2
	shift 2
	printf '%s\n' "$@" >broken
	readpast check broken >out 2>&1
	equal $? "$expected" && tail -n 1 out | grep -qE "$pattern" && return
	cat out
	return 1
}
check 'a plain life is clean' says 0 'P1 ok, P2 ok, P3 ok, P6 ok' \
	"$enqueued" "$(claim 100 5 1)" "$(verdict 200 5 'done')" "$audited"
check 'lost: P1' says 1 'P1 BROKEN' "$enqueued" "$(claim 100 5 1)" "$audited"
check 'left: not lost' says 0 'P1 ok' "$enqueued" "$left" "$audited"
check 'an unknown outcome is not lost' says 0 'P1 ok' "$enqueued" "$(claim 100 5 1)" "$(begun 200 5 'done')" "$audited"
check 'nor is one that was asked again, and refused then' says 0 'P1 ok' "$enqueued" "$(claim 100 5 1)" \
	"$(begun 200 5 'done')" "$(begun 300 5 'done')" "$(verdict 400 5 'done' gone)" "$audited"
check 'refused at once: lost' says 1 'P1 BROKEN' "$enqueued" "$(claim 100 5 1)" \
	"$(begun 200 5 'done')" "$(verdict 400 5 'done' gone)" "$audited"
check 'without an audit P1 is not checked' says 0 'P1 not checked' "$enqueued"
check 'two holders at a time: P2' says 1 'P2 BROKEN' "$enqueued" "$(claim 100 5 1)" "$(claim 500000 6 2)"
check 'one number twice: P2' says 1 'P2 BROKEN' "$enqueued" "$(claim 100 5 1)" "$(claim 2000000 5 2)"
check 'the next one after the lease: fine' says 0 'P2 ok' "$enqueued" "$(claim 100 5 1)" "$(claim 2000000 6 2)"
check 'the next one after a verdict: fine' says 0 'P2 ok' "$enqueued" "$(claim 100 5 1)" "$(verdict 200 5 fail)" "$(claim 300 7 2)"
check 'within an extended lease: P2' says 1 'P2 BROKEN' "$enqueued" "$(claim 100 5 1)" "$(verdict 900000 5 extend)" "$(claim 1500000 6 2)"
check 'a late verdict accepted: P3' says 1 'P3 BROKEN' "$enqueued" "$(claim 100 5 1)" "$(claim 2000000 6 2)" "$(verdict 3000000 5 'done')"
check 'refused: fine' says 0 'P3 ok' "$enqueued" "$(claim 100 5 1)" "$(claim 2000000 6 2)" "$(verdict 3000000 5 'done' gone)"
check 'two verdicts accepted for one claim: P3' says 1 'P3 BROKEN' "$enqueued" "$(claim 100 5 1)" "$(verdict 200 5 fail)" "$(verdict 300 5 'done')"
check 'an attempt not counted: P6' says 1 'P6 BROKEN' "$enqueued" "$(claim 100 5 1)" "$(claim 2000000 6 1)"
check 'after a release: fine' says 0 'P6 ok' "$enqueued" "$(claim 100 5 1)" "$(verdict 200 5 release)" "$(claim 300 7 1)"
check 'more attempts than allowed: P6' says 1 'P6 BROKEN' "$enqueued" "$(claim 100 5 4 3)"
check 'garbage is named, exit 2' says 2 'broken:2: not a JSON object' "$enqueued" garbage "$audited"
printf '%s\n{"at":1,"cl' "$enqueued" >torn
check 'a torn last line is not' status 0 readpast check torn
check 'no such file: exit 2' refuses 2 'No such file' readpast check nowhere
finish
