#!/usr/bin/python3
"""worker_psycopg.py - a worker for PostgreSQL that uses only readpast's SQL functions.

It fetches pages and stores their sizes.

  psql app -c 'create table page (job bigint primary key, url text, size bigint)'
  readpast --db postgres:///app init
  readpast --db postgres:///app enqueue pages https://example.org/ https://example.com/
  ./worker_psycopg.py postgres:///app pages         # run several, if you like

One commit inserts the page's row and completes the job. So each job has one row in the
end, however often workers are killed. The worker ends at once on SIGTERM or on a
database error. Let systemd start it again. The job that it was running becomes ready
again when its lease expires.

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import select
import signal
import sys
import urllib.request

import psycopg2

db, queue = psycopg2.connect(sys.argv[1]), sys.argv[2]
# Claims and sweeps need the isolation level read committed, whatever the server's
# default is.
db.set_session("read committed", autocommit=True)


def call(sql, *args):
    with db.cursor() as cursor:
        cursor.execute(sql, args)
        return cursor.fetchall() if cursor.description else []


def fetch(job, claim, page, lease):
    # Renew the lease when a third of it has passed. If the lease was lost, this raises
    # an exception, which ends the work.
    signal.signal(signal.SIGALRM, lambda *_: call("select readpast.extend(%s, %s)", job, claim))
    signal.setitimer(signal.ITIMER_REAL, lease.total_seconds() / 3, lease.total_seconds() / 3)
    try:  # the work; no transaction is open while it runs
        size = len(urllib.request.urlopen(page, timeout=30).read())
    except OSError as error:  # the job is tried again later
        return call("select readpast.fail(%s, %s, %s)", job, claim, str(error))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    # One statement completes the job and inserts the row, so both happen or neither.
    call("insert into page select %s, %s, %s from readpast.complete(%s, %s)",
         job, page, size, job, claim)


def wait():
    # Register as a waiter, and listen. If the registration is new, do not wait but claim
    # once more, because jobs that were enqueued before the registration have not notified
    # this worker. `rest` is the time after which the worker must call sweep_start().
    [(channel, _, new, rest)] = call("select * from readpast.register_waiter(%s, %s)", me, [queue])
    db.notifies.clear()
    call(f'listen "{channel}"')
    if not new and not db.notifies:
        select.select([db], [], [], rest.total_seconds())


# Each session has a name of its own, which `readpast workers` shows.
[(me,)] = call("select readpast.worker_named('pages:' || pg_backend_pid(), %s)", [queue])
signal.signal(signal.SIGTERM,
              lambda *_: sys.exit(not call("select readpast.worker_stop(%s)", me)))
while True:
    # Workers share the sweeps: sweep_start() returns true when this worker must sweep.
    call("select readpast.sweep() where readpast.sweep_start()")
    # A call of claim() with the worker's name counts as the worker's heartbeat, and so
    # does extend().
    jobs = call("select id, claim_no, convert_from(payload, 'UTF8'), lease_until - now()"
                "  from readpast.claim(%s, worker => 'pages:' || pg_backend_pid())", queue)
    try:
        fetch(*jobs[0]) if jobs else wait()
    except psycopg2.Error as error:
        # the claim is no longer ours, or the job was cancelled
        if error.pgcode not in ("RP001", "RP002"):
            raise
