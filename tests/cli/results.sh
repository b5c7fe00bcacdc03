#!/usr/bin/env bash
# Test results and progress of jobs on the command line.
#
#   results.sh READPAST URL
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"
on_database "$2"

result_of() { readpast show "$1" --json | jq -r .result; }
error_of() { readpast show "$1" --json | jq -r .last_error; }
progress_of() { readpast show "$1" --json | jq -r .progress; }

readpast queue set q --keep-done 1h --max-attempts 1 --lease 1m 2>/dev/null

# ---- output of a handler to file descriptor 3 ----

a=$(readpast enqueue q one)
check 'a handler can write to descriptor 3' status 0 \
	readpast work q --drain --quiet -- sh -c 'echo out; echo result >&3'
check 'the result is what the handler wrote to descriptor 3' equal "$(result_of "$a")" result
check 'show prints the result' grep -qx 'result        result\\n (7 bytes)' <(readpast show "$a")
check 'the standard output of the handler is passed on' grep -qx out out

a=$(readpast enqueue q bytes)
readpast work q --drain --quiet -- sh -c 'printf "a\0b\377" >&3'
check 'a result that is not text is printed as base64' \
	equal "$(readpast show "$a" --json | jq -r .result_base64)" "$(printf 'a\0b\377' | base64)"

a=$(readpast enqueue q none)
readpast work q --drain --quiet -- true
check 'a handler that writes nothing has no result' equal "$(result_of "$a")" null

a=$(readpast enqueue q fails)
readpast work q --drain --quiet -- sh -c 'echo no >&3; exit 1' 2>/dev/null
check 'a handler that fails has no result' equal "$(result_of "$a")" null

a=$(readpast enqueue q most)
readpast work q --drain --quiet -- sh -c 'head -c 65536 /dev/zero | tr "\0" x >&3'
check 'a result of 64 KiB is kept' equal "$(result_of "$a" | wc -c)" 65537

a=$(readpast enqueue q more)
check 'a larger result fails the attempt' status 7 \
	readpast work q --drain --quiet -- sh -c 'head -c 300000 /dev/zero >&3'
check 'the error of the attempt says how large the result was' equal "$(error_of "$a")" 'the result has 300000 bytes, more than 65536'

a=$(readpast enqueue q child)
readpast work q --drain --quiet -- sh -c 'echo kept >&3; sleep 60 >/dev/null 2>&1 & exit 0'
check 'the worker does not wait for a process that the handler left running' equal "$(result_of "$a")" kept

exec 3>inherited
a=$(readpast enqueue q inherited)
readpast work q --drain --quiet -- sh -c 'echo mine >&3'
exec 3>&-
check "descriptor 3 of the worker is not that of the handler" equal "$(result_of "$a")" mine
check 'the file at descriptor 3 of the worker stays empty' test ! -s inherited

# ---- standard output ----

a=$(readpast enqueue q stdout)
readpast work q --drain --quiet --result stdout -- sh -c 'echo result' >passed
check 'standard output can be the result' equal "$(result_of "$a")" result
check 'standard output that is the result is not passed on' test ! -s passed
exec 3>inherited
a=$(readpast enqueue q closed)
readpast work q --drain --quiet --result stdout -- sh -c 'echo result; echo lost >&3' 2>/dev/null
exec 3>&-
check 'if standard output is the result, a handler that writes to descriptor 3 fails' \
	grep -q '3: Bad file descriptor' <(error_of "$a")
check "a handler does not write to descriptor 3 of the worker" test ! -s inherited
check 'another word after --result is refused' status 2 readpast work q --result stderr -- true
check 'the message has the words that are allowed' equal "$(cat err)" 'readpast: work: --result: expected stdout (see readpast help work)'

# ---- complete ----

claim() { readpast claim q | jq -r .claim; }
a=$(readpast enqueue q complete)
c=$(claim)
check 'a missing file cannot be the result' status 2 readpast complete "$c" --result nothing
head -c 65537 /dev/zero >large
check 'a file that is too large cannot be the result' status 2 readpast complete "$c" --result large
check 'the message says what to do with a large result' equal "$(cat err)" \
	'readpast: large: the result has more than 65536 bytes; store it elsewhere, and give its address as the result'
check 'the claim stays valid after the refused result' equal "$(readpast show "$a" --json | jq -r .state)" running
printf 'from a file' >file
check 'a file can be the result' status 0 readpast complete "$c" --result file
check 'the result is the content of the file' equal "$(result_of "$a")" 'from a file'
a=$(readpast enqueue q input)
c=$(claim)
printf input | readpast complete "$c" --result -
check 'standard input can be the result' equal "$(result_of "$a")" input
check 'a late claim is refused' status 4 readpast complete "$c" --result file
check 'the late claim has changed nothing' equal "$(result_of "$a")" input

# ---- progress ----

a=$(readpast enqueue q progress --max-attempts 3)
c=$(claim)
check 'extend --progress needs no lease' status 0 readpast extend "$c" --progress '{"row": 3}'
check 'the job has the progress' equal "$(progress_of "$a")" '{"row": 3}'
check 'show prints the progress on a line' grep -qx 'progress      {"row": 3}' <(readpast show "$a")
check 'why prints the progress' grep -q 'Its handler has reported: {"row": 3}\.$' <(readpast why "$a")
check 'why --json has the progress' equal "$(readpast why "$a" --json | jq -r .progress)" '{"row": 3}'
check 'extend by no time is refused' status 2 readpast extend "$c" --lease 0
check 'a progress that is too large is refused' status 2 readpast extend "$c" --progress "$(head -c 4097 large | tr '\0' x)"
check 'the message has the limit' equal "$(cat err)" 'readpast: extend: --progress: expected at most 4096 bytes (see readpast help extend)'
readpast fail "$c" --error no --retry-in 0 >/dev/null
check 'progress of a late claim is refused' status 4 readpast extend "$c" --progress late
job=$(readpast claim q)
check 'the next attempt gets the progress' equal "$(jq -r .progress <<<"$job")" '{"row": 3}'
readpast release "$(jq -r .claim <<<"$job")"
# shellcheck disable=SC2016
READPAST_PROGRESS=old readpast work q --drain --quiet -- sh -c 'printf %s "$READPAST_PROGRESS" >&3'
check 'the handler of the next attempt gets the progress' equal "$(result_of "$a")" '{"row": 3}'
a=$(readpast enqueue q none)
# shellcheck disable=SC2016
READPAST_PROGRESS=old readpast work q --drain --quiet -- sh -c 'printf "<%s>" "$READPAST_PROGRESS" >&3'
check 'a handler of a first attempt gets no progress' equal "$(result_of "$a")" '<>'
a=$(readpast enqueue q history)
c=$(READPAST_HISTORY=history readpast claim q | jq -r .claim)
READPAST_HISTORY=history readpast extend "$c" --progress half
READPAST_HISTORY=history readpast complete "$c"
check 'a history with results and progress can be checked' status 0 readpast check history
finish
