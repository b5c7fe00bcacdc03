#!/usr/bin/python3
"""Test the loadable extension from Python's sqlite3 and from the sqlite3 shell,
together with workers in C on the same file.

  extension.py EXTENSION READPAST

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import os
import sqlite3
import subprocess
import sys

from cases import EXTENSION, READPAST, case, connect, main, one, readpast, refused


@case
def an_empty_file_becomes_a_queue(path):
    db = connect(path)
    assert one(db, "select readpast_enqueue('mail', 'one')") == 1
    assert one(db, "select readpast_enqueue('mail', ?)", b"\x00\xff") == 2
    rows = db.execute("select id, queue, payload, attempt, max_attempts, "
                      "priority from readpast_claim('mail', 10)").fetchall()
    assert rows == [(1, "mail", "one", 1, 3, 100),
                    (2, "mail", b"\x00\xff", 1, 3, 100)], rows
    assert db.execute("select * from readpast_claim('mail', 1)").fetchall() == []
    assert "running" in readpast(path, "show", "1")


@case
def verdicts_return_the_state_or_an_error(path):
    db = connect(path)
    for _ in range(5):
        one(db, "select readpast_enqueue('q', 'x')")
    claims = db.execute("select id, claim_no from readpast_claim('q', 5, '1h')"
                        ).fetchall()
    state = "select state from readpast_jobs where id = ?"
    assert one(db, "select readpast_complete(?, ?)", *claims[0]) == "done"
    assert db.execute(state, (1,)).fetchone() is None
    assert one(db, "select readpast_fail(?, ?, 'why', '5m')", *claims[1]
               ) == one(db, state, 2) == "scheduled"
    assert one(db, "select readpast_fail(?, ?, 'why', null, true)", *claims[2]
               ) == one(db, state, 3) == "dead"
    assert one(db, "select readpast_release(?, ?)", *claims[3]
               ) == one(db, state, 4) == "ready"
    assert one(db, "select readpast_extend(?, ?, 1)", *claims[4]) == "running"
    assert one(db, "select readpast_fail(?, ?)", *claims[4]) == "scheduled"
    for claim in claims:
        assert "no longer yours" in refused(
            db, "select readpast_complete(?, ?)", *claim)
    assert "no job has the id 99" in refused(
        db, "select readpast_complete(99, 1)")


@case
def P6_a_sweep_makes_the_jobs_of_a_dead_client_ready(path):
    db = connect(path)
    one(db, "select readpast_enqueue('q', 'x')")
    assert len(db.execute("select * from readpast_claim('q', 1, 1)").fetchall()) == 1
    while one(db, "select readpast_sweep()") == 0:
        pass
    assert one(db, "select attempt from readpast_claim('q', 1)") == 2


@case
def P7_jobs_and_rows_commit_or_vanish_together(path):
    db = connect(path)
    db.execute("create table orders (x)")
    db.execute("insert into orders values (1)")  # Python begins a transaction here
    one(db, "select readpast_enqueue('q', 'x')")
    db.rollback()
    assert one(db, "select count(*) from orders") == 0
    assert one(db, "select count(*) from sqlite_master "
                   "where name = 'readpast_job'") == 0
    db.execute("insert into orders values (1)")
    one(db, "select readpast_enqueue('q', 'x')")
    db.commit()
    claim = db.execute("select id, claim_no from readpast_claim('q', 1)").fetchone()
    db.execute("insert into orders values (2)")
    one(db, "select readpast_complete(?, ?)", *claim)
    assert "running" in readpast(path, "show", "1")
    db.commit()
    assert one(db, "select count(*) from readpast_jobs") == 0


@case
def P7_a_claim_vanishes_with_its_transaction(path):
    db = connect(path, isolation_level=None)
    one(db, "select readpast_enqueue('q', 'x')")
    db.execute("begin immediate")
    assert one(db, "select attempt from readpast_claim('q', 1)") == 1
    db.execute("rollback")
    assert one(db, "select attempt from readpast_claim('q', 1)") == 1


@case
def verdicts_are_counted_if_their_transaction_commits(path):
    db = connect(path, isolation_level=None)
    for _ in range(8):
        one(db, "select readpast_enqueue('q', 'x')")
    jobs = db.execute("select id, claim_no from readpast_claim('q', 8)").fetchall()
    def complete(number):
        for job in jobs[:number]:
            one(db, "select readpast_complete(?, ?)", *job)
    def total():
        return one(db, "select done_total from readpast_stats('q')")
    db.execute("begin immediate")
    complete(5)
    assert total() == 5
    db.execute("rollback")
    assert total() == 0
    db.execute("begin immediate")
    complete(4)
    db.execute("savepoint s")
    one(db, "select readpast_complete(?, ?)", *jobs[7])
    db.execute("rollback to s")
    db.execute("commit")
    assert total() == 4


@case
def P3_a_late_verdict_is_an_error_that_stops_the_transaction(path):
    db = connect(path)
    db.execute("create table orders (x)")
    one(db, "select readpast_enqueue('q', 'x')")
    claim = db.execute("select id, claim_no from readpast_claim('q', 1)").fetchone()
    readpast(path, "release", f"{claim[0]}:{claim[1]}")
    try:
        with db:
            db.execute("insert into orders values (1)")
            one(db, "select readpast_complete(?, ?)", *claim)
    except sqlite3.OperationalError as error:
        assert "no longer yours" in str(error)
    assert one(db, "select count(*) from orders") == 0
    assert one(db, "select state from readpast_jobs") == "ready"


@case
def calls_work_inside_statements_that_read_and_that_write(path):
    db = connect(path)
    db.executescript("create table orders (x, job);"
                     "insert into orders (x) values (1), (2), (3)")
    assert len(db.execute("select readpast_enqueue('q', x) from orders").fetchall()) == 3
    db.execute("update orders set job = readpast_enqueue('q', x)")
    db.commit()
    assert one(db, "select max(job) from orders") == 6
    db.execute("insert into orders select payload, id from readpast_claim('q', 2)")
    db.commit()
    assert one(db, "select count(*) from orders") == 5
    assert db.execute("select readpast_complete(id, claim_no) "
                      "from readpast_claim('q', 10)").fetchall() == [("done",)] * 4
    assert one(db, "select count(*) from readpast_jobs") == 2
    assert db.execute("select count(*) from orders join readpast_claim('q', 1)"
                      ).fetchone() == (0,)


@case
def a_queue_in_an_attached_database_is_refused_and_none_made_in_main(path):
    one(connect(path), "select readpast_enqueue('q', 'x')")
    app = connect(f"{path}-app", isolation_level=None)
    app.execute("attach ? as jobs", (str(path),))
    for begin in ("", "begin", "begin immediate"):
        app.execute(begin)
        words = refused(app, "select readpast_enqueue('q', 'x')")
        assert "is in the attached database jobs" in words, words
        if begin:
            app.execute("rollback")
    assert one(app, "select count(*) from main.sqlite_master") == 0


@case
def a_forked_child_is_refused_its_parents_connection(path):
    db = connect(path, isolation_level=None)
    one(db, "select readpast_enqueue('q', 'x')")
    for begin in ("", "begin immediate"):
        db.execute(begin)
        pid = os.fork()
        if pid == 0:
            words = refused(db, "select readpast_enqueue('q', 'y')")
            os._exit("before fork()" not in words)
        assert os.waitpid(pid, 0)[1] == 0
        if begin:
            db.execute("commit")
    assert one(db, "select count(*) from readpast_jobs") == 1


@case
def options_are_those_of_a_job(path):
    db = connect(path)
    one(db, "select readpast_enqueue('q', 'x', ?)",
        '{"kind": "k", "headers": {"a": "b"}, "unique_key": "u", "priority": 7,'
        ' "max_attempts": 9}')
    assert db.execute(
        "select kind, headers, unique_key, priority, max_attempts "
        "from readpast_claim('q', 1)").fetchone() == (
            "k", '{"a":"b"}', "u", 7, 9)
    assert one(db, "select readpast_enqueue('q', 'y', '{\"unique_key\": \"u\"}')") == 1
    later = "select readpast_enqueue('q', 'x', ?)"
    at = "select run_at from readpast_jobs where id = ?"
    assert one(db, at, one(db, later, '{"run_at": "2199-01-31T18:00:00Z"}')) \
        == "2199-01-31T18:00:00.000Z"
    assert one(db, at, one(db, later, '{"run_at": 7228720800000}')) \
        == "2199-01-25T18:00:00.000Z"
    assert one(db, "select state from readpast_jobs where id = ?",
               one(db, later, '{"delay": "5m"}')) == "scheduled"
    assert one(db, "select state from readpast_jobs where id = ?",
               one(db, later, '{"delay": 60000}')) == "scheduled"
    assert one(db, later, None) > 0


@case
def wrong_arguments_are_refused_in_one_line_and_change_nothing(path):
    db = connect(path)
    one(db, "select readpast_enqueue('q', 'x')")
    for options, words in (("{", "malformed JSON"), ("[]", "priority"),
                           ("high", "priority"),
                           ('{"colour": 1}', "unknown option colour: the options are priority, delay"),
                           ('{"priority": 256}', "0..255"),
                           (256, "0..255"),
                           ('{"priority": "high"}', "0..255"),
                           ('{"max_attempts": 0}', "max_attempts"),
                           ('{"replace": "yes"}', "replace"),
                           ('{"replace": true}', "replace needs a unique key"),
                           ('{"run_at": "soon"}', "run_at"),
                           ('{"delay": "soon"}', "not a duration"),
                           ('{"delay": -1}', "not a duration"),
                           ('{"keep": 1.5}', "1.5 is not a duration"),
                           ('{"keep": true}', "true is not a duration"),
                           ('{"delay": false}', "false is not a duration"),
                           ('{"priority": true}', "priority is not within"),
                           ('{"max_attempts": 2.5}', "max_attempts is not within"),
                           ('{"run_at": true}', "run_at is neither"),
                           ('{"kind": true}', "the kind is not text"),
                           ('{"backoff": [true]}', "true is not a duration"),
                           ('{"backoff": [1.5]}', "1.5 is not a duration"),
                           ('{"unique_key": "k", "replace": 2}', "replace is not true"),
                           ('{"delay": "1h", "run_at": 1}', "not both"),
                           ('{"headers": [1]}', "headers"),
                           ('{"kind": ""}', "kind is missing")):
        words_got = refused(db, "select readpast_enqueue('q', 'x', ?)", options)
        assert words in words_got and "\n" not in words_got, (options, words_got)
    for sql, words in (("select readpast_enqueue(null, 'x')", "name is missing"),
                       ("select readpast_enqueue('q')", "wrong number of arg"),
                       ("select * from readpast_claim", "readpast_claim(queue [, n, lease"),
                       ("select * from readpast_claim('q', 0)", "not within 1..100000"),
                       ("select * from readpast_claim('q', -1)", "not within"),
                       ("select * from readpast_claim('q', 1, 'x')", "not a duration"),
                       ("select readpast_complete(0, 0)", "no claim has"),
                       ("select readpast_complete(null, null)", "id is missing"),
                       ("select readpast_release(1, 1, 'x')", "not a duration"),
                       ("select readpast_release(1, 1, 1.5)", "1.5 is not a duration"),
                       ("select readpast_extend(1, 1, 0)", "at least 1 ms")):
        assert words in refused(db, sql), (sql, refused(db, sql))
    assert one(db, "select count(*) from readpast_jobs where state = 'ready'") == 1


@case
def calls_from_inside_a_schema_are_refused(path):
    db = connect(path)
    db.executescript("create table t (x);"
                     "create trigger s after insert on t begin"
                     "  select readpast_enqueue('q', new.x); end;"
                     "create view v as select readpast_sweep();"
                     "create view w as select * from readpast_claim('q', 1)")
    for sql in ("insert into t values (1)", "select * from v", "select * from w"):
        assert "unsafe use" in refused(db, sql), sql


@case
def the_error_of_a_transaction_with_an_old_snapshot_says_what_to_do(path):
    db = connect(path, isolation_level=None)
    one(db, "select readpast_enqueue('q', 'x')")
    db.execute("begin")
    db.execute("select * from readpast_jobs").fetchall()
    readpast(path, "enqueue", "q", "y")
    assert "start it with begin immediate" in refused(
        db, "select readpast_enqueue('q', 'z')")
    db.execute("rollback")
    one(db, "select readpast_enqueue('q', 'z')")


@case
def outside_a_transaction_the_error_of_a_select_that_reads_says_what_to_do(path):
    db = connect(path, isolation_level=None)
    db.execute("begin")
    one(db, "select readpast_enqueue('q', 'x')")
    db.execute("create table t as select 1")
    db.execute("commit")
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("begin immediate")
    assert "readpast init" in refused(db, "select readpast_enqueue('q', 'y') from t")
    holder.execute("rollback")
    readpast(path, "init")
    holder.execute("begin immediate")
    db.execute("pragma busy_timeout = 0")
    assert "locked by another" in refused(db, "select readpast_enqueue('q', 'y') from t")


@case
def a_refusal_because_of_trusted_schema_names_the_pragma(path):
    plain = sqlite3.connect(":memory:")
    plain.execute("create table t (x, y as (x ->> 'y'))")
    plain.execute("pragma trusted_schema = off")
    try:
        plain.execute("insert into t (x) values ('{}')")
        return  # this SQLite trusts its own JSON functions
    except sqlite3.OperationalError:
        pass
    db = connect(path)
    db.execute("pragma trusted_schema = off")
    assert "run pragma trusted_schema = on" in refused(
        db, "select readpast_enqueue('q', 'x')")
    readpast(path, "enqueue", "q", "x")
    assert "run pragma trusted_schema = on" in refused(
        db, "select * from readpast_claim('q')")
    db.execute("pragma trusted_schema = on")
    assert one(db, "select id from readpast_claim('q')") == 1


@case
def a_database_in_memory_is_a_queue_too(_):
    db = connect(":memory:")
    one(db, "select readpast_enqueue('q', 'x')")
    assert one(db, "select readpast_complete(id, claim_no) "
                   "from readpast_claim('q', 1)") == "done"


@case
def a_closed_connection_leaves_nothing_open(path):
    db = connect(path)
    db.execute("create table orders (x)")
    for _ in range(3):
        one(db, "select readpast_enqueue('q', 'x')")
        db.execute("insert into orders values (1)")
        one(db, "select readpast_enqueue('q', 'x')")
        assert one(db, "select id from readpast_claim('q', 1)")
        db.commit()
    db.close()
    assert sorted(os.listdir(path.parent)) == [path.name], os.listdir(path.parent)
    open_files = [os.path.realpath(f"/proc/self/fd/{fd}")
                  for fd in os.listdir("/proc/self/fd")]
    assert not [name for name in open_files if str(path) in name]


@case
def there_is_one_sqlite_in_the_process(path):
    db = connect(path)
    one(db, "select readpast_enqueue('q', 'x')")
    maps = {line.split()[-1] for line in open("/proc/self/maps")
            if "libsqlite3" in line}
    assert len(maps) <= 1, maps
    needed = subprocess.run(["nm", "-D", EXTENSION], check=True, text=True,
                            capture_output=True).stdout.split("\n")
    assert not [line for line in needed if " U sqlite3_" in line]
    exported = [line.split()[-1] for line in needed if " T " in line]
    assert exported == ["sqlite3_readpast_init"], exported


@case
def the_shell_of_sqlite_loads_the_extension(path):
    load = f".load {EXTENSION.removesuffix('.so')}"
    run = subprocess.run(
        ["sqlite3", str(path), load, "select readpast_enqueue('q', 'hello')",
         "select payload, readpast_complete(id, claim_no) from readpast_claim('q', 5)"],
        check=True, capture_output=True, text=True)
    assert run.stdout == "1\nhello|done\n", run


CLIENT = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=60)
db.enable_load_extension(True)
db.load_extension(sys.argv[2])
done = 0
while True:
    claims = db.execute("select id, claim_no from readpast_claim('q', 7)").fetchall()
    if not claims:
        break
    for claim in claims:
        db.execute("insert into effect values (?)", claim[:1])
        db.execute("select readpast_complete(?, ?)", claim)
        db.commit()
        done += 1
print(done)
"""


