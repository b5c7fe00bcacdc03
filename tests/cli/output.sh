#!/usr/bin/env bash
# Test the command `work` while its standard output, to which handlers write, cannot be
# written. Jobs whose output is lost must stay ready, with no attempt used.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"

small=$here/small
trap 'kill $(jobs -p) 2>/dev/null; umount -q "$small" 2>/dev/null; cd /; rm -rf "$here"' EXIT

# fill QUEUE N: enqueue N jobs whose payloads are the numbers from 1 to N.
fill() {
	readpast queue set "$1" --max-attempts 2 --backoff 100ms >/dev/null
	seq "$2" | readpast enqueue "$1" --quiet
}

# untouched QUEUE N: the queue has N jobs, all of them ready and with no attempt used.
untouched() {
	equal "$(readpast list "$1" --limit 1000 --json |
		sed -E 's/.*"state":"([a-z]*)".*"attempt":([0-9]*),.*/\1 \2/' | sort | uniq -c | tr -s ' ')" " $2 ready 0" &&
		equal "$(readpast list "$1" --state dead --json)" ''
}

# complained ERROR RESULT: the worker has printed one line, with this error and this
# result. Output of handlers does not count.
complained() {
	equal "$(grep -c '^readpast: ' err)" 1 &&
		grep -qE "^readpast: cannot write to standard output: $1; $2 \(" err
}

# ---- the reader of the output ends ----

# The reader of the output reads the first line and exits. The first handler writes this
# line. All other handlers write only after the reader has exited.
cat >line <<'END'
#!/bin/sh
echo "$1" >>started
[ "$1" = 1 ] || until [ -e gone ]; do sleep 0.02; done
echo "$1"
END
chmod +x line
one_line() {
	head -n 1 >first
	exec <&-
	touch gone
}
for threads in 1 8; do
	rm -f gone started
	fill "pipe$threads" 50
	"$READPAST" work "pipe$threads" -j "$threads" --drain -- ./line {} 2>err > >(one_line)
	check "with -j $threads work exits with 1 when the reader of its output has ended" equal "$?" 1
	check 'one line says that the output has no reader' complained 'it has no reader any more' 'unfinished jobs were released'
	check 'the job whose output was read is done' equal "$(cat first)" 1
	check 'all other jobs are ready, with no attempt used' untouched "pipe$threads" 49
	check 'no handler was started after the reader had ended' \
		test "$(wc -l <started)" -le "$((threads + 1))"
done

rm -f gone started
fill busy 2
cat >mixed <<'END'
#!/bin/sh
[ "$1" = 1 ] || exec ./line "$1"
touch running
until [ -e go ]; do sleep 0.02; done
sleep 0.5
END
chmod +x mixed
leave_once() {
	for file; do eventually test -e "$file"; done
	exec <&-
	touch gone
}
"$READPAST" work busy -j 2 --drain --grace 0s -- ./mixed {} 2>err > >(leave_once running started) &
worker=$!
is_back() {
	[[ $(field ready "$(readpast stats busy --json)") == 1 ]]
}
check 'a handler cannot write, and its job is released' eventually is_back
touch go
wait "$worker"
check 'the worker ends with the other handler: work exits with 1' equal "$?" 1
check 'only the other handler ran to its end' untouched busy 1

rm -f gone started
readpast enqueue bad x --quiet
"$READPAST" work bad --drain -- sh -c './line {}; exit 65' 2>err > >(leave_once started)
check "a handler's verdict does not count then: the job is not dead" untouched bad 1

# ---- a socket ----

cat >pair.py <<'END'
import socket
import subprocess
import sys

ours, theirs = socket.socketpair()
if sys.argv[1] == "half":  # only output, like a service's connection to the journal
    theirs.shutdown(socket.SHUT_RD)
    ours.shutdown(socket.SHUT_WR)
else:
    ours.close()
sys.exit(subprocess.run(sys.argv[2:], stdout=theirs).returncode)
END
fill socket 3
check 'a socket that can only be written to works as output' \
	status 0 python3 pair.py half "$READPAST" work socket --drain -- echo {}
