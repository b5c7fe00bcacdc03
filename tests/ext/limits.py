#!/usr/bin/python3
"""Test limits, groups, rates and holds of SQLite with random calls of the extension's
functions. Several connections make them, one after the other, many in transactions and
savepoints that are rolled back. After each transaction the tables must be consistent.

  limits.py EXTENSION READPAST

READPAST_TEST_SEED is the first seed, 1 by default. READPAST_TEST_SECONDS is how long each
case lasts, 5 by default. The same seed makes the same calls, but at other times, so a seed
that has found a fault may need several runs to find it again.

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import json
import os
import random
import sqlite3
import sys
import time

from cases import case, connect, main

SEED = int(os.environ.get("READPAST_TEST_SEED", 1))
SECONDS = float(os.environ.get("READPAST_TEST_SECONDS", 5))
STEPS = 150  # of a round; then all jobs are finished, and the tables must be empty
CONNECTIONS = 3
QUEUES = "ab"
GROUPS = "xy"
RATE_MS = 30

# Parts of the messages that a caller must expect: the verdict was refused, or the job is
# gone, runs, expires too soon, or has a key that is taken.
EXPECTED = ("is no longer yours", "no claim has", "was cancelled", "no job has",
            "is running", "cannot be replaced", "is not changed")

# ---- what must be true after each transaction ----

CONSISTENT = {
    "a waiting job has a row of group_wait with its group, priority and place": """
        select coalesce(j.id, w.job_id)
          from readpast_job j
          full join readpast_group_wait w
            on w.job_id = j.id and w.queue_id = j.queue_id
           and w.group_key = j.group_key and w.came = j.came and w.priority = j.priority
         where j.seq is null and j.lease_until is null
               and j.run_at = 9223372036854775807 and w.job_id is null
            or w.job_id is not null
               and (j.id is null or j.seq is not null or j.lease_until is not null
                    or j.run_at < 9223372036854775807)""",
    "no job has a slot and waits": """
        select job_id from readpast_group_slot
         join readpast_group_wait using (queue_id, group_key, job_id)""",
    "a slot is of a job of the group": """
        select s.job_id
          from readpast_group_slot s
          left join readpast_job j on j.id = s.job_id and j.queue_id = s.queue_id
                                  and j.group_key = s.group_key
         where j.id is null""",
    "a group has at most as many slots as its limit": """
        select s.group_key
          from readpast_group_slot s
          join readpast_queue q on q.id = s.queue_id
         where q.group_limit > 0 and not q.group_lowered
         group by q.id, s.group_key
        having count(*) > q.group_limit""",
    "a ready or running job of a group has a slot if the queue has a group limit": """
        select j.id
          from readpast_job j
          join readpast_queue q on q.id = j.queue_id
         where q.group_limit > 0 and j.group_key is not null
           and (j.seq is not null or j.lease_until is not null)
           and not exists (select 1 from readpast_group_slot s
                            where s.job_id = j.id and s.queue_id = j.queue_id)""",
    "P13: a group that waits is held, uses all its slots, or will be looked at": """
        select w.group_key
          from readpast_group_wait w
          join readpast_queue q on q.id = w.queue_id
         where q.group_scan is null
           and not exists (select 1 from readpast_group_hold h
                            where h.queue_id = q.id and h.group_key = w.group_key)
         group by q.id, w.group_key
        having q.group_limit = 0
            or q.group_limit > (select count(*) from readpast_group_slot s
                                 where s.queue_id = q.id
                                   and s.group_key = w.group_key)""",
}

# P10. Not checked while limits change, because a lower limit ends no job.
WITHIN_LIMITS = """
select q.name
  from readpast_job j
  join readpast_queue q on q.id = j.queue_id
 where j.lease_until is not null
 group by q.id
having q.run_limit > 0 and count(*) > q.run_limit
union all
select q.name || ' ' || j.group_key
  from readpast_job j
  join readpast_queue q on q.id = j.queue_id
 where j.lease_until is not null and j.group_key is not null
 group by q.id, j.group_key
