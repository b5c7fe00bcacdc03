#!/usr/bin/python3
"""Test the tables of queues and lanes: a session creates a thousand queues, a user
changes rows by hand, the clock is set back, and logical replication publishes all
tables. Starts its own server.

  queues.py ROOT [CASE...]

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import time

from sessions import Session, buffers, case, main

# ---- many queues ----


@case
def a_session_that_makes_a_thousand_queues_does_not_read_all_of_them(s):
    # When a table has few rows, the planner prefers a sequential scan. The session must
    # not keep this plan when the table grows.
    s.rows("select readpast.enqueue('a' || i, 'x') from generate_series(1, 3) i")
    s.rows("analyze readpast.queue, readpast.lane")
    s.rows("begin")
    s.rows("select readpast.enqueue('q' || mod(i, 1000), 'x') "
           "from generate_series(1, 3000) i")
    pages = s.one("select pg_relation_size('readpast.queue') / 8192")
    assert pages > 100, pages
    for call in ("enqueue('q7', 'x')", "enqueue('q7', 'x', priority => 3)",
                 "enqueue('q7', 'x', unique_key => 'k')",
                 "enqueue_many('q7', array['x', 'y'])", "queue_create('q7')"):
        read = min(buffers(s, f"readpast.{call}") for _ in range(3))
        assert read < pages, (call, read)
    s.rows("commit")


@case
def queues_of_many_transactions_are_found_by_index_too(s):
    s.rows("select readpast.enqueue('a' || i, 'x') from generate_series(1, 3) i")
    s.rows("analyze readpast.queue, readpast.lane")
    for n in range(10):
        s.rows("select readpast.enqueue('q' || %s + i, 'x') "
               "from generate_series(1, 100) i", 100 * n)
    pages = s.one("select pg_relation_size('readpast.queue') / 8192")
    read = min(buffers(s, "readpast.enqueue('q7', 'x')") for _ in range(3))
    assert read < pages, (read, pages)


@case
def the_workers_of_all_queues_are_counted_in_one_scan(s):
    queues = 200
    s.rows("select readpast.queue_create('q' || i) from generate_series(1, %s) i",
           queues)
    before = min(buffers(s, "readpast.stats()") for _ in range(3))
    s.rows("insert into readpast.worker "
           "       (name, host, pid, queues, kinds, started_at, seen_at) "
           "select 'w', 'h', i, jsonb_build_array('q' || mod(i, 100), 'q1', 'q1'), "
           "       '[]', now(), now() "
           "  from generate_series(1, 300) i")
    read = min(buffers(s, "readpast.stats()") for _ in range(3))
    assert read - before < queues, (before, read)
    for which in "null", "'q1'":
        counted = f"select workers from readpast.stats({which}) where name = 'q1'"
        assert s.one(counted) == 300, which
    assert s.one("select workers from readpast.stats() where name = 'q2'") == 3
    assert s.one("select workers from readpast.stats('q200')") == 0


# ---- the scheduled jobs of other queues ----

@case
def searches_in_one_queue_do_not_read_the_scheduled_jobs_of_others(s):
    s.rows("select readpast.enqueue('other', i::text, delay => '1 day') "
           "from generate_series(1, 20000) i")
    s.rows("select readpast.enqueue('mine', i::text, delay => '1 day') "
           "from generate_series(1, 3) i")
    s.rows("vacuum analyze readpast.job")
    mine = s.one("select id from readpast.queue where name = 'mine'")
    pages = s.one("select pg_relation_size('readpast.job_due') / 8192")
    for call in (f"scheduled_in({mine}, false, 100)", f"scheduled_in({mine}, true, 100)",
                 f"scheduled_part({mine}, 100)", f"live_job({mine})",
                 f"probe_due({mine}, readpast.due_since())",
                 "held_by(1, array['mine'])"):
        read = min(buffers(s, f"readpast.{call}") for _ in range(3))
        assert read < pages, (call, read, pages)


@case
def the_end_of_a_queue_does_not_read_the_jobs_of_others(s):
    s.rows("select readpast.enqueue('other', i::text) from generate_series(1, 20000) i")
    for delay in ("0 s", "1 day"):
        s.rows("select readpast.enqueue('mine', 'x', delay => %s)", delay)
    s.rows("vacuum analyze readpast.job")
    s.rows("begin")
    s.rows("select * from readpast.queue_drop('mine')")
    read = s.one("select pg_stat_get_xact_tuples_returned('readpast.job'::regclass)")
    s.rows("commit")
    assert read < 1000, read
    assert s.one("select count(*) from readpast.job") == 20000


# ---- lanes ----

@case
def a_priority_that_was_set_by_hand_has_its_lane(s):
    s.put("1")
    s.rows("update readpast.queue set priority = 7")
    s.put("2")
    assert s.taken(9) == "21"
    s.rows("insert into readpast.queue (name, priority) values ('hand', 9)")
    assert s.one("select readpast.enqueue('hand', 'x')")
    assert s.one("select count(*) from readpast.claim('hand')") == 1


@case
def a_lane_has_one_row_even_if_it_is_used_often(s):
    for _ in range(3):
        s.put("x")
        s.put("x", priority=7)
        s.put("x", priority=7, unique_key="k")
        s.rows("select readpast.enqueue_many('q', array['x', 'y'], priority => 8)")
        s.one("select readpast.queue_set('q', priority => 5)")
    assert s.rows("select readpast.priority_of(lane_id) from readpast.lane "
                  "order by 1") == [
        (5,), (7,), (8,), (100,)]


@case
def a_claim_visits_a_lane_once_that_two_transactions_opened_at_once(s):
    s.rows("select readpast.queue_set('q', rate => 4, per => '1 h')")
    other = Session(s.database)
    for session, payload in ((s, "1"), (other, "2")):
        session.rows("begin")
        session.put(payload, priority=7)
    s.rows("commit")
    other.rows("commit")
    assert s.one("select count(*) from readpast.lane where "
                 "readpast.priority_of(lane_id) = 7") == 2
    s.put("3")
    assert s.taken(3) == "123"
    s.put("4") # the rate allows it only if each of the others was counted once
    assert s.taken() == "4"


# ---- rates ----

@case
def a_rate_allows_jobs_after_the_clock_was_set_back(s):
    s.rows("select readpast.queue_set('q', rate => 1, per => '1 s')")
    s.put("first")
    s.put("second")
    assert s.taken() == "first"
    s.rows("update readpast.start set at_us = at_us + 3600 * 1000000::bigint")
    assert s.one("select readpast.rate_in_ms(1, 1, 1000)") == 0
    assert s.taken() == "second"


# ---- publications ----

def worked_on(s, queue):
    """Call routines so that each table is written to."""
    waiter = s.one("insert into readpast.worker (name, host, pid, queues, kinds, "
                   "started_at, seen_at) values ('w', 'h', 1, '[]', '[]', now(), "
                   "now()) returning id")
    s.one("select readpast.queue_set(%s, keep_done => '1 hour')", queue)
    s.rows("select readpast.register_waiter(%s, array[%s])", waiter, queue)
    s.rows("select readpast.unregister_waiter(%s, array[%s])", waiter, queue)
    s.rows("select readpast.register_waiter(%s, array[%s])", waiter, queue)
    s.one("select readpast.enqueue(%s, 'key', unique_key => 'k')", queue)
    s.one("select readpast.enqueue(%s, 'again', unique_key => 'k', "
          "replace => true)", queue)
    s.one("select readpast.enqueue(%s, 'late', delay => '10 ms')", queue)
    s.rows("select readpast.enqueue_many(%s, array_fill('x'::text, array[50]), "
           "priority => 3)", queue)
    s.rows("select c.id, readpast.complete(c.id, c.claim_no) "
           "from readpast.claim(%s, 20) c", queue)
    s.rows("select readpast.fail(c.id, c.claim_no, 'no', for_good => true) "
           "from readpast.claim(%s) c", queue)
    s.rows("select readpast.release(c.id, c.claim_no) "
           "from readpast.claim(%s) c", queue)
    s.rows("select 1 from readpast.claim(%s, 3, '1 ms')", queue)
    s.rows("insert into readpast.tally "
           "values (extract(epoch from now())::bigint - 100, 1, 1, 0)")
    s.rows("update readpast.worker set seen_at = now() - interval '2 hours'")
    s.one("select readpast.sweep_start(false)")


@case
def a_publication_of_all_tables_blocks_no_call(s):
    s.rows("create publication everything for all tables")
    for queue in "one", "two":
        worked_on(s, queue)
        for _ in range(3):
            s.sweep()
            # Sweeps write a row to the table `tick`, and delete older rows, at most once
            # a second. Wait, so that each of these sweeps writes and deletes rows.
            time.sleep(1.05)
    s.rows("select readpast.drop_queue('one')")
    s.sweep()
    s.sweep()
    assert s.one("select count(*) from readpast.dropped") == 0
    assert s.one("select count(*) from readpast.jobs where queue = 'one'") == 0


@case
def each_published_table_identifies_deleted_rows(s):
    assert s.rows("""
        select c.oid::regclass::text
          from pg_class c
         where c.relnamespace = 'readpast'::regnamespace and c.relkind = 'r'
           and c.relpersistence = 'p' and c.relreplident <> 'f'
           and not exists (select 1 from pg_index i
                            where i.indrelid = c.oid and i.indisprimary)""") == []


main("fsync=off", "wal_level=logical", "autovacuum=off")
