/*
 * run.c - run a verb, an operation of the library, on a PostgreSQL server. On
 * PostgreSQL a verb is a single statement, which is prepared once. Its
 * parameters and its answer are in the server's binary formats.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "postgres.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BINDS 40
#define MOST_COLUMNS 40

/* The server counts times in microseconds from 2000-01-01. EPOCH_US is the
 * start of this day in microseconds since 1970-01-01. */
#define EPOCH_US INT64_C(946684800000000)

/* ---- parameters ---- */

/* The parameters of one run, and the memory in which they are built. */
struct binds {
	const char *values[MOST_BINDS];
	int sizes[MOST_BINDS], formats[MOST_BINDS];
	int64_t ints[MOST_BINDS];
	void *arrays[MOST_BINDS];
};

static void
free_binds(struct binds *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(b->arrays[i]);
}

static void
bind_one(struct binds *b, size_t i, const struct rp_value *value)
{
	b->formats[i] = 1;
	switch (value->type) {
	case RP_NULL:
		break;
	case RP_INT:
		b->ints[i] = (int64_t)htobe64((uint64_t)value->i);
		b->values[i] = (const char *)&b->ints[i];
		b->sizes[i] = sizeof(int64_t);
		break;
	default:
		b->values[i] = value->size ? value->data : "";
		b->sizes[i] = (int)value->size;
		break;
	}
}

static char *
put_u32(char *to, uint32_t value)
{
	value = htobe32(value);
	memcpy(to, &value, sizeof(value));
	return to + sizeof(value);
}

static size_t
size_of(const struct rp_value *value)
{
	return 4 + (value->type == RP_INT    ? sizeof(int64_t)
		    : value->type == RP_NULL ? 0
					     : value->size);
}

static char *
put_value(char *to, const struct rp_value *value)
{
	uint64_t i;

	if (value->type == RP_NULL)
		return put_u32(to, UINT32_MAX);
	to = put_u32(to, (uint32_t)(size_of(value) - 4));
	if (value->type == RP_INT) {
		i = htobe64((uint64_t)value->i);
		memcpy(to, &i, sizeof(i));
		return to + sizeof(i);
	}
	if (value->size)
		memcpy(to, value->data, value->size);
	return to + value->size;
}

static uint32_t
oid_of(enum rp_type type)
{
	return type == RP_INT    ? OID_INT8
	       : type == RP_TEXT ? OID_TEXT
				 : OID_BYTEA;
}

/* Bind the values of one parameter in all rows as an array. If all values are
 * null, bind a null instead of the array. Then a routine need not examine each
 * element. */
static int
bind_array(struct binds *b, size_t i, const struct rp_value *first,
	   size_t width, size_t rows, rp_error *error)
{
	enum rp_type type = RP_NULL;
	size_t size = 20;
	int nulls = 0;
	char *to;

	for (size_t row = 0; row < rows; row++) {
		const struct rp_value *value = &first[row * width];

		if (value->type == RP_NULL)
			nulls = 1;
		else
			type = value->type;
		size += size_of(value);
	}
	b->formats[i] = 1;
	if (type == RP_NULL)
		return 0;
	if (size > INT32_MAX || !(b->arrays[i] = to = malloc(size)))
		return rp__fail(error, RP_ENOMEM, "out of memory");
	b->values[i] = to;
	b->sizes[i] = (int)size;
	to = put_u32(to, 1); /* number of dimensions */
	to = put_u32(to, (uint32_t)nulls);
	to = put_u32(to, oid_of(type));
	to = put_u32(to, (uint32_t)rows);
	to = put_u32(to, 1); /* index of the first element */
	for (size_t row = 0; row < rows; row++)
		to = put_value(to, &first[row * width]);
	return 0;
}

static int
bind_all(struct binds *b, const struct rp_call *call,
	 const struct rp_value *params, size_t rows, rp_error *error)
{
	int r = 0;

	memset(b, 0, sizeof(*b));
	for (size_t i = 0; i < call->binds_count && r == 0; i++) {
		const struct rp_value *value = &params[call->binds[i].param];

		if (call->binds[i].array)
			r = bind_array(b, i, value, call->width, rows, error);
		else
			bind_one(b, i, value);
	}
	return r;
}

/* ---- columns ---- */

static int64_t
read_int(const char *from, int size)
{
	uint64_t i64;
	uint32_t i32;
	uint16_t i16;

	switch (size) {
	case 8:
		memcpy(&i64, from, sizeof(i64));
		return (int64_t)be64toh(i64);
	case 4:
		memcpy(&i32, from, sizeof(i32));
		return (int32_t)be32toh(i32);
	case 2:
		memcpy(&i16, from, sizeof(i16));
		return (int16_t)be16toh(i16);
	default:
		return *from;
	}
}

