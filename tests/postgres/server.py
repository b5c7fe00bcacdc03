"""Start and stop a temporary server for the tests of this folder, with tools/pg-temp.

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import contextlib
import pathlib
import subprocess

import psycopg2

PG_TEMP = pathlib.Path(__file__).resolve().parents[2] / "tools" / "pg-temp"


def pg_temp(action, folder, *args):
    """Run tools/pg-temp. Returns its output, which is the server's URL if it
    starts a server."""
    ran = subprocess.run([PG_TEMP, action, folder, *args], capture_output=True,
                         text=True)
    assert ran.returncode == 0, f"pg-temp {action}: {ran.stderr}"
    return ran.stdout.strip()


def manage(url, sql):
    """Run a statement outside of any transaction."""
    with contextlib.closing(psycopg2.connect(url)) as admin:
        admin.autocommit = True
        admin.cursor().execute(sql)
