/*
 * watch_postgres.c - what `readpast stress` asks a PostgreSQL server: its own
 * statistics, and an old snapshot.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "stress.h"

#include <stdlib.h>
#include <string.h>

#include "db/postgres/libpq.h"
#include "stress_postgres.h"

/* The rows of a statement; NULL: said why. PQ(clear)() them. */
static PGresult *
rows_of(struct stress *stress, rp_conn *conn, const char *sql)
{
	PGconn *pg = rp_conn_native(conn);
	PGresult *rows = PQ(exec)(pg, sql);

	if (PQ(resultStatus)(rows) == PGRES_TUPLES_OK)
		return rows;
	child_fails(stress, "watching the database", PQ(errorMessage)(pg));
	PQ(clear)(rows);
	return NULL;
}

static int
read_statements(struct stress *stress, rp_conn *conn, int64_t *ret)
{
	PGresult *rows = rows_of(stress, conn, postgres_stress_statements);

	if (!rows)
		return -1;
	*ret = atoll(PQ(getvalue)(rows, 0, 0));
	PQ(clear)(rows);
	return 0;
}

int
server_counters(struct stress *stress, rp_conn *conn, struct server *ret)
{
	PGresult *rows = rows_of(stress, conn, postgres_stress_counters);
	int counted;

	if (!rows)
		return -1;
	ret->transactions = atoll(PQ(getvalue)(rows, 0, 0));
	ret->buffers = atoll(PQ(getvalue)(rows, 0, 1));
	ret->wal_bytes = atoll(PQ(getvalue)(rows, 0, 2));
	ret->deadlocks = atoll(PQ(getvalue)(rows, 0, 3));
	ret->sessions = atoll(PQ(getvalue)(rows, 0, 4));
	counted = *PQ(getvalue)(rows, 0, 5) == 't';
	PQ(clear)(rows);
	ret->statements = -1;
	return counted ? read_statements(stress, conn, &ret->statements) : 0;
}

static void
count_wait(struct shared *shared, const char *type, const char *event,
	   int64_t sessions)
{
	for (size_t i = 0; i < WAITS; i++) {
		struct wait *wait = &shared->waits[i];

		if (!wait->samples) {
			snprintf(wait->type, sizeof(wait->type), "%s", type);
			snprintf(wait->event, sizeof(wait->event), "%s", event);
		}
		if (strcmp(wait->type, type) == 0 &&
		    strcmp(wait->event, event) == 0) {
			wait->samples += sessions;
			return;
		}
	}
}

int
server_waits(struct stress *stress, rp_conn *conn)
{
	PGresult *rows = rows_of(stress, conn, postgres_stress_waits);

	if (!rows)
		return -1;
	for (int i = 0; i < PQ(ntuples)(rows); i++)
		count_wait(stress->shared, PQ(getvalue)(rows, i, 0),
			   PQ(getvalue)(rows, i, 1),
			   atoll(PQ(getvalue)(rows, i, 2)));
	stress->shared->samples++;
	PQ(clear)(rows);
	return 0;
}

int
server_pin(struct stress *stress, rp_conn *conn)
{
	PGresult *rows = rows_of(stress, conn, postgres_stress_pin);

	PQ(clear)(rows);
	return rows ? 0 : -1;
}
