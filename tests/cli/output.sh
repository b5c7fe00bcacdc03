#!/usr/bin/env bash
# work: handlers write to its standard output. Once that takes nothing more, the
# queue is left as it is.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"

small=$here/small
trap 'kill $(jobs -p) 2>/dev/null; umount -q "$small" 2>/dev/null; cd /; rm -rf "$here"' EXIT

# fill QUEUE N: so many jobs, the payload of each its number.
fill() {
	readpast queue set "$1" --max-attempts 2 --backoff 100ms >/dev/null
	seq "$2" | readpast enqueue "$1" --quiet
}

# So many jobs of the queue are left: all ready, no attempt used.
untouched() {
	equal "$(readpast list "$1" --limit 1000 --json |
		sed -E 's/.*"state":"([a-z]*)".*"attempt":([0-9]*),.*/\1 \2/' | sort | uniq -c | tr -s ' ')" " $2 ready 0" &&
		equal "$(readpast list "$1" --state dead --json)" ''
}

# The worker said so in one line, beside what handlers said.
complained() {
	equal "$(grep -c '^readpast: ' err)" 1 &&
		grep -qE "^readpast: cannot write to standard output: $1; $2 \(" err
}

# ---- a reader that goes away ----

# The reader takes the first line and is gone; only then the others write.
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
	check "-j $threads, the reader of standard output goes: exit 1" equal "$?" 1
	check 'one line says so' complained 'it has no reader any more' 'jobs not done were given back'
	check 'what was written is done' equal "$(cat first)" 1
	check 'all others are ready again, no attempt used' untouched "pipe$threads" 49
	check 'nothing was started after the reader had gone' \
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
check 'one handler cannot write, its job is given back' eventually is_back
touch go
wait "$worker"
check 'the worker ends with the other handler, exit 1' equal "$?" 1
check 'which may run to its end' untouched busy 1

rm -f gone started
readpast enqueue bad x --quiet
"$READPAST" work bad --drain -- sh -c './line {}; exit 65' 2>err > >(leave_once started)
check 'whatever a handler says of its job then, it is not dead' untouched bad 1

# ---- a socket ----

cat >pair.py <<'END'
import socket
import subprocess
import sys

ours, theirs = socket.socketpair()
if sys.argv[1] == "half":  # as systemd connects a service to its journal
    theirs.shutdown(socket.SHUT_RD)
    ours.shutdown(socket.SHUT_WR)
else:
    ours.close()
sys.exit(subprocess.run(sys.argv[2:], stdout=theirs).returncode)
END
fill socket 3
check 'a socket that only takes is as good as any' \
	status 0 python3 pair.py half "$READPAST" work socket --drain -- echo {}
check 'its jobs are done' equal "$(readpast list socket --json)" ''
fill socket 3
python3 pair.py closed "$READPAST" work socket --drain -- echo {} 2>err
check 'one whose other end is closed: exit 1' equal "$?" 1
check 'one line, and no job was claimed' complained 'it has no reader any more' 'no job was claimed'
check 'the queue is as it was' untouched socket 3

# ---- no standard output at all ----

check 'closed standard output: exit 1' \
	equal "$(READPAST_DB=sqlite:new.db readpast work q --drain -- echo 2>err >&-; echo $?)" 1
check 'one line' complained 'it is not open for writing' 'no job was claimed'
check 'not even the database was opened' test ! -e new.db
check 'standard output that is open for reading: exit 1' \
	equal "$(readpast work socket --drain -- echo {} 2>err 1</dev/null; echo $?)" 1
check 'the queue is still as it was' untouched socket 3

# ---- no room ----

fill device 3
check 'a device that is full: exit 1' \
	equal "$(readpast work device --drain -- echo {} 2>err >/dev/full; echo $?)" 1
check 'says so, and no job was claimed' complained 'No space left on device' 'no job was claimed'
check 'and its queue is as it was' untouched device 3

# on_full_disk QUEUE FILLER: a disk has room for the output of a few handlers,
# once so many blocks of it are taken.
on_full_disk() {
	local queue=$1
	fill "$queue" 20
	dd if=/dev/zero of="$small/filler" bs=4k count="$2" 2>/dev/null
	"$READPAST" work "$queue" -j 3 --drain -- sh -c 'echo {} >>started; head -c 3000 /dev/zero' 2>err >>"$small/log"
	check "a disk gets full ($queue): exit 1" equal "$?" 1
	check 'one line of the worker' complained 'No space left on device' 'jobs not done were given back'
	check 'some jobs were done' test -s "$small/log"
	check 'the others are ready, no attempt used' \
		untouched "$queue" "$((20 - $(stat -c %s "$small/log") / 3000))"
	umount "$small"
}
mkdir "$small"
if mount -t tmpfs -o size=64k tmpfs "$small" 2>/dev/null; then
	on_full_disk tmpfs 12
fi
# This one cannot allocate ahead, and only says how many blocks are free.
truncate -s 1M disk
if mkfs.ext2 -q -b 1024 -m 0 disk && mount -o loop disk "$small" 2>/dev/null; then
	on_full_disk ext2 230
fi
# This one cannot either, and has no limit.
if mount -t ramfs ramfs "$small" 2>/dev/null; then
	fill ramfs 3
	# shellcheck disable=SC2016
	check 'a disk that does not count its blocks is not full' \
		status 0 sh -c '"$0" work ramfs --drain -- echo {} >"$1/log"' "$READPAST" "$small"
	umount "$small"
fi
fill room 3
check 'a file on a disk with room' \
	equal "$(readpast work room --drain -- echo {} >file; echo $?)" 0
check 'is as long as what was written' equal "$(tr '\n' , <file)" '1,2,3,3 done, 0 failed, 0 dead, 0 released,'

# ---- standard error ----

fill stderr 10
check 'nobody reads standard error: work goes on' \
	equal "$(readpast work stderr -j 2 --drain -- sh -c 'echo {} >&2' 2> >(exec <&-) | tail -n 1)" \
	'10 done, 0 failed, 0 dead, 0 released'
fill stderr 10
check 'nor without any standard error is it stopped' \
	equal "$(readpast work stderr -j 2 --drain -- sh -c 'echo {} >&2' 2>&- | tail -n 1)" \
	'10 done, 0 failed, 0 dead, 0 released'
finish
