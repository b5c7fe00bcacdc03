#!/usr/bin/env bash
# Test a server whose disk is full. The database is in a tablespace on a disk of 40 MB.
# No acknowledged job may be lost, and work must continue when space is free again, or
# when the disk is made larger.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=../cli/load.sh
. "$(dirname "$0")/../cli/load.sh"
# shellcheck source=../cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"
# shellcheck source=server.sh
. "$(dirname "$0")/server.sh"

small=$(mktemp -d /tmp/readpast-pg.XXXXXX)
if ! mount -t tmpfs -o size=40m tmpfs "$small" 2>/dev/null; then
	rmdir "$small"
	echo '1..0 # SKIP only a user who may mount can make a small disk'
	exit
fi
undo() {
	umount "$small"
	rmdir "$small"
}
chmod 777 "$small"
start_server "$server" max_connections=50
mkdir "$small/data"
((EUID != 0)) || chown postgres "$small/data"
sql "create tablespace small location '$small/data'"
sql 'create database small tablespace small'
sql 'create database loaded tablespace small'
full='the server has no room left: '
fill_up() {
	cat /dev/zero >"$small/filler" 2>/dev/null
	true
}

# ---- commands, one at a time ----

export READPAST_DB="postgres:///small?host=$server&user=postgres"
readpast init >/dev/null
head -c 12000000 /dev/zero >"$small/filler"
seq -f '%01900.0f' 1000 >lines
until ! readpast --history h enqueue q --quiet <lines 2>err; do
	:
done
check 'on a full disk the command prints one line' equal "$(grep -cE "^readpast: .*$full" err):$(wc -l <err)" 1:1
head -c 300000 /dev/urandom >large
large() {
	"$READPAST" enqueue q --one <large >out 2>err
}
large
check 'on a full disk the command exits with 1' equal "$?:$(grep -cE "^readpast: .*$full" err):$(wc -l <out)" 1:1:0
acknowledged=$(grep -c '"enqueued"' h)
check 'all acknowledged jobs are in the queue, and no others' \
	equal "$(field ready "$(readpast stats q --json)")" "$acknowledged"
check 'many jobs were acknowledged' test "$acknowledged" -ge 1000
rm "$small/filler"
check 'with free space again all jobs are done' equal \
	"$(readpast --history h work q -j 8 --drain -- true 2>work.err | tail -n 1)" \
	"$acknowledged done, 0 failed, 0 dead, 0 released"
check 'the history agrees' equal "$(readpast check h --left q | tail -n 1)" 'P1 ok, P2 ok, P3 ok, P6 ok'

# ---- under load ----

export READPAST_DB="postgres:///loaded?host=$server&user=postgres"
# Large payloads fill pages quickly, so an enqueue soon needs a new page. A claim needs
# none, because the page of a job has room for the new version of its row. But a verdict
# with a result needs new pages, because the results are large and are kept. The queue
# is paused until the disk is full, so that workers still have enough jobs when the disk
# is full.
payload='%01900.0f'
handler=(--result stdout -- sh -c 'head -c 3000 /dev/urandom')
readpast init >/dev/null
readpast queue set q --keep-done 1h >/dev/null
start_load
readpast pause q >/dev/null
seq -f "$payload" 1000 | readpast --history h enqueue q --quiet
fill_up
in_trouble() { # FILE...: one of these files reports the full disk
	cat "$@" | grep -qE "$full"
}
check 'under load producers report the full disk' eventually in_trouble producer.err
check 'on a full disk a queue can be resumed' eventually readpast resume q
check 'under load workers report the full disk' eventually in_trouble work.err.{1,2,3}
mount -o remount,size=200m "$small"
check 'on a larger disk work goes on' more_settled 100
check_load full
finish
