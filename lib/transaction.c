/*
 * transaction.c - begin and end transactions, run verbs, and check which thread
 * may use a handle.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

#include <unistd.h>

/* Returns a pointer that identifies the calling thread: the address of a
 * variable of this thread. */
const char *
rp__thread(void)
{
	static _Thread_local const char here;

	return &here;
}

int
rp__enter(rp_conn *conn)
{
	const char *owner;

	if (!conn)
		return RP_EINVAL;
	if (conn->pid != getpid())
		return rp__fail(&conn->error, RP_EINVAL,
				"this handle was opened before fork(): "
				"open one in the child");
	/* RP_EINVAL is returned without a message, because only the thread
	 * whose transaction is open may write to conn->error. */
	owner = atomic_load(&conn->owner);
	return owner && owner != rp__thread() ? RP_EINVAL : 0;
}

int
rp__stays_open(rp_conn *conn)
{
	return conn->in_transaction || conn->backend->joins(conn->db);
}

int
rp__own(rp_conn *conn)
{
	const char *owner = NULL;

	if (atomic_compare_exchange_strong(&conn->owner, &owner,
					   rp__thread()) ||
	    owner == rp__thread())
		return 0;
	return RP_EINVAL;
}

void
rp__disown(rp_conn *conn)
{
	atomic_store(&conn->owner, NULL);
}

int
rp__begin(rp_conn *conn, int how)
{
	int r = rp__own(conn);

	if (r < 0)
		return r;
	r = conn->backend->begin(conn->db, how, &conn->error);
	if (r >= 0)
		conn->depth++;
	else if (conn->depth == 0)
		rp__disown(conn);
	conn->lost_answer |= r > 0;
	return r < 0 ? r : 0;
}

int
rp__end(rp_conn *conn, int r)
{
	int failed = 0;

	if (r < 0)
		conn->backend->rollback(conn->db);
	else
		failed = conn->backend->commit(conn->db, &conn->error);
	if (--conn->depth == 0) {
		rp__tally_end(conn, r >= 0 && failed >= 0);
		rp__disown(conn);
	}
	return failed < 0 ? failed : r;
}

int
rp__run(rp_conn *conn, enum rp_verb verb, const struct rp_value *params,
	size_t rows, rp_row_fn *row, void *ctx)
{
	return conn->backend->run(conn->db, verb, params, rows, row, ctx,
				  &conn->error);
}

/* Run a verb as a transaction of its own. */
int
rp__run_once(rp_conn *conn, enum rp_verb verb, const struct rp_value *params,
	     rp_row_fn *row, void *ctx)
{
	int r = rp__begin(conn, RP_BEGIN_WRITE | RP_BEGIN_ONCE);

	if (r < 0)
		return r;
	return rp__end(conn, rp__run(conn, verb, params, 1, row, ctx));
}

int
rp__read_once(rp_conn *conn, enum rp_verb verb, const struct rp_value *params,
	      size_t rows, rp_row_fn *row, void *ctx)
{
	int r = rp__begin(conn, RP_BEGIN_ONCE);

	if (r < 0)
		return r;
	return rp__end(conn, rp__run(conn, verb, params, rows, row, ctx));
}

_Static_assert((int)NOW_OUT_NOW == (int)ONLY_ID_OUT_ID,
	       "rp__first_int() reads the time, too");

int
rp__first_int(void *ctx, size_t row, const struct rp_value *columns)
{
	(void)row;
	*(int64_t *)ctx = columns[ONLY_ID_OUT_ID].i;
	return RP_ROW_TAKE;
}

int
rp__count(void *ctx, size_t row, const struct rp_value *columns)
{
	(void)row;
	(void)columns;
	++*(int64_t *)ctx;
	return RP_ROW_TAKE;
}

int
rp_begin(rp_conn *conn)
{
	int r = rp__enter(conn);

	if (r < 0)
		return r;
	if (conn->in_transaction)
		return rp__fail(&conn->error, RP_EINVAL,
				"a transaction is open already: end it first");
	r = rp__begin(conn, RP_BEGIN_WRITE);
	if (r == 0)
		conn->in_transaction = 1;
	return r;
}

/* Check that a transaction is open and that the caller may end it. Then mark it
 * as ended. */
static int
leave_transaction(rp_conn *conn)
{
	int r = rp__enter(conn);

	if (r < 0)
		return r;
	if (!conn->in_transaction)
		return rp__fail(&conn->error, RP_EINVAL,
				"no transaction is open");
	if (conn->of_task)
		return rp__fail(&conn->error, RP_EINVAL,
				"this transaction belongs to a task: end it "
				"with rp_task_commit() or rp_task_rollback()");
	conn->in_transaction = 0;
	return 0;
}

int
rp_commit(rp_conn *conn)
{
	int r = leave_transaction(conn);

	return r < 0 ? r : rp__end(conn, 0);
}

int
rp_rollback(rp_conn *conn)
{
	int r = leave_transaction(conn);

	if (r == 0)
		rp__end(conn, RP_ECANCELLED);
	return r;
}
