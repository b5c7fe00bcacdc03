"""Make the databases for the tests of examples. Each test gets an empty database, and
can run SQL on it.

  SPDX-License-Identifier: MIT
  SPDX-FileCopyrightText: The readpast authors
"""

import contextlib
import os
import sqlite3
import subprocess

from cases import READPAST


class SQLite:
    def __init__(self, folder):
        self.path = folder / "app.db"
        self.url = f"sqlite:{self.path}"
        subprocess.run([READPAST, "--db", self.url, "init"], check=True,
                       capture_output=True)

    def query(self, sql):
        with contextlib.closing(sqlite3.connect(self.path, timeout=60)) as db, db:
            return db.execute(sql).fetchall()

    def live(self):
        return self.query("select count(*) from readpast_job")[0][0]

    def close(self):
        pass


class PostgreSQL:
    def __init__(self, _):
        import psycopg2  # a build without PostgreSQL does not have this module
        self.server = os.environ["READPAST_TEST_POSTGRES"]
        self.name = f"example_{os.getpid()}"
        self.admin = psycopg2.connect(self.server)
        self.admin.autocommit = True
        self.admin.cursor().execute(f"create database {self.name}")
        self.url = self.server.replace(":///postgres?", f":///{self.name}?")
        subprocess.run([READPAST, "--db", self.url, "init"], check=True,
                       capture_output=True)
        self.db = psycopg2.connect(self.url)
        self.db.autocommit = True

    def query(self, sql):
        with self.db.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall() if cursor.description else []

    def live(self):
        return self.query("select count(*) from readpast.job")[0][0]

    def close(self):
        self.db.close()
        self.admin.cursor().execute(f"drop database {self.name} with (force)")
