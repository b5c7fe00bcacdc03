#!/usr/bin/python3
"""Test the groups of PostgreSQL while several sessions make random calls at the same
time, many of them in transactions that stay open or are rolled back. Starts its own
server.

  crossing.py ROOT [CASE...]

READPAST_TEST_SEED is the first seed, 1 by default. READPAST_TEST_SECONDS is how long each
case lasts, 6 by default. The order in which the server runs the calls is not repeatable,
so a seed that has found a fault may need several runs to find it again.

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import os
import random
import threading
import time

import psycopg2

from sessions import Session, case, eventually, main

SEED = int(os.environ.get("READPAST_TEST_SEED", 1))
SECONDS = float(os.environ.get("READPAST_TEST_SECONDS", 6))
ROUND = 2  # seconds; then all jobs are finished, and the tables must be empty
CLIENTS = 4
QUEUES = "ab"
GROUPS = "xy"

# Errors that a caller must expect: the verdict was refused, the job is gone or runs, a lock was
# not free in time, or two transactions changed the same rows.
EXPECTED = {"RP001", "RP002", "RP005", "RP006", "55P03", "40001"}

# ---- what must be true between any two commits ----

RUNNING = """
select q.name, j.group_key, count(*)
  from readpast.job j
  join readpast.queue q on q.id = j.queue_id
 where j.lease_until is not null
 group by q.name, j.group_key, q.group_limit