having q.group_limit > 0 and count(*) > q.group_limit"""

# P11: jobs of a claimed job's group and priority that came before it, do not run and have
# not expired, at the time of the claim in ms.
PASSED_OVER = """
select o.id
  from readpast_job j
  join readpast_job o on o.queue_id = j.queue_id and o.group_key = j.group_key
                     and o.priority = j.priority and o.came < j.came
 where j.id = ? and o.lease_until is null and coalesce(o.expire_at, 1e18) > ?
   and (o.seq is not null or o.run_at = 9223372036854775807)"""

# The queue or the group of a claimed job is held, at the time of the claim in ms.
HELD = """
select q.name, j.group_key
  from readpast_job j
  join readpast_queue q on q.id = j.queue_id
  left join readpast_group_hold h on h.queue_id = q.id and h.group_key = j.group_key
 where j.id = ? and ? < max(coalesce(q.held_until, 0), coalesce(h.until, 0))"""

STATES = ("scheduled", "ready", "running", "blocked")


class Round:
    """A new database on which random calls are made."""

    def __init__(self, path, seed, calls):
        self.random = random.Random(seed)
        self.connections = [connect(path, isolation_level=None)
                            for _ in range(CONNECTIONS)]
        self.db = self.connections[0]
        self.calls, self.weights = list(calls), list(calls.values())
        self.is_fixed = "limit" not in calls  # the limits do not change
        self.held = []
        self.moved = set()  # jobs that may have got another priority, and kept their turn
        self.log = []
        self.rates = {queue: self.random.choice((0, 0, 1, 3)) for queue in QUEUES}
        self.starts = {queue: [] for queue in QUEUES}  # times of claims, in microseconds
        for queue in QUEUES:
            self.set_queue(queue, max_attempts=self.random.choice((2, 50)),
                           backoff="4ms", backoff_max="4ms", lease="40ms",
                           group_limit=self.random.choice((1, 1, 2)),
                           run_limit=self.random.choice((0, 0, 1, 3)),
                           rate=self.rates[queue], per=f"{RATE_MS}ms",
                           group_on_failure=self.random.choice(("block", "pass")))

    def rows(self, sql, *args):
        self.log.append((sql, args))
        return self.db.execute(sql, args).fetchall()

    def set_queue(self, queue, **settings):
        self.rows("select readpast_queue_set(?, ?)", queue, json.dumps(settings))

    # ---- the calls ----

    def terms(self):
        some = self.random.random
        terms = {"priority": self.random.choice((50, 100, 100))}
        if some() < 0.8:
            terms["group_key"] = self.random.choice(GROUPS)
        if some() < 0.25:
            terms["delay"] = self.random.choice(("3ms", "15ms"))
        if some() < 0.1:
            terms["expire"] = "20ms"
        return terms

    def put(self, queue):
        self.rows("select readpast_enqueue(?, 'x', ?)", queue, json.dumps(self.terms()))

    def put_key(self, queue):
        terms = {**self.terms(), "unique_key": self.random.choice("klm"),
                 "replace": self.random.random() < 0.6}
        (job, *_), = self.rows("select * from readpast_enqueue(?, 'x', ?)", queue,
                               json.dumps(terms))
        self.moved.add(job)

    def put_many(self, queue):
        terms = self.terms()
        terms.pop("delay", None)
        self.rows("select id from readpast_enqueue_many(?, '[\"x\", \"y\", \"z\"]', ?)",
                  queue, json.dumps(terms))

    def claim(self, queue):
        got = self.rows("select id, claim_no from readpast_claim(?, ?, ?)", queue,
                        self.random.choice((1, 1, 2, 4)),
                        self.random.choice(("1h", "1h", "10ms")))
        limit, = self.rows("select group_limit from readpast_queue where name = ?", queue)
        for job, claim_no in got:
            assert not self.rows(HELD, job, claim_no // 1000), ("held", job)
            if self.is_fixed and limit == (1,) and job not in self.moved:
                passed = self.rows(PASSED_OVER, job, claim_no // 1000)
                assert not passed, ("P11", job, passed)
            self.starts[queue].append(claim_no)
        self.held += got

    def some_held(self):
        """Return a claim. Most claims get one verdict, and some get another one later."""
        if not self.held:
            return (0, 0)
        claim = self.random.choice(self.held)
        if self.random.random() < 0.9:
            self.held.remove(claim)
        return claim

    def complete(self, _):
        self.rows("select readpast_complete(?, ?)", *self.some_held())

    def fail(self, _):
        self.rows("select readpast_fail(?, ?, 'no', ?)", *self.some_held(),
                  self.random.choice((None, "0s", "10ms")))

    def release(self, _):
        self.rows("select readpast_release(?, ?, ?)", *self.some_held(),
                  self.random.choice(("0s", "5ms")))

    def release_and_hold(self, _):
        self.rows("select readpast_release(?, ?, '0s', ?, '4ms')", *self.some_held(),
                  self.random.choice(("group", "queue")))

    def extend(self, _):
        self.rows("select readpast_extend(?, ?, '20ms')", *self.some_held())

    def some_job(self):
        jobs = self.rows("select id from readpast_job")
        return self.random.choice(jobs)[0] if jobs else 0

    def change(self, _):
        changes = ({"priority": 50}, {"priority": 100}, {"delay": "0s"},
                   {"delay": "5ms"}, {"queue": "a"}, {"queue": "b"})
        job = self.some_job()
        self.moved.add(job)
        self.rows("select readpast_change(?, ?)", job,
                  json.dumps(self.random.choice(changes)))

    def cancel(self, _):
        self.rows("select readpast_cancel(?)", self.some_job())

    def retry(self, queue):
        self.rows("select readpast_retry_dead(?)", queue)

    def purge(self, queue):
        self.rows("select readpast_purge(?, ?)", queue,
                  self.random.choice(("ready", "blocked", "scheduled", "dead")))

    def sweep(self, _):
        self.rows("select * from readpast_sweep()")

    def hold(self, queue):
        self.rows("select readpast_hold(?, ?, ?)", queue,
                  self.random.choice(("3ms", "20ms", "1h")), self.random.choice(GROUPS))

    def clear_hold(self, queue):
        self.rows("select readpast_clear_hold(?, ?)", queue, self.random.choice(GROUPS))

    def wait(self, _):
        time.sleep(self.random.choice((0.002, 0.006, 0.02)))

    def limit(self, queue):
        self.set_queue(queue, group_limit=self.random.choice((0, 1, 2, 3)),
                       run_limit=self.random.choice((0, 0, 1, 3)))

    # ---- steps ----

    def call(self):
        name, = self.random.choices(self.calls, self.weights)
        try:
            getattr(self, name)(self.random.choice(QUEUES))
        except sqlite3.Error as error:
            assert any(part in str(error) for part in EXPECTED), error

    def undo(self, kept):
        """Forget the claims of calls that were rolled back."""
        self.held, self.starts = kept

    def kept(self):
        return list(self.held), {queue: list(times)
                                 for queue, times in self.starts.items()}

    def call_in_savepoint(self):
        kept = self.kept()
        self.rows("savepoint s")
        self.call()
        if self.random.random() < 0.5:
            self.rows("rollback to s")
            self.undo(kept)
        self.rows("release s")

    def transaction(self):
        kept = self.kept()
        self.rows("begin immediate")
        for _ in range(self.random.randint(1, 4)):
            self.random.choice((self.call, self.call, self.call_in_savepoint))()
        if self.random.random() < 0.7:
            self.rows("commit")
        else:
            self.rows("rollback")
            self.undo(kept)

    def step(self):
        self.db = self.random.choice(self.connections)
        self.random.choice((self.call, self.call, self.transaction))()
        self.check()

    # ---- checks ----

    def check(self):
        self.rows("begin")
        for rule, faults in CONSISTENT.items():
            found = self.rows(faults)
            assert not found, (rule, found)
        if self.is_fixed:
            found = self.rows(WITHIN_LIMITS)
            assert not found, ("P10", found)
        self.rows("commit")
        for queue, rate in self.rates.items():
            times = sorted(self.starts[queue])
            for first, later in zip(times, times[rate:]):
                assert not rate or later - first >= RATE_MS * 1000, ("P12", times)
        self.compare_counts()

    def compare_counts(self):
        """The statistics, the view and the list count the same jobs. A hold or a rate may
        end between two of these calls, so compare again before they disagree."""
        for attempt in range(20):
            for queue in QUEUES:
                counts, = self.rows("select scheduled, ready, running, blocked "
                                    "from readpast_stats(?)", queue)
                view = dict(self.rows("select state, count(*) from readpast_jobs "
                                      "where queue = ? group by 1", queue))
                listed = tuple(len(self.rows("select id from readpast_list(?, ?, 1000)",
                                             queue, state)) for state in STATES)
                seen = (counts, tuple(view.get(state, 0) for state in STATES), listed)
                if len(set(seen)) > 1:
                    break
            else:
                return
            time.sleep(0.002)
        raise AssertionError((queue, seen))

    def finish(self):
        for queue in QUEUES:
            for group in GROUPS:
                self.rows("select readpast_clear_hold(?, ?)", queue, group)
            self.set_queue(queue, rate=0, run_limit=0)
        end = time.monotonic() + 20
        while self.rows("select 1 from readpast_job limit 1"):
            assert time.monotonic() < end, self.rows("select * from readpast_jobs")
            self.rows("select * from readpast_sweep()")
            for queue in QUEUES:
                self.rows("select * from readpast_claim(?, 50)", queue)
            for job, claim_no in self.rows("select id, claim_no from readpast_job "
                                           "where lease_until is not null"):
                self.rows("select readpast_complete(?, ?)", job, claim_no)
            time.sleep(0.003)
        assert not self.rows("select * from readpast_group_slot")
        assert not self.rows("select * from readpast_group_wait")
        for db in self.connections:
            db.close()


def play(folder, calls):
    end = time.monotonic() + SECONDS
    seed = SEED * 1000
    while time.monotonic() < end:
        its = Round(folder.with_name(f"{seed}.db"), seed, calls)
        try:
            for _ in range(STEPS):
                its.step()
            its.finish()
        except BaseException:
            print(f"# the seed is {seed}; the last calls:")
            for sql, args in its.log[-40:]:
                print(f"#   {' '.join(sql.split())[:100]} {args}")
            raise
        seed += 1


CALLS = {"put": 14, "put_key": 8, "put_many": 4, "claim": 18, "complete": 16, "fail": 5,
         "release": 5, "release_and_hold": 2, "extend": 3, "change": 6, "cancel": 3,
         "retry": 1, "purge": 1, "sweep": 8, "hold": 3, "clear_hold": 2, "wait": 4}


@case
def P10_P11_P12_P13_random_calls_keep_the_limits_and_forget_no_group(path):
    play(path, CALLS)


@case
def P13_random_calls_forget_no_group_while_limits_change(path):
    play(path, {**CALLS, "limit": 5})


sys.exit(main())
