/*
 * batch.c - a batch: the list of jobs that one call returns, and the memory of
 * these jobs.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"
#include "job_fields.h"

#include <stdlib.h>
#include <string.h>

/*
 * Texts and payloads are stored in blocks that never move. The first block is
 * small, and usually enough for one job.
 *
 * Further blocks are large because of a limit in glibc, which is 128 KiB at
 * first. When more memory than this limit is free at the end of the heap,
 * free() returns it to the system. With small blocks, that would happen after
 * each claim of 100 jobs, and the next claim would get its memory from the
 * system again. A worker that empties a queue on PostgreSQL would spend a sixth
 * of its time on that. But when a block larger than the limit is freed, glibc
 * raises the limit to twice the size of that block (see M_TRIM_THRESHOLD in
 * mallopt(3)). After that, glibc keeps the memory.
 */
#define FIRST_BLOCK 1024
#define NEXT_BLOCK (256 * 1024)

struct block {
	struct block *next;
	size_t used, room;
	char data[];
};

/* A job. `lane` and `seq` are its position, for databases that do not return
 * jobs in claim order. A lane has the jobs of one queue, one priority and one
 * class. For example, the suspects (jobs that may have killed their worker) are
 * a class. `seq` is the job's number in its lane. `large` is the job's payload,
 * if the payload has an allocation of its own. */
struct entry {
	rp_job job;
	int64_t lane, seq;
	char *large;
};

struct rp_batch {
	struct entry *jobs;
	size_t count, room;
	size_t suspects;
	size_t incomplete; /* number of jobs whose payload must still be read */
	int partial;       /* 1: the call did not examine all jobs */
	struct block *blocks;
};

int
rp__batch_new(rp_batch **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : RP_ENOMEM;
}