static int64_t
floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

static struct rp_value
read_value(Oid type, const char *from, int size)
{
	struct rp_value value = { .type = RP_NULL };

	switch (type) {
	case OID_BOOL:
	case OID_INT2:
	case OID_INT4:
	case OID_INT8:
		return rp__int(read_int(from, size));
	case OID_TIMESTAMPTZ:
		return rp__int(
			floor_div(read_int(from, size) + EPOCH_US, 1000));
	case OID_BYTEA:
		value.type = RP_BLOB;
		break;
	default:
		value.type = RP_TEXT;
		break;
	}
	value.data = from;
	value.size = (size_t)size;
	return value;
}

static struct rp_value
column(const PGresult *res, Oid type, int row, int c)
{
	if (PQ(getisnull)(res, row, c)) /* this check is first, because most
					 * columns are null and each call of
					 * libpq costs time */
		return (struct rp_value){ .type = RP_NULL };
	return read_value(type, PQ(getvalue)(res, row, c),
			  PQ(getlength)(res, row, c));
}

/* Read the fields of a composite value into `ret`. The value begins with the
 * number of its fields. Each field has the number of its type, its size (-1 if
 * the field is null) and its bytes. */
void
rp__postgres_fields(const struct rp_value *composite, struct rp_value *ret,
		    size_t count)
{
	const char *at = (const char *)composite->data + 4;
	int64_t most = read_int(composite->data, 4);

	for (size_t i = 0; i < count && (int64_t)i < most; i++) {
		Oid type = (Oid)read_int(at, 4);
		int size = (int)read_int(at + 4, 4);

		at += 8;
		if (size >= 0) {
			ret[i] = read_value(type, at, size);
			at += size;
		}
	}
}

/* Pass the rows of an answer to the callback, each with the index of the row of
 * parameters that led to it. If call->numbered, the first column of the answer
 * has this index, counted from 1. Otherwise the index is `row` for all rows. */
static int
answer(const struct rp_call *call, const PGresult *res, size_t row,
       rp_row_fn *fn, void *ctx, rp_error *error)
{
	struct rp_value columns[MOST_COLUMNS] = { { .type = RP_NULL } };
	Oid types[MOST_COLUMNS];
	int width = PQ(nfields)(res), rows = PQ(ntuples)(res), r = 0;

	if (width > MOST_COLUMNS)
		width = MOST_COLUMNS;
	for (int c = 0; c < width; c++)
		types[c] = PQ(ftype)(res, c);
	for (int i = 0; fn && i < rows && r >= 0; i++) {
		for (int c = 0; c < width; c++)
			columns[c] = column(res, types[c], i, c);
		if (call->numbered)
			r = fn(ctx, (size_t)columns[0].i - 1, columns + 1);
		else
			r = fn(ctx, row, columns);
		if (r == RP_ROW_STOP || r == RP_ROW_LAST)
			break;
	}
	return r < 0 ? rp__row_result(error, r) : 0;
}

/* ---- running ---- */

void
rp__postgres_sign(struct postgres *s)
{
	snprintf(s->sign, sizeof(s->sign), "%llx_",
		 (long long)rp__monotonic_us());
}

struct name {
	char text[60]; /* the server would cut a name of more than 63 bytes */
};

static struct name
name_of(const struct postgres *s, enum rp_verb which)
{
	struct name name = { "" };

	if (!s->pooled)
		snprintf(name.text, sizeof(name.text), "readpast_%s%s", s->sign,
			 rp__calls_postgres[which].verb);
	return name;
}

/* Deallocate our prepared statements. In a failed transaction nothing can be
 * deallocated, so the statements remain. */
void
rp__postgres_forget(struct postgres *s)
{
	PGTransactionStatusType status = PQ(transactionStatus)(s->pg);
	char sql[160];

	if (s->pooled || (status != PQTRANS_IDLE && status != PQTRANS_INTRANS))
		return;
	for (int which = 0; which < RP_VERBS; which++) {
		if (!s->prepared[which])
			continue;
		snprintf(sql, sizeof(sql), "deallocate \"%s\"",
			 name_of(s, which).text);
		rp__postgres_execute(s, sql, NULL);
	}
}

static PGresult *
execute_named(struct postgres *s, enum rp_verb which, const struct binds *b)
{
	const struct rp_call *call = &rp__calls_postgres[which];
	PGresult *res;
	struct name name = name_of(s, which);

	if (!s->prepared[which]) {
		res = PQ(prepare)(s->pg, name.text, s->sql[which], 0, NULL);
		if (PQ(resultStatus)(res) != PGRES_COMMAND_OK)
			return res;
		PQ(clear)(res);
		s->prepared[which] = 1;
	}
	return PQ(execPrepared)(s->pg, name.text, (int)call->binds_count,
				b->values, b->sizes, b->formats, 1);
}

