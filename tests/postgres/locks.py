#!/usr/bin/python3
"""Test that calls do not wait for locks that another session holds for long. These are
the locks of a transaction that stays open, and advisory locks, which every role may
take. Starts its own server.

  locks.py ROOT [CASE...]

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import threading
import time

from sessions import Session, case, eventually, main, tool


def impatient(s):
    """Let statements of this session fail when they wait for a lock for ten seconds."""
    s.rows("set lock_timeout = '10 s'")
    return s


def passed(s):
    """Enqueue and complete 50 jobs. This moves the position where claims start, the
    head. The next sweep then visits the jobs before the head, and deletes old rows."""
    s.rows("select readpast.enqueue_many('old', array_fill('x'::text, array[50]))")
    s.rows("select readpast.complete(array_agg(id), array_agg(claim_no)) "
           "from readpast.claim('old', 50)")


def newest_tick(s):
    return s.one("select coalesce(max(next_xid::text::bigint), 0) from readpast.tick")


# ---- claims ----

def open_claim(s, **more):
    """Begin a transaction and claim as a worker does that claims in one statement, so the
    claim locks what it would lock for a moment only. Returns the payloads."""
    names = "".join(f", {name} => %s" for name in more)
    s.rows("begin")
    return [bytes(payload).decode() for payload, in s.rows(
        f"select payload from readpast.settle_and_claim(array['q'], joined => false{names}) "
        "where id is not null", *more.values())]


@case
def a_claim_locks_no_job_that_it_must_not_prefetch(s):
    for payload in "abcd":
        s.put(payload, max_attempts=1)
    other = Session(s.database)
    assert open_claim(other, most=3, at_once=1) == ["a"]
    assert s.taken() == "b"
    other.rows("commit")
    assert s.taken(2) == "cd"


@case
def a_claim_that_meets_many_jobs_of_a_held_group_locks_no_other_job(s):
    s.rows("select readpast.enqueue_many('q', array_fill('x'::text, array[1100]), "
           "group_key => 'g')")
    for payload in "abc":
        s.put(payload)
    s.rows("select readpast.hold('q', '1 h', 'g')")
    other = Session(s.database)
    assert open_claim(other, most=1) == ["a"]
    assert s.taken() == "b"
    other.rows("commit")


# ---- advisory locks ----

@case
def no_routine_takes_an_advisory_lock(s):
    s.put("x")
    s.one("select readpast.cancel(%s)", s.put("kept"))
    for call in ("enqueue('q', 'x')", "enqueue('q', 'x', unique_key => 'k')",
                 "enqueue('q', 'x', priority => 3)",
                 "enqueue_many('q', array['x'])", "retry(2)", "claim('q')",
                 "sweep()", "register_waiter(1, '{q}')", "sweep_start()",
                 "queue_set('q', priority => 5)", "drop_queue('q')"):
        s.rows("begin")
        s.rows(f"select * from readpast.{call}")
        assert s.one("select count(*) from pg_locks "
                     "where locktype = 'advisory'") == 0, call
        s.rows("commit" if "sleep" in call else "rollback")
        assert s.one("select count(*) from pg_locks "
                     "where locktype = 'advisory'") == 0, call


@case
def a_session_with_every_advisory_lock_blocks_no_other(s):
    s.put("x")
    s.rows("create role mallory login")
    mallory = Session(s.database)
    mallory.rows("set session authorization mallory")
    mallory.rows("""
        select pg_advisory_lock(c.oid::int, k), pg_advisory_lock(c.oid::bigint),
               pg_advisory_lock(hashtext('readpast schema'))
          from pg_class c
          join pg_namespace n on n.oid = c.relnamespace
                             and n.nspname = 'readpast',
               unnest(array[0, 1, 2, 3, hashtext('q'), hashtext('old')]) k""")
    impatient(s)
    passed(s)
    before = newest_tick(s)
    time.sleep(1.1)
    passed(s)
    s.sweep()
    assert newest_tick(s) > before   # the locks did not stop the sweep
    assert s.complete(s.claim()["x"]) == "done"
    eventually(2, lambda: s.one("select readpast.sweep_start()"))
    s.one("select readpast.drop_queue('q')")


# ---- transactions that stay open ----

@case
def an_open_drop_of_a_queue_blocks_no_sweep(s):
    user = Session(s.database)
    for _ in range(3):
        passed(s)
        s.sweep()
        time.sleep(1.1)
    s.rows("insert into readpast.tally values "
           "(extract(epoch from now())::bigint - 100, 1, 1, 0)")
    s.rows("insert into readpast.waiter (queue_id, until, worker_id) values "
           "(1, now() - interval '2 minutes', 9)")
    s.put("x")
    s.claim(lease="1 s")
    user.rows("begin")
    user.rows("select readpast.drop_queue('old')")
    impatient(s)
    before = newest_tick(s)
    time.sleep(1.1)
    assert s.sweep()[1] == 1
    assert newest_tick(s) > before
    user.rows("rollback")


@case
def an_open_sweep_blocks_no_other_sweep(s):
    user = Session(s.database)
    passed(s)
    s.sweep()
    s.one("select readpast.sweep_start()")
    time.sleep(1.1)
    passed(s)
    user.rows("begin")
    assert user.one("select readpast.sweep_start()")
    user.sweep()
    before = newest_tick(s)
    impatient(s)
    assert not s.one("select readpast.sweep_start()")

    def walked():
        passed(s)
        s.sweep()
        return newest_tick(s) > before
    eventually(5, walked)
    eventually(2, lambda: s.one("select readpast.sweep_start()"))
    user.rows("commit")


@case
def one_of_all_clients_sweeps_in_each_second(s):
    s.put("x")
    other = Session(s.database)
    assert s.one("select behind from readpast.probe('q')")
    s.rows("begin")
    assert s.one("select readpast.sweep_start()")
    s.rows("rollback")
    assert other.one("select readpast.sweep_start()")
    assert not s.one("select behind from readpast.probe('q')")
    assert not s.one("select readpast.sweep_start()")
    eventually(2, lambda: s.one("select readpast.sweep_start()"))
    assert s.one("select count(*) from readpast.tick") <= 2


# ---- a queue is dropped while other sessions enqueue into it ----

PUTS = ("readpast.enqueue('q', 'new')",
        "readpast.enqueue('q', 'new', unique_key => 'k')",
        "readpast.enqueue('q', 'new', priority => 7)",
        "readpast.enqueue_many('q', array['new'])")


def swept_until_nothing_is_noted(s):
    def swept():
        s.sweep()
        return s.one("select count(*) from readpast.dropped") == 0
    eventually(3, swept)


@case
def an_open_enqueue_does_not_hold_up_a_drop_and_its_job_stays(s):
    user = Session(s.database)
    impatient(s)
    for put in PUTS:
        s.put("old")
        user.rows("begin")
        job = user.one(f"select {put}")
        s.rows("select readpast.drop_queue('q')")
        for _ in range(3):
            s.sweep()
        assert s.one("select count(*) from readpast.dropped") == 1
        assert s.rows("select * from readpast.stats()") == []
        user.rows("commit")
        s.sweep()
        claim = s.claim()["new"]
        assert claim[0] == job
        assert s.complete(claim) == "done"
        swept_until_nothing_is_noted(s)
        assert s.one("select count(*) from readpast.queue q "
                     "join readpast.lane l on l.lane_id / 1024 = q.id") > 0
        assert s.rows("select l.lane_id from readpast.lane l where not exists "
                      "(select 1 from readpast.queue q "
                      "where q.id = l.lane_id / 1024)") == []


@case
def a_sweep_of_two_statements_does_not_forget_a_dropped_queue_too_soon(s):
    """An open transaction has enqueued a job into a queue, and the queue is dropped
    before the commit. A transaction that sweeps twice must not delete the note about
    the dropped queue. When the enqueue commits, the next sweep needs this note to find
    the job and move it."""
    user, sweeper = Session(s.database), Session(s.database)
    s.put("old")
    user.rows("begin")
    job = user.put("new")
    s.rows("select readpast.drop_queue('q')")
    for _ in range(2):
        sweeper.rows("begin")
        sweeper.rows("select readpast.sweep_start()")
        sweeper.sweep()
        sweeper.sweep()
        sweeper.rows("commit")
    user.rows("commit")
    s.sweep()
    assert s.claim()["new"][0] == job


@case
def an_open_drop_does_not_hold_up_an_enqueue_and_its_job_stays(s):
    user = Session(s.database)
    impatient(s)
    for end in "commit", "rollback":
        for put in PUTS:
            s.put("old")
            user.rows("begin")
            user.rows("select readpast.drop_queue('q')")
            job = s.one(f"select {put}")
            user.rows(end)
            swept_until_nothing_is_noted(s)
            claims = s.claim(2)
            assert claims["new"][0] == job
            assert len(claims) == (1 if end == "commit" else 2)
            for claim in claims.values():
                s.complete(claim)


@case
def jobs_of_every_state_are_taken_into_the_new_queue(s):
    user = Session(s.database)
    impatient(s)
    s.put("old")
    user.rows("begin")
    user.rows("select readpast.drop_queue('q')")
    s.put("running")
    running = s.claim()["running"]
    s.put("expired")
    s.claim(lease="1 ms")
    s.put("long")
    s.rows("select readpast.extend(%s, %s)", *s.claim()["long"])
    s.put("dead")
    s.one("select readpast.fail(%s, %s, for_good => true)", *s.claim()["dead"])
    s.put("scheduled", delay="1 hour")
    s.put("ready", priority=3, unique_key="k")
    was = s.rows("select id, state, priority, unique_key, attempt, claim_no "
                 "from readpast.jobs where id > 1 order by id")
    user.rows("commit")
    assert s.rows("select * from readpast.jobs") == []
    s.put("new", unique_key="k")    # put() takes the unique key from the older job
    swept_until_nothing_is_noted(s)
    now = {row[0]: row for row in s.rows(
        "select id, state, priority, unique_key, attempt, claim_no "
        "from readpast.jobs where queue = 'q'")}
    for row in was:
        job, state, priority, key, *rest = row
        if state == "running" and now[job][1] == "ready":
            assert s.one("select payload from readpast.jobs where id = %s",
                         job) == "expired"
            state = "ready"
        assert now[job] == (job, state, priority, None, *rest), (row, now[job])
    assert len(now) == len(was) + 1
    assert s.complete(running) == "done"
    assert {*s.claim(9), *s.claim(9), *s.claim(9)} == {"ready", "expired", "new"}


@case
def a_crash_does_not_lose_jobs_of_a_dropped_queue(s):
    user = Session(s.database)
    s.put("old")
    user.rows("begin")
    user.rows("select readpast.drop_queue('q')")
    job = s.put("new")
    user.rows("commit")
    tool("crash")
    tool("restart")
    s.__init__(s.database)
    swept_until_nothing_is_noted(s)
    assert s.claim()["new"][0] == job


@case
def drops_beside_many_enqueues_lose_no_job(s):
    s.rows("""
        create table public.gone (id bigint);
        create function public.note() returns trigger language plpgsql as
        'begin insert into public.gone values (old.id); return null; end';
        create trigger note after delete on readpast.job
           for each row execute function public.note()""")
    acknowledged, stop = [], threading.Event()
    drops = 0

    def put(number):
        client = impatient(Session(s.database))
        call = PUTS[number].replace("'k'", "gen_random_uuid()::text")
        while not stop.is_set():
            client.rows("begin")
            job = client.one(f"select {call}")
            time.sleep(0.001 * number)
            client.rows("commit")
            acknowledged.append(job)

    threads = [threading.Thread(target=put, args=(n,)) for n in range(len(PUTS))]
    for thread in threads:
        thread.start()
    impatient(s)
    end = time.monotonic() + 5
    while (time.monotonic() < end or drops <= 20 or len(acknowledged) <= 500
           ) and all(thread.is_alive() for thread in threads):
        s.sweep()
        if s.rows("select 1 from readpast.queue"):
            s.rows("select readpast.drop_queue('q')")
            drops += 1
        time.sleep(0.02)
    stop.set()
    for thread in threads:
        thread.join()
    swept_until_nothing_is_noted(s)
    left = {job for job, in s.rows(
        "select j.id from readpast.job j join readpast.queue q "
        "on q.id = j.queue_id union select id from public.gone")}
    print(f"# {len(acknowledged)} put in, {drops} drops")
    assert drops > 20 and len(acknowledged) > 500
    assert set(acknowledged) <= left, set(acknowledged) - left
    assert s.one("select count(*) from readpast.job j where not exists "
                 "(select 1 from readpast.queue q where q.id = j.queue_id)") == 0


@case
def at_the_higher_levels_a_drop_is_refused_or_waited_for(s):
    user = Session(s.database)
    s.put("old")
    user.rows("begin isolation level repeatable read")
    user.rows("select 1 from readpast.queue")
    # register_waiter() updates the queue's row after the snapshot of `user` was taken.
    # The enqueue by `user` must nevertheless succeed. The drop must then be refused,
    # because the transaction with the enqueue is open.
    s.rows("select readpast.register_waiter(1, '{q}')")
    user.put("x")
    said = impatient(s).refused("select readpast.drop_queue('q')")
    assert said.startswith("RP006"), said
    user.rows("commit")
    user.rows("begin isolation level repeatable read")
    user.rows("select 1 from readpast.queue")
    s.rows("select readpast.drop_queue('q')")
    said = user.refused("select readpast.enqueue('q', 'x')")
    assert said.startswith("40001"), said
    user.rows("rollback")


def waits_for_a_lock(s, pid):
    return s.one("select count(*) from pg_stat_activity "
                 "where pid = %s and wait_event_type = 'Lock'", pid) == 1


@case
def an_enqueue_into_a_queue_that_another_session_makes_anew_is_not_refused(s):
    for call in ("enqueue('q', 'x')", "enqueue('q', 'x', priority => 3)",
                 "enqueue('q', 'x', unique_key => 'k')",
                 "enqueue_many('q', array['x', 'y'])"):
        user, other = Session(s.database), Session(s.database)
        s.one("select readpast.queue_set('q', max_payload => 0)")
        s.one("select readpast.drop_queue('q')")
        user.rows("begin")
        user.one("select readpast.queue_set('q', max_payload => 1)")
        # The call finds no queue, because the transaction that creates it is open. The
        # call waits for this transaction.
        answer = []
        thread = threading.Thread(target=lambda: answer.extend(
            other.rows(f"select readpast.{call}")))
        thread.start()
        eventually(10, lambda: waits_for_a_lock(s, other.db.get_backend_pid()))
        user.rows("commit")
        thread.join()
        assert answer, call
        said = s.refused(f"select readpast.{call.replace('x', 'four')}")
        assert said.startswith("RP004"), said
        s.one("select readpast.drop_queue('q')")


@case
def an_enqueue_is_refused_for_its_size_and_not_for_a_race(s):
    # If put_one() inserts no row, enqueue() finds out whether the queue is missing or
    # the job is too large. Replace put_one() by a routine that inserts nothing and
    # creates the queue, as if another session had created it just after the insert.
    args, result = s.one(
        "select pg_get_function_arguments(p), pg_get_function_result(p) "
        "from (select 'readpast.put_one'::regproc) f(p)")
    s.rows(f"""
        create or replace function readpast.put_one({args})
            returns {result} language plpgsql as $$
            begin
                perform readpast.queue_create(queue);
            end $$""")
    assert s.put("x") == 1
    s.one("select readpast.queue_set('q', max_payload => 3)")
    assert s.refused("select readpast.enqueue('q', 'four')").startswith("RP004")


# ---- unique keys ----

@case
def an_open_enqueue_of_a_running_jobs_key_holds_up_no_verdict(s):
    user = Session(s.database)
    impatient(s)
    for replace in False, True:
        job = s.put("x", unique_key="k")
        claim = s.claim()["x"]
        user.rows("begin; savepoint before")
        if replace:
            assert user.refused("select readpast.enqueue('q', 'again', "
                                "unique_key => 'k', replace => true)"
                                ).startswith("RP006")
        else:
            assert user.put("again", unique_key="k") == job
        assert s.one("select readpast.extend(%s, %s)", *claim) == "running"
        assert s.complete(claim) == "done"
        user.rows("rollback to before; commit")


@case
def a_ready_job_that_is_answered_runs_after_the_transaction(s):
    user, other = Session(s.database), Session(s.database)
    impatient(s)
    impatient(other)
    job = s.put("x", unique_key="k")
    user.rows("begin")
    assert user.put("y", unique_key="k") == job
    other.rows("begin")
    assert other.put("z", unique_key="k") == job
    assert s.put("replaced", unique_key="k", replace=True) == job
    assert s.taken() == ""
    user.rows("commit")
    assert s.taken() == ""
    other.rows("commit")
    assert s.taken() == "replaced"


@case
def an_enqueue_does_not_wait_for_an_open_claim_of_the_job(s):
    user = Session(s.database)
    impatient(s)
    job = s.put("x", unique_key="k")
    user.rows("begin")
    claim = user.claim()["x"]
    assert s.put("y", unique_key="k") == job
    assert s.one("select id, outcome from readpast.put_one("
                 "'q', 'y', null, null, null, null, null, null, 'k', true, "
                 "null, null, null)"
                 ) == (job, 1)
    user.complete(claim)
    user.rows("commit")
    assert s.put("y", unique_key="k") > job


# ---- prepared transactions ----

@case
def an_enqueue_that_notifies_nobody_can_be_prepared(s):
    s.one("select readpast.queue_create('q')")
    sleeper = Session(s.database)
    channel = sleeper.one("select channel from "
                          "readpast.register_waiter(1, '{q}')")
    sleeper.rows(f'listen "{channel}"')
    s.rows("begin")
    s.put("x")
    assert "NOTIFY" in s.refused("prepare transaction 'loud'")
    s.rows("rollback")
    s.rows("begin")
    s.rows("set local readpast.notify = off")
    s.put("x")
    s.rows("prepare transaction 'quiet'")
    s.sweep()
    sleeper.rows("select 1")
    assert not sleeper.db.notifies
    s.rows("commit prepared 'quiet'")
    s.sweep()
    sleeper.rows("select 1")
    assert len(sleeper.db.notifies) == 1
    assert s.taken() == "x"


main("max_prepared_transactions=5")