check 'the jobs of the worker with the socket are done' equal "$(readpast list socket --json)" ''
fill socket 3
python3 pair.py closed "$READPAST" work socket --drain -- echo {} 2>err
check 'a socket whose other end is closed: work exits with 1' equal "$?" 1
check 'one line says so, and that no job was claimed' complained 'it has no reader any more' 'no job was claimed'
check 'the jobs of this queue are unchanged' untouched socket 3

# ---- there is no standard output ----

check 'closed standard output: work exits with 1' \
	equal "$(READPAST_DB=sqlite:new.db readpast work q --drain -- echo 2>err >&-; echo $?)" 1
check 'one line says that standard output is not open' complained 'it is not open for writing' 'no job was claimed'
check 'the worker has not even opened the database' test ! -e new.db
check 'standard output that is open for reading: work exits with 1' \
	equal "$(readpast work socket --drain -- echo {} 2>err 1</dev/null; echo $?)" 1
check 'the jobs of this queue are still unchanged' untouched socket 3

# ---- no room ----

fill device 3
check 'standard output on a full device: work exits with 1' \
	equal "$(readpast work device --drain -- echo {} 2>err >/dev/full; echo $?)" 1
check 'one line says so, and that no job was claimed' complained 'No space left on device' 'no job was claimed'
check 'the jobs of the queue are unchanged' untouched device 3

# on_full_disk QUEUE FILLER: run a worker that writes its output to a file on a small
# disk. The filler, a file of FILLER blocks, leaves space for the output of only a few
# handlers.
on_full_disk() {
	local queue=$1
	fill "$queue" 20
	dd if=/dev/zero of="$small/filler" bs=4k count="$2" 2>/dev/null
	"$READPAST" work "$queue" -j 3 --drain -- sh -c 'echo {} >>started; head -c 3000 /dev/zero' 2>err >>"$small/log"
	check "the disk becomes full, queue $queue: exit 1" equal "$?" 1
	check 'the worker prints one line' complained 'No space left on device' 'unfinished jobs were released'
	check 'some jobs were done' test -s "$small/log"
	check 'the other jobs are ready, with no attempt used' \
		untouched "$queue" "$((20 - $(stat -c %s "$small/log") / 3000))"
	umount "$small"
}
mkdir "$small"
if mount -t tmpfs -o size=64k tmpfs "$small" 2>/dev/null; then
	on_full_disk tmpfs 12
fi
# ext2 cannot reserve blocks for a file, but reports how many blocks are free.
truncate -s 1M disk
if mkfs.ext2 -q -b 1024 -m 0 disk && mount -o loop disk "$small" 2>/dev/null; then
	on_full_disk ext2 230
fi
# Like ext2, ramfs cannot reserve blocks for a file. A ramfs has no limit on its size.
if mount -t ramfs ramfs "$small" 2>/dev/null; then
	fill ramfs 3
	# shellcheck disable=SC2016
	check 'a disk that does not count its blocks is not taken as full' \
		status 0 sh -c '"$0" work ramfs --drain -- echo {} >"$1/log"' "$READPAST" "$small"
	umount "$small"
fi
fill room 3
check 'a file on a disk with free space works as output' \
	equal "$(readpast work room --drain -- echo {} >file; echo $?)" 0
check 'the file is as long as the output' equal "$(tr '\n' , <file)" '1,2,3,3 done, 0 failed, 0 dead, 0 released,'

# ---- other commands ----

# full COMMAND...: the command exits with 1 if its output cannot be written, and says so
# in one line, whatever else it says.
full() {
	readpast "$@" 2>err >/dev/full
	equal "$? $(grep -c '^readpast: cannot write to standard output: No space left on device$' err)" '1 1'
}
readpast queue set others --group-limit 1 >/dev/null
seq 300 | readpast enqueue others --group g --quiet
id=$(readpast list others --json | jq .id | head -n 1)
for command in 'list others' "show $id" "why $id" stats 'queue list' 'cron next @daily' 'groups others' version; do
	# shellcheck disable=SC2086
	check "$command says that its output cannot be written" full $command
	# shellcheck disable=SC2086
	check "$command --json says so, too" full $command --json
done
check 'list does not say then that it has left out jobs' equal "$(full list others --json; wc -l <err)" 1
for command in metrics doctor 'doctor --json --long 0s' 'show --queue others --json' "cancel $id 99999 --json"; do
	# shellcheck disable=SC2086
	check "$command says that its output cannot be written" full $command
