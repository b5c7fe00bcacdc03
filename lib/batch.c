/*
 * batch.c - jobs that one call returned, and the memory they live in.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* Texts and payloads lie in blocks that never move. */
struct block {
	struct block *next;
	size_t used, room;
	char data[];
};

/* `seq`: its place in line, where the database does not answer in order.
 * `large`: its payload, if that has memory of its own. */
struct entry {
	rp_job job;
	int64_t seq;
	char *large;
};

struct rp_batch {
	struct entry *jobs;
	size_t count, room;
	size_t suspects;
	size_t incomplete; /* jobs whose payload is yet to come */
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

/* Memory that lives as long as the batch; NULL when there is none. */
void *
rp__batch_alloc(rp_batch *batch, size_t size)
{
	struct block *b = batch->blocks;
	void *p;

	size = (size + 7) & ~(size_t)7;
	if (!b || b->room - b->used < size) {
		size_t room = b ? 64 * 1024 - sizeof(*b) : 1024;

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

/* A column's text (or blob), copied, with a NUL behind it. NULL if the column
 * is null; the caller tells that from no memory by the column's type. */
char *
rp__batch_text(rp_batch *batch, const struct rp_value *value)
{
	char *text;

	if (value->type != RP_TEXT && value->type != RP_BLOB)
		return NULL;
	text = rp__batch_alloc(batch, value->size + 1);
	if (!text)
		return NULL;
	if (value->size)
		memcpy(text, value->data, value->size);
	text[value->size] = '\0';
	return text;
}

/* Likewise; a large one alone, so that it can be dropped alone. */
static char *
payload_text(rp_batch *batch, const struct rp_value *value, char **ret_large)
{
	if (value->size <= RP_LARGE)
		return rp__batch_text(batch, value);
	*ret_large = malloc(value->size + 1);
	if (!*ret_large)
		return NULL;
	memcpy(*ret_large, value->data, value->size);
	(*ret_large)[value->size] = '\0';
	return *ret_large;
}

/* The job of this batch is over: free its payload, if that is large. */
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

/* One job more, from a row of the `job` columns. Its payload may be a number:
 * it comes later. */
int
rp__batch_add(rp_batch *batch, const struct rp_value *c, int suspect)
{
	static const struct {
		int column;
		size_t offset;
	} texts[] = {
		{ JOB_QUEUE, offsetof(rp_job, queue) },
		{ JOB_WORKER, offsetof(rp_job, worker) },
		{ JOB_UNIQUE_KEY, offsetof(rp_job, unique_key) },
		{ JOB_KIND, offsetof(rp_job, kind) },
		{ JOB_HEADERS, offsetof(rp_job, headers) },
		{ JOB_LAST_ERROR, offsetof(rp_job, last_error) },
		{ JOB_FAILURES, offsetof(rp_job, failures) },
	};
	struct entry *entry;
	rp_job *job;

	if (batch->count == batch->room && more_room(batch) < 0)
		return RP_ENOMEM;
	entry = &batch->jobs[batch->count];
	entry->large = NULL;
	job = &entry->job;
	*job = (rp_job){
		.id = c[JOB_ID].i,
		.state = (int)c[JOB_STATE].i,
		.priority = (int)c[JOB_PRIORITY].i,
		.attempt = c[JOB_ATTEMPT].i,
		.max_attempts = c[JOB_MAX_ATTEMPTS].i,
		.claim_no = c[JOB_CLAIM_NO].i,
		.run_at = c[JOB_RUN_AT].i,
		.created_at = c[JOB_CREATED_AT].i,
		.claimed_at = c[JOB_CLAIMED_AT].i,
		.lease_until = c[JOB_LEASE_UNTIL].i,
		.finished_at = c[JOB_FINISHED_AT].i,
		.payload_size = c[JOB_PAYLOAD].size,
		.suspect = suspect,
		.payload_total = c[JOB_PAYLOAD].size,
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		const struct rp_value *value = &c[texts[i].column];
		char *text = rp__batch_text(batch, value);

		if (!text && value->type != RP_NULL)
			return RP_ENOMEM;
		memcpy((char *)job + texts[i].offset, &text, sizeof(text));
	}
	job->payload = payload_text(batch, &c[JOB_PAYLOAD], &entry->large);
	if (!job->payload && c[JOB_PAYLOAD].type != RP_INT)
		return RP_ENOMEM;
	batch->incomplete += !job->payload;
	batch->count++;
	return 0;
}

int
rp__batch_is_complete(const rp_batch *batch)
{
	return batch->incomplete == 0;
}

/* The payload of a job that was added without. */
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

/* Forget those that were added without a payload, and were given none. */
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

/* The job that was added last has the beginning of a payload of so many bytes.
 */
void
rp__batch_payload_total(rp_batch *batch, int64_t bytes)
{
	batch->jobs[batch->count - 1].job.payload_total = (size_t)bytes;
}

/* Where the job that was added last is in line. */
void
rp__batch_place(rp_batch *batch, int64_t seq)
{
	batch->jobs[batch->count - 1].seq = seq;
}

static int
compare_places(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->seq > y->seq) - (x->seq < y->seq);
}

/* Put the jobs from this one on in line. As a rule they are. */
void
rp__batch_in_line(rp_batch *batch, size_t first)
{
	for (size_t i = first + 1; i < batch->count; i++) {
		if (batch->jobs[i - 1].seq < batch->jobs[i].seq)
			continue;
		qsort(&batch->jobs[first], batch->count - first,
		      sizeof(*batch->jobs), compare_places);
		return;
	}
}
