/*
 * no_database.c - replace the calls with which `readpast serve` writes to the
 * database. The linker puts these functions in their place, in a second program
 * that is otherwise the command line tool. So the server reads the same
 * requests and writes the same answers, but leaves out the database. Only the
 * first claim uses it, to have real jobs for all answers.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "readpast.h"

#define JOBS 256 /* jobs to claim once; the most that one call needs */

int __real_rp_settle_and_claim(rp_conn *conn, rp_verdict *verdicts, size_t n,
			       const char *queue, size_t max,
			       const rp_claim_options *options, rp_batch **ret);
int __wrap_rp_settle_and_claim(rp_conn *conn, rp_verdict *verdicts, size_t n,
			       const char *queue, size_t max,
			       const rp_claim_options *options, rp_batch **ret);
int __wrap_rp_enqueue_many(rp_conn *conn, const char *queue,
			   const rp_job_spec *jobs, size_t n, rp_added *ret);
const rp_job *__real_rp_batch_at(const rp_batch *batch, size_t i);
const rp_job *__wrap_rp_batch_at(const rp_batch *batch, size_t i);
void __wrap_rp_batch_free(rp_batch *batch);
void __real_rp_batch_free(rp_batch *batch);

/* The jobs of all claims. Only the server's writer claims. The jobs are used in
 * turn, those of a call from index `first` on, so that no two requests have the
 * same job: the server needs a transaction for verdicts of several requests on
 * one job. */
static rp_batch *claimed;
static size_t first, next;

int
__wrap_rp_settle_and_claim(rp_conn *conn, rp_verdict *verdicts, size_t n,
			   const char *queue, size_t max,
			   const rp_claim_options *options, rp_batch **ret)
{
	int r = 0;

	if (!claimed)
		r = __real_rp_settle_and_claim(conn, NULL, 0, queue, JOBS,
					       options, &claimed);
	for (size_t i = 0; i < n; i++)
		verdicts[i].result = 0;
	first = next;
	next += max;
	*ret = claimed;
	return r < 0 ? r : (int)rp_batch_count(claimed);
}

int
__wrap_rp_enqueue_many(rp_conn *conn, const char *queue,
		       const rp_job_spec *jobs, size_t n, rp_added *ret)
{
	(void)conn;
	(void)queue;
	(void)jobs;
	for (size_t i = 0; i < n; i++)
		ret[i] =
			(rp_added){ .id = (int64_t)i + 1, .outcome = RP_ADDED };
	return 0;
}

const rp_job *
__wrap_rp_batch_at(const rp_batch *batch, size_t i)
{
	if (batch == claimed)
		i = (first + i) % rp_batch_count(batch);
	return __real_rp_batch_at(batch, i);
}

void
__wrap_rp_batch_free(rp_batch *batch)
{
	if (batch != claimed)
		__real_rp_batch_free(batch);
}
