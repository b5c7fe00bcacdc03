#!/usr/bin/python3
"""Test the routines for groups while transactions of several sessions are open. Starts
its own server.

  groups.py ROOT [CASE...]

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import threading
import time

from sessions import Session, case, main


def limited(s, limit=1):
    s.rows("select readpast.queue_set('q', group_limit => %s)", limit)


def put(s, payload, group="g"):
    return s.put(payload, group_key=group)


def open_session(s, isolation="read committed"):
    """Begin a transaction that has its snapshot, if the isolation level needs one."""
    session = Session(s.database)
    session.rows(f"begin isolation level {isolation}")
    session.rows("select 1 from readpast.job")
    return session


# ---- a transaction that stays open forgets no group ----

@case
def a_job_that_comes_while_a_completion_is_open_is_admitted_after_it(s):
    limited(s)
    put(s, "first")
    (claim,) = s.claim().values()
    settler = open_session(s)
    assert settler.complete(claim)
    put(s, "second")
    assert s.taken() == ""
    s.sweep()
    settler.rows("commit")
    assert s.taken() == "second"


@case
def a_job_that_comes_while_a_completion_is_rolled_back_waits(s):
    limited(s)
    put(s, "first")
    (claim,) = s.claim().values()
    settler = open_session(s)
    assert settler.complete(claim)
    put(s, "second")
    settler.rows("rollback")
    assert s.taken() == ""
    assert s.complete(claim)
    assert s.taken() == "second"


@case
def a_completion_with_an_old_snapshot_forgets_no_group(s):
    limited(s)
    put(s, "first")
    (claim,) = s.claim().values()
    for isolation in ("repeatable read", "serializable"):
        settler = open_session(s, isolation)
        put(s, isolation)
        assert s.taken() == ""
        assert settler.complete(claim)
        settler.rows("commit")
        taken = s.claim()
        assert "".join(taken) == isolation, taken
        (claim,) = taken.values()


# ---- an open transaction delays nobody else ----

@case
def an_open_enqueue_into_a_group_delays_nobody(s):
    limited(s, 2)
    enqueuer = open_session(s)
    put(enqueuer, "open")
    s.rows("set lock_timeout = '1 s'")
    put(s, "a")
    put(s, "b")
    put(s, "c")
    claims = s.claim(3)
    assert list(claims) == ["a", "b"]
    s.complete(claims["a"])
    assert s.taken() == "c"
    enqueuer.rows("commit")
    assert s.taken() == ""
    s.complete(claims["b"])
    assert s.taken() == "open"


@case
def an_open_claim_and_completion_delay_no_other_group(s):
    limited(s)
    for group in "ab":
        for n in "12":
            put(s, group + n, group)
    worker = open_session(s)
    (claim,) = worker.claim().values()
    worker.complete(claim)
    s.rows("set lock_timeout = '1 s'")
    claims = s.claim(3)
    assert list(claims) == ["b1"]
    s.complete(claims["b1"])
    assert s.taken() == "b2"
    worker.rows("commit")
    assert s.taken() == "a2"


@case
def producers_of_one_group_do_not_wait_for_each_other(s):
    limited(s)
    waits = []
    producers = [Session(s.database) for _ in range(20)]

    def produce(producer):
        for _ in range(30):
            put(producer, "x")

    # Sessions that extend a table wait for each other, with and without groups.
    threads = [threading.Thread(target=produce, args=(p,)) for p in producers]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        waits += s.rows("select pid, locktype "
                        "from pg_locks where not granted and locktype <> 'extend'")
        time.sleep(0.01)
    assert not waits, waits[:5]
    assert s.one("select count(*) from readpast.jobs") == 600


main()
