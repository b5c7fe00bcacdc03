#!/usr/bin/python3
"""Test the routines of sql/postgres, called with Debian's psycopg2 and without our
library, as any client may call them. Also test each danger that docs/design.md
describes, with several sessions that do their steps in a fixed order. Starts its own
server.

  routines.py ROOT [CASE...]

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import collections
import re
import threading
import time
import traceback

import psycopg2

from sessions import Session, buffers, case, eventually, main, tool


def swept_in(session, payload, seconds=4):
    """Sweep and claim, again and again, until a claim returns this job. A claim cannot
    find the job before a sweep has put it back into the ready line."""
    def look():
        session.sweep()
        return session.claim().get(payload)
    return eventually(seconds, look)


# ---- results of the routines ----

@case
def payloads_of_each_type_are_stored_and_returned(s):
    assert s.one("select readpast.enqueue('q', %s::text)", "grün") == 1
    assert s.one("select readpast.enqueue('q', %s::bytea)", b"\x00\xff") == 2
    assert s.one("select readpast.enqueue('q', '{\"a\": 1}'::jsonb, "
                 "kind => 'k', headers => '{\"h\": 2}')") == 3
    assert s.rows("select readpast.enqueue_many('q', array['x', 'y'])") == [
        (4,), (5,)]
    rows = s.rows("select id, payload, kind, headers, priority, attempt, "
                  "max_attempts from readpast.claim('q', 9)")
    assert [(r[0], bytes(r[1]), *r[2:]) for r in rows] == [
        (1, "grün".encode(), None, None, 100, 1, 3),
        (2, b"\x00\xff", None, None, 100, 1, 3),
        (3, b'{"a": 1}', "k", {"h": 2}, 100, 1, 3),
        (4, b"x", None, None, 100, 1, 3), (5, b"y", None, None, 100, 1, 3)]
    assert s.taken() == ""
    assert s.one("select payload from readpast.jobs where id = 1") == "grün"


@case
def bad_arguments_are_refused_with_a_message(s):
    for words, sql in (
            ("RP003 priority 256", "readpast.enqueue('q', 'x', priority => 256)"),
            ("RP003 the delay", "readpast.enqueue('q', 'x', delay => '-1 s')"),
            ("RP003 max_attempts",
             "readpast.enqueue('q', 'x', max_attempts => 0)"),
            ("RP003 the payload is null",
             "readpast.enqueue('q', null::bytea)"),
            ("RP003 the headers are not a JSON object",
             "readpast.enqueue('q', 'x', headers => '[1]')"),
            ("RP003 the kind must have 1 to 128 bytes and no control", "readpast.enqueue('q', 'x', kind => '')"),
            ("RP003 the unique key must have 1 to 255 bytes",
             "readpast.enqueue('q', 'x', unique_key => repeat('x', 256))"),
            ("RP003 rate must be 0, or 1..", "readpast.queue_set('q', per => '1 h')"),
            ("RP003 the argument most must be at least 1",
             "readpast.groups('q', most => null)"),
            ("RP003 the argument most must be at least 1",
             "readpast.groups('q', most => 0)"),
            ("RP005 no queue named nowhere", "readpast.pause('nowhere')"),
            ("RP003 the reason must have 1 to 255 bytes",
             "readpast.pause('nowhere', repeat('x', 256))"),
            ("RP003 the reason", "readpast.pause('nowhere', E'a\\nb')"),
            ("RP005 no job has the id 99", "readpast.cancel(99)"),
            ("RP003 the queue's name", "readpast.enqueue('', 'x')"),
            ("RP003 the queue's name", "readpast.enqueue(null, 'x'::text)"),
            ("RP003 the queue's name",
             "readpast.enqueue(repeat('q', 129), 'x')"),
            ("RP003 the queue's name", "readpast.queue_create(E'a\\nb')"),
            ("RP003 the kind must have 1 to 128 bytes and no control",
             "readpast.enqueue('q', 'x', kind => E'a\\x7f')"),
            ("RP003 the kind must have 1 to 128 bytes and no control",
             "readpast.enqueue('q', 'x', kind => E'a\\u009b')"),
            ("RP003 max_attempts",
             "readpast.enqueue('q', 'x', max_attempts => 2000000000)"),
            ("RP003 the delay",
             "readpast.enqueue('q', 'x', delay => '178000000 years')"),
            ("RP003 run_at", "readpast.enqueue('q', 'x', run_at => 'infinity')"),
            ("RP003 run_at",
             "readpast.enqueue('q', 'x', run_at => '-infinity')"),
            ("RP003 give either", "readpast.enqueue('q', 'x', delay => '1 s', "
                             "run_at => '2030-01-01')"),
            ("RP003 the job would expire before it is due",
             "readpast.enqueue('q', 'x', delay => '2 h', expire => '1 h')"),
            ("RP003 the job would expire before it is due",
             "readpast.enqueue('q', 'x', run_at => now() + interval '2 h', expire => '1 h')"),
            ("RP003 the job would expire before it is due",
             "readpast.enqueue_many('q', array['x', 'y']::bytea[], delays => array[null, '2 h']::interval[], expire => '1 h')"),
            ("RP003 replace", "readpast.enqueue('q', 'x', replace => true)"),
            ("22P02", "readpast.enqueue('q', 'x', headers => '{')"),
            ("RP003 a payload is null",
             "readpast.enqueue_many('q', null::text[])"),
            ("RP003 a payload is null",
             "readpast.enqueue_many('q', array['x', null])"),
            ("RP003 priority -1",
             "readpast.enqueue_many('q', array['x'], priority => -1)"),
            ("RP003 max_attempts",
             "readpast.enqueue_many('q', array['x'], max_attempts => 0)"),
            ("RP003 delays, kinds and headers",
             "readpast.enqueue_many('q', array['x'], kinds => '{a,b}')"),
            ("RP003 a kind",
             "readpast.enqueue_many('q', array['x'], kinds => array[''])"),
            ("RP003 a delay",
             "readpast.enqueue_many('q', array['x'], delays => '{-1 s}')"),
            ("RP003 the headers", "readpast.enqueue_many('q', array['x'], "
                                  "headers => array['1'::jsonb])"),
            ("RP003 n is not", "readpast.claim('q', 0)"),
            ("RP003 n is not", "readpast.claim('q', null)"),
            ("RP003 n is not", "readpast.claim('q', 100001)"),
            ("RP003 the queue is null", "readpast.claim(null)"),
            ("RP003 the lease", "readpast.claim('q', lease => '-1 s')"),
            ("RP003 the lease", "readpast.claim('q', lease => '0')"),
            ("RP003 worker_id", "readpast.claim('q', worker_id => null)"),
            ("RP003 the worker's name", "readpast.claim('q', worker => '')"),
            ("RP003 a verdict needs", "readpast.complete(null, 1)"),
            ("RP003 a verdict needs", "readpast.fail(1, null)"),
            ("RP003 the delay", "readpast.fail(1, 1, delay => '-1 s')"),
            ("RP003 the delay", "readpast.release(1, 1, '4000 days')"),
            ("RP003 the lease", "readpast.extend(1, 1, '0')"),
            ("RP003 the lease", "readpast.extend(1, 1, '-1 s')"),
            ("RP003 the lease", "readpast.extend(1, 1, '4000 days')"),
            ("RP003 ids and claim_nos",
             "readpast.complete('{1}'::bigint[], '{1,2}')"),
            ("RP003 ids and claim_nos",
             "readpast.complete('{1}'::bigint[], null)"),
            ("RP003 a claim needs", "readpast.settle_and_claim(null, most => 1)"),
            ("RP003 a claim needs", "readpast.settle_and_claim('{q}', most => -1)"),
            ("RP003 the lease", "readpast.settle_and_claim('{q}', 0, most => 1)"),
            ("RP003 ids, claim_nos", "readpast.settle_and_claim('{q}', ids => '{1}')"),
            ("RP003 ids, claim_nos", "readpast.settle_and_claim('{q}', ids => '{1}', "
             "claim_nos => '{1}', verdicts => '{5}')"),
            ("RP003 ids, claim_nos", "readpast.settle_and_claim('{q}', ids => '{1}', "
             "claim_nos => '{1}', verdicts => '{1}', delays_ms => '{-1}')"),
            ("RP003 the argument most", "readpast.sweep(0)"),
            ("RP003 the argument most", "readpast.fire_due(-1)"),
            ("RP003 the argument most", "readpast.fire_due(0)"),
            ("RP003 the argument most", "readpast.fire_due(null)"),
            ("RP003 the worker's name", "readpast.worker_named(null, '{q}')"),
            ("RP003 the queues are null", "readpast.worker_named('me', null)"),
            ("RP003 the queues are null",
             "readpast.settle_and_claim(null, worker_name => 'me')"),
            ("RP003 a waiter needs", "readpast.register_waiter(null, '{q}')"),
            ("RP005 no job has the id", "readpast.cancel(null)"),
            ("RP005 no queue named", "readpast.resume(null)"),
            ("RP003 max_attempts", "readpast.queue_set('q', max_attempts => 0)"),
            ("RP003 the lease", "readpast.queue_set('q', lease => '0')"),
            ("RP003 backoff", "readpast.queue_set('q', keep_done => '-1 s')"),
            ("RP003 priority", "readpast.queue_set('q', priority => 256)"),
            ("RP003 max_payload", "readpast.queue_set('q', max_payload => -1)"),
            ("RP003 run_limit", "readpast.queue_set('q', run_limit => -1)"),
            ("RP003 run_limit", "readpast.queue_set('q', run_limit => 100001)"),
            ("RP003 the queue's name", "readpast.queue_set(null)")):
        said = s.refused(f"select {sql}")
        assert said.startswith(words), (sql, said)
    assert s.one("select count(*) from readpast.job") == 0
    for none in "'{}'::text[]", "'{}'::bytea[]", "'{}'::jsonb[]":
        assert s.rows(f"select readpast.enqueue_many('q', {none})") == []
    assert s.rows("select * from readpast.complete('{}'::bigint[], '{}')") == []
    s.one("select readpast.queue_set('q', max_payload => 3)")
    assert s.refused("select readpast.enqueue('q', 'four')").startswith(
        "RP004 payload too large: 4 bytes, queue q takes at most 3")
    assert s.put("3__") > 0


@case
def a_client_in_sql_that_has_a_name_is_a_worker(s):
    job, other = s.put("x"), s.put("y")
    claim = s.one("select id, claim_no from readpast.claim('q', worker => 'me')")
    assert claim[0] == job
    assert s.rows("select id, worker from readpast.jobs order by id") == [
        (job, "me"), (other, None)]
    s.rows("select * from readpast.claim('r', worker => 'me')")
    s.rows("select * from readpast.settle_and_claim('{q}', most => 1, worker_name => 'me')")
    assert s.rows("select name, queues, kinds from readpast.worker") == [
        ("me", ["q", "r"], ["q/", "r/"])]
    assert s.one("select workers from readpast.stats('q')") == 1
    s.one("select readpast.fail(%s, %s, for_good => true)", *claim)
    assert s.one("select worker from readpast.jobs where id = %s", job) == "me"


@case
def a_worker_creates_the_queues_that_are_new_to_it(s):
    queues = "select name from readpast.queue order by name"
    me = s.one("select readpast.worker_named('me', '{q,r}')")
    assert s.rows(queues) == [("q",), ("r",)]
    sleeper = asleep(s, me)
    s.put("x")
    assert woken(sleeper) == 1
    s.rows("select * from readpast.claim('claimed', worker => 'me')")
    assert s.rows(queues) == [("claimed",), ("q",), ("r",)]
    # A heartbeat of a worker must not create a queue that was dropped after the worker
    # registered.
    s.one("select readpast.drop_queue('r')")
    s.rows("update readpast.worker set seen_at = seen_at - interval '9 seconds'")
    assert s.one("select readpast.worker_named('me', '{q,r}')") == me
    assert s.rows(queues) == [("claimed",), ("q",)]
    assert s.refused("select readpast.worker_named('you', array[''])").startswith(
        "RP003 the queue's name")
    s.rows("select * from readpast.claim('nowhere')")
    assert s.one("select count(*) from readpast.queue") == 2


@case
def routines_treat_a_missing_queue_as_documented(s):
    for create, call in (
            (True, "enqueue('q', 'x')"), (True, "enqueue_many('q', array['x'])"),
            (True, "queue_create('q')"), (True, "queue_set('q')"),
            (True, "worker_named('me', '{q}')"), (True, "claim('q', worker => 'you')"),
            (True, "settle_and_claim('{q}', most => 1, worker_name => 'they')"),
            (False, "claim('q')"), (False, "settle_and_claim('{q}', most => 1)"),
            (False, "stats('q')"), (False, "probe('q')"),
            (False, "unregister_waiter(1, '{q}')")):
        rows = s.rows(f"select * from readpast.{call}")
        assert s.one("select count(*) from readpast.queue") == create, call
        if create:
            s.rows("select readpast.drop_queue('q')")
        elif "waiter" not in call:
            assert rows == [], call
    s.rows("select readpast.enqueue_many('q', '{}'::text[])")
    assert s.one("select count(*) from readpast.queue") == 0
    for call in "pause", "resume", "drop_queue":
        assert s.refused(f"select readpast.{call}('q')").startswith("RP005")


@case
def a_waiter_of_no_queue_is_not_registered_and_need_not_probe(s):
    for _ in range(2):
        channel, until, fresh, rests = s.one(
            "select channel, until, fresh, rest > '0.1 s' "
            "from readpast.register_waiter(1, '{nowhere}')")
        assert (channel, until, fresh, rests) == ("readpast.1", None, False, True)
    assert s.one("select count(*) from readpast.waiter") == 0
    s.one("select readpast.queue_create('q')")
    sleeper = asleep(s, 1)
    assert s.one("select not fresh and until is not null "
                 "from readpast.register_waiter(1, '{q,nowhere}')")
    s.put("x")
    assert woken(sleeper) == 1


@case
def a_waiter_of_a_locked_queue_must_probe_twice_and_not_for_ever(s):
    fresh = "select fresh from readpast.register_waiter(1, '{q}')"
    s.one("select readpast.queue_create('q')")
    admin = Session(s.database)
    admin.rows("begin")
    admin.one("select readpast.pause('q')")
    assert [s.one(fresh) for _ in range(3)] == [True, False, False]
    admin.rows("rollback")
    assert [s.one(fresh) for _ in range(3)] == [True, False, False]
    assert s.one("select waiters_until > now() from readpast.queue")


@case
def a_worker_that_stops_is_kept_for_an_hour_and_no_longer_waits(s):
    me = s.one("select readpast.worker_named('me', '{q,r}')")
    other = s.one("select readpast.worker_named('other', '{q}')")
    job = s.put("x")
    claim = s.one("select id, claim_no from readpast.claim('q', worker => 'me')")
    s.rows("select readpast.register_waiter(%s, '{q,r}')", me)
    s.rows("select readpast.register_waiter(%s, '{q}')", other)
    s.rows("select readpast.worker_stop(%s)", me)
    assert s.rows("select worker_id from readpast.waiter") == [(other,)]
    row = "select stopped_at, seen_at from readpast.worker where id = %s"
    stopped = s.one(row, me)
    assert stopped[0] == stopped[1] and stopped[0] is not None
    s.rows("select readpast.worker_stop(%s)", me)
    s.rows("select readpast.worker_stop(99)")
    assert s.one(row, me) == stopped
    s.sweep()
    assert s.one("select worker from readpast.jobs where id = %s", job) == "me"
    assert s.one("select workers from readpast.stats('q')") == 1
    assert s.complete(claim) == "done"
    assert s.one("select readpast.worker_named('me', '{q}')") > other
    assert s.refused("select readpast.worker_stop(null)").startswith("RP003 worker_id")


@case
def verdicts_return_the_state_or_an_error(s):
    for payload in "abcde":
        s.put(payload)
    c = s.claim(5)
    assert s.complete(c["a"]) == "done"
    assert s.one("select readpast.fail(%s, %s, 'why')", *c["b"]) == "scheduled"
    assert s.one("select readpast.fail(%s, %s, for_good => true)",
                 *c["c"]) == "dead"
    assert s.one("select readpast.release(%s, %s)", *c["d"]) == "ready"
    assert s.one("select readpast.extend(%s, %s, '1 h')", *c["e"]) == "running"
    for payload in "abcd":
        said = s.refused("select readpast.complete(%s, %s)", *c[payload])
        assert said.startswith(f"RP001 job {c[payload][0]} is no longer"), said
    assert s.refused("select readpast.complete(999, 1)") == (
        "RP005 no job has the id 999")
    assert s.rows("select * from readpast.complete(%s, %s)",
                  [c["e"][0], c["a"][0]], [c["e"][1], c["a"][1]]) == [
        (c["e"][0], True), (c["a"][0], False)]
    s.put("f")
    gone = s.claim()["d"]
    s.one("select readpast.cancel(%s)", gone[0])
    assert s.refused("select readpast.complete(%s, %s)", *gone).startswith(
        f"RP002 job {gone[0]} was cancelled")


@case
def the_cost_of_a_refused_verdict_does_not_grow_with_their_number(s):
    # A session that has called a routine several times uses generic plans.
    s.rows("set plan_cache_mode = force_generic_plan")
    s.rows("select readpast.enqueue_many('q', array_fill('x'::text, array[80000]))")
    s.rows("set statement_timeout = '30 s'")
    for other_claim in "claim_no", "-claim_no":
        s.rows("create temp table held as "
               "select id, claim_no from readpast.claim('q', 40000, '1 hour')")
        verdicts = ("array(select id from held union all select -id from held), "
                    "array(select claim_no from held union all "
                    f"select {other_claim} from held)")
        for accepted in 40000, 0:
            assert s.one("select count(*) filter (where accepted) "
                         f"from readpast.complete({verdicts})") == accepted
        s.rows("drop table held")


@case
def a_result_is_bytes_or_text_or_json(s):
    s.one("select readpast.queue_set('q', keep_done => '1 hour')")
    for value, kept in (("%s", b"it's \\n"), ("%s::jsonb", b'{"a": 1}'),
                        ("%s::bytea", b"a\0b\xff"), ("null", None)):
        job = s.put("x")
        claim = s.claim()["x"]
        given = kept.decode() if kept and b"\0" not in kept else kept
        assert s.one(f"select readpast.complete(%s, %s, {value})", *claim,
                     *([given] if kept else [])) == "done"
        got = s.one("select result from readpast.kept where id = %s", job)
        assert (bytes(got) if got is not None else None) == kept, (value, got)
    jobs = [s.put(payload) for payload in "abc"]
    claims = s.claim(3)
    s.one("select readpast.release(%s, %s)", *claims["b"])
    assert s.rows(
        "select id, accepted from readpast.complete(%s::bigint[], %s::bigint[], "
        "%s::bytea[])", [c[0] for c in claims.values()],
        [c[1] for c in claims.values()], [b"1", b"2", None]
    ) == [(jobs[0], True), (jobs[1], False), (jobs[2], True)]
    assert bytes(s.one("select result from readpast.kept where id = %s",
                       jobs[0])) == b"1"
    assert s.one("select result from readpast.kept where id = %s", jobs[2]) is None


@case
def progress_is_what_the_next_claim_returns(s):
    job = s.put("x")
    claim = s.claim()["x"]
    assert s.one("select readpast.extend(%s, %s, progress => 'half')",
                 *claim) == "running"
    s.one("select readpast.fail(%s, %s, delay => '0')", *claim)
    assert s.refused("select readpast.extend(%s, %s, progress => 'late')",
                     *claim).startswith("RP001")
    assert s.rows("select id, progress from readpast.claim('q')") == [(job, "half")]
    assert s.one("select progress from readpast.jobs where id = %s", job) == "half"


@case
def a_result_or_progress_too_large_is_refused_and_the_claim_stays(s):
    job = s.put("x")
    claim = s.claim()["x"]
    for call, words in (
            ("complete(%s, %s, repeat('x', 65537))",
             "RP004 the result has 65537 bytes, more than 65536"),
            ("extend(%s, %s, progress => repeat('é', 2049))",
             "RP004 the progress has 4098 bytes, more than 4096")):
        assert s.refused(f"select readpast.{call}", *claim) == words
    assert s.refused("select * from readpast.complete(array[%s], array[%s], "
                     "array['a', 'b']::bytea[])", *claim).startswith("RP003")
    assert s.state(job) == "running"
    assert s.one("select readpast.extend(%s, %s, progress => repeat('x', 4096))",
                 *claim) == "running"
    assert s.one("select readpast.complete(%s, %s, repeat('x', 65536))",
                 *claim) == "done"


@case
def a_round_trip_settles_and_then_claims(s):
    for payload in "abcd":
        s.put(payload)
    c = list(s.claim(3).values())
    rows = s.rows(
        "select number, result, state, id, convert_from(payload, 'UTF8') "
        "from readpast.settle_and_claim('{nowhere,q}', most => 5, "
        "ids => %s::bigint[], claim_nos => %s, "
        "verdicts => '{0,3,1,0}', delays_ms => '{null,null,0,null}', "
        "errors => '{null,null,boom,null}')",
        [job for job, _ in c] + [99], [claim_no for _, claim_no in c] + [1])
    # The row with the number 0 counts the verdicts that were accepted as done, here
    # one. Each of the other verdicts has a row of its own.
    assert sorted(rows[:4]) == [(0, 1, 4, None, None), (2, 0, 2, None, None),
                                (3, 0, 2, None, None), (4, -9, None, None, None)
                                ], rows
    # The released job is now at the front of the line, and the failed job at its end.
    assert [row[0] for row in rows[4:]] == [None, None, None]
    assert sorted(row[4] for row in rows[4:]) == ["b", "c", "d"]


@case
def priority_first_and_then_first_in_first_out(s):
    for number, priority in enumerate((100, 5, 100, 5, 255, 0)):
        s.put(str(number), priority=priority)
    assert s.taken(9) == "513024"


@case
def only_jobs_with_terms_or_progress_have_something_in_extra(s):
    plain = s.one("select readpast.enqueue('q', 'x')")
    claim_no = s.one("select claim_no from readpast.claim('q')")
    s.one("select readpast.extend(%s, %s)", plain, claim_no)
    s.one("select readpast.enqueue('q', 'x', priority => 7, unique_key => 'k')")
    s.rows("select readpast.enqueue_many('q', array['x', 'x'])")
    assert s.one("select count(extra) from readpast.job") == 0
    s.one("select readpast.extend(%s, %s, progress => 'half')", plain, claim_no)
    s.one("select readpast.enqueue('q', 'x', keep => '1 h')")
    assert s.one("select count(extra) from readpast.job") == 2
    s.one("select readpast.extend(%s, %s, progress => '')", plain, claim_no)
    assert s.one("select count(extra) from readpast.job") == 1


@case
def rows_of_expiry_stay_until_no_job_needs_them(s):
    s.one("select readpast.enqueue('q', 'x', expire => '2 s')")
    s.rows("select readpast.enqueue_many('q', array['x', 'x'], expire => '2 s')")
    held = s.rows("select id, claim_no from readpast.claim('q')")[0]
    time.sleep(2.1)
    assert s.rows("select readpast.sweep_overdue(10)") == [(2,), (3,)]
    assert s.one("select count(*) from readpast.expiry") == 2
    s.rows("select readpast.sweep_kept(10)")
    assert s.one("select count(*) from readpast.expiry") == 1
    s.one("select readpast.complete(%s, %s)", *held)
    s.rows("select readpast.sweep_kept(10)")
    assert s.one("select count(*) from readpast.expiry") == 0


@case
def a_row_of_expiry_for_one_job_names_no_other_job(s):
    put = "select readpast.enqueue('q', 'x', unique_key => 'k', expire => '1 h', {})"
    s.one(put.format("replace => false"))
    s.rows("select readpast.enqueue('q', 'y')")
    s.one(put.format("replace => true"))
    assert s.rows("select last_id - first_id from readpast.expiry") == [(0,), (0,)]


@case
def a_failed_job_waits_for_its_backoff_and_dies_after_its_last_attempt(s):
    s.one("select readpast.queue_set('q', max_attempts => 12, "
          "backoff => '40 s', backoff_max => '100 s')")
    job = s.put("x")
    numbers, waits = [], []
    for attempt in range(1, 13):
        claim = s.claim()["x"]
        numbers.append(claim[1])
        state = s.one("select readpast.fail(%s, %s, %s)", *claim, f"no {attempt}")
        if state == "scheduled":
            waits.append(s.one("select extract(epoch from run_at - "
                               "clock_timestamp()) from readpast.job"))
            s.rows("update readpast.job set run_at = clock_timestamp()")
            s.sweep()
    assert state == "dead"
    assert 35 < waits[0] < 44 and 71 < waits[1] < 88
    assert all(89 < wait < 110 for wait in waits[2:])
    assert s.one("select min(ms) < 1000 and max(ms) > 1000 from (select "
                 "readpast.backoff_ms(1, 1000, 5000) as ms "
                 "from generate_series(1, 200)) b")
    failures = s.one("select failures from readpast.kept where id = %s", job)
    assert [f["text"] for f in failures] == [f"no {n}" for n in range(3, 13)]
    assert numbers == sorted(set(numbers))
    s.one("select readpast.retry(%s)", job)
    again = s.claim()["x"]
    assert again[0] == job and again[1] > numbers[-1]
    assert s.refused("select readpast.retry(%s)", job).startswith(
        f"RP001 job {job} is running")


@case
def a_key_is_taken_in_the_commit_that_completes_its_job(s):
    worker, other = Session(s.database), Session(s.database)
    first = s.put("one", unique_key="k", unique_for="1 hour")
    claim = worker.claim()["one"]
    worker.rows("begin")
    worker.complete(claim)
    # These two enqueues do not wait for the transaction of `worker`, and find the first
    # job.
    assert [e.put("two", unique_key="k") for e in (s, other)] == [first, first]
    worker.rows("commit")
    assert [e.put("three", unique_key="k") for e in (s, other)] == [first, first]
    assert s.one("select count(*) from readpast.jobs") == 0
    s.rows("update readpast.taken_key set until = clock_timestamp()")
    # If two sessions find that the key is free, the second session waits for the first.
    s.rows("begin")
    new = s.put("four", unique_key="k")
    other.rows("set lock_timeout = '100ms'")
    assert other.refused("select readpast.enqueue('q', 'five'::text, unique_key => 'k')"
                         ).startswith("55P03")
    s.rows("commit")
    assert other.put("five", unique_key="k") == new
    s.sweep()
    assert s.one("select count(*) from readpast.taken_key") == 0


@case
def a_job_that_lives_and_ends_between_look_and_insert_is_noticed(s):
    """The session `slow` enqueues a job. `slow` finds that the unique key is free, and
    then stops before its insert. Before `slow` continues, another job takes the key and
    is done."""
    slow = Session(s.database)
    s.rows("select readpast.queue_create('q')")
    s.rows("create function stop() returns trigger language plpgsql as $$ begin"
           " if convert_from(new.payload, 'UTF8') = 'slow' then"
           " perform pg_advisory_xact_lock(1); end if; return new; end $$")
    s.rows("create trigger stop before insert on readpast.job for each row"
           " execute function stop()")
    s.rows("select pg_advisory_lock(1)")
    said = []
    waits = threading.Thread(target=lambda: said.append(slow.refused(
        "select readpast.enqueue('q', 'slow'::text, unique_key => 'k')")))
    waits.start()
    eventually(10, lambda: s.rows("select 1 from pg_locks where locktype = 'advisory'"
                                  " and not granted"))
    first = s.put("quick", unique_key="k", unique_for="1 hour")
    s.complete(s.claim()["quick"])
    s.rows("select pg_advisory_unlock(1)")
    waits.join()
    assert said == [f"40001 job {first} with the same unique key was enqueued and"
                    " done at the same time: try again"], said
    assert slow.put("slow", unique_key="k") == first


@case
def a_key_that_was_taken_after_the_snapshot_is_noticed(s):
    s.rows("select readpast.queue_create('q')")
    for isolation in ("repeatable read", "serializable"):
        late = Session(s.database)
        late.rows(f"begin isolation level {isolation}")
        late.rows("select 1")
        first = s.put("quick", unique_key=isolation, unique_for="1 hour")
        s.complete(s.claim()["quick"])
        assert late.refused("select readpast.enqueue('q', 'late'::text, unique_key => %s)",
                            isolation).startswith("40001")
        late.rows("rollback")
        late.rows(f"begin isolation level {isolation}")
        assert late.put("late", unique_key=isolation) == first
        free = late.put("free", unique_key="k")
        late.rows("commit")
        assert s.put("again", unique_key="k") == free
        s.complete(s.claim()["free"])


@case
def a_unique_key_has_one_live_job(s):
    one = s.put("one", unique_key="k")
    assert s.put("two", unique_key="k") == one
    assert s.put("three", unique_key="k", replace=True) == one
    claim = s.claim()["three"]
    assert s.refused("select readpast.enqueue('q', 'four', unique_key => 'k',"
                     " replace => true)") == (
        f"RP006 job {one} cannot be replaced: it is running, or it is done and "
        "keeps its key")
    assert s.put("four", unique_key="k") == one
    s.one("select readpast.cancel(%s)", one)
    two = s.put("five", unique_key="k")
    assert two == one + 1
    assert s.refused("select readpast.retry(%s)", one).startswith("RP006")
    assert s.refused("select readpast.extend(%s, %s)", *claim).startswith(
        "RP002")
    # Two sessions enqueue at the same time. The second enqueue waits for the first
    # enqueue, and returns the same job.
    other = Session(s.database)
    s.rows("begin")
    three = s.put("six", unique_key="k2")
    answers = []
    waiting = threading.Thread(
        target=lambda: answers.append(other.put("seven", unique_key="k2")))
    waiting.start()
    time.sleep(0.2)
    assert not answers
    s.rows("commit")
    waiting.join()
    assert answers == [three]


@case
def a_scheduled_job_is_ready_when_it_is_due(s):
    s.put("later", delay="2 s")
    s.put("past", run_at="2020-01-01")
    assert s.taken(5) == "past"
    assert s.one("select due_in_ms from readpast.probe('q')") in range(1, 2001)
    time.sleep(2.05)
    assert s.sweep() == (1, 0, 0, 0)
    assert s.taken(5) == "later"


@case
def no_claim_returns_jobs_of_a_paused_queue(s):
    s.put("x")
    s.one("select readpast.pause('q')")
    assert s.taken() == ""
    assert s.one("select ready, paused from readpast.probe('q')") == (False, True)
    reason = "select paused, pause_reason from readpast.stats('q')"
    assert s.one(reason) == (True, None)
    s.one("select readpast.pause('q', 'no mail')")
    s.one("select readpast.pause('q')")
    assert s.one(reason) == (True, "no mail")
    assert s.one("select pause_reason from readpast.why(1)") == "no mail"
    s.one("select readpast.resume('q')")
    assert s.one(reason) == (False, None)
    claim = s.claim()["x"]
    assert s.refused("select readpast.drop_queue('q')").startswith("RP006")
    s.complete(claim)
    s.one("select readpast.drop_queue('q')")
    assert s.rows("select * from readpast.stats()") == []


@case
def a_queue_that_somebody_uses_is_not_dropped(s):
    drop = "select readpast.drop_queue('q')"
    user = Session(s.database)
    s.put("x")
    for call, level in (("readpast.enqueue('q', 'y')", "repeatable read"),
                        ("readpast.enqueue('q', 'y', unique_key => 'k')",
                         "repeatable read"),
                        ("readpast.enqueue_many('q', array['y', 'z'])",
                         "repeatable read"),
                        ("readpast.claim('q')", "read committed")):
        user.rows(f"begin isolation level {level}")
        user.rows(f"select * from {call}")
        assert s.refused(drop).startswith("RP006 queue q is in use"), call
        user.rows("rollback")
    job, claim_no = s.claim()["x"]
    s.one("select readpast.fail(%s, %s, for_good => true)", job, claim_no)
    user.rows("begin")
    user.one("select readpast.retry(%s)", job)
    assert s.refused(drop).startswith("RP006")
    user.rows("rollback")
    s.rows(drop)
    assert s.one("select count(*) from readpast.archive") == 0


@case
def done_jobs_are_kept_as_long_as_the_queue_says(s):
    s.one("select readpast.queue_set('q', keep_done => '300 ms')")
    job = s.put("x")
    s.complete(s.claim()["x"])
    assert s.state(job) == "done"
    assert s.one("select done from readpast.stats('q')") == 1
    time.sleep(0.35)
    assert s.sweep() == (0, 0, 0, 1)


def kept(s):
    """Return two dicts {state: number of kept jobs}: the first from the table
    kept_count, the second by counting the jobs."""
    counted, there = (dict(s.rows(f"select state, {what} group by state"))
                      for what in (
                          "sum(change)::integer from readpast.kept_count",
                          "count(*)::integer from readpast.archive"))
    return {state: n for state, n in counted.items() if n}, there


@case
def an_archive_that_is_truncated_has_no_counts(s):
    s.one("select readpast.queue_set('q', keep_done => '1 hour')")
    s.put("x")
    s.complete(s.claim()["x"])
    s.rows("truncate readpast.archive")
    assert s.one("select done from readpast.stats('q')") == 0
    assert kept(s) == ({}, {})


@case
def a_batch_of_kept_jobs_is_one_row_of_changes_and_a_sweep_adds_them_up(s):
    s.one("select readpast.queue_set('q', keep_done => '1 hour')")
    for _ in range(3):
        s.rows("select readpast.enqueue_many('q', %s::bytea[])",
               [b"x"] * 20)
        claims = s.rows("select id, claim_no from readpast.claim('q', 20)")
        s.rows("select readpast.complete(%s::bigint[], %s::bigint[])",
               [c[0] for c in claims], [c[1] for c in claims])
    changes = "select change::integer from readpast.kept_count"
    assert s.rows(changes) == [(20,)] * 3
    assert kept(s) == ({4: 60}, {4: 60})
    s.sweep()
    assert s.rows(changes) == [(60,)]
    s.rows("delete from readpast.archive where mod(id, 2) = 0")
    s.rows("update readpast.archive set state = 5")
    assert kept(s) == ({5: 30}, {5: 30})
    s.rows("delete from readpast.archive")
    s.sweep()
    assert s.rows(changes) == []


@case
def a_completion_that_keeps_nothing_leaves_no_change(s):
    s.one("select readpast.queue_set('keeps', keep_done => '1 hour')")
    s.put("x")
    s.complete(s.claim()["x"])
    assert s.rows("select * from readpast.kept_count") == []


@case
def two_sessions_that_archive_jobs_and_a_sweep_do_not_wait_for_each_other(s):
    jobs = [s.put(x) for x in "abc"]
    s.one("select readpast.cancel(%s)", jobs[0])
    s.rows("begin")
    s.one("select readpast.cancel(%s)", jobs[1])
    other, sweeper = Session(s.database), Session(s.database)
    for session in other, sweeper:
        session.rows("set lock_timeout = '100ms'")
    other.rows("begin")
    other.one("select readpast.cancel(%s)", jobs[2])
    sweeper.sweep()
    s.rows("rollback")
    other.rows("commit")
    sweeper.sweep()
    assert kept(s) == ({6: 2}, {6: 2})
    assert s.rows("select change::integer from readpast.kept_count") == [(2,)]


# ---- leases ----

@case
def a_job_whose_lease_ran_out_three_times_is_dead(s):
    job = s.put("x")
    for attempt in range(1, 4):
        late = s.claim(lease="100 ms")["x"]
        time.sleep(0.12)
        assert s.sweep() == (0, int(attempt < 3), int(attempt == 3), 0)
    assert s.one("select state, last_error from readpast.jobs where id = %s",
                 job) == ("dead", "lease ran out, attempt 3 of 3")
    assert s.refused("select readpast.complete(%s, %s)", *late).startswith(
        "RP001")


@case
def a_lease_that_is_over_and_not_taken_over_is_good(s):
    s.put("x")
    claim = s.claim(lease="50 ms")["x"]
    time.sleep(0.1)
    s.sweep()
    assert s.complete(claim) == "done"


@case
def a_renewed_lease_leaves_the_line_and_expires_too(s):
    s.put("x")
    claim = s.claim()["x"]
    s.one("select readpast.extend(%s, %s, '100 ms')", *claim)
    assert s.one("select seq is null from readpast.job")
    time.sleep(0.12)
    assert s.sweep() == (0, 1, 0, 0)
    assert s.claim()["x"][1] > claim[1]


@case
def a_renewal_is_a_heartbeat_and_writes_only_if_one_is_due(s):
    s.put("x")
    claim = s.one("select id, claim_no from readpast.claim('q', worker => 'me')")
    row = "select xmin::text, seen_at > now() - interval '1 second' from readpast.worker"
    before = s.one(row)
    s.one("select readpast.extend(%s, %s)", *claim)
    assert s.one(row) == before, "it is not due"
    s.rows("update readpast.worker set seen_at = seen_at - interval '6 seconds'")
    # A heartbeat does not wait for a session that has locked the worker's row.
    other = Session(s.database)
    other.rows("begin")
    other.rows("select 1 from readpast.worker for update")
    s.one("select readpast.extend(%s, %s)", *claim)
    other.rows("rollback")
    assert not s.one(row)[1]
    s.rows("begin isolation level repeatable read")
    s.one("select readpast.extend(%s, %s)", *claim)
    s.rows("commit")
    assert not s.one(row)[1], "it might raise a serialization failure"
    s.one("select readpast.extend(%s, %s)", *claim)
    assert s.one(row)[1]
    # A client that is not a worker can also renew a lease. A refused renewal of a
    # worker's lease does not count as a heartbeat.
    s.put("y")
    s.one("select readpast.extend(%s, %s)", *s.claim()["y"])
    s.complete(claim)
    s.rows("update readpast.worker set seen_at = seen_at - interval '6 seconds'")
    assert s.refused("select readpast.extend(%s, %s)", *claim).startswith("RP001")
    assert not s.one(row)[1]


@case
def verdicts_after_the_end_of_a_lease_return_the_documented_values(s):
    for payload in "abcd":
        s.put(payload)
    c = s.claim(4, lease="50 ms")
    time.sleep(0.06)
    assert s.one("select readpast.extend(%s, %s)", *c["a"]) == "running", "lease over"
    assert s.one("select lease_until > now() + interval '50 seconds' from readpast.job"
                 " where id = %s", c["a"][0]), "the queue's lease, not the claim's"
    verdicts = "complete", "fail", "release", "extend"
    for verdict, payload in zip(verdicts, "abcd"):
        s.one(f"select readpast.{verdict}(%s, %s)", *c[payload])
    for payload in "abc":
        for verdict in verdicts:
            said = s.refused(f"select readpast.{verdict}(%s, %s)", *c[payload])
            assert said.startswith("RP001"), (verdict, payload, said)
    assert s.one("select readpast.extend(%s, %s)", *c["d"]) == "running"
    s.one("select readpast.cancel(%s)", c["d"][0])
    for verdict in verdicts:
        said = s.refused(f"select readpast.{verdict}(%s, %s)", *c["d"])
        assert said.startswith("RP002"), (verdict, said)
    assert s.refused("select readpast.cancel(%s)", c["d"][0]).startswith("RP001")
    assert s.rows("select accepted from readpast.complete(%s, %s)",
                  [c["a"][0]], [c["a"][1]]) == [(False,)]
    s.put("e")
    s.one("select readpast.fail(%s, %s, repeat('ü', 5000))", *s.claim(9)["e"])
    assert s.one("select length(last_error) from readpast.jobs where payload = 'e'") == 4096


@case
def calls_that_are_repeated_return_the_documented_values(s):
    me = s.one("select readpast.worker_named('me', '{q}')")
    for call in (f"worker_named('me', '{{q}}') = {me}", f"register_waiter({me}, '{{q}}') is null",
                 f"unregister_waiter({me}, '{{q}}')", f"worker_stop({me})",
                 "queue_create('q')", "queue_set('q', priority => 5)", "pause('q')",
                 "resume('q')", "sweep()"):
        assert s.one(f"select readpast.{call}") == s.one(f"select readpast.{call}"), call
    job = s.put("x", unique_key="k")
    assert s.put("x", unique_key="k") == job
    s.one("select readpast.fail(%s, %s, for_good => true)", *s.claim()["x"])
    for call in "retry", "cancel":
        s.one(f"select readpast.{call}(%s)", job)
        assert s.refused(f"select readpast.{call}(%s)", job).startswith("RP001")
    s.one("select readpast.drop_queue('q')")
    assert s.refused("select readpast.drop_queue('q')").startswith("RP005")


@case
def a_worker_can_list_the_jobs_that_it_holds(s):
    worker = 9_000_000_000
    for payload in "first", "second":
        s.put(payload)
    first, = s.one("select array_agg(id) from readpast.claim('q', 1, "
                   "worker_id => %s)", worker)

    def is_out_of_the_line():
        s.sweep()
        return s.one("select seq is null from readpast.job where id = %s", first)
    eventually(10, is_out_of_the_line)
    second, = s.one("select array_agg(id) from readpast.claim('q', 1, "
                    "worker_id => %s)", worker)
    assert s.claim(1) == {}
    assert {row[0] for row in s.rows(
        "select id from readpast.held_by(%s, array['q'])", worker)
            } == {first, second}


@case
def a_lease_shorter_than_the_queues_ends_in_time_wherever_the_head_is(s):
    s.put("x")
    s.claim(lease="500 ms")
    for _ in range(2):
        passed(s)

    def is_far_behind():
        passed(s, 10)
        return s.one("select max(head) > 1500 from readpast.cursor "
                     "where lane_id > 0")
    eventually(5, is_far_behind)
    eventually(5, lambda: s.one("select lease_until < clock_timestamp() "
                                "from readpast.job"))
    assert s.sweep() == (0, 1, 0, 0)


@case
def suspects_are_claimed_alone_and_only_by_idle_workers(s):
    for payload in "abc":
        s.put(payload)
    for _ in range(2):
        s.claim(2, lease="50 ms")
        time.sleep(0.1)
        assert s.sweep() == (0, 2, 0, 0)
    s.put("d")
    claim = ("select readpast.class_of(lane_id), suspect, "
             "convert_from(payload, 'UTF8') "
             "from readpast.settle_and_claim('{q}', most => 9, holding => %s) "
             "order by id nulls first")
    passed_over = (None, True, None)
    assert s.rows(claim, 1) == [passed_over, passed_over, (2, False, "c"),
                                (2, False, "d")]
    assert s.rows(claim, 0) == [(1, True, "a")]
    assert s.rows(claim, 0) == [(1, True, "b")]


@case
def a_job_with_one_attempt_is_never_fetched_ahead(s):
    s.put("o", max_attempts=1)
    s.put("a")
    turn = ("select convert_from(payload, 'UTF8') "
            "from readpast.settle_and_claim('{q}', most => 5, at_once => %s) "
            "where number is null")
    assert s.rows(turn, 0) == []
    assert s.rows(turn, 1) == [("o",), ("a",)]


# ---- dangers that docs/design.md describes ----

def passed(s, n=900):
    """Claim and complete so many jobs that the head of the cursor moves. The head is
    the position where claims start."""
    s.rows("select readpast.enqueue_many('q', array_fill('-'::text, array[%s]))",
           n)
    claims = s.rows("select id, claim_no from readpast.claim('q', %s)", n)
    s.rows("select readpast.complete(%s, %s)", [c[0] for c in claims],
           [c[1] for c in claims])


@case
def a_job_committed_late_before_the_head_is_found(s):
    late = Session(s.database)
    s.put("first")
    s.complete(s.claim()["first"])
    late.rows("begin")
    late.put("late")
    pass_by(s)
    head = s.one("select max(head) from readpast.cursor where lane_id > 0")
    late.rows("commit")
    assert s.one("select seq from readpast.job") < head
    listed = "select r.id from readpast.queue q, readpast.ready_in(q.id, %s) r"
    assert s.rows(listed, 10) == s.rows("select id from readpast.job")
    s.put("next")
    assert s.rows(listed, 1) == s.rows("select max(id) from readpast.job")
    assert len(s.rows(listed, 10)) == 2
    assert s.taken() == "next"
    assert swept_in(s, "late", 2.5)


def pass_by(s, seconds=2.4):
    """For some seconds, move the position where claims start again and again, and sweep
    after each move."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        passed(s)
        s.sweep()
        time.sleep(0.6)