void
rp_batch_free(rp_batch *batch)
{
	if (!batch)
		return;
	for (struct block *b = batch->blocks, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	for (size_t i = 0; i < batch->count; i++)
		free(batch->jobs[i].large);
	free(batch->jobs);
	free(batch);
}

size_t
rp_batch_count(const rp_batch *batch)
{
	return batch ? batch->count : 0;
}

int
rp_batch_is_partial(const rp_batch *batch)
{
	return batch && batch->partial;
}

void
rp__batch_set_partial(rp_batch *batch)
{
	batch->partial = 1;
}

const rp_job *
rp_batch_at(const rp_batch *batch, size_t i)
{
	return batch && i < batch->count ? &batch->jobs[i].job : NULL;
}

size_t
rp_batch_suspects(const rp_batch *batch)
{
	return batch ? batch->suspects : 0;
}

void
rp__batch_passed_over(rp_batch *batch)
{
	batch->suspects++;
}

/* Allocate memory that is freed together with the batch. Returns NULL if memory
 * ran out. */
void *
rp__batch_alloc(rp_batch *batch, size_t size)
{
	struct block *b = batch->blocks;
	void *p;

	size = (size + 7) & ~(size_t)7;
	if (!b || b->room - b->used < size) {
		size_t room = b ? NEXT_BLOCK : FIRST_BLOCK;

		if (room < size)
			room = size;
		b = malloc(sizeof(*b) + room);
		if (!b)
			return NULL;
		b->next = batch->blocks;
		b->used = 0;
		b->room = room;
		batch->blocks = b;
	}
	p = b->data + b->used;
	b->used += size;
	return p;
}

/* Copy a column's text or blob and append a NUL. *to becomes NULL if the column
 * is null. Returns 0 or RP_ENOMEM. */
int
rp__batch_text(rp_batch *batch, const char **to, const struct rp_value *value)
{
	char *text;

	*to = NULL;
	if (value->type != RP_TEXT && value->type != RP_BLOB)
		return 0;
	text = rp__batch_alloc(batch, value->size + 1);
	if (!text)
		return RP_ENOMEM;
	if (value->size)
		memcpy(text, value->data, value->size);
	text[value->size] = '\0';
	*to = text;
	return 0;
}

/* Copy a value together with its text or bytes. Returns 0 or RP_ENOMEM. */
int
rp__batch_value(rp_batch *batch, struct rp_value *to,
		const struct rp_value *value)
{
	const char *text;
	int r = rp__batch_text(batch, &text, value);

	*to = *value;
	to->data = text;
	return r;
}

/* Copy a payload as rp__batch_text() does. A large payload gets an allocation
 * of its own, so that the payload can be freed before the batch. Returns NULL
 * if memory ran out, or if the column has no payload. */
static const char *
payload_text(rp_batch *batch, const struct rp_value *value, char **ret_large)
{
	const char *text;

	if (value->size <= RP_LARGE_PAYLOAD) {
		rp__batch_text(batch, &text, value);
		return text;
	}
	*ret_large = malloc(value->size + 1);
	if (!*ret_large)
		return NULL;
	memcpy(*ret_large, value->data, value->size);
	(*ret_large)[value->size] = '\0';
	return *ret_large;
}

/* Free the payload of a finished job, if the payload is large. */
void
rp__batch_drop_payload(rp_batch *batch, const rp_job *job)
{
	size_t i =
		(size_t)((const struct entry *)(const void *)job - batch->jobs);
	struct entry *entry = &batch->jobs[i];

	if (!entry->large)
		return;
	free(entry->large);
	entry->large = NULL;
	entry->job.payload = NULL;
	entry->job.payload_size = 0;
}

static int
more_room(rp_batch *batch)
{
	size_t room = batch->room ? batch->room * 2 : 4;
	struct entry *jobs = realloc(batch->jobs, room * sizeof(*jobs));

	if (!jobs)
		return RP_ENOMEM;
	batch->jobs = jobs;
	batch->room = room;
	return 0;
}

/* ---- a job from a row of the `job` columns ---- */

static int
set_number(rp_batch *batch, int64_t *to, const struct rp_value *value)
{
	(void)batch;
	*to = value->i;
	return 0;
}

static int
set_small(rp_batch *batch, int *to, const struct rp_value *value)
{
	(void)batch;
	*to = (int)value->i;
	return 0;
}

/* Set the payload of the job that is being added. A number in the column means
 * that the payload is stored elsewhere. Such a payload is read later, and set
 * by rp__batch_set_payload(). */
static int
set_payload(rp_batch *batch, const void **to, const struct rp_value *value)
{
	struct entry *entry = &batch->jobs[batch->count];

	entry->job.payload_size = entry->job.payload_total = value->size;
	*to = payload_text(batch, value, &entry->large);
	return *to || value->type == RP_INT ? 0 : RP_ENOMEM;
}

/* Set the result and its size in the job that is being added. */
static int
set_result(rp_batch *batch, const void **to, const struct rp_value *value)
{
	const char *result;
	int r = rp__batch_text(batch, &result, value);

	batch->jobs[batch->count].job.result_size =
		value->type == RP_NULL ? 0 : value->size;
	*to = result;
	return r;
}

/* The other column types of sql/params are stored like one of the types
 * above. */
#define set_claim set_number
#define set_time set_number
#define set_span set_number
#define set_state set_small
#define set_text rp__batch_text
#define set_json rp__batch_text
#define set_list rp__batch_text
#define set_failures rp__batch_text

int
rp__batch_add(rp_batch *batch, const struct rp_value *c, int suspect)
{
	rp_job *job;
	int r = 0;

	if (batch->count == batch->room && more_room(batch) < 0)
		return RP_ENOMEM;
	batch->jobs[batch->count].large = NULL;
	job = &batch->jobs[batch->count].job;
	*job = (rp_job){ .suspect = suspect };
#define SET(field, FIELD, type)                                                \
	if (r == 0)                                                            \
		r = set_##type(batch, &job->field, &c[JOB_##FIELD]);
	RP_JOB_FIELDS(SET)
#undef SET
	if (r == 0) {
		batch->incomplete += !job->payload;
		batch->count++;
	} else {
		free(batch->jobs[batch->count].large);
	}
	return r;
}

int
rp__batch_add_row(void *batch, size_t row, const struct rp_value *columns)
{
	(void)row;
	return rp__batch_add(batch, columns, 0);
}

int
rp__batch_is_complete(const rp_batch *batch)
{
	return batch->incomplete == 0;
}

/* Set the payload of a job that was added without one. */
int
rp__batch_set_payload(rp_batch *batch, size_t i, const struct rp_value *payload)
{
	struct entry *entry = &batch->jobs[i];
	rp_job *job = &entry->job;

	job->payload = payload_text(batch, payload, &entry->large);
	job->payload_size = job->payload_total = payload->size;
	batch->incomplete -= job->payload != NULL;
	return job->payload ? 0 : RP_ENOMEM;
}

/* Set the rarely used fields. `c` has the columns of the verb `extra`. */
int
rp__batch_set_extra(rp_batch *batch, size_t i, const struct rp_value *c)
{
	rp_job *job = &batch->jobs[i].job;
	int r;

	job->keep_ms = c[EXTRA_OUT_KEEP_MS].i;
	job->timeout_ms = c[EXTRA_OUT_TIMEOUT_MS].i;
	job->expire_at = c[EXTRA_OUT_EXPIRE_AT].i;
	job->unique_for_ms = c[EXTRA_OUT_UNIQUE_FOR_MS].i;
	r = rp__batch_text(batch, &job->backoff, &c[EXTRA_OUT_BACKOFF]);
	if (r == 0)
		r = rp__batch_text(batch, &job->group_key,
				   &c[EXTRA_OUT_GROUP_KEY]);
	if (r == 0)
		r = rp__batch_text(batch, &job->progress,
				   &c[EXTRA_OUT_PROGRESS]);
	return r;
}

/* Remove the jobs whose payload was never set. */
void
rp__batch_drop_incomplete(rp_batch *batch)
{
	size_t kept = 0;

	for (size_t i = 0; i < batch->count; i++)
		if (batch->jobs[i].job.payload)
			batch->jobs[kept++] = batch->jobs[i];
	batch->count = kept;
	batch->incomplete = 0;
}

/* For the job that was added last, set the full size of its payload in bytes.
 * The job's row had only the beginning of the payload. */
void
rp__batch_payload_total(rp_batch *batch, int64_t bytes)
{
	batch->jobs[batch->count - 1].job.payload_total = (size_t)bytes;
}

/* Set the position of the job that was added last. Positions are compared by
 * lane, then by the number in the lane. */
void
rp__batch_place(rp_batch *batch, int64_t lane, int64_t seq)
{
	batch->jobs[batch->count - 1].lane = lane;
	batch->jobs[batch->count - 1].seq = seq;
}

static int
compare_places(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	return (x->seq > y->seq) - (x->seq < y->seq);
}

/* Sort by position the jobs whose index is `first` or larger. Usually they are
 * sorted already. */
void
rp__batch_in_line(rp_batch *batch, size_t first)
{
	for (size_t i = first + 1; i < batch->count; i++) {
		if (compare_places(&batch->jobs[i - 1], &batch->jobs[i]) < 0)
			continue;
		qsort(&batch->jobs[first], batch->count - first,
		      sizeof(*batch->jobs), compare_places);
		return;
	}
}
