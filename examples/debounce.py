#!/usr/bin/python3
"""debounce.py - index a text when it has not changed for a second, using sqlite3.

  extension=$(pkg-config --variable=extensiondir readpast)/readpast
  ./debounce.py notes.db $extension work &            # run several, if you like
  ./debounce.py notes.db $extension edit todo 'buy milk'
  ./debounce.py notes.db $extension edit todo 'buy milk and bread'    # indexed once

A change and its job are one commit. The job's unique key is the text's name, and the
job runs a second later.
While this job waits, each change replaces the job and so delays it. A running job
cannot be replaced. So when its work is done, a transaction checks whether the text has
changed meanwhile. If it has, the transaction releases the job, and otherwise completes
it. So the last change is always indexed, whichever process is killed.

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import sqlite3
import sys

path, extension, verb = sys.argv[1:4]
# isolation_level=None: Python begins no transaction; this program begins its own
db = sqlite3.connect(path, timeout=30, isolation_level=None)
db.enable_load_extension(True)
db.load_extension(extension)


def call(sql, *args):
    return db.execute(sql, args).fetchall()


def edit(name, text):
    call("begin immediate")
    call("insert into note (name, text) values (?, ?)"
         "    on conflict do update set text = excluded.text, version = version + 1", name, text)
    if not call("select 1 from readpast_jobs where queue = 'index' and unique_key = ?"
                "   and state = 'running'", name):
        call("select readpast_enqueue('index', ?1, json_object("
             "    'unique_key', ?1, 'replace', 1, 'delay', '1s'))", name)
    call("commit")


def index(job, claim, name):
    [(text, version)] = call("select text, version from note where name = ?", name)
    # the work; no transaction is open while it runs
    words = " ".join(sorted(set(text.split())))
    call("begin immediate")
    call("update note set words = ?, runs = runs + 1 where name = ?", words, name)
    if call("select 1 from note where name = ? and version = ?", name, version):
        # this fails if the lease was lost
        call("select readpast_complete(?, ?)", job, claim)
    else:
        call("select readpast_release(?, ?, '1s')", job, claim)
    call("commit")


call("create table if not exists note (name text primary key, text text,"
     "    version integer default 1, words text, runs integer default 0)")
if verb == "edit":
    edit(*sys.argv[4:6])
while verb == "work":
    call("select readpast_wait('index', '5s')")
    for job in call("select id, claim_no, payload from readpast_claim('index')"):
        try:
            index(*job)
        except sqlite3.Error as error:
            print(error, file=sys.stderr)
            if db.in_transaction:
                call("rollback")