having count(*) > q.group_limit"""

CONSISTENT = {
    "a waiting job has a row of group_wait with its group, priority and place": """
        select coalesce(j.id, w.job_id)
          from readpast.job j
          full join readpast.group_wait w
            on w.job_id = j.id and w.queue_id = j.queue_id
           and w.group_key = j.group_key and w.came = j.came
           and w.priority = readpast.priority_of(j.lane_id)
         where (j.seq is null and j.run_at = 'infinity' and w.job_id is null)
            or (w.job_id is not null and (j.id is null or j.seq is not null
                                          or j.run_at < 'infinity'))""",
    "no job has a slot and waits": """
        select job_id from readpast.group_slot
         join readpast.group_wait using (queue_id, group_key, job_id)""",
    "a slot is of a job of the group, or a request is stored": """
        select s.job_id
          from readpast.group_slot s
          left join readpast.job j
            on j.id = s.job_id and j.queue_id = s.queue_id
           and j.group_key = s.group_key
         where j.id is null
           and not exists (select 1 from readpast.group_recheck r
                            where r.queue_id = s.queue_id
                              and (r.group_key = s.group_key or r.and_later))""",
    "a group has at most as many slots as its limit": """
        select s.group_key
          from readpast.group_slot s
          join readpast.queue q on q.id = s.queue_id
         where q.group_limit > 0 and not q.group_lowered
         group by q.id, s.group_key, q.group_limit
        having count(*) > q.group_limit""",
    "P13: a group that waits is held or uses all its slots, or a request is stored": """
        select w.group_key
          from readpast.group_wait w
          join readpast.queue q on q.id = w.queue_id
         where not exists (select 1 from readpast.group_recheck r
                            where r.queue_id = q.id
                              and (r.group_key = w.group_key or r.and_later))
           and not exists (select 1 from readpast.limit_change c
                            where c.queue_id = q.id)
           and not exists (select 1 from readpast.group_hold h
                            where h.queue_id = q.id and h.group_key = w.group_key)
         group by q.id, w.group_key, q.group_limit
        having q.group_limit = 0
            or q.group_limit > (select count(*) from readpast.group_slot s
                                 where s.queue_id = q.id
                                   and s.group_key = w.group_key)""",
}


def check(s):
    for rule, faults in CONSISTENT.items():
        found = s.rows(faults)
        assert not found, (rule, found)


# ---- the clients ----

class Client(threading.Thread):
    """Makes random calls until a time. Then it completes the jobs that it holds.
    `fault` is an error that nobody expects, or None."""

    def __init__(self, database, seed, until, calls):
        super().__init__()
        self.random = random.Random(seed)
        self.session = Session(database)
        self.session.rows("set lock_timeout = '500 ms'")
        self.until = until
        self.calls, self.weights = list(calls), list(calls.values())
        self.held, self.taken, self.settled = [], [], []
        self.claims = 0
        self.fault = None

    def run(self):
        try:
            while time.monotonic() < self.until:
                self.step()
            for claim in self.held:
                self.alone(lambda claim=claim: self.session.complete(claim))
        except Exception as error:
            self.fault = error

    def alone(self, call):
        """Make a call. Returns whether it succeeded."""
        try:
            call()
            return True
        except psycopg2.Error as error:
            if error.pgcode not in EXPECTED:
                raise
            return False

    def step(self):
        self.taken, self.settled = [], []
        opens = self.random.random() < 0.3
        if not (self.transaction() if opens else self.alone(self.call)):
            self.taken = []
            # A refused verdict of a transaction may have hit any of its claims. They
            # stay held, and the next verdict on them is refused again.
            self.settled = [] if opens else self.settled
        self.claims += len(self.taken)
        self.held = [claim for claim in self.held if claim not in self.settled] + self.taken

    def transaction(self):
        self.session.rows("begin")
        went = all(self.alone(self.call) for _ in range(self.random.randint(1, 3)))
        time.sleep(self.random.choice((0, 0, 0.003)))
        commits = went and self.random.random() < 0.85
        self.session.rows("commit" if commits else "rollback")
        return commits

    def call(self):
        name, = self.random.choices(self.calls, self.weights)
        getattr(self, name)(self.random.choice(QUEUES))

    def some_delay(self):
        return self.random.choice(("0", "0", "3 ms"))

    def put(self, queue):
        self.session.rows(
            "select readpast.enqueue(%s, 'x'::text, group_key => %s, priority => %s, "
            "delay => %s::interval)", queue, self.random.choice(GROUPS),
            self.random.choice((100, 100, 50)), self.some_delay())

    def put_key(self, queue):
        self.session.rows(
            "select readpast.enqueue(%s, 'x'::text, group_key => %s, priority => %s, "
            "unique_key => %s, replace => %s)", queue, self.random.choice(GROUPS),
            self.random.choice((100, 50)), self.random.choice("klm"),
            self.random.random() < 0.5)

    def claim(self, queue):
        self.taken += self.session.rows("select id, claim_no from readpast.claim(%s, %s)",
                                        queue, self.random.choice((1, 2, 4)))

    def one_held(self):
        claims = [claim for claim in self.held if claim not in self.settled]
        if not claims:
            return None
        self.settled.append(self.random.choice(claims))
        return self.settled[-1]

    def complete(self, _):
        claim = self.one_held()
        if claim:
            self.session.complete(claim)

    def settle_and_claim(self, queue):
        claim = self.one_held()
        if claim:
            self.taken += self.session.rows(
                "select id, claim_no from readpast.settle_and_claim(array[%s], most => 2, "
                "ids => array[%s], claim_nos => array[%s]) where id is not null",
                queue, *claim)

    def fail(self, _):
        claim = self.one_held()
        if claim:
            self.session.rows("select readpast.fail(%s, %s, delay => %s::interval)",
                              *claim, self.some_delay())

    def release(self, _):
        claim = self.one_held()
        if claim:
            self.session.rows("select readpast.release(%s, %s, %s::interval)",
                              *claim, self.some_delay())

    def some_job(self):
        return self.session.rows("select id from readpast.job where id %% 5 = %s limit 1",
                                 self.random.randrange(5))

    def change(self, _):
        for job, in self.some_job():
            self.session.rows(
                "select readpast.change(%s, priority => %s, delay => %s::interval)", job,
                *self.random.choice(((50, None), (100, None), (None, "0"), (None, "3 ms"),
                                     (50, "0"))))

    def cancel(self, _):
        for job, in self.some_job():
            self.session.rows("select readpast.cancel(%s)", job)

    def limit(self, queue):
        self.session.rows("select readpast.queue_set(%s, group_limit => %s)",
                          queue, self.random.choice((0, 1, 2, 3)))

    def hold(self, queue):
        self.session.rows("select readpast.hold(%s, %s::interval, %s)", queue,
                          self.random.choice(("1 ms", "10 ms")), self.random.choice(GROUPS))

    def clear_hold(self, queue):
        self.session.rows("select readpast.clear_hold(%s, %s)",
                          queue, self.random.choice(GROUPS))

    def sweep(self, _):
        self.session.sweep()


# ---- a round ----

def clear(s, limit):
    tables = s.one("select string_agg(c.oid::regclass::text, ', ') from pg_class c "
                   "where c.relkind = 'r' and c.relname <> 'meta' "
                   "and c.relnamespace = 'readpast'::regnamespace")
    s.rows(f"truncate {tables}")
    for queue in QUEUES:
        s.rows("select readpast.queue_set(%s, group_limit => %s, max_attempts => 1000, "
               "backoff => '3 ms', backoff_max => '3 ms')", queue, limit)


def finish_all(s):
    """Claim and complete jobs until none is left."""
    s.sweep()
    for queue in QUEUES:
        s.rows("select readpast.complete(array_agg(id), array_agg(claim_no)) "
               "from readpast.claim(%s, 100) having count(*) > 0", queue)
    return not s.one("select count(*) from readpast.job")


def play(s, seed, limit, calls):
    clear(s, limit)
    until = time.monotonic() + ROUND
    clients = [Client(s.database, seed + i, until, calls) for i in range(CLIENTS)]
    for client in clients:
        client.start()
    while any(client.is_alive() for client in clients):
        if "limit" not in calls:
            assert not s.rows(RUNNING), "P10"
        check(s)
        time.sleep(0.02)
    for client in clients:
        client.join()
        client.session.db.close()
        if client.fault:
            raise client.fault
    assert any(client.claims for client in clients), "no client got a job"
    # A client that was refused a verdict no longer knows who holds the job.
    s.rows("select readpast.complete(array_agg(id), array_agg(claim_no)) "
           "from readpast.job where lease_until is not null having count(*) > 0")
    check(s)
    eventually(20, lambda: finish_all(s))
    assert not s.one("select count(*) from readpast.group_slot")
    assert not s.one("select count(*) from readpast.group_wait")


def play_all(s, calls):
    end = time.monotonic() + SECONDS
    seed = SEED * 1000
    while time.monotonic() < end:
        for limit in (1, 2):
            try:
                play(s, seed, limit, calls)
            except AssertionError:
                print(f"# the seed is {seed}, the limit {limit}")
                raise
            seed += CLIENTS


CALLS = {"put": 20, "put_key": 8, "claim": 15, "complete": 10, "settle_and_claim": 8,
         "fail": 3, "release": 3, "change": 3, "cancel": 3, "sweep": 3}


@case
def P10_P13_random_transactions_keep_the_limit_and_forget_no_group(s):
    play_all(s, CALLS)


@case
def P13_random_transactions_forget_no_group_while_limits_change(s):
    play_all(s, {**CALLS, "limit": 2})


@case
def P13_random_transactions_forget_no_group_while_groups_are_held(s):
    play_all(s, {**CALLS, "hold": 4, "clear_hold": 2})


if __name__ == "__main__":
    main()
