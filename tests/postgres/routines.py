#!/usr/bin/python3
"""The routines of sql/postgres, from Debian's psycopg2 and nothing of ours: what
any client may call, and each trap of docs/design.md, with sessions interleaved
step by step. Starts a server of its own.

  routines.py ROOT [CASE...]

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import threading
import time
import traceback

from sessions import Session, case, eventually, main, tool


def swept_in(session, payload, seconds=4):
    """Claims nothing else; the sweep brings this job back in line."""
    def look():
        session.sweep()
        return session.claim().get(payload)
    return eventually(seconds, look)


# ---- what the routines answer ----

@case
def payloads_of_each_kind_go_in_and_come_out(s):
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
def bad_arguments_are_refused_in_words(s):
    for words, sql in (
            ("RP003 priority 256", "readpast.enqueue('q', 'x', priority => 256)"),
            ("RP003 the delay", "readpast.enqueue('q', 'x', delay => '-1 s')"),
            ("RP003 max_attempts",
             "readpast.enqueue('q', 'x', max_attempts => 0)"),
            ("RP003 the payload is null",
             "readpast.enqueue('q', null::bytea)"),
            ("RP003 the headers are not a JSON object",
             "readpast.enqueue('q', 'x', headers => '[1]')"),
            ("RP003 the kind is not", "readpast.enqueue('q', 'x', kind => '')"),
            ("RP003 the unique key is not",
             "readpast.enqueue('q', 'x', unique_key => repeat('x', 256))"),
            ("RP005 no queue named nowhere", "readpast.pause('nowhere')"),
            ("RP005 no job has the id 99", "readpast.cancel(99)"),
            ("RP003 the queue's name", "readpast.enqueue('', 'x')"),
            ("RP003 the queue's name", "readpast.enqueue(null, 'x'::text)"),
            ("RP003 the queue's name",
             "readpast.enqueue(repeat('q', 129), 'x')"),
            ("RP003 the queue's name", "readpast.queue_create(E'a\\nb')"),
            ("RP003 the kind is not",
             "readpast.enqueue('q', 'x', kind => E'a\\x7f')"),
            ("RP003 max_attempts",
             "readpast.enqueue('q', 'x', max_attempts => 2000000000)"),
            ("RP003 the delay",
             "readpast.enqueue('q', 'x', delay => '178000000 years')"),
            ("RP003 run_at", "readpast.enqueue('q', 'x', run_at => 'infinity')"),
            ("RP003 run_at",
             "readpast.enqueue('q', 'x', run_at => '-infinity')"),
            ("RP003 either", "readpast.enqueue('q', 'x', delay => '1 s', "
                             "run_at => '2030-01-01')"),
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
            ("RP003 there are 1 payloads",
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
            ("RP003 there are more ids",
             "readpast.complete('{1}'::bigint[], '{1,2}')"),
            ("RP003 there are more ids",
             "readpast.complete('{1}'::bigint[], null)"),
            ("RP003 a claim needs", "readpast.turn(null, most => 1)"),
            ("RP003 a claim needs", "readpast.turn('{q}', most => -1)"),
            ("RP003 the lease", "readpast.turn('{q}', 0, most => 1)"),
            ("RP003 ids, claim_nos", "readpast.turn('{q}', ids => '{1}')"),
            ("RP003 ids, claim_nos", "readpast.turn('{q}', ids => '{1}', "
             "claim_nos => '{1}', verdicts => '{5}')"),
            ("RP003 ids, claim_nos", "readpast.turn('{q}', ids => '{1}', "
             "claim_nos => '{1}', verdicts => '{1}', delays_ms => '{-1}')"),
            ("RP003 a sweep", "readpast.sweep(0)"),
            ("RP003 who sleeps", "readpast.going_to_sleep(null, '{q}')"),
            ("RP005 no job has the id", "readpast.cancel(null)"),
            ("RP005 no queue named", "readpast.resume(null)"),
            ("RP003 max_attempts", "readpast.queue_set('q', max_attempts => 0)"),
            ("RP003 the lease", "readpast.queue_set('q', lease => '0')"),
            ("RP003 backoff", "readpast.queue_set('q', keep_done => '-1 s')"),
            ("RP003 priority", "readpast.queue_set('q', priority => 256)"),
            ("RP003 max_payload", "readpast.queue_set('q', max_payload => -1)"),
            ("RP003 the queue's name", "readpast.queue_set(null)")):
        said = s.refused(f"select {sql}")
        assert said.startswith(words), (sql, said)
    assert s.one("select count(*) from readpast.job") == 0
    for none in "'{}'::text[]", "'{}'::bytea[]", "'{}'::jsonb[]":
        assert s.rows(f"select readpast.enqueue_many('q', {none})") == []
    assert s.rows("select * from readpast.complete('{}'::bigint[], '{}')") == []
    s.one("select readpast.queue_set('q', max_payload => 3)")
    assert s.refused("select readpast.enqueue('q', 'four')").startswith(
        "RP004 payload too large")
    assert s.put("3__") > 0


@case
def a_client_in_sql_that_has_a_name_is_a_worker(s):
    job, other = s.put("x"), s.put("y")
    claim = s.one("select id, claim_no from readpast.claim('q', worker => 'me')")
    assert claim[0] == job
    assert s.rows("select id, worker from readpast.jobs order by id") == [
        (job, "me"), (other, None)]
    s.rows("select * from readpast.claim('r', worker => 'me')")
    s.rows("select * from readpast.turn('{q}', most => 1, worker_name => 'me')")
    assert s.rows("select name, queues, kinds from readpast.worker") == [
        ("me", ["q", "r"], ["q/", "r/"])]
    assert s.one("select workers from readpast.stats('q')") == 1
    s.one("select readpast.fail(%s, %s, for_good => true)", *claim)
    assert s.one("select worker from readpast.jobs where id = %s", job) == "me"


@case
def verdicts_answer_the_state_or_an_error(s):
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
def a_turn_settles_and_then_claims(s):
    for payload in "abcd":
        s.put(payload)
    c = list(s.claim(3).values())
    rows = s.rows(
        "select number, result, settled, id, convert_from(payload, 'UTF8') "
        "from readpast.turn('{nowhere,q}', most => 5, "
        "ids => %s || 99::bigint, claim_nos => %s || 1::bigint, "
        "verdicts => '{0,3,1,0}', delays_ms => '{null,null,0,null}', "
        "errors => '{null,null,boom,null}')",
        [job for job, _ in c], [claim_no for _, claim_no in c])
    # Number 0: one is done. What is not plain has a row of its own.
    assert sorted(rows[:4]) == [(0, 1, 4, None, None), (2, 0, 2, None, None),
                                (3, 0, 2, None, None), (4, -9, None, None, None)
                                ], rows
    # Given back: to the front. Failed: to the end. A head for each lane.
    assert [row[0] for row in rows[4:]] == [0, None, 0, None, None]
    assert "".join(row[4] or "|" for row in rows[4:]) == "|b|dc"


@case
def priority_first_and_then_first_in_first_out(s):
    for number, priority in enumerate((100, 5, 100, 5, 255, 0)):
        s.put(str(number), priority=priority)
    assert s.taken(9) == "513024"


@case
def a_failure_backs_off_and_its_last_attempt_is_death(s):
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
    assert 39 < waits[0] < 44 and 79 < waits[1] < 88 and 99 < waits[5] < 110
    failures = s.one("select failures from readpast.kept where id = %s", job)
    assert [f["text"] for f in failures] == [f"no {n}" for n in range(3, 13)]
    assert numbers == sorted(set(numbers))
    s.one("select readpast.retry(%s)", job)
    again = s.claim()["x"]
    assert again[0] == job and again[1] > numbers[-1]
    assert s.refused("select readpast.retry(%s)", job).startswith(
        f"RP001 job {job} is running")


@case
def a_unique_key_has_one_live_job(s):
    one = s.put("one", unique_key="k")
    assert s.put("two", unique_key="k") == one
    assert s.put("three", unique_key="k", replace=True) == one
    claim = s.claim()["three"]
    assert s.refused("select readpast.enqueue('q', 'four', unique_key => 'k',"
                     " replace => true)") == (
        f"RP006 job {one} is running and cannot be replaced")
    assert s.put("four", unique_key="k") == one
    s.one("select readpast.cancel(%s)", one)
    two = s.put("five", unique_key="k")
    assert two == one + 1
    assert s.refused("select readpast.retry(%s)", one).startswith("RP006")
    assert s.refused("select readpast.extend(%s, %s)", *claim).startswith(
        "RP002")
    # Two at once: the second waits for the first, and takes its answer.
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
def what_is_scheduled_comes_when_it_is_due(s):
    s.put("later", delay="300 ms")
    s.put("past", run_at="2020-01-01")
    assert s.taken(5) == "past"
    assert s.one("select due_in_ms from readpast.look('q')") in range(1, 301)
    time.sleep(0.35)
    assert s.sweep() == (1, 0, 0, 0)
    assert s.taken(5) == "later"


@case
def a_paused_queue_hands_out_nothing(s):
    s.put("x")
    s.one("select readpast.pause('q')")
    assert s.taken() == ""
    assert s.one("select ready, paused from readpast.look('q')") == (False, True)
    s.one("select readpast.resume('q')")
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


# ---- leases ----

@case
def a_lease_that_ran_out_three_times_is_death(s):
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
def a_lease_shorter_than_the_queues_ends_in_time_wherever_the_head_is(s):
    s.put("x")
    s.claim(lease="500 ms")
    for _ in range(2):
        passed(s)

    def is_far_behind():
        passed(s, 10)
        return s.one("select max(head) > 1500 from readpast.mark")
    eventually(5, is_far_behind)
    eventually(5, lambda: s.one("select lease_until < clock_timestamp() "
                                "from readpast.job"))
    assert s.sweep() == (0, 1, 0, 0)


@case
def suspects_go_out_alone_and_only_to_empty_hands(s):
    for payload in "abc":
        s.put(payload)
    for _ in range(2):
        s.claim(2, lease="50 ms")
        time.sleep(0.1)
        assert s.sweep() == (0, 2, 0, 0)
    s.put("d")
    turn = ("select number, lane_id %% 4, convert_from(payload, 'UTF8') "
            "from readpast.turn('{q}', most => 9, holding => %s)")
    passed_over = (None, None, None)
    assert s.rows(turn, 1) == [passed_over, passed_over, (0, 2, None),
                               (None, None, "c"), (None, None, "d")]
    assert s.rows(turn, 0) == [(0, 1, None), (None, None, "a")]
    assert s.rows(turn, 0) == [(0, 1, None), (None, None, "b")]


@case
def a_job_with_one_attempt_is_never_fetched_ahead(s):
    s.put("o", max_attempts=1)
    s.put("a")
    turn = ("select convert_from(payload, 'UTF8') "
            "from readpast.turn('{q}', most => 5, at_once => %s) "
            "where number is null")
    assert s.rows(turn, 0) == []
    assert s.rows(turn, 1) == [("o",), ("a",)]


# ---- the traps of design section 5 ----

def passed(s, n=900):
    """Claims and completes so many jobs that the head moves."""
    s.rows("select readpast.enqueue_many('q', array_fill('-'::text, array[%s]))",
           n)
    claims = s.rows("select id, claim_no from readpast.claim('q', %s)", n)
    s.rows("select readpast.complete(%s, %s)", [c[0] for c in claims],
           [c[1] for c in claims])


@case
def a_late_committer_behind_the_head_is_found(s):
    late = Session(s.database)
    s.put("first")
    s.complete(s.claim()["first"])
    late.rows("begin")
    late.put("late")
    pass_by(s)
    head = s.one("select max(head) from readpast.mark")
    late.rows("commit")
    assert s.one("select seq from readpast.job") < head
    assert s.taken() == ""
    assert swept_in(s, "late", 2.5)


def pass_by(s, seconds=2.4):
    """The heads move on, and the sweep behind them."""
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
def the_last_transaction_to_begin_when_the_line_was_sealed_is_waited_for(s):
    s.put("first")
    s.complete(s.claim()["first"])
    late = Session(s.database)
    late.rows("begin")
    late.put("late")
    s.sweep()
    assert s.one("select max(seq) from readpast.seal") == late.one(
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
def a_sweep_in_a_transaction_that_wrote_before_makes_no_seal(s):
    s.put("x")
    s.rows("begin")
    s.rows("select readpast.queue_create('new')")
    s.sweep()
    s.rows("commit")
    assert s.rows("select * from readpast.seal") == []
    s.sweep()
    assert s.one("select count(*) from readpast.seal") == 1


@case
def what_an_old_transaction_puts_back_in_line_is_found(s):
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
def what_takes_long_to_put_in_is_found(s):
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


def done(s, n, at_once):
    """Jobs come, are claimed and completed, so many at a time."""
    for _ in range(n // at_once):
        passed(s, at_once)


@case
def thousands_of_the_line_that_are_done_are_not_walked_over(s):
    s.rows("select setval('readpast.line', 999)")   # 1000 comes next
    done(s, 2000, 100)
    assert s.rows("select thousand, sum(jobs) from readpast.ended group by 1 "
                  "order by 1") == [(1, 1000), (2, 1000)]
    assert s.rows("select * from readpast.left_between(500, 3700)") == [
        (500, 1000), (3000, 3700)]
    assert s.rows("select * from readpast.left_between(1200, 2900)") == []
    assert s.rows("select * from readpast.left_between(3000, 9000)") == [
        (3000, 8000), (8000, 9000)]
    s.rows("select setval('readpast.line', 1999999)")

    def the_first_are_forgotten():                  # a million later
        pass_by(s, 0.1)
        return s.one("select min(thousand) from readpast.ended") == 2000
    eventually(8, the_first_are_forgotten)


@case
def a_thousand_that_is_done_but_for_one_is_walked_over(s):
    s.rows("select setval('readpast.line', 999)")
    s.put("held")
    user = Session(s.database)
    user.rows("begin")
    assert user.claim().keys() == {"held"}
    done(s, 999, 27)
    assert s.rows("select * from readpast.left_between(1000, 2000)") == [
        (1000, 2000)]
    pass_by(s)
    user.rows("rollback")
    assert swept_in(s, "held", 2.5)


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
def who_commits_a_moment_late_is_not_behind_the_head(s):
    late = Session(s.database)
    passed(s)
    time.sleep(0.15)
    late.rows("begin")
    late.put("late")
    s.put("x")
    assert s.taken() == "x"     # leaves a mark
    late.rows("commit")
    assert s.one("select max(head) from readpast.mark"
                 ) > s.one("select min(seq) from readpast.job")
    assert s.taken() == "late"


@case
def a_transaction_that_enqueues_late_leaves_a_note(s):
    late = Session(s.database)
    s.put("first")
    s.complete(s.claim()["first"])
    late.rows("begin")
    late.rows("select 1")
    time.sleep(0.2)
    late.put("late")
    pass_by(s)
    assert s.one("select count(*) from readpast.stray where waits_for is null"
                 ) == 0
    late.rows("commit")
    assert s.one("select count(*) from readpast.stray where waits_for is null"
                 ) == 1
    assert swept_in(s, "late", 2.5)


@case
def a_claim_held_open_is_nobodys_business_until_it_is_rolled_back(s):
    user, other = Session(s.database), Session(s.database)
    s.put("held")
    user.rows("begin")
    assert user.claim().keys() == {"held"}
    marks = s.one("select count(*) from readpast.mark")
    slowest = 0
    for _ in range(6):
        began = time.monotonic()
        passed(s)
        other.sweep()
        slowest = max(slowest, time.monotonic() - began)
        time.sleep(0.4)
    assert slowest < 1, slowest  # 900 jobs in, out and swept
    assert s.one("select count(*) from readpast.mark") > marks

    def is_noted():
        other.sweep()
        return s.one("select count(*) from readpast.stray "
                     "where waits_for is null") == 1
    eventually(5, is_noted)
    user.rows("rollback")
    assert swept_in(s, "held", 2.5)


@case
def a_claim_held_open_and_committed_late_has_a_lease_that_ends(s):
    user = Session(s.database)
    s.put("held")
    user.rows("begin")
    assert user.claim(lease="1 s").keys() == {"held"}
    for _ in range(4):
        passed(s)
        s.sweep()
        time.sleep(0.5)
    assert s.one("select count(*) from readpast.stray "
                 "where waits_for is null") == 1
    user.rows("commit")
    assert swept_in(s, "held", 3)


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
def a_claim_that_meets_an_updated_row_takes_it_or_leaves_it(s):
    other = Session(s.database)
    s.put("a")
    s.put("b")
    got = []
    s.rows("begin")
    first = s.claim()["a"]          # locked: the other skips it
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
def a_claim_in_an_open_transaction_locks_nobody_elses_job(s):
    """A job is claimed between the look at its row and the row's lock."""
    s.put("a")
    s.put("b")
    # Who is not the owner looks at a row no sooner than the gate is open.
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
                     "readpast.turn('{q}', most => 1)"):
            s.rows(f"begin isolation level {level}")
            assert s.refused(f"select * from {call}").startswith("25001"), call
            s.rows("rollback")
    # Enqueue and verdicts work there; a stale snapshot is never a refusal.
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
    # A snapshot from before the claim must not call it lost.
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