def others_pass_and_it_is_found(s, late):
    pass_by(s)
    late.rows("commit")
    assert s.taken() == ""
    assert swept_in(s, "late", 2.5)


@case
def the_last_transaction_to_begin_when_a_tick_was_made_is_waited_for(s):
    s.put("first")
    s.complete(s.claim()["first"])
    late = Session(s.database)
    late.rows("begin")
    late.put("late")
    s.sweep()
    assert s.one("select max(seq) from readpast.tick") == late.one(
        "select seq from readpast.job")
    others_pass_and_it_is_found(s, late)


@case
def the_first_job_of_all_is_waited_for(s):
    s.sweep()
    s.rows("select readpast.queue_create('q')")
    late = Session(s.database)
    late.rows("begin")
    late.put("late")
    others_pass_and_it_is_found(s, late)


@case
def a_sweep_in_a_transaction_that_wrote_before_makes_no_tick(s):
    s.put("x")
    s.rows("begin")
    s.rows("select readpast.queue_create('new')")
    s.sweep()
    s.rows("commit")
    assert s.rows("select * from readpast.tick") == []
    s.sweep()
    assert s.one("select count(*) from readpast.tick") == 1


@case
def a_job_that_an_old_transaction_releases_is_found(s):
    s.rows("select readpast.queue_set('q', max_attempts => 1)")
    dead = s.put("dead")
    s.one("select readpast.fail(%s, %s)", *s.claim()["dead"])
    s.put("given back", max_attempts=2)
    s.put("failed", max_attempts=2)
    given_back, failed = s.claim(2).values()
    late = Session(s.database)
    late.rows("begin")
    late.rows("create table mine()")
    pass_by(s)
    late.one("select readpast.release(%s, %s)", *given_back)
    late.one("select readpast.fail(%s, %s, delay => '0')", *failed)
    late.one("select readpast.retry(%s)", dead)
    pass_by(s)
    late.rows("commit")
    found = set()

    def all_three():
        s.sweep()
        found.update(s.claim(3))
        return found == {"given back", "failed", "dead"}
    eventually(4, all_three)


