/*
 * keys.c - copy the unique keys that stay taken after their jobs are done.
 *
 * A move copies such a key too, but does not delete it from the source. So the
 * key is taken for all producers, whether they use the source or the target.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "copy.h"

#include <stdlib.h>

#define KEYS_AT_ONCE 1000

struct keys {
	rp_batch *memory;
	struct rp_value rows[KEYS_AT_ONCE][KEY_IMPORT_PARAMS];
	size_t count;
	int64_t after;       /* id of the last queue that was read */
	struct rp_value key; /* the last key that was read */
};

static int
take_key(void *ctx, size_t number, const struct rp_value *columns)
{
	struct keys *keys = ctx;
	struct rp_value *row = keys->rows[keys->count];
	struct rp_value *key = &row[KEY_IMPORT_UNIQUE_KEY];

	(void)number;
	if (keys->count == KEYS_AT_ONCE)
		return RP_ROW_STOP;
	if (rp__batch_value(keys->memory, &row[KEY_IMPORT_QUEUE],
			    &columns[KEY_EXPORT_OUT_QUEUE]) < 0 ||
	    rp__batch_value(keys->memory, key,
			    &columns[KEY_EXPORT_OUT_UNIQUE_KEY]) < 0)
		return RP_ENOMEM;
	row[KEY_IMPORT_JOB_ID] = columns[KEY_EXPORT_OUT_JOB_ID];
	row[KEY_IMPORT_UNTIL] = columns[KEY_EXPORT_OUT_UNTIL];
	keys->after = columns[KEY_EXPORT_OUT_QUEUE_ID].i;
	keys->key = *key;
	keys->count++;
	return RP_ROW_TAKE;
}

static int
read_keys(struct rp_copy *c, struct keys *keys, rp_batch *memory)
{
	const struct rp_value params[KEY_EXPORT_PARAMS] = {
		[KEY_EXPORT_QUEUES] = rp__text(c->names),
		[KEY_EXPORT_AFTER] = rp__int(keys->after),
		[KEY_EXPORT_KEY] = keys->key,
		[KEY_EXPORT_MAX] = rp__int(KEYS_AT_ONCE),
	};
	int r;

	keys->memory = memory;
	keys->count = 0;
	r = rp__run(c->from, RP_V_KEY_EXPORT, params, 1, take_key, keys);
	return rp__copy_failed(c, c->from, r);
}

/* Replace the job id of each key by the id that this job has in the target.
 * Most of these jobs are deleted already. Their ids are put into a range all
 * the same, so that no other job of the target gets such an id. */
static int
shift_keys(struct rp_copy *c, struct keys *keys)
{
	int r = 0;

	for (size_t i = 0; i < keys->count && r == 0; i++) {
		struct rp_value *id = &keys->rows[i][KEY_IMPORT_JOB_ID];
		int64_t last;
		const struct rp_range *range =
			rp__copy_range_of(c, id->i, &last);

		if (!range) {
			r = rp__copy_open_range(c, id->i, last);
			range = rp__copy_range_of(c, id->i, &last);
		}
		if (range)
			id->i += range->shift;
	}
	return r;
}

static int
write_keys(struct rp_copy *c, struct keys *keys)
{
	int r = rp__copy_lock(c);

	if (r < 0)
		return r;
	r = rp__copy_under_way(c);
	if (r == 0)
		r = rp__copy_failed(c, c->to,
				    rp__run(c->to, RP_V_KEY_IMPORT,
					    keys->rows[0], keys->count, NULL,
					    NULL));
	return rp__copy_end(c, c->to, r);
}

int
rp__copy_keys(struct rp_copy *c)
{
	struct keys *keys = calloc(1, sizeof(*keys));
	rp_batch *last = NULL;
	int r = 0;

	if (!keys)
		return rp__fail(c->error, RP_ENOMEM, "out of memory");
	keys->key = rp__text("");
	while (r == 0) {
		rp_batch *memory = NULL;

		r = rp__batch_new(&memory);
		r = r < 0 ? rp__fail(c->error, r, "out of memory")
			  : read_keys(c, keys, memory);
		/* Read the last id after the keys were read. Then no key
		 * belongs to a job with a larger id. */
		if (r == 0)
			r = rp__copy_last_id(c, c->from, &c->source_end);
		rp_batch_free(last);
		last = memory;
		if (r == 0)
			r = shift_keys(c, keys);
		if (r == 0 && keys->count)
			r = write_keys(c, keys);
		if (keys->count < KEYS_AT_ONCE)
			break;
	}
	rp_batch_free(last);
	free(keys);
	return r;
}