@case
def turn_against_turn_never_deadlocks(s):
    """8 clients over 20 jobs in line: fail, release, extend, complete."""
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
                    "select number, result, id, claim_no, max(claim_no) "
                    "filter (where number = 0) over () from readpast.turn("
                    "'{q}', most => 5, ids => %s::bigint[], "
                    "claim_nos => %s::bigint[], verdicts => %s::bigint[], "
                    "delays_ms => %s::bigint[], errors => %s::text[])",
                    [job for job, _ in reversed(mine)],
                    [claim_no for _, claim_no in reversed(mine)], verdicts,
                    [0 for _ in mine], ["x" for _ in mine])
                assert all(result in (0, None) for _, result, *_ in rows), rows
                mine = [(job, claim_no or its) for n, _, job, claim_no, its
                        in rows if n is None]
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


def buffers(s, call):
    plan = s.one(f"explain (analyze, buffers, format json) select * from {call}")
    top = plan[0]["Plan"]
    return top["Shared Hit Blocks"] + top["Shared Read Blocks"]


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
    for _ in range(2):
        first = measure()
    s.rows("analyze readpast.job")  # that it is empty: autovacuum may do so, too
    last = [measure() for _ in range(8)][-3:]
    pin.rows("commit")
    # One of them may have planned anew, after autovacuum's look at the tables.
    last = [min(each) for each in zip(*last)]
    # The claim starts at its head. A sweep walks once over what has died since
    # the last one, which it would do without the pin too, and no more.
    assert last[0] <= 2 * free[0], (free, first, last)
    assert last[1] <= 1.5 * first[1], (free, first, last)