@case
def a_job_whose_enqueue_takes_long_is_found(s):
    s.rows("select readpast.queue_create('q')")
    s.rows("create function slowly() returns trigger language plpgsql as "
           "'begin perform pg_sleep(0.02); return new; end'")
    s.rows("create trigger slowly before insert on readpast.job for each row "
           "when (new.kind = 'slow') execute function slowly()")
    late = Session(s.database)
    late.rows("begin")
    waits = threading.Thread(target=late.rows, args=[
        "select readpast.enqueue_many('q', array_fill('late'::text, "
        "array[150]), kinds => array_fill('slow'::text, array[150]))"])
    waits.start()
    while waits.is_alive():
        pass_by(s, 0.1)
    pass_by(s)
    late.rows("commit")
    ids = set()

    def all_of_them():
        s.sweep()
        ids.update(s.rows("select id from readpast.claim('q', 200)"))
        return len(ids) == 150
    eventually(4, all_of_them)


@case
def a_delayed_job_that_had_to_wait_for_its_queue_is_found(s):
    s.rows("select readpast.queue_create('q')")
    s.put("soon", delay="2500 ms")
    user, late = Session(s.database), Session(s.database)
    user.rows("begin")
    user.rows("select readpast.drop_queue('q')")
    late.rows("begin isolation level repeatable read")
    waits = threading.Thread(target=late.put, args=["late"],
                             kwargs={"delay": "100 ms"})
    waits.start()
    end = time.monotonic() + 4
    while time.monotonic() < end:
        s.rows("select readpast.enqueue('other', 'x'::text)")
        s.sweep()
        time.sleep(0.2)
    user.rows("rollback")
    waits.join()
    late.rows("commit")
    found = set()

    def both():
        s.sweep()
        found.update(s.claim(2))
        return found == {"soon", "late"}
    eventually(2.5, both)