/* If our prepared statements must be prepared again, forget them, and return 1.
 * Either the caller has dropped them from its connection, by `deallocate all`
 * or `discard all`, or another session has dropped the tables and made new
 * ones, as when a backup is restored. Then the old statements remain under
 * their names, because a failed transaction cannot deallocate them, so the new
 * ones get other names. */
static int
must_prepare_again(struct postgres *s, const PGresult *res)
{
	const char *state = PQ(resultErrorField)(res, PG_DIAG_SQLSTATE);

	if (rp__postgres_is_stale(res))
		rp__postgres_sign(s);
	else if (!state || strcmp(state, "26000") != 0)
		return 0;
	memset(s->prepared, 0, sizeof(s->prepared));
	return 1;
}

static int
execute(struct postgres *s, enum rp_verb which, const struct binds *b,
	PGresult **ret, rp_error *error)
{
	ExecStatusType status;
	int again, r;

	if (!s->sql[which])
		s->sql[which] = rp__postgres_named(
			s->schema, rp__calls_postgres[which].text);
	if (!s->sql[which])
		return rp__fail(error, RP_ENOMEM, "out of memory");
	*ret = s->pooled ? PQ(execParams)(
				   s->pg, s->sql[which],
				   (int)rp__calls_postgres[which].binds_count,
				   NULL, b->values, b->sizes, b->formats, 1)
			 : execute_named(s, which, b);
	status = PQ(resultStatus)(*ret);
	if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) {
		r = rp__postgres_check_sure(s, error);
		if (r < 0)
			PQ(clear)(*ret);
		return r;
	}
	again = must_prepare_again(s, *ret) &&
		PQ(transactionStatus)(s->pg) == PQTRANS_IDLE;
	r = rp__postgres_failed(s, *ret, error);
	PQ(clear)(*ret);
	return again ? execute(s, which, b, ret, error) : r;
}

/* Record that a round trip returned rows, so that the next poll comes soon. A
 * worker that has found work three times since it registered needs no
 * notifications, so it unregisters. A worker that has found work less often
 * will soon wait again, so it stays registered. */
static void
note_work(struct postgres *s)
{
	s->nap_ms = 0;
	if (s->registered_at && s->depth == 1 && s->base == ALONE &&
	    ++s->busy_turns >= 3)
		rp__postgres_unregister(s);
}

/* Fail if the rows of a round trip could not be taken, because memory ran out.
 * If the round trip was a transaction of its own, it is committed already. Then
 * the caller must read which jobs it holds, as after a lost answer. */
static int
check_taken(struct postgres *s, enum rp_verb which, int r, rp_error *error)
{
	if (r >= 0 || which != RP_V_SETTLE_AND_CLAIM || s->base != ALONE)
		return r;
	s->lost_answer = 1;
	return rp__fail(error, RP_ELOST,
			"outcome unknown: memory ran out while the answer was "
			"read");
}

static int
run(struct postgres *s, enum rp_verb which, const struct rp_value *params,
    size_t rows, rp_row_fn *fn, void *ctx, rp_error *error)
{
	const struct rp_call *call = &rp__calls_postgres[which];
	size_t times = call->many ? 1 : rows;
	struct binds binds;
	PGresult *res = NULL;
	int r = 0;

	for (size_t row = 0; row < times && r == 0; row++) {
		r = bind_all(&binds, call, params + row * call->width, rows,
			     error);
		if (r == 0)
			r = execute(s, which, &binds, &res, error);
		free_binds(&binds, call->binds_count);
		if (r < 0)
			return r;
		if (PQ(ntuples)(res) && which == RP_V_SETTLE_AND_CLAIM)
			note_work(s);
		r = answer(call, res, row, fn, ctx, error);
		r = check_taken(s, which, r, error);
		PQ(clear)(res);
	}
	return r;
}

/* Run a verb. If no transaction of ours is open, the verb gets one of its own.
 */
int
rp__postgres_run(void *db, enum rp_verb which, const struct rp_value *params,
		 size_t rows, rp_row_fn *fn, void *ctx, rp_error *error)
{
	struct postgres *s = db;
	int r;

	if (s->depth > 0)
		return run(s, which, params, rows, fn, ctx, error);
	r = rp__postgres_begin(s, RP_BEGIN_ONCE, error);
	if (r < 0)
		return r;
	r = run(s, which, params, rows, fn, ctx, error);
	if (r < 0)
		rp__postgres_rollback(s);
	return r < 0 ? r : rp__postgres_commit(s, error);
}