done
check 'enqueue says it once' equal "$(readpast enqueue others x 2>&1 >/dev/full | grep -c 'cannot write to standard output')" 1
check 'claim says it once' equal "$(readpast claim device 2>&1 >/dev/full | grep -c 'cannot write to standard output')" 1

# ---- kept apart ----

# Run two handlers at the same time. Each handler continues after the other handler has
# written.
cat >./talk <<'END'
#!/bin/sh
other=$(($1 % 2 ? $1 + 1 : $1 - 1))
echo "$1 begins"
echo "$1 fails" >&2
touch "talks.$1"
until [ -e "talks.$other" ]; do sleep 0.02; done
echo "$1 ends"
END
chmod +x talk
fill talk 6
readpast work talk -j 2 --drain --output-sync -- ./talk {} >out 2>err
check '--output-sync keeps the lines of a job together' \
	equal "$(grep -c begins out) $(grep -A 1 begins out | grep -c ends)" '6 6'
check '--output-sync keeps the lines of standard error together, too' equal "$(grep -c fails err)" 6
mkfifo both
fill talk2 6
rm talks.*
readpast work talk2 -j 2 --drain --output-sync -- ./talk {} >both 2>&1 &
sed -n 's/^\([0-9]\) \(begins\|ends\|fails\)$/\1/p' both | uniq -c | tr -s ' ' >together
wait $!
check 'both streams of a job come one after the other' \
	equal "$(cut -d' ' -f2 together | paste -sd' ')" '3 3 3 3 3 3'
fill long 2
readpast work long --drain --output-sync -- head -c 3000000 /dev/zero >out 2>/dev/null
check 'long output is kept complete' equal "$(head -c 6000000 out | tr -d '\0' | wc -c) $(($(wc -c <out) > 6000000))" '0 1'
fill tail 1
readpast work tail --drain --output-sync -- sh -c 'echo why >&2; exit 65' >out 2>err
check 'the error of a failed attempt is kept as without --output-sync' \
	equal "$(field last_error "$(readpast list tail --state dead --json)")" why
rm -f gone started
fill reader 50
"$READPAST" work reader -j 2 --drain --output-sync -- ./line {} 2>err > >(one_line)
check 'the reader of collected output ends: work exits with 1' equal $? 1
check 'jobs whose output was not read are ready, with no attempt used' untouched reader 49
fill folder 2
TMPDIR=$here/nowhere "$READPAST" work folder --drain --output-sync -- echo {} >out 2>err
check 'the folder for temporary files is missing: work exits with 1' equal $? 1
check 'the message names the problem' grep -q '^readpast: cannot store the output of handlers in temporary files: No such file or directory; unfinished jobs were released (set TMPDIR ' err
check 'no attempt is used without temporary files' untouched folder 2
check 'no temporary file is left' equal "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'readpast-??????' -newer talk 2>/dev/null)" ''

# ---- standard error ----

fill stderr 10
check 'work goes on if standard error has no reader' \
	equal "$(readpast work stderr -j 2 --drain -- sh -c 'echo {} >&2' 2> >(exec <&-) | tail -n 1)" \
	'10 done, 0 failed, 0 dead, 0 released'
fill stderr 10
check 'work goes on if standard error is closed' \
	equal "$(readpast work stderr -j 2 --drain -- sh -c 'echo {} >&2' 2>&- | tail -n 1)" \
	'10 done, 0 failed, 0 dead, 0 released'
fill unread 1
readpast work unread --max-jobs 1 --timeout 2s -- \
	sh -c 'echo $$ >handler; head -c 200000 /dev/zero >&2; exec sleep 600' \
	>out 2> >(echo "$BASHPID" >reader; exec sleep 600) &
worker=$!
is_ended() {
	test -s handler && ! kill -0 "$(cat handler)" 2>/dev/null
}
check 'a handler whose standard error nobody reads is ended after its timeout' eventually is_ended
kill "$(cat reader)"
wait "$worker"
check 'its attempt has failed' equal "$(tail -n 1 out)" '0 done, 1 failed, 0 dead, 0 released'
finish