@case
def a_job_committed_a_moment_late_is_not_before_the_head(s):
    late = Session(s.database)
    passed(s)
    time.sleep(0.15)
    late.rows("begin")
    late.put("late")
    s.put("x")
    assert s.taken() == "x"     # this claim moves the cursor
    late.rows("commit")
    assert s.one("select max(head) from readpast.cursor where lane_id > 0"
                 ) > s.one("select min(seq) from readpast.job")
    # On a busy machine 50 ms may have passed, but the cursor must still be young.
    s.rows("update readpast.cursor set made_at = clock_timestamp() + '1 minute' "
           "where head = (select max(head) from readpast.cursor where lane_id > 0)")
    assert s.taken() == "late"


@case
def a_transaction_that_enqueues_late_leaves_a_recheck(s):
    late = Session(s.database)
    s.put("first")
    s.complete(s.claim()["first"])
    late.rows("begin")
    late.rows("select 1")
    time.sleep(0.2)
    late.put("late")
    pass_by(s)
    assert s.one("select count(*) from readpast.recheck where waits_for is null"
                 ) == 0
    late.rows("commit")
    assert s.one("select count(*) from readpast.recheck where waits_for is null"
                 ) == 1
    assert swept_in(s, "late", 2.5)


@case
def a_queue_is_not_empty_while_a_job_is_behind_the_cursors(s):
    """A job may be before the position where claims start, or in a range that the next
    sweep examines again. In both cases claims do not find the job. But clients that
    wait for the queue, drain it or count its jobs must see the job."""
    late = Session(s.database)
    live = "select readpast.live_job(id) from readpast.queue where name = 'q'"
    seen = ("select p.ready, p.running, t.ready from readpast.probe('q') p, "
            "readpast.stats('q') t")
    s.put("first")
    s.complete(s.claim()["first"])
    late.rows("begin")
    job = late.put("late")
    pass_by(s, 4)
    assert s.one("select count(*) from readpast.recheck where waits_for is not null")
    for claim in s.claim(100).values():
        s.complete(claim)
    assert s.one(live) is None
    assert s.one(seen) == (False, False, 0)
    late.rows("commit")
    assert s.one(live) == job
    assert s.one(seen) == (False, True, 1)
    assert swept_in(s, "late", 2.5)
    assert s.one("select running from readpast.probe('q')"), "it is held"


