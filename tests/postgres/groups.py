#!/usr/bin/python3
"""Test the routines for groups while transactions of several sessions are open. Starts
its own server.

  groups.py ROOT [CASE...]

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import threading
import time

from sessions import Session, buffers, case, eventually, main


def limited(s, limit=1):
    s.rows("select readpast.queue_set('q', group_limit => %s)", limit)


def put(s, payload, group="g"):
    return s.put(payload, group_key=group)


def open_session(s, isolation="read committed"):
    """Begin a transaction, and read, so that the transaction takes its snapshot now.
    Above read committed, the transaction keeps this snapshot."""
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


@case
def a_completion_that_is_open_when_the_limit_is_set_leaves_no_slot(s):
    put(s, "first")
    (claim,) = s.claim().values()
    for isolation in ("read committed", "repeatable read"):
        settler = open_session(s, isolation)
        s.rows("select readpast.queue_set('q', group_limit => 0)")
        if isolation == "read committed":
            assert settler.complete(claim)
        limited(s)
        if isolation != "read committed":
            assert settler.complete(claim)
        settler.rows("commit")
        put(s, "next")
        taken = s.claim()
        assert list(taken) == ["next"], taken
        (claim,) = taken.values()


@case
def a_release_with_an_old_snapshot_does_not_block_a_held_group_after_its_hold(s):
    put(s, "first")
    (claim,) = s.claim().values()
    s.rows("select readpast.hold('q', '1 hour', 'g')")
    settler = open_session(s, "repeatable read")
    limited(s)
    assert settler.one("select readpast.release(%s, %s)", *claim) == "blocked"
    settler.rows("commit")
    s.rows("select readpast.clear_hold('q', 'g')")
    assert s.taken() == "first"


@case
def a_job_that_is_committed_late_runs_before_later_ones(s):
    limited(s)
    enqueuer = open_session(s)
    put(enqueuer, "late")
    put(s, "first")
    claims = s.claim()
    assert list(claims) == ["first"]
    enqueuer.rows("commit")
    put(s, "a")
    put(s, "b")
    for name in ("late", "a", "b"):
        s.complete(*claims.values())
        claims = s.claim()
        assert list(claims) == [name], claims


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
    # If the commit was late, a2 comes before the place where claims start.
    eventually(10, lambda: s.sweep() and s.taken() == "a2")


@case
def a_job_that_another_session_changes_is_not_waited_for(s):
    limited(s)
    for payload in ("a", "b"):
        put(s, payload)
    (claim,) = s.claim().values()
    (b,) = s.rows("select id from readpast.jobs where state = 'blocked'")[0]
    changer, settler = open_session(s), open_session(s)
    for session in (changer, settler):
        session.rows("set lock_timeout = '1 s'")
    changer.rows("select readpast.change(%s, max_attempts => 7)", b)
    settler.complete(claim)
    changer.rows("select readpast.cancel(%s)", b)
    changer.rows("commit")
    settler.rows("commit")


# ---- the limit is lowered ----

@case
def no_job_starts_while_more_run_than_a_lower_limit_allows(s):
    limited(s, 3)
    for payload in "abcd":
        put(s, payload)
    claims = s.claim(1)
    assert list(claims) == ["a"]
    limited(s, 1)
    s.sweep()
    assert s.taken(5) == ""
    for name in "bcd":
        s.complete(*claims.values())
        claims = s.claim(5)
        assert list(claims) == [name], claims


def start_slowly(s, call, seconds, lock):
    """Call a routine in a statement that ends after some seconds, and holds a lock of this
    type for so long."""
    thread = threading.Thread(target=Session(s.database).rows, args=(
        f"do $$ begin perform {call}; perform pg_sleep({seconds}); end $$",))
    before = s.one("select count(*) from pg_locks where locktype = %s", lock)
    thread.start()
    eventually(10, lambda: s.one("select count(*) from pg_locks where locktype = %s",
                                 lock) > before)
    time.sleep(0.1)
    return thread


def put_slowly(s, payload, seconds):
    return start_slowly(
        s, f"readpast.enqueue('q', '{payload}'::text, group_key => 'g')", seconds, "advisory")


@case
def a_first_limit_counts_running_jobs_that_are_locked_for_a_short_time(s):
    for payload in "abcde":
        put(s, payload)
    claims = s.claim(5)
    # On a busy machine, the commit below may come too late for the usual 200 ms.
    s.rows("create or replace function readpast.lock_patience() returns interval "
           "language sql immutable as $$ select interval '20 s' $$")
    worker = open_session(s)
    worker.rows("select readpast.extend(%s, %s)", *claims["a"])
    change = threading.Thread(target=limited, args=(Session(s.database),))
    change.start()
    eventually(10, lambda: s.one("select count(*) from pg_stat_activity "
                                 "where wait_event = 'PgSleep'"))
    worker.rows("commit")
    change.join()
    assert s.one("select count(*) from readpast.group_slot") == 5
    put(s, "f")
    assert s.taken() == ""


@case
def a_first_limit_does_not_wait_for_a_job_that_stays_locked(s):
    for payload in "abc":
        put(s, payload)
    claims = s.claim(3)
    worker = open_session(s)
    worker.complete(claims["a"])
    started = time.monotonic()
    limited(s)
    assert time.monotonic() - started < 3
    worker.rows("commit")
    assert s.one("select count(*) from readpast.group_slot") == 2
    s.complete(claims["b"])
    s.complete(claims["c"])
    put(s, "d")
    expect_order(s, "d")


@case
def a_slot_that_is_added_while_the_limit_is_ended_and_set_again_counts(s):
    limited(s)
    enqueue = put_slowly(s, "late", 1)
    limited(s, 0)
    put(s, "first")
    claims = s.claim()
    assert list(claims) == ["first"]
    limited(s)
    enqueue.join()
    # A sweep moves the late job to the end of its lane, where a claim finds it.
    eventually(10, lambda: s.sweep() and s.one(
        "select seq is null or seq > (select head from readpast.cursor where lane_id > 0 "
        "order by head desc limit 1) from readpast.job where lease_until is null"))
    assert s.taken(2) == ""
    s.complete(claims["first"])
    expect_order(s, "late")


@case
def a_failed_job_keeps_its_place_when_its_delay_is_changed(s):
    limited(s)
    for payload in ("a", "b"):
        put(s, payload)
    (claim,) = s.claim().values()
    s.rows("select readpast.fail(%s, %s, 'error', delay => '1 h')", *claim)
    s.rows("select readpast.change(%s, delay => '0')", claim[0])
    assert s.taken() == "a"


@case
def a_scheduled_job_of_a_batch_needs_no_slot(s):
    limited(s)
    s.rows("select readpast.enqueue_many('q', '{later,now}'::bytea[], "
           "                             delays => '{1 h,0}', group_key => 'g')")
    assert s.taken() == "now"


@case
def a_group_is_not_forgotten_if_its_first_job_leaves_it_during_a_claim(s):
    limited(s)
    s.rows("select readpast.queue_set('other', group_limit => 1)")
    s.one("select readpast.enqueue('other', 'x', group_key => 'g')")
    s.sweep()  # carries out the requests of the new limits
    enqueuer = open_session(s)
    for payload in ("a", "b"):
        put(enqueuer, payload)
    enqueuer.rows("commit")
    # The claim calls lock_waiting() after it has read which job is the first.
    s.rows("alter function readpast.lock_waiting rename to then_lock")
    s.rows("create function readpast.lock_waiting(ids bigint[]) returns bigint[] "
           "language plpgsql as $$ begin perform readpast.change(ids[1], "
           "queue => 'other'); return readpast.then_lock(ids); end $$")
    assert s.taken() == ""
    s.rows("drop function readpast.lock_waiting")
    s.rows("alter function readpast.then_lock rename to lock_waiting")
    assert s.taken() == "b"


@case
def one_claim_after_a_limit_was_raised_takes_more_jobs(s):
    limited(s)
    for payload in ("a", "b", "c"):
        put(s, payload)
    assert s.taken() == "a"
    s.sweep()  # carries out the request of the first limit
    limited(s, 2)
    assert s.taken() == "b"


@case
def a_job_that_is_enqueued_while_the_limit_is_raised_or_ended_uses_the_new_limit(s):
    for limit in (2, 0):
        limited(s)
        put(s, "first")
        claims = s.claim()
        enqueue = put_slowly(s, "late", 1)
        limited(s, limit)
        s.sweep()
        assert s.one("select count(*) from readpast.limit_change") == 1
        assert s.taken() == ""
        enqueue.join()
        s.sweep()
        assert s.one("select count(*) from readpast.limit_change") == 0
        claims.update(s.claim())
        assert list(claims) == ["first", "late"]
        for claim in claims.values():
            s.complete(claim)


@case
def a_job_that_is_enqueued_while_the_change_of_the_limit_is_not_committed_is_found(s):
    for limit in (2, 0):
        limited(s)
        put(s, "first")
        claims = s.claim()
        change = start_slowly(
            s, f"readpast.queue_set('q', group_limit => {limit})", 1, "transactionid")
        put(s, "second")
        assert s.taken() == ""
        change.join()
        s.sweep()
        claims.update(s.claim())
        assert list(claims) == ["first", "second"]
        for claim in claims.values():
            s.complete(claim)


@case
def a_change_of_priority_starts_no_second_job_after_the_limit_was_lowered(s):
    limited(s, 2)
    first, second = put(s, "first"), put(s, "second")
    claims = s.claim(2)
    s.rows("select readpast.release(%s, %s)", *claims["first"])
    s.rows("select readpast.release(%s, %s, '1 h')", *claims["second"])
    limited(s)
    worker = open_session(s)
    assert list(worker.claim()) == ["first"]
    s.rows("select readpast.change(%s, priority => 90, delay => '0')", second)
    s.sweep()
    assert s.claim() == {}
    worker.rows("commit")
    assert s.claim() == {}
    assert s.state(first) == "running"


@case
def a_late_commit_starts_no_second_job_after_the_limit_was_lowered(s):
    late = open_session(s)
    limited(s, 2)
    put(late, "late")
    put(s, "first"), put(s, "second")
    claims = s.claim(2)
    s.rows("select readpast.release(%s, %s)", *claims["first"])
    s.rows("select readpast.release(%s, %s, '100 ms')", *claims["second"])
    limited(s)
    s.sweep()
    worker = open_session(s)
    (first,) = worker.claim().values()
    late.rows("commit")
    s.sweep()
    eventually(10, lambda: s.sweep() and s.one(
        "select run_at < clock_timestamp() or run_at = 'infinity' from readpast.job "
        "where payload = 'second'"))
    assert s.claim() == {}
    worker.rows("commit")
    assert s.claim() == {}
    s.complete(first)
    s.sweep()
    assert len(s.claim(5)) == 1


@case
def the_first_limit_needs_to_see_the_running_jobs(s):
    put(s, "x")
    old = open_session(s, "repeatable read")
    s.claim()
    for setting in ("run_limit", "group_limit"):
        assert old.refused(f"select readpast.queue_set('q', {setting} => 1)").startswith(
            "25001 the first limit of a queue works at READ COMMITTED only")
        old.rows("rollback")
        old.rows("begin isolation level repeatable read")


@case
def a_claim_that_waits_for_the_limits_lock_uses_the_new_limit(s):
    s.rows("select readpast.queue_set('q', run_limit => 3)")
    s.rows("alter function readpast.lock_limit set lock_timeout = '20 s'")
    for payload in "abcde":
        put(s, payload)
    worker, waiter = open_session(s), Session(s.database)
    assert len(worker.claim()) == 1
    claims = []
    claim = threading.Thread(target=lambda: claims.append(waiter.claim(3)))
    claim.start()
    eventually(10, lambda: s.one("select count(*) from pg_stat_activity "
                                 "where wait_event_type = 'Lock'"))
    s.rows("select readpast.queue_set('q', run_limit => 1)")
    worker.rows("commit")
    claim.join()
    assert claims == [{}], claims


@case
def a_due_job_that_no_sweep_has_seen_has_no_place_in_its_group(s):
    limited(s)
    for payload in "abc":
        put(s, payload)
    job = s.put("d", group_key="g", priority=200, delay="1 hour")
    s.rows("update readpast.job set run_at = now() where id = %s", job)
    s.rows("select readpast.hold('q', '1 hour')")
    ahead = "select group_ahead, group_waiting from readpast.why_limited(%s, 100)"
    assert s.rows(ahead, job) == [(0, 2)]
    s.rows("select readpast.clear_hold('q')")
    s.sweep()
    assert s.rows(ahead, job) == [(2, 3)]


# ---- waiting jobs are found again ----

def expect_order(s, *payloads):
    """Claim and complete one job after the other."""
    for payload in payloads:
        claims = s.claim()
        assert list(claims) == [payload], (payload, claims)
        s.complete(claims[payload])


@case
def a_job_that_is_committed_after_its_successor_is_not_skipped(s):
    limited(s)
    late, later = open_session(s), open_session(s)
    put(late, "late")
    put(later, "later")
    put(s, "first")
    claims = s.claim()
    for session in (later, late):
        session.rows("commit")
        s.sweep()
    for payload in "ab":
        put(s, payload)
    s.complete(claims["first"])
    expect_order(s, "late", "later", "a", "b")


@case
def a_slot_that_is_passed_on_while_the_limit_is_lowered_goes_back_to_an_earlier_job(s):
    limited(s, 2)
    for payload in ("first", "a", "b"):
        put(s, payload)
    (claim,) = s.claim(1).values()
    setter = open_session(s)
    limited(setter)
    assert s.complete(claim)
    setter.rows("commit")
    s.sweep()
    expect_order(s, "a", "b")


@case
def jobs_with_slots_that_are_far_apart_keep_their_order_when_the_limit_is_lowered(s):
    limited(s, 3)
    for payload in ("1", "2", "3", "a", "b"):
        put(s, payload)
    claims = s.claim(3)
    assert s.complete(claims["1"])
    s.rows("select readpast.enqueue_many('q', array_fill('x'::text, array[1100]))")
    assert s.complete(claims["2"])
    limited(s)
    assert s.complete(claims["3"])
    s.sweep()
    claims = s.claim(1200)
    assert set(claims) == {"x", "a"}, claims
    assert s.complete(claims["a"])
    expect_order(s, "b")


@case
def a_completion_with_an_old_snapshot_keeps_the_order_of_priorities(s):
    limited(s)
    put(s, "first"), put(s, "second")
    (claim,) = s.claim().values()
    old = open_session(s, "repeatable read")
    s.put("urgent", group_key="g", priority=1)
    old.complete(claim)
    old.rows("commit")
    expect_order(s, "urgent", "second")


@case
def a_job_that_was_locked_when_others_were_admitted_is_not_overtaken_forever(s):
    limited(s, 2)
    for payload in "abcdefgh":
        put(s, payload)
    running = s.claim(2)
    (c,) = s.rows("select id from readpast.jobs where state = 'blocked' order by id")[0]
    locker = open_session(s)
    locker.rows("select 1 from readpast.job where id = %s for update", c)
    for _ in range(2):
        s.complete(running.pop(min(running)))
        running.update(s.claim())
    locker.rows("commit")
    order = ""
    while running:
        order += min(running)
        s.complete(running.pop(min(running)))
        running.update(s.claim(2))
    assert "c" in order[:4], order


@case
def a_locked_job_of_another_priority_is_not_forgotten(s):
    limited(s, 2)
    for payload in "xycdef":
        put(s, payload)
    for payload in "ab": # they come later, but before c
        s.put(payload, group_key="g", priority=50)
    for claim in s.claim(2).values():
        s.complete(claim)
    running = s.claim(2)
    (c,) = s.rows("select id from readpast.jobs where state = 'blocked' order by id")[0]
    locker = open_session(s)
    locker.rows("select 1 from readpast.job where id = %s for update", c)
    for payload in "ab":
        s.complete(running.pop(payload))
    locker.rows("commit")
    order = ""
    while claims := s.claim():
        order += "".join(claims)
        s.complete(*claims.values())
    assert sorted(order) == list("cdef") and "c" in order[:3], order


@case
def a_job_that_is_committed_while_a_slot_is_passed_on_is_not_forgotten(s):
    limited(s)
    put(s, "first")
    (claim,) = s.claim().values()
    late, settler = open_session(s), open_session(s)
    put(late, "late")
    put(s, "next")
    assert settler.complete(claim)
    late.rows("commit")
    assert s.taken() == ""
    s.sweep()
    settler.rows("commit")
    put(s, "last")
    expect_order(s, "next", "late", "last")


@case
def a_changed_job_with_a_slot_passes_it_on(s):
    limited(s)
    for change in ("priority => 10", "delay => '0'"):
        for payload in "abc":
            put(s, payload)
        a = s.one("select min(id) from readpast.job")
        if change.startswith("delay"):
            s.rows("select readpast.fail(%s, %s, 'x', delay => '1 h')", *s.claim()["a"])
        s.rows(f"select readpast.change(%s, {change})", a)
        s.rows("select readpast.change(%s, priority => 100)", a)
        expect_order(s, *"abc")


@case
def an_enqueue_that_waits_for_a_unique_key_does_not_lose_its_place(s):
    limited(s)
    put(s, "first")
    first = s.claim()["first"]
    other, later = open_session(s), open_session(s)
    other.put("other", unique_key="k")
    enqueuer = Session(s.database)
    thread = threading.Thread(target=enqueuer.put, args=("early",),
                              kwargs={"group_key": "g", "unique_key": "k"})
    thread.start()
    eventually(10, lambda: s.one("select count(*) from pg_locks where not granted"))
    put(later, "x")
    later.rows("commit")
    s.complete(first)
    x = s.claim()["x"]
    other.rows("rollback")
    thread.join()
    put(s, "last")
    s.complete(x)
    expect_order(s, "early", "last")


def start_put(s, payload, **more):
    """Begin an enqueue that waits for another transaction."""
    thread = threading.Thread(target=Session(s.database).put, args=(payload,), kwargs=more)
    thread.start()
    eventually(10, lambda: s.one("select count(*) from pg_locks where not granted"))
    return thread


@case
def an_enqueue_that_waits_for_a_unique_key_delays_no_other_job_of_its_group(s):
    limited(s)
    other = open_session(s)
    other.put("other", unique_key="k")
    enqueue = start_put(s, "late", group_key="g", unique_key="k")
    put(s, "x")
    claims = s.claim()
    assert list(claims) == ["x"], claims
    other.rows("rollback")
    enqueue.join()
    assert s.taken() == ""
    put(s, "last")
    s.complete(claims["x"])
    expect_order(s, "late", "last")


@case
def a_replaced_job_keeps_its_slot_when_its_priority_changes(s):
    limited(s)
    a = s.put("a", group_key="g", unique_key="a", priority=200)
    b = put(s, "b")
    for name, priority in (("c", 50), ("d", 99)):
        assert s.put(name, group_key="g", unique_key="a", priority=priority, replace=True) == a
        assert (s.state(a), s.state(b)) == ("ready", "blocked"), name
    expect_order(s, "d", "b")
    assert not s.one("select count(*) from readpast.group_slot")


@case
def a_replaced_job_that_is_scheduled_keeps_no_slot_for_a_retry(s):
    limited(s)
    a = s.put("a", group_key="g", unique_key="a")
    b = put(s, "b")
    s.rows("select readpast.fail(%s, %s, delay => '1 h')", *s.claim()["a"])
    assert (s.state(a), s.state(b)) == ("scheduled", "blocked")
    assert s.put("c", group_key="g", unique_key="a", delay="2 h", replace=True) == a
    assert (s.state(a), s.state(b)) == ("scheduled", "ready")


@case
def two_replacements_of_one_waiting_job_leave_no_group_stuck(s):
    limited(s)
    for group in "xy":
        put(s, group, group)
    job = s.put("k", group_key="x", unique_key="k")
    first = open_session(s)
    assert first.put("k1", group_key="y", unique_key="k", replace=True) == job
    second = start_put(s, "k2", group_key="x", unique_key="k", replace=True)
    first.rows("commit")
    second.join()
    for group in "yx":
        put(s, group + "2", group)
    claims = s.claim(10)
    assert list(claims) == ["x", "y"], claims
    for claim in claims.values():
        assert s.complete(claim)
    claims = s.claim(10)
    assert list(claims) == ["k2", "y2"], claims
    for claim in claims.values():
        assert s.complete(claim)
    expect_order(s, "x2")
    assert not s.one("select count(*) from readpast.group_slot")


@case
def a_job_with_a_unique_key_gets_a_slot_or_waits_or_replaces(s):
    limited(s)
    a, b = (s.put(name, group_key="g", unique_key=name) for name in "ab")
    assert (s.state(a), s.state(b)) == ("ready", "blocked")
    assert s.put("c", group_key="g", unique_key="a", replace=True) == a
    assert s.put("d", group_key="g", unique_key="b", replace=True) == b
    assert s.put("e", group_key="g", unique_key="b") == b
    scheduled = s.put("f", group_key="g", unique_key="f", delay="1 h")
    assert s.state(scheduled) == "scheduled"
    expect_order(s, "c", "d")


@case
def a_barred_job_is_found_by_its_id_whatever_the_statistics_say(s):
    limited(s)
    put(s, "x")
    s.rows("alter table readpast.job set (autovacuum_enabled = off)")
    copy = ("insert into readpast.job (lane_id, seq, run_at, created_at, queue_id, "
            "max_attempts, payload) select lane_id, {}, now(), now(), queue_id, 1, '' "
            "from readpast.job, generate_series(1, {}) n where id = 1")
    s.rows(copy.format("null", 50000))
    s.rows("vacuum analyze readpast.job") # when only one job was in the line
    s.rows(copy.format("seq + n", 5000))
    buffers(s, "readpast.barred_jobs(array[1])") # also reads the catalog
    pages = buffers(s, "readpast.barred_jobs(array[1])")
    assert pages < 20, pages


# ---- transactions that stay open ----

@case
def the_end_of_a_hold_in_an_open_transaction_delays_no_other_group(s):
    limited(s)
    s.rows("select readpast.hold('q', '1 h', 'g')")
    put(s, "held")
    manager = open_session(s)
    manager.rows("select readpast.clear_hold('q', 'g')")
    manager.rows("select readpast.queue_set('q', group_limit => 2)")
    assert s.one("select count(*) from pg_locks where locktype = 'advisory'") == 0
    manager.rows("commit")
    assert s.taken() == "held"


@case
def an_open_claim_that_meets_a_job_of_a_held_group_locks_no_job_that_it_does_not_take(s):
    s.rows("select readpast.queue_set('q')")
    held = put(s, "a")
    for payload in "bcdef":
        s.put(payload)
    locker, claimer = open_session(s), open_session(s)
    locker.rows("select 1 from readpast.job where id = %s for update", held)
    s.rows("select readpast.hold('q', '1 h', 'g')")  # skips the locked job
    locker.rows("commit")
    assert claimer.taken() == "b"
    assert s.taken(5) == "cdef"
    claimer.rows("commit")
    assert s.state(held) == "blocked"


@case
def an_open_claim_takes_the_first_allowed_jobs_of_many_groups(s):
    for number in range(30):
        put(s, f"{number:02}", f"g{number % 10}")
    locker = open_session(s)
    locker.rows("select 1 from readpast.job for update")
    limited(s)  # skips the locked jobs
    locker.rows("commit")
    s.rows("insert into readpast.group_slot (queue_id, group_key, job_id, priority, came) "
           "select j.queue_id, j.group_key, j.id, 100, j.seq "
           "from readpast.job j where j.id between 4 and 7")
    claimer = open_session(s)
    assert list(claimer.claim(3)) == ["03", "04", "05"]
    assert s.taken() == "06"
    claimer.rows("commit")
    assert sorted(s.claim(30)) == ["00", "01", "02", "07", "08", "09"]


@case
def requests_of_a_locked_group_do_not_keep_other_groups_waiting(s):
    limited(s)
    locker = open_session(s)
    locker.rows("select readpast.lock_groups(1, '{g}')")
    s.rows("insert into readpast.group_recheck (queue_id, group_key) "
           "select 1, 'g' from generate_series(1, readpast.admit_slice())")
    enqueuer = open_session(s)
    put(enqueuer, "other", "h")
    enqueuer.rows("commit")
    assert s.taken() == "other"
    locker.rows("commit")
    assert s.taken() == ""
    assert s.one("select count(*) from readpast.group_recheck") == 0


@case
def a_claim_does_not_wait_for_a_transaction_that_has_set_back_a_slot(s):
    limited(s)
    enqueuer = open_session(s)
    put(enqueuer, "late")
    put(s, "first")
    enqueuer.rows("commit")
    (job,) = s.rows("select job_id from readpast.group_slot")[0]
    s.rows("insert into readpast.group_hold values (1, 'g', 'infinity')")
    s.rows("update readpast.queue set holds_until = 'infinity'")
    admitter = open_session(s)
    admitter.rows("select readpast.admit_requested(1)")
    s.rows("set lock_timeout = '1 s'")
    assert s.taken() == ""
    admitter.rows("commit")
    s.rows("delete from readpast.group_hold")
    assert s.state(job) == "ready"
    expect_order(s, "first", "late")


@case
def no_queue_with_many_requests_keeps_the_sweep_from_others(s):
    for name in ("q", "a", "last"):
        s.rows("select readpast.queue_set(%s, group_limit => 1)", name)
    s.rows("create or replace function readpast.admit_budget() returns interval "
           "language sql immutable as $$ select interval '10 ms' $$")
    for queue, requests in ((1, 200000), (2, 200000), (3, 1)):
        s.rows("insert into readpast.group_recheck (queue_id, group_key) "
               "select %s, n::text from generate_series(1, %s) n", queue, requests)
    for _ in range(40):
        s.sweep()
        if not s.one("select readpast.has_requests(3)"):
            break
    assert s.one("select readpast.has_requests(1) and not readpast.has_requests(3)")


# ---- cursors of recheck requests ----

def carry_out_requests(s, rounds=1):
    """Let a hundred requests be made in each round, and let a claim carry them out.
    Complete the jobs."""
    enqueuer = open_session(s)
    for number in range(rounds):
        enqueuer.rows("select readpast.enqueue('q', 'x'::text, group_key => %s || n) "
                      "from generate_series(1, 100) n", f"{number} ")
        enqueuer.rows("commit")
        assert s.one("select count(*) from readpast.group_recheck") >= 100
        claims = s.rows("select id, claim_no from readpast.claim('q', 100)")
        assert len(claims) == 100, claims
        for claim in claims:
            s.complete(claim)
        enqueuer.rows("begin")


def stale_requests(s):
    """Return how many pages are read to learn that the queue has no request."""
    return buffers(s, "readpast.has_requests(1)")


@case
def requests_that_were_carried_out_cost_nothing_beside_an_old_snapshot(s):
    limited(s)
    report = open_session(s, "repeatable read")
    carry_out_requests(s, 2)
    few = stale_requests(s)
    carry_out_requests(s, 20)
    many = stale_requests(s)
    assert many < few + 20, (few, many)
    assert s.one("select count(*) from readpast.group_cursor") == 1
    report.rows("commit")


@case
def a_request_that_was_committed_after_a_cursor_was_made_is_carried_out(s):
    limited(s)
    enqueuer = open_session(s)
    put(enqueuer, "late", "l")
    carry_out_requests(s, 3)
    assert s.one("select count(*) from readpast.group_cursor") == 1
    enqueuer.rows("commit")
    assert s.taken() == "late"


@case
def a_request_for_a_group_that_was_locked_is_carried_out_later(s):
    limited(s)
    holder = open_session(s)
    assert holder.one("select readpast.lock_groups(1, '{l}')") == ["l"]
    enqueuer = open_session(s)
    put(enqueuer, "late", "l")
    enqueuer.rows("commit")
    carry_out_requests(s, 3)
    assert s.one("select count(*) from readpast.group_cursor") == 1
    holder.rows("rollback")
    assert s.taken() == "late"


@case
def a_request_that_the_maker_of_a_cursor_has_added_is_carried_out_later(s):
    limited(s)
    enqueuer = open_session(s)
    enqueuer.rows("select readpast.enqueue('q', 'x'::text, group_key => 'g' || n) "
                  "from generate_series(1, 200) n")
    late = put(enqueuer, "late", "l")
    enqueuer.rows("commit")
    locker = open_session(s)
    locker.rows("select from readpast.job where id = %s for update", late)
    s.rows("begin")
    s.rows("select pg_current_xact_id()")
    enqueuer.rows("select pg_current_xact_id()")  # a larger id, which ends earlier
    s.rows("select readpast.admit_requested(1)")
    s.rows("commit")
    assert s.one("select count(*) from readpast.group_cursor") == 1
    assert len(s.rows("select id from readpast.claim('q', 300)")) == 200
    locker.rows("rollback")
    assert s.taken() == "late"


@case
def a_cursor_that_was_restored_from_another_server_is_ignored(s):
    limited(s)
    carry_out_requests(s, 2)
    s.rows("update readpast.group_cursor set past = '9000000000000000000', "
           "server = server - interval '1 hour'")
    enqueuer = open_session(s)
    put(enqueuer, "new", "n")
    enqueuer.rows("commit")
    assert s.taken() == "new"
    s.sweep()
    carry_out_requests(s, 2)
    assert s.one("select max(past)::text::numeric from readpast.group_cursor") < 9e18


@case
def a_sweep_carries_out_requests_too(s):
    limited(s)
    carry_out_requests(s, 2)
    enqueuer = open_session(s)
    put(enqueuer, "new", "n")
    enqueuer.rows("commit")
    s.sweep()
    assert s.one("select state from readpast.jobs") == "ready"


@case
def a_sweep_does_not_wait_for_a_drop_that_is_open(s):
    limited(s)
    carry_out_requests(s, 2)
    dropper = open_session(s)
    dropper.rows("select readpast.queue_drop('q')")
    enqueuer = open_session(s)
    enqueuer.rows("select readpast.enqueue('q', 'x'::text, group_key => 'g' || n) "
                  "from generate_series(1, 200) n")
    enqueuer.rows("commit")
    s.rows("set lock_timeout = '1 s'")
    s.sweep()
    dropper.rows("rollback")


@case
def a_sweep_finds_the_requests_of_each_queue(s):
    limited(s)
    carry_out_requests(s, 2)
    s.rows("insert into readpast.group_recheck (queue_id, group_key) "
           "values (1, 'a'), (2, 'a'), (3, 'a')")
    s.sweep()
    assert s.one("select count(*) from readpast.group_recheck") == 0


@case
def a_drop_forgets_no_waiting_job_that_is_committed_meanwhile(s):
    limited(s)
    enqueuer, other = open_session(s), open_session(s)
    job = put(enqueuer, "new")
    # The drop deletes the queue's jobs, and then waits for this lock.
    other.rows("lock table readpast.tally in access exclusive mode")
    drop = threading.Thread(target=Session(s.database).rows,
                            args=("select readpast.drop_queue('q')",))
    drop.start()
    eventually(10, lambda: s.one("select count(*) from pg_locks where not granted"))
    enqueuer.rows("commit")
    other.rows("commit")
    drop.join()
    for _ in range(2):
        s.sweep()
    assert s.claim()["new"][0] == job


# ---- lock waits ----

@case
def producers_of_one_group_do_not_wait_for_each_other(s):
    limited(s)
    waits = []
    producers = [Session(s.database) for _ in range(20)]

    def produce(producer):
        for _ in range(30):
            put(producer, "x")

    # The query below ignores locks of the type `extend`: sessions that add pages to a
    # table wait for each other even without groups.
    threads = [threading.Thread(target=produce, args=(p,)) for p in producers]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        waits += s.rows("select pid, locktype "
                        "from pg_locks where not granted and locktype <> 'extend'")
        time.sleep(0.01)
    assert not waits, waits[:5]
    assert s.one("select count(*) from readpast.jobs") == 600


# ---- limits that change ----

@case
def resume_in_a_transaction_that_stays_open_locks_no_group(s):
    limited(s)
    s.rows("select readpast.pause('q')")
    producer = open_session(s)
    put(producer, "first")
    producer.rows("commit")
    resumer = open_session(s)
    resumer.rows("select readpast.resume('q')")
    assert s.one("select count(*) from pg_locks where locktype = 'advisory'") == 0
    resumer.rows("commit")
    assert s.taken() == "first"


@case
def a_lowered_limit_counts_slots_that_have_the_same_number(s):
    limited(s, 2)
    late = open_session(s)
    put(late, "late")
    put(s, "first")
    put(s, "second")
    late.rows("commit")
    s.sweep()
    limited(s, 1)
    assert len(s.claim(5)) == 1


@case
def a_late_extension_is_refused_if_the_limit_was_lowered(s):
    limited(s, 2)
    put(s, "first")
    put(s, "second")
    claims = s.claim(2, lease="100 ms")
    limited(s, 1)

    def lost():
        s.sweep()
        return not s.one("select count(*) from readpast.jobs where state = 'running'")

    assert eventually(10, lost)
    (taken,) = s.claim(1)
    (other,) = claims.keys() - {taken}
    assert s.refused("select readpast.extend(%s, %s)", *claims[other])
    assert s.one("select count(*) from readpast.jobs where state = 'running'") == 1


@case
def a_claim_reads_the_slots_of_a_group_once_after_its_limit_was_lowered(s):
    limited(s, 400)
    s.rows("select count(*) from readpast.enqueue_many("
           "'q', array_fill('x'::bytea, array[400]), group_key => 'g')")
    limited(s, 399)
    s.rows("vacuum analyze")
    pages = buffers(s, "readpast.claim('q', 100)")
    assert pages < 400 * 20, pages


@case
def one_call_admits_a_bounded_number_of_jobs(s):
    limited(s)
    for n in range(30):
        s.rows("select count(*) from readpast.enqueue_many("
               "'q', array_fill('x'::bytea, array[100]), group_key => %s)", f"g{n}")
    waiting = "select count(*) from readpast.group_wait"
    all_of_them = s.one(waiting)
    limited(s, 0)
    left = s.one(waiting)
    assert all_of_them - 1000 <= left < all_of_them, left

    def all_admitted():
        s.sweep()
        return s.one(waiting) == 0

    assert eventually(30, all_admitted)


main()
