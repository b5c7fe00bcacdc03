#!/usr/bin/python3
"""worker.py - a worker in Python: greet each name in a queue, once.

  readpast --db sqlite:hello.db enqueue greetings Ada Grace Barbara
  ./worker.py hello.db $(pkg-config --variable=extensiondir readpast)/readpast greetings

The greeting's row and the completion of the job are one commit. So each name is
greeted once, however often workers are killed.

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import contextlib
import os
import signal
import sqlite3
import sys

path, extension, queue = sys.argv[1:4]
# isolation_level=None: Python begins no transaction; this program begins its own
db = sqlite3.connect(path, timeout=30, isolation_level=None)
db.enable_load_extension(True)
db.load_extension(extension)
stopping = []
signal.signal(signal.SIGTERM, lambda *_: stopping.append(True))


def call(sql, *args):
    return db.execute(sql, args).fetchall()


def greet(job, claim, name):
    # the work; if the work takes long, call readpast_extend() from time to time
    text = f"Hello {name}"
    call("begin immediate")
    call("insert into greeting values (?, ?)", job, text)
    # this fails if the lease was lost
    call("select readpast_complete(?, ?)", job, claim)
    call("commit")


call("create table if not exists greeting (job integer primary key, text)")
call("select readpast_worker_start(?, ?)", f"greeter:{os.getpid()}", queue)
while not stopping:
    call("select readpast_wait(?, '5s')", queue)
    for job, claim, name in call("select id, claim_no, payload"
                                 "  from readpast_claim(?)", queue):
        try:
            greet(job, claim, name)
        except Exception as error:  # the job is tried again later
            if db.in_transaction:
                call("rollback")
            with contextlib.suppress(sqlite3.Error):  # the claim may no longer be ours
                call("select readpast_fail(?, ?, ?)", job, claim, str(error))
call("select readpast_worker_stop()")