@case
def a_job_committed_while_claims_start_before_it_is_moved(s):
    """A job is committed after claims have passed its place in the line. When a sweep
    rechecks this place, claims start before it again, so the sweep does nothing. After
    this sweep, claims start after the place once more. A later sweep must find the
    job."""
    late = Session(s.database)
    passed(s, 2)
    late.rows("begin")
    late.put("late")
    pass_by(s)
    s.rows("update readpast.cursor set settled = 0, "
           "made_at = clock_timestamp() + interval '1 hour' where lane_id > 0")
    late.rows("commit")
    s.sweep()
    s.rows("update readpast.cursor set "
           "made_at = clock_timestamp() - interval '1 hour' where lane_id > 0")
    assert swept_in(s, "late", 4)


@case
def claims_start_near_the_head_beside_an_open_transaction(s):
    """A transaction that has an id stays open for a second. During this second, claims
    append rows to the table `cursor` all the time, so that its newest row is always
    young. Claims must nevertheless not start far behind the last number that was
    drawn. If the machine is busy, the transaction stays open until claims have appended
    several rows within 200 ms."""
    pin = Session(s.database)
    passed(s)
    pin.rows("begin")
    pin.rows("select pg_current_xact_id()")
    end = time.monotonic() + 1
    while True:
        passed(s, 10)
        if time.monotonic() < end:
            continue
        behind = s.one("select (select last_value from readpast.line) "
                       "- readpast.claims_start(max(lane_id)) "
                       "from readpast.lane")
        made = s.one("select count(*) from readpast.cursor where made_at > "
                     "clock_timestamp() - interval '200 ms'")
        total = s.one("select last_value from readpast.line") - 900
        if made > 3 and behind < total / 3:
            break
        assert time.monotonic() < end + 20, (made, behind, total)
    pin.rows("rollback")


