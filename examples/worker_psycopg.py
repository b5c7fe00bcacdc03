#!/usr/bin/python3
"""worker_psycopg.py - a worker on PostgreSQL in SQL alone: fetch pages, note their sizes.

  psql app -c 'create table page (job bigint primary key, url text, size bigint)'
  readpast --db postgres:///app enqueue pages https://example.org/ https://example.com/
  ./worker_psycopg.py postgres:///app pages         # several, if you like

A page's row and its job's end are one commit: each job has one row, however often
workers are killed. A signal ends it at once, and so does an error of the database:
let systemd start it again. Its job is ready again when the lease is over.

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import select
import signal
import sys
import urllib.request

import psycopg2

db, queue = psycopg2.connect(sys.argv[1]), sys.argv[2]
# Claims and sweeps need this level, whatever the server's default is.
db.set_session("read committed", autocommit=True)


def call(sql, *args):
    with db.cursor() as cursor:
        cursor.execute(sql, args)
        return cursor.fetchall() if cursor.description else []


def fetch(job, claim, page, lease):
    # Renew the lease at a third of it. If it was lost this raises, which ends the work.
    signal.signal(signal.SIGALRM, lambda *_: call("select readpast.extend(%s, %s)", job, claim))
    signal.setitimer(signal.ITIMER_REAL, lease / 3, lease / 3)
    try:  # the work: no transaction is open meanwhile
        size = len(urllib.request.urlopen(page, timeout=30).read())
    except OSError as error:  # tried again later
        return call("select readpast.fail(%s, %s, %s)", job, claim, str(error))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    with db:  # begin, and commit or roll back (psycopg2 2.9)
        call("insert into page values (%s, %s, %s)", job, page, size)
        call("select readpast.complete(%s, %s)", job, claim)


def wait(worker):
    # Register as a waiter, listen, and look once more: a job that was enqueued before
    # notifies nobody. `rest` is when this worker has to ask for a sweep again.
    [(channel, rest)] = call("select channel, extract(epoch from rest)::float"
                             "  from readpast.register_waiter(%s, %s)", worker, [queue])
    db.notifies.clear()
    call(f'listen "{channel}"')
    if not call("select 1 from readpast.probe(%s) where ready", queue) and not db.notifies:
        select.select([db], [], [], rest)


while True:
    # Workers share the sweeps: sweep_start() says whose turn it is.
    call("select readpast.sweep() where readpast.sweep_start()")
    # Register this worker, or renew its heartbeat; `readpast workers` lists it.
    [(me,)] = call("select readpast.worker_named('pages:' || pg_backend_pid(), %s)", [queue])
    jobs = call("select id, claim_no, convert_from(payload, 'UTF8'), extract(epoch from"
                " lease_until - now())::float from readpast.claim(%s, worker_id => %s)", queue, me)
    try:
        fetch(*jobs[0]) if jobs else wait(me)
    except psycopg2.Error as error:
        if error.pgcode not in ("RP001", "RP002"):  # the job is no longer ours; cancelled
            raise
