/*
 * ext_schedule.c - the SQL functions that add, change and show schedules.
 * readpast_sweep() fires the schedules that are due.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <string.h>

#include "ext.h"
#include "schedule.h"

/* ---- one schedule ---- */

/* Find the argument's word in `words`, and set *ret to its index. Without the
 * argument, *ret keeps its value. `error` is the message for an unknown
 * word. */
static int
take_word(struct ext_call *call, enum ext_param param, const char *const *words,
	  const char *error, int *ret)
{
	const char *word = call->arguments[param].text;
	int i = word ? rp__word_index(words, word) : *ret;

	if (i < 0)
		return rp__fail(&call->error, RP_EINVAL, "%s", error);
	*ret = i;
	return 0;
}

int
ext_do_schedule_set(struct ext_call *call, struct rp_value *ret)
{
	const struct ext_argument *a = call->arguments;
	rp_schedule s = RP_SCHEDULE_INIT;
	int64_t next = 0;
	int r = take_word(call, P_MISSED, rp__missed_words,
			  "missed must be once, all or skip", &s.missed);

	if (r == 0)
		r = take_word(call, P_OVERLAP, rp__overlap_words,
			      "overlap must be allow or skip", &s.overlap);
	if (r < 0)
		return r;
	s.name = a[P_SCHEDULE].text;
	s.queue = a[P_QUEUE].text;
	s.spec = a[P_SPEC].text;
	s.zone = a[P_ZONE].text;
	s.payload = a[P_PAYLOAD].text;
	s.payload_size = a[P_PAYLOAD].size;
	s.kind = a[P_KIND].text;
	s.headers = a[P_HEADERS].text;
	if (a[P_PRIORITY].given)
		s.priority = (int)a[P_PRIORITY].number;
	r = rp__schedule_set(call->conn, &s, a[P_REPLACE].number != 0, &next);
	if (r == RP_ETAKEN)
		return rp__fail(&call->error, r,
				"there is a schedule named %s (replace changes "
				"it)",
				s.name);
	*ret = ext_time(next);
	return r;
}

int
ext_do_schedule_pause(struct ext_call *call, struct rp_value *ret)
{
	(void)ret;
	return rp_schedule_pause(call->conn, call->arguments[P_SCHEDULE].text);
}

int
ext_do_schedule_resume(struct ext_call *call, struct rp_value *ret)
{
	int64_t next = 0;
	int r = rp__schedule_resume(call->conn,
				    call->arguments[P_SCHEDULE].text, &next);

	*ret = ext_time(next);
	return r;
}

int
ext_do_schedule_run(struct ext_call *call, struct rp_value *ret)
{
	rp_added added = { 0, 0 };
	int r = rp_schedule_run(call->conn, call->arguments[P_SCHEDULE].text,
				&added);

	*ret = rp__int(added.id);
	return r;
}

int
ext_do_schedule_remove(struct ext_call *call, struct rp_value *ret)
{
	(void)ret;
	return rp_schedule_remove(call->conn, call->arguments[P_SCHEDULE].text);
}

/* ---- all schedules ---- */

static void
read_schedule(const void *data, size_t row, struct rp_value *columns)
{
	const rp_schedule *s = rp_schedules_at(data, row);

	*columns++ = rp__text(s->name);
	*columns++ = rp__text(s->queue);
	*columns++ = rp__text(s->spec);
	*columns++ = rp__text(s->zone);
	*columns++ = ext_bytes(s->payload, s->payload_size);
	*columns++ = rp__text(s->kind);
	*columns++ = rp__text(s->headers);
	*columns++ = rp__int_or_null(s->priority, s->priority < 0);
	*columns++ = rp__text(rp__missed_words[s->missed]);
	*columns++ = rp__text(rp__overlap_words[s->overlap]);
	*columns++ = ext_time(s->next_at);
	*columns++ = ext_time(s->last_at);
	*columns++ = rp__int_or_null(s->last_job_id, !s->last_job_id);
	*columns++ = rp__text(rp_state_text(s->last_state));
	*columns++ = rp__text(s->last_error);
	*columns++ = ext_time(s->paused_at);
	*columns = ext_time(s->created_at);
}

static void
free_schedules(void *schedules)
{
	rp_schedules_free(schedules);
}

int
ext_schedules_rows(struct ext_call *call, struct ext_rows *ret)
{
	rp_schedules *list = NULL;
	int r = rp_schedule_list(call->conn, call->arguments[P_SCHEDULE].text,
				 &list);

	if (r == 0)
		*ret = (struct ext_rows){ rp_schedules_count(list), list,
					  free_schedules, read_schedule };
	return r == RP_ENOENT ? 0 : r;
}