@case
def a_clock_that_was_set_back_loses_no_job(s):
    """Simulate a clock that was wrong earlier: three seconds ahead at the last sweep,
    and an hour ahead when a job was claimed."""
    for _ in range(2):
        passed(s, 20)
        s.put("due", delay="100 ms")
        time.sleep(1.2)
        s.sweep()
    s.taken(2)
    s.put("scheduled", delay="1 second")
    s.put("held", priority=7)
    assert s.claim(lease="1 s").keys() == {"held"}
    s.rows("update readpast.cursor set head = 1000000 * (3 + extract(epoch from "
           "clock_timestamp()))::bigint where lane_id in (0, -1)")
    s.rows("update readpast.cursor set made_at = made_at + interval '1 hour', "
           "visit_at = visit_at + interval '1 hour' where low <= head")
    s.rows("update readpast.tick set read_at = read_at + interval '1 hour', "
           "made_at = made_at + interval '1 hour'")
    found = set()

    def both():
        s.sweep()
        found.update(s.claim(5))
        return found >= {"scheduled", "held"}
    eventually(6, both)


@case
def sweeps_do_not_wait_for_each_other_to_move_their_cursor(s):
    other = Session(s.database)
    move = "select readpast.move_own_cursor(-1, 0, 5)"
    s.rows("begin")
    s.rows(move)
    other.rows("set lock_timeout = '100ms'")
    other.rows(move)
    s.rows("rollback")
    other.rows(move)
    assert s.rows("select head from readpast.cursor where lane_id = -1") == [
        (5,)]


@case
def an_open_claim_is_skipped_until_it_is_rolled_back(s):
    user, other = Session(s.database), Session(s.database)
    s.put("held")
    user.rows("begin")
    assert user.claim().keys() == {"held"}
    cursors = s.one("select count(*) from readpast.cursor where lane_id > 0")
    for session in s, other:
        # fail instead of waiting for a lock for ever
        session.rows("set statement_timeout = '10 s'")

    def is_passed():
        passed(s)
        other.sweep()
        return s.one("select exists (select from readpast.recheck "
                     "where waits_for is null)")

    eventually(30, is_passed)
    assert s.one("select count(*) from readpast.cursor "
                 "where lane_id > 0") > cursors
    user.rows("rollback")
    assert swept_in(s, "held", 2.5)


@case
def an_open_claim_that_is_committed_late_has_a_lease_that_ends(s):
    user = Session(s.database)
    s.put("held")
    user.rows("begin")
    assert user.claim(lease="1 s").keys() == {"held"}

    def is_passed():
        passed(s)
        s.sweep()
        return s.one("select exists (select from readpast.recheck "
                     "where waits_for is null)")

    eventually(30, is_passed)
    user.rows("commit")
    assert swept_in(s, "held", 3)


@case
def a_visit_that_runs_out_of_time_goes_on_in_the_next_sweep(s):
    s.rows("create or replace function readpast.visit_budget() returns interval "
           "language sql immutable as $$ select interval '1 millisecond' $$")
    for _ in range(9):
        s.rows("select readpast.enqueue_many('q', "
               "array_fill('-'::text, array[1000]))")
    assert s.one("select count(*) from readpast.claim('q', 9000, '1 second')") == 9000

    def all_are_ready():
        s.sweep()
        return not s.one("select exists (select from readpast.job "
                         "where lease_until is not null)")
    eventually(20, all_are_ready)
    assert s.one("select count(*) from readpast.claim('q', 9000)") == 9000


def enqueue_quickly(s, payload, begin):
    """Enqueue a job in a transaction that stays open and has not locked the table
    `recheck`. An enqueue that takes long adds a row there, so it is tried again."""
    while True:
        s.rows(begin)
        s.put(payload)
        if not s.one("select exists (select from pg_locks where pid = pg_backend_pid()"
                     " and relation = 'readpast.recheck'::regclass)"):
            return
        s.rows("rollback")


@case
def the_tables_of_hints_may_be_truncated_at_any_time(s):
    """Under load, truncate the tables of hints (rows that only make calls faster). There
    are a held job with a priority of its own, a queue with many ready jobs, an open
    transaction, and a prepared transaction. No job may be lost."""
    s.put("quiet", priority=7)
    assert s.claim(lease="1 s").keys() == {"quiet"}
    s.rows("select readpast.enqueue_many('long', array_fill('-'::text, "
           "array[20000]))")
    late, prepared = Session(s.database), Session(s.database)
    enqueue_quickly(late, "late", "begin")
    enqueue_quickly(prepared, "prepared", "begin; set local readpast.notify = off")
    prepared.rows("prepare transaction 'late'")
    stop, trouble = threading.Event(), []

    def work():
        client = Session(s.database)
        try:
            while not stop.is_set():
                passed(client, 20)
                client.rows("select readpast.enqueue('q', 'left'::text)")
                client.sweep()
        except Exception:
            trouble.append(traceback.format_exc())

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        time.sleep(0.3)
        # The truncate locks several tables. If the server cancels the truncate because
        # of a deadlock, repeat the truncate.
        while True:
            try:
                s.rows("truncate readpast.tick, readpast.cursor, "
                       "readpast.recheck, readpast.waiter")
                break
            except psycopg2.errors.DeadlockDetected:
                pass
    pass_by(s, 1)
    stop.set()
    for thread in threads:
        thread.join()
    assert not trouble, trouble[0]
    late.rows("commit")
    s.rows("commit prepared 'late'")

    def complete(queue, n):
        return s.rows("select readpast.complete(array_agg(id), array_agg(claim_no)) "
                      "from readpast.claim(%s, %s) having count(*) > 0", queue, n)

    def the_short_one_is_handed_out():
        s.sweep()
        complete("q", 100)
        return s.one("select count(*) from readpast.job") == 20000
    eventually(20, the_short_one_is_handed_out)

    def the_scan_is_over():
        return buffers(s, "readpast.sweep()") < 1000
    eventually(10, the_scan_is_over)
    while complete("long", 1000):
        pass
    assert s.one("select count(*) from readpast.job") == 0


@case
def a_recheck_for_a_transaction_of_another_cluster_is_due(s):
    s.put("x")
    assert s.claim(lease="2 s").keys() == {"x"}
    s.rows("update readpast.cursor set low = head + 1 where lane_id > 0")
    s.rows("insert into readpast.recheck (lane_id, first, last, waits_for) "
           "select lane_id, seq, seq, '999999999' from readpast.job")
    s.rows("insert into readpast.tick values "
           "('999999998', 9999999, now() - interval '1 hour', now())")
    assert swept_in(s, "x", 4)
    assert s.one("select count(*) from readpast.tick "
                 "where next_xid = '999999998'") == 0


@case
def a_claim_in_the_callers_transaction_is_its_work(s):
    user = Session(s.database)
    s.put("x")
    s.rows("create table effect (id bigint)")
    user.rows("begin")
    claim = user.claim()["x"]
    user.rows("insert into effect values (%s)", claim[0])
    user.complete(claim)
    assert s.taken() == "" and s.one("select count(*) from effect") == 0
    user.rows("commit")
    assert s.taken() == "" and s.one("select count(*) from effect") == 1
    assert s.one("select count(*) from readpast.job") == 0


@case
def an_open_claim_from_a_limited_queue_holds_back_other_claims(s):
    user, third = Session(s.database), Session(s.database)
    s.one("select readpast.queue_set('q', run_limit => 2)")
    for payload in "abc":
        s.put(payload)
    user.rows("begin")
    assert user.taken() == "a"
    began = time.monotonic()
    assert s.taken(2) == ""
    assert time.monotonic() - began < 1
    third.rows("begin isolation level repeatable read")
    third.put("d")
    third.rows("commit")
    user.rows("rollback")
    assert s.taken(3) in ("ab", "bc")
    assert s.taken(3) == ""


@case
def a_job_that_has_ended_does_not_count_whoever_ended_it(s):
    s.one("select readpast.queue_set('q', run_limit => 2)")
    for payload in "abcd":
        s.put(payload)
    assert s.taken(2) == "ab"
    s.rows("delete from readpast.job where payload = 'a'")
    assert s.taken(2) == "c"
    assert s.one("select count(*) from readpast.slot") == 2
    s.one("select readpast.queue_set('q', run_limit => 0)")
    assert s.taken(2) == "d"
    s.rows("delete from readpast.job")
    s.one("select readpast.drop_queue('q')")
    assert s.one("select count(*) from readpast.slot") == 0


@case
def a_drop_does_not_wait_for_an_open_claim_from_a_limited_queue(s):
    user = Session(s.database)
    s.one("select readpast.queue_set('q', run_limit => 1)")
    s.put("a")
    s.complete(s.claim()["a"])
    user.rows("begin")
    assert user.taken() == ""  # this claim has deleted the row of job a in `slot`
    s.rows("set lock_timeout = '5s'")
    s.one("select readpast.drop_queue('q')")
    user.rows("rollback")


@case
def a_new_limit_waits_for_claims_that_know_the_old_one(s):
    user, observer = Session(s.database), Session(s.database)
    s.one("select readpast.queue_set('q', run_limit => 3)")
    for payload in "abcd":
        s.put(payload)
    user.rows("begin")
    assert user.taken() == "a"
    s.one("select readpast.queue_set('q', run_limit => 0)")
    setting = threading.Thread(
        target=lambda: s.one("select readpast.queue_set('q', run_limit => 2)"))
    setting.start()
    eventually(4, lambda: observer.one(
        "select count(*) from pg_locks where locktype = 'advisory' and not granted"))
    user.rows("commit")
    setting.join()
    assert user.taken(3) == "b"


@case
def a_first_limit_lets_a_handler_hold_the_queue(s):
    handler = Session(s.database)
    s.one("select readpast.queue_set('q', rate => 100, per => '1 s')")
    s.put("a")
    handler.rows("begin")
    claim = handler.claim()["a"]
    setting = threading.Thread(
        target=lambda: Session(s.database).one("select readpast.queue_set('q', run_limit => 5)"))
    setting.start()
    eventually(4, lambda: s.one(
        "select count(*) from pg_locks where locktype = 'advisory' and not granted"))
    handler.rows("set lock_timeout = '3 s'")
    assert handler.one("select readpast.fail(%s, %s, 'x', hold => 'queue', "
                       "hold_for => '1 h')", *claim) == "scheduled"
    handler.rows("commit")
    setting.join()
    assert s.one("select run_limit from readpast.queue") == 5


@case
def a_claim_that_finds_an_updated_row_takes_or_skips_the_job(s):
    other = Session(s.database)
    s.put("a")
    s.put("b")
    got = []
    s.rows("begin")
    # this session has locked job a, so the other session skips job a
    first = s.claim()["a"]
    assert other.taken(2) == "b"
    s.one("select readpast.release(%s, %s)", *first)
    claimer = threading.Thread(target=lambda: got.append(other.taken(2)))
    claimer.start()
    s.rows("commit")
    claimer.join()
    again = got[0] + other.taken(2)
    assert again == "a", again
    assert s.one("select count(*) from readpast.job "
                 "where lease_until is not null") == 2