@case
def a_claim_that_took_long_says_where_the_next_one_starts(s):
    # As it is where many entries are dead and no mark is behind them.
    slow = """do $$ begin
                perform pg_sleep(0.15);
                perform from readpast.claim('q');
              end $$"""
    s.put("x")
    s.put("y")
    s.rows(slow)
    assert s.one("select count(*) from readpast.mark") == 1
    s.rows("begin")
    s.rows("select 1")
    s.rows(slow)
    s.rows("commit")
    assert s.one("select count(*) from readpast.mark") == 1


@case
def a_plan_made_for_an_empty_table_is_the_plan_for_a_full_one(s):
    s.put("x")
    s.taken()
    s.rows("analyze readpast.job")
    s.rows("select readpast.enqueue_many('q', array_fill('x'::text, "
           "array[20000]))")
    loaded = buffers(s, "readpast.claim('q', 5)")
    s.rows("analyze readpast.job")
    assert max(loaded, buffers(s, "readpast.claim('q', 5)")) < 150, loaded


@case
def a_sweep_reads_nothing_of_a_table_that_was_analyzed_when_empty(s):
    pin = Session(s.database)
    pin.rows("begin isolation level repeatable read")
    pin.rows("select 1 from readpast.job")
    s.rows("select readpast.enqueue_many('q', array_fill('x'::text, "
           "array[20000]), delays => array_fill('1 day'::interval, array[20000]))")
    s.rows("delete from readpast.job")
    s.rows("analyze readpast.job, readpast.archive")
    for verb in "sweep_due", "sweep_expired", "sweep_kept":
        call = f"readpast.{verb}(1000)"
        s.rows(f"select * from {call}")  # its plan is made
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
def a_sweep_in_an_open_transaction_holds_nobody_up(s):
    user = Session(s.database)
    user.rows("begin")
    user.sweep()
    s.put("x")
    s.claim(lease="50 ms")
    time.sleep(0.1)
    assert s.sweep() == (0, 1, 0, 0)
    user.rows("rollback")