@case
def clients_in_python_and_in_c_share_a_queue(path):
    """Each job is handled exactly once. A worker in C prints the job's id, and a client
    in Python inserts a row with the id."""
    db = connect(path)
    db.execute("create table effect (id)")
    # Set WAL mode first. Otherwise the first client would change the mode while other
    # clients use the file.
    assert one(db, "pragma journal_mode = wal") == "wal"
    db.execute("begin")
    for n in range(2000):
        one(db, "select readpast_enqueue('q', ?)", n)
    db.commit()
    clients = [subprocess.Popen([sys.executable, "-c", CLIENT, path, EXTENSION],
                                stdout=subprocess.PIPE, text=True) for _ in range(2)]
    workers = [subprocess.Popen([READPAST, "--db", f"sqlite:{path}", "work", "q",
                                 "-j", "2", "--drain", "--", "sh", "-c",
                                 "echo $READPAST_JOB_ID >>out"],
                                cwd=path.parent, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
               for _ in range(2)]
    in_python = [int(client.communicate()[0]) for client in clients]
    assert all(process.wait() == 0 for process in clients + workers)
    by_c = [int(line) for line in (path.parent / "out").read_text().split()]
    by_python = [row[0] for row in db.execute("select id from effect")]
    assert sorted(by_c + by_python) == list(range(1, 2001)), (
        len(by_c), len(by_python))
    assert by_c and sum(in_python) == len(by_python) > 0
    assert one(db, "select count(*) from readpast_jobs") == 0


sys.exit(main())