@case
def a_claim_in_an_open_transaction_locks_only_its_own_jobs(s):
    """A session has read the row of a job. Before this session locks the row, another
    session claims the job."""
    s.put("a")
    s.put("b")
    # Row-level security calls gate() before the role `slow` reads a row. gate() waits
    # while another session holds an advisory lock.
    s.rows("""
        create function public.gate() returns boolean language plpgsql as $$
        begin
            perform pg_advisory_xact_lock_shared(7);
            return true;
        end $$;
        create role slow login;
        grant usage on schema readpast to slow;
        grant all on all tables in schema readpast to slow;
        grant all on all sequences in schema readpast to slow;
        grant execute on all functions in schema readpast to slow;
        alter table readpast.job enable row level security;
        create policy slowly on readpast.job to slow using (gate())""")
    user, got = Session(s.database), []
    user.rows("set session authorization slow")
    user.rows("begin")
    s.rows("select pg_advisory_lock(7)")
    claimer = threading.Thread(target=lambda: got.append(user.taken(2)))
    claimer.start()
    eventually(5, lambda: s.one("select count(*) from pg_locks where not granted "
                                "and locktype = 'advisory' and objid = 7"))
    mine = s.claim()["a"]
    s.rows("select pg_advisory_unlock(7)")
    claimer.join()
    assert got == ["b"]
    s.rows("set lock_timeout = '1 s'")
    assert s.complete(mine) == "done"
    user.rows("commit")


@case
def claims_and_sweeps_are_refused_at_higher_isolation(s):
    s.put("x")
    claim = s.claim()["x"]
    for level in "repeatable read", "serializable":
        for call in ("readpast.claim('q')", "readpast.sweep()",
                     "readpast.settle_and_claim('{q}', most => 1)"):
            s.rows(f"begin isolation level {level}")
            assert s.refused(f"select * from {call}").startswith("25001"), call
            s.rows("rollback")
    # Enqueues and verdicts work at isolation level repeatable read. If the snapshot is
    # outdated, the call fails with 40001, which does not mean that the claim is lost.
    user = Session(s.database)
    user.rows("begin isolation level repeatable read")
    user.put("y")
    s.one("select readpast.extend(%s, %s)", *claim)
    assert user.refused("select readpast.complete(%s, %s)", *claim
                        ).startswith("40001")
    user.rows("rollback")
    user.rows("begin isolation level repeatable read")
    assert user.complete(claim) == "done"
    user.rows("commit")
    # A transaction whose snapshot is older than the claim cannot see the claim. The
    # error must be a serialization failure (40001), not a lost claim, because the claim
    # is still valid.
    user.rows("begin isolation level repeatable read")
    user.rows("select 1 from readpast.job")
    user.rows("rollback")
    s.put("y")
    user.rows("begin isolation level repeatable read")
    user.rows("select 1 from readpast.job")
    claim = s.claim()["y"]
    for call in "complete", "release":
        assert user.refused(f"select readpast.{call}(%s, %s)", *claim
                            ).startswith("40001"), call
        user.rows("rollback")
        user.rows("begin isolation level repeatable read")
        user.rows("select 1 from readpast.job")
        s.one("select readpast.release(%s, %s)", *claim)
        claim = s.claim()["y"]
    # The same if the job is newer than the snapshot, too.
    s.put("z")
    claim = s.claim()["z"]
    for call in "complete(%s, %s)", "release(%s, %s)", "complete(array[%s], array[%s])":
        assert user.refused(f"select readpast.{call}", *claim).startswith("40001"), call
        user.rows("rollback")
        user.rows("begin isolation level repeatable read")
        user.rows("select 1 from readpast.job")
        s.complete(claim)
        s.put("z")
        claim = s.claim()["z"]