# ---- the rest ----

def asleep(s, worker):
    """A session that listens as a worker that sleeps."""
    sleeper = Session(s.database)
    channel, _, fresh, _ = sleeper.one(
        "select * from readpast.going_to_sleep(%s, '{q}')", worker)
    assert channel == f"readpast.{worker}" and fresh
    sleeper.rows(f'listen "{channel}"')
    return sleeper


def woken(sleeper):
    sleeper.rows("select 1")
    heard = len(sleeper.db.notifies)
    sleeper.db.notifies.clear()
    return heard


@case
def each_job_wakes_one_sleeper_and_each_another(s):
    s.put("x")
    s.taken()
    one, two = asleep(s, 1), asleep(s, 2)
    assert not one.one("select fresh from readpast.going_to_sleep(1, '{q}')")
    user = Session(s.database)
    user.rows("begin")
    user.put("a")
    s.put("b")      # waits for nobody, and wakes the other one
    assert (woken(one), woken(two)) == (1, 0)
    s.put("c")      # nobody is left but whom `user` is about to wake
    assert (woken(one), woken(two)) == (0, 1)
    two.one("select readpast.awake(2, '{q}')")
    user.rows("commit")
    assert (woken(one), woken(two)) == (0, 1)
    s.put("d")      # both are off the list
    assert (woken(one), woken(two)) == (0, 0)
    # Who takes all that it wanted wakes the next, not itself.
    one, two = asleep(s, 1), asleep(s, 2)
    s.rows("select * from readpast.claim('q', 2, worker_id => 2)")
    assert (woken(one), woken(two)) == (1, 0)
    two.one("select readpast.awake(2, '{q}')")
    s.rows("select * from readpast.claim('q', 2)")
    one = asleep(s, 1)
    s.rows("begin isolation level repeatable read")
    s.put("e")
    s.rows("commit")
    assert woken(one) == 1


@case
def a_sweep_wakes_who_sleeps_beside_a_ready_job(s):
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
def a_crash_of_the_server_loses_nothing_acknowledged(s):
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


main()
