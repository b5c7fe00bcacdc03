#!/usr/bin/python3
"""Test the view readpast_jobs on SQLite with payloads of any bytes. The test reads the
view through Python's sqlite3 module, which fails on text that is not valid UTF-8.

  view.py READPAST

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import os
import random
import sqlite3
import subprocess

from tap import READPAST, check, run

SEED = int(os.environ.get("READPAST_TEST_SEED", random.randrange(1 << 32)))

# Bytes at the limits of the ranges that UTF-8 allows.
BYTES = [0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2,
         0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5,
         0xF8, 0xFC, 0xFE, 0xFF]
CHARACTERS = [1, 0x41, 0x7F, 0x80, 0x7FF, 0x800, 0xFFF, 0x1000, 0xCFFF, 0xD7FF,
              0xE000, 0xFEFF, 0xFFFD, 0xFFFE, 0xFFFF, 0x10000, 0x3FFFF, 0x40000,
              0xFFFFF, 0x100000, 0x10FFFF]
NAMED = {
    "nothing": b"",
    "ASCII": bytes(range(1, 128)),
    "a letter": "caf\u00e9".encode(),
    "U+FFFD itself": "\ufffd".encode(),
    "noncharacters": "\ufffe\uffff\U0001ffff".encode(),
    "a byte order mark": "\ufeffx".encode(),
    "the last character": "\U0010ffff".encode(),
    "each byte": bytes(range(256)),
    "Latin 1": b"caf\xe9",
    "a zero byte": b"a\0b",
    "overlong forms": [b"\xc0\x80", b"\xc1\xbf", b"\xe0\x80\x80", b"\xe0\x9f\xbf",
                       b"\xf0\x80\x80\x80", b"\xf0\x8f\xbf\xbf"],
    "surrogates": [b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xed\xa0\x80\xed\xb0\x80"],
    "above U+10FFFF": [b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80",
                       b"\xf8\x88\x80\x80\x80", b"\xff"],
    "lone continuation bytes": [b"\x80", b"\xbf", b"a\x80", b"\xc2\x80\x80",
                                b"\xe1\x80\x80\x80", b"\xf1\x80\x80\x80\x80"],
    "truncated sequences": [b"\xc2", b"\xe1\x80", b"\xf1\x80\x80", b"\xc2a",
                            b"\xe1\x80a", b"\xf1\x80\x80a", b"\xf1\xc2\x80"],
    "long ones": ["\u6f22".encode() * 20000, "\u6f22".encode() * 20000 + b"\xff",
                  b"x" * 65535 + b"\x80"],
}


def random_bytes(r):
    kind, n = r.randrange(4), r.randrange(12)
    if kind == 0:
        return r.randbytes(n)
    if kind == 1:
        return bytes(r.choice(BYTES) for _ in range(n))
    text = "".join(chr(r.choice(CHARACTERS)) for _ in range(n)).encode()
    if kind == 2 and text:
        i = r.randrange(len(text))
        text = text[:i] + bytes([r.choice(BYTES)]) * r.randrange(2) + text[i + 1:]
    return text


def expected(payload, encoding):
    digits = "\\x" + payload.hex()
    try:
        text = payload.decode()
    except UnicodeDecodeError:
        return digits
    if encoding == "UTF-8":
        return digits if "\0" in text else text
    # In a UTF-16 database the view shows a payload as hexadecimal digits if it contains
    # one of the three characters below, or is larger than 64 KiB.
    refused = set(text) & set("\0\ufffe\uffff") or len(payload) > 65536
    return digits if refused else text


def is_right(db, payloads, encoding):
    """Return the first payload that the view shows wrongly, or None."""
    db.execute("begin")
    db.execute("delete from readpast_job")
    db.executemany("insert into readpast_job (queue_id, payload) values (1, ?)",
                   [(payload,) for payload in payloads])
    rows = db.execute("select payload from readpast_jobs order by id").fetchall()
    db.execute("rollback")
    assert len(rows) == len(payloads)
    return next(((p, got) for p, (got,) in zip(payloads, rows)
                 if got != expected(p, encoding)), None)


def readpast(path, *args, **options):
    subprocess.run([READPAST, "--db", f"sqlite:{path}", *args], check=True,
                   stdout=subprocess.DEVNULL, **options)


def main():
    r = random.Random(SEED)
    for encoding in "UTF-8", "UTF-16le", "UTF-16be":
        path = f"{encoding}.db"
        db = sqlite3.connect(path, isolation_level=None)
        db.execute(f"pragma encoding = '{encoding}'")
        db.execute("create table theirs (x)")
        readpast(path, "init")
        readpast(path, "enqueue", "q", "--one", input=b"caf\xe9")
        readpast(path, "enqueue", "q", "plain \u00e9")
        rows = db.execute("select payload from readpast_jobs order by id")
        check(f"{encoding}: payloads that the program has enqueued are shown",
              rows.fetchall() == [("\\x636166e9",), ("plain \u00e9",)])
        for name, payloads in NAMED.items():
            if isinstance(payloads, bytes):
                payloads = [payloads]
            wrong = is_right(db, payloads, encoding)
            check(f"{encoding}: {name}", wrong is None, wrong)
        wrong = is_right(db, [random_bytes(r) for _ in range(5000)], encoding)
        check(f"{encoding}: random bytes", wrong is None, (SEED, wrong))


run(main)