@case
def round_trips_never_deadlock(s):
    """Eight clients fail, release, extend and complete 20 jobs."""
    clients, turns = 8, 400
    trouble, held = [], []
    s.rows("select readpast.enqueue_many('q', array_fill('x'::text, array[20]), "
           "max_attempts => 1000000)")

    def work(number):
        client = Session(s.database)
        mine = []
        try:
            for turn in range(turns):
                verdicts = [3 if turn % 5 else 1 for _ in mine]
                rows = client.rows(
                    "select number, result, id, claim_no "
                    "from readpast.settle_and_claim('{q}', most => 5, ids => %s::bigint[], "
                    "claim_nos => %s::bigint[], verdicts => %s::bigint[], "
                    "delays_ms => %s::bigint[], errors => %s::text[])",
                    [job for job, _ in reversed(mine)],
                    [claim_no for _, claim_no in reversed(mine)], verdicts,
                    [0 for _ in mine], ["x" for _ in mine])
                assert all(result in (0, None) for _, result, *_ in rows), rows
                mine = [(job, claim_no) for n, _, job, claim_no in rows
                        if n is None]
                held.append(len(mine))
                if turn % 50 == number:
                    client.sweep()
        except Exception:
            trouble.append(traceback.format_exc())

    threads = [threading.Thread(target=work, args=(n,)) for n in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not trouble, trouble[0]
    assert len(held) == clients * turns and sum(held) > len(held)
    assert s.one("select deadlocks from pg_stat_database "
                 "where datname = current_database()") == 0
    assert s.one("select count(*) from readpast.job") == 20


@case
def a_pinned_snapshot_changes_no_claims_cost(s):
    pin = Session(s.database)

    def measure():
        for _ in range(4):
            passed(s)
        time.sleep(1.1)
        s.put("x")
        claim = buffers(s, "readpast.claim('q', 1)")
        s.rows("select readpast.complete(array[id], array[claim_no]) "
               "from readpast.job")
        return claim, buffers(s, "readpast.sweep()")

    for _ in range(2):
        free = measure()
    pin.rows("begin isolation level repeatable read")
    pin.rows("select 1")
    first = [measure() for _ in range(3)]
    # Let the planner believe that the table is empty. Autovacuum could do the same at
    # any time.
    s.rows("analyze readpast.job")
    last = [measure() for _ in range(8)][-3:]
    pin.rows("commit")
    # Autovacuum may analyze the tables at any time. The next call then plans its
    # statements again, which reads more pages. Later calls may use other plans.
    first = [max(each) for each in zip(*first)]
    last = [min(each) for each in zip(*last)]
    # A claim starts at the cursor, so it reads no dead entries before the cursor. A
    # sweep reads only entries that have died since the last sweep, with a pinned
    # snapshot or without one.
    assert last[0] <= 1.5 * first[0], (free, first, last)
    assert last[1] <= 1.5 * first[1], (free, first, last)


@case
def a_claim_that_took_long_moves_the_start_of_the_next_one(s):
    # Run a claim in a transaction that takes 150 ms.
    slow = """do $$ begin
                perform pg_sleep(0.15);
                perform from readpast.claim('q');
              end $$"""
    s.put("x")
    s.put("y")
    s.rows(slow)
    assert s.one("select count(*) from readpast.cursor where lane_id > 0") == 1
    s.rows("begin")
    s.rows("select 1")
    s.rows(slow)
    s.rows("commit")
    assert s.one("select count(*) from readpast.cursor where lane_id > 0") == 1


@case
def a_plan_made_for_an_empty_table_is_the_plan_for_a_full_one(s):
    s.put("x")
    s.taken()
    s.rows("analyze readpast.job")
    s.rows("select readpast.enqueue_many('q', array_fill('x'::text, "
           "array[20000]))")
    loaded = buffers(s, "readpast.claim('q', 5)")
    s.rows("analyze readpast.job")
    s.taken()   # this claim plans again, and so reads the catalogs
    assert max(loaded, buffers(s, "readpast.claim('q', 5)")) < 150, loaded


@case
def routines_walk_indexes_whatever_the_statistics_say(s):
    # The routines must never read the whole job table, even if the statistics say that
    # it is empty. So they switch off sequential scans. The effect of this setting
    # depends on PostgreSQL's version: up to 17, a disabled node of a plan has a high
    # cost. Version 18 counts the disabled nodes, and caches the plans of SQL functions.
    calls = [
        "readpast.enqueue('q', 'x')",
        "readpast.enqueue('q', 'x', unique_key => 'k')",
        "readpast.claim('q', 5, '1 ms')",
        "readpast.claim('q') c, readpast.extend(c.id, c.claim_no, '1 ms')",
        "readpast.claim('q') c, readpast.fail(c.id, c.claim_no, delay => '0')",
        "readpast.claim('q') c, readpast.complete(c.id, c.claim_no)",
        "readpast.complete('{1,2}'::bigint[], '{1,2}')",
        "pg_sleep(0.01), readpast.sweep()",
        "readpast.sweep_start(false)",
        "readpast.held_by(1, '{q}')",
        "readpast.probe('q')",
        "readpast.why(20000)"]

    def explaining():
        session = Session(s.database)
        session.db.notices = collections.deque()
        session.rows("load 'auto_explain'")
        session.rows("set auto_explain.log_min_duration = 0")
        session.rows("set auto_explain.log_nested_statements = on")
        session.rows("set client_min_messages = log")
        return session

    def plans(session):
        """Return the plan of each statement that the calls execute, as the server logs
        it."""
        session.db.notices.clear()
        for call in calls:
            session.rows(f"select * from {call}")
        return list(session.db.notices)

    def walk(session):
        said = plans(session)
        assert len(said) > len(calls)
        for plan in said:
            assert not re.search(
                r"(Seq|Bitmap Heap) Scan on job\b", plan), plan
            assert "JIT:" not in plan, plan  # JIT compilation takes 200 ms

    s.rows("alter table readpast.job set (autovacuum_enabled = off)")
    s.rows("alter table readpast.archive set (autovacuum_enabled = off)")
    s.one("select readpast.queue_set('q', keep_done => '1 day')")
    s.rows("analyze")
    early = explaining()
    for _ in range(8):      # from the sixth call on, the server may keep one plan
        plans(early)
    s.rows("select readpast.enqueue_many('q', array_fill('x'::text, "
           "array[20000]))")
    s.rows("select count(c) from (select array_agg(id) as ids, "
           "array_agg(claim_no) as numbers from readpast.claim('q', 20000)) as a, "
           "readpast.complete(a.ids, a.numbers) as c")
    s.rows("select readpast.enqueue_many('q', array_fill('x'::text, "
           "array[20000]))")
    s.rows("select readpast.enqueue_many('q', array_fill('x'::text, "
           "array[20000]), delays => array_fill('1 day'::interval, array[20000]))")
    walk(early)             # this session made its plans when all tables were empty
    walk(explaining())      # a new session makes its plans now, but the statistics are
                            # still those of empty tables
    s.rows("analyze")
    walk(explaining())


@case
def the_limit_of_a_small_queue_costs_little_beside_a_large_one(s):
    s.rows("select readpast.enqueue_many('bulk', array_fill('x'::text, array[60000]))")
    for queue, limit in ("large", 10000), ("small", 10):
        s.one("select readpast.queue_set(%s, run_limit => %s)", queue, limit)
        s.rows("select readpast.enqueue_many(%s, array_fill('x'::text, array[%s]))",
               queue, 2 * limit)
        s.rows("select count(*) from readpast.claim(%s, %s, '1 hour')", queue, limit)
    s.rows("vacuum analyze readpast.job, readpast.slot")
    for call in "probe('small')", "claim('small', 1)":
        s.rows(f"select * from readpast.{call}")
        read = buffers(s, f"readpast.{call}")
        assert read < 200, (call, read)


@case
def a_sweep_reads_nothing_of_a_table_that_was_analyzed_when_empty(s):
    pin = Session(s.database)
    pin.rows("begin isolation level repeatable read")
    pin.rows("select 1 from readpast.job")
    s.rows("select readpast.enqueue_many('q', array_fill('x'::text, "
           "array[20000]), delays => array_fill('1 day'::interval, array[20000]))")
    s.rows("delete from readpast.job")
    s.rows("analyze readpast.job, readpast.archive")
    for verb in "sweep_due", "sweep_expired", "sweep_overdue", "sweep_kept":
        call = f"readpast.{verb}(1000)"
        s.rows(f"select * from {call}")  # the first call makes the plan
        assert buffers(s, call) < 200, (verb, buffers(s, call))
    pin.rows("rollback")


@case
def an_idle_sweep_writes_nothing(s):
    passed(s)
    for _ in range(4):
        s.sweep()
        time.sleep(1.05)
    s.rows("begin")
    s.sweep()
    assert s.one("select pg_current_xact_id_if_assigned() is null")
    s.rows("rollback")


@case
def a_sweep_in_an_open_transaction_blocks_no_other_session(s):
    user = Session(s.database)
    user.rows("begin")
    user.sweep()
    s.put("x")
    s.claim(lease="50 ms")
    time.sleep(0.1)
    assert s.sweep() == (0, 1, 0, 0)
    user.rows("rollback")


@case
def the_short_form_sweeps_only_if_a_sweep_is_due(s):
    sweep = "select readpast.sweep() where readpast.sweep_start()"
    s.put("x", delay="1 ms")
    time.sleep(0.01)
    assert len(s.rows(sweep)) == 1
    s.put("y", delay="1 ms")
    time.sleep(0.01)
    assert s.rows(sweep) == []
    assert s.taken(9) == "x"


# ---- the rest ----

def asleep(s, worker):
    """Register a waiter for this worker, and return a session that listens for it."""
    sleeper = Session(s.database)
    channel, _, fresh, _ = sleeper.one(
        "select * from readpast.register_waiter(%s, '{q}')", worker)
    assert channel == f"readpast.{worker}" and fresh
    sleeper.rows(f'listen "{channel}"')
    return sleeper


def woken(sleeper):
    sleeper.rows("select 1")
    heard = len(sleeper.db.notifies)
    sleeper.db.notifies.clear()
    return heard


@case
def each_job_notifies_another_waiter(s):
    s.put("x")
    s.taken()
    one, two = asleep(s, 1), asleep(s, 2)
    assert not one.one("select fresh from readpast.register_waiter(1, '{q}')")
    user = Session(s.database)
    user.rows("begin")
    user.put("a")
    s.put("b")      # put() does not wait for `user`, and notifies the other worker
    assert (woken(one), woken(two)) == (1, 0)
    s.put("c")      # the only waiter left is the one that `user` notifies
    assert (woken(one), woken(two)) == (0, 1)
    two.one("select readpast.unregister_waiter(2, '{q}')")
    user.rows("commit")
    assert (woken(one), woken(two)) == (0, 1)
    s.put("d")      # put() notifies nobody, because both workers are unregistered
    assert (woken(one), woken(two)) == (0, 0)
    # A claim that returns as many jobs as its limit may have left more jobs. So it
    # notifies another worker, and never the worker that claims.
    one, two = asleep(s, 1), asleep(s, 2)
    s.rows("select * from readpast.claim('q', 2, worker_id => 2)")
    assert (woken(one), woken(two)) == (1, 0)
    two.one("select readpast.unregister_waiter(2, '{q}')")
    s.rows("select * from readpast.claim('q', 2)")
    one = asleep(s, 1)
    s.rows("begin isolation level repeatable read")
    s.put("e")
    s.rows("commit")
    assert woken(one) == 1


@case
def a_sweep_notifies_a_waiter_even_if_its_time_is_over(s):
    s.rows("create or replace function readpast.rouse_budget() returns interval"
           " language sql immutable as $$ select interval '0' $$")
    user = Session(s.database)
    s.one("select readpast.queue_create('q')")
    user.rows("begin")
    user.put("x")
    one = asleep(s, 1)
    user.rows("commit")
    assert woken(one) == 0
    s.sweep()
    assert woken(one) == 1


@case
def a_sweep_notifies_a_waiter_of_a_queue_with_a_ready_job(s):
    user = Session(s.database)
    s.one("select readpast.queue_create('q')")
    user.rows("begin")
    user.put("x")
    one = asleep(s, 1)
    user.rows("commit")
    assert woken(one) == 0
    s.sweep()
    assert woken(one) == 1
    one = asleep(s, 1)
    s.one("select readpast.pause('q')")
    s.sweep()
    assert woken(one) == 0


@case
def verdicts_in_sql_are_counted(s):
    def counts():
        return s.rows("select done_total, failed_total, dead_total, done_recently "
                      "from readpast.stats('q')")[0]
    def set_to(*kept):
        s.one("select set_config('readpast.tally', %s::bigint[]::text, false)", list(kept))
    s.rows("select readpast.enqueue_many('q', array_fill('x'::text, array[40]), "
           "max_attempts => 1)")
    jobs = s.rows("select id, claim_no from readpast.claim('q', 40)")
    s.one("select readpast.complete(%s, %s)", *jobs.pop())
    s.one("select readpast.fail(%s, %s)", *jobs.pop())
    s.one("select readpast.release(%s, %s)", *jobs.pop())
    s.rows("select * from readpast.complete(%s::bigint[], %s::bigint[])",
           *map(list, zip(*[jobs.pop() for _ in range(3)])))
    assert counts() == (4, 1, 1, 4)
    s.rows("begin")
    s.one("select readpast.complete(%s, %s)", *jobs[-1])
    s.rows("rollback")
    assert counts() == (4, 1, 1, 4)
    # After ten calls in a second, a session only adds up.
    set_to(2 * 10 ** 9, 10, 1, 3, 2)
    s.rows("create function readpast.later() returns timestamptz language sql as "
           "'select to_timestamp(2000000000)'")
    late = s.one("select replace(pg_get_functiondef('readpast.count_ended'::regproc), "
                 "'clock_timestamp()', 'readpast.later()')")
    usual = s.one("select pg_get_functiondef('readpast.count_ended'::regproc)")
    s.rows(late)
    s.one("select readpast.complete(%s, %s)", *jobs.pop())
    assert s.one("show readpast.tally") == "{2000000000,10,1,4,2}"
    assert counts() == (4, 1, 1, 4)
    # The next row that it writes comes with the counts of the earlier second.
    s.rows(usual)
    set_to(100, 10, 1, 4, 2)
    s.one("select readpast.complete(%s, %s)", *jobs.pop())
    assert counts() == (9, 3, 1, 5)
    for wrong in "x", "{1,99999999999,1,1,1}", "{1,null,5,5,5}", "{1,2}":
        s.one("select set_config('readpast.tally', %s, false)", wrong)
        assert s.one("select readpast.complete(%s, %s)", *jobs.pop()) == "done"
    assert counts()[0] == 13


@case
def jobs_that_die_together_are_one_row_of_the_tally(s):
    s.rows("select readpast.queue_create('r')")
    s.rows("select readpast.enqueue(q, 'x') from unnest(array['q', 'q', 'r', 'q']) q")
    jobs = [s.rows("select id, claim_no from readpast.claim(%s, 3)", q) for q in "qr"]
    ids, claim_nos = zip(*sum(jobs, []))
    s.rows("select * from readpast.settle_and_claim('{q}', most => 0, ids => %s::bigint[], "
           "claim_nos => %s::bigint[], verdicts => '{2,2,1,2}', "
           "delays_ms => '{null,null,0,null}', errors => array_fill('e'::text, '{4}'))",
           list(ids), list(claim_nos))
    assert s.rows("select queue_id, dead from readpast.tally where dead > 0 "
                  "order by 1") == [(1, 1), (2, 2)]


@case
def old_counts_of_finished_jobs_are_added_up(s):
    s.put("x")
    s.one("select readpast.queue_create('r')")
    now = "extract(epoch from now())::bigint"
    s.rows("insert into readpast.tally (second, queue_id, done, failed, dead) "
           f"values ({now} - 100, 1, 1, 2, 3), ({now} - 90, 1, 10, 20, 30), "
           f"({now}, 1, 100, 200, 300), (0, 2, 7, 7, 7), ({now} - 90, 99, 1, 1, 1)")
    before = s.rows("select name, done_total, failed_total, dead_total "
                    "from readpast.stats()")
    assert before == [("q", 111, 222, 333), ("r", 7, 7, 7)]
    for _ in range(2):
        s.rows("select readpast.sum_tallies()")
        assert s.rows("select queue_id, second = 0, done from readpast.tally "
                      "order by 1, 2") == [(1, False, 100), (1, True, 11), (2, True, 7)]
        assert s.rows("select name, done_total, failed_total, dead_total "
                      "from readpast.stats()") == before


@case
def nothing_is_granted_to_public(s):
    assert s.rows(
        "select p.oid::regprocedure from pg_proc p, "
        "aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a "
        "where p.pronamespace = 'readpast'::regnamespace and a.grantee = 0"
    ) == []
    assert s.rows(
        "select c.oid::regclass from pg_class c, aclexplode(c.relacl) a "
        "where c.relnamespace = 'readpast'::regnamespace and a.grantee = 0"
    ) == []


@case
def a_crash_of_the_server_loses_no_acknowledged_job(s):
    for payload in "abc":
        s.put(payload)
    claim = s.claim()["a"]
    user = Session(s.database)
    user.rows("begin")
    lost = user.claim()["b"]
    tool("crash")
    tool("restart")
    s.__init__(s.database)
    assert s.taken(5) == "bc"
    assert s.refused("select readpast.complete(%s, %s)", *lost).startswith(
        "RP001")
    assert s.complete(claim) == "done"


main("max_prepared_transactions=2")
