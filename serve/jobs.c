/*
 * jobs.c - requests that list the jobs that a filter finds, or change all of
 * them.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "fields.h"

#include <stdlib.h>
#include <string.h>

#include "change.h"
#include "handlers.h"
#include "jobs.h"

#define LISTED 50  /* jobs in a page if no limit is given */
#define EXAMPLES 3 /* jobs that a dry run shows */

/* ---- filters ---- */

/* Set the filter's states from the text f->state, which is the name of a state,
 * "all", or NULL. `allowed` has the states that the text may name. `otherwise`
 * has the states to use if the text is NULL. */
static int
take_state(struct request *request, struct filter *f, int allowed,
	   int otherwise)
{
	char words[STATE_NAMES];

	if (choose_states(f, allowed, otherwise, words) == 0)
		return 0;
	return refuse(request, RP_EINVAL, "state", "expected %s, or all",
		      words);
}

/* Read a filter from the parameters of a query. */
static int
take_query(struct request *request, struct filter *f)
{
	const char *older = parameter(request, "older");

	f->queue = parameter(request, "queue");
	f->state = parameter(request, "state");
	f->kind = parameter(request, "kind");
	f->key = parameter(request, "key");
	f->group = parameter(request, "group");
	f->error = parameter(request, "error");
	if (older && rp_duration(older, &f->older_ms) < 0)
		return refuse(request, RP_EINVAL, "older",
			      "expected a duration, such as 1h");
	return take_state(request, f, LIVE | KEPT,
			  f->error ? LIVE | IN(RP_STATE_DEAD) : LIVE);
}

/* Read a filter from the body. */
static int
take_body(struct request *request, struct filter *f)
{
	static const struct want wants[] = {
		WANT("state", TEXT, struct filter, state, 1, 16),
		WANT("kind", TEXT, struct filter, kind, 1, RP_MOST_NAME),
		WANT("key", TEXT, struct filter, key, 1, RP_MOST_KEY),
		WANT("group", TEXT, struct filter, group, 1, RP_MOST_KEY),
		WANT("error", TEXT, struct filter, error, 1, RP_MOST_ERROR),
		WANT("older", DURATION, struct filter, older_ms, 0, RP_MOST_MS),
		WANTS_END,
	};

	f->queue = request->segments[2];
	return fields_read(request, request->json, "", wants, f);
}

/* ---- pages ---- */

/* Read a cursor, which says where the next page begins: after the job with the
 * id *ret_id. If that job has left the list, the page begins at the index
 * *ret_at. */
static int
read_cursor(const char *text, size_t *ret_at, int64_t *ret_id)
{
	char number[ID_TEXT];
	const char *dash = text ? strchr(text, '-') : NULL;
	int64_t at;

	if (!dash || (size_t)(dash - text) >= sizeof(number))
		return -1;
	memcpy(number, text, (size_t)(dash - text));
	number[dash - text] = '\0';
	if (parse_id(number, &at) < 0 || parse_id(dash + 1, ret_id) < 0)
		return -1;
	*ret_at = (size_t)at;
	return 0;
}

/* Returns the index at which the page after a cursor begins. */
static size_t
find_start(const struct found *found, size_t at, int64_t id)
{
	for (size_t i = 0; i < found->count; i++)
		if (found->ids[i] == id)
			return i + 1;
	return at;
}

int
jobs_prepare(struct request *request)
{
	static const char *const names[] = { "queue", "state",  "kind",
					     "key",   "group",  "error",
					     "older", "cursor", "limit",
					     NULL };
	const char *limit = parameter(request, "limit");
	const char *cursor = parameter(request, "cursor");
	struct filter f = FILTER_INIT;
	int64_t id;
	size_t at;

	if (check_parameters(request, names) < 0 || take_query(request, &f) < 0)
		return -1;
	request->limit = LISTED;
	if (limit && (parse_count(limit, &request->limit) < 0 ||
		      request->limit < 1 || request->limit > MOST_LISTED))
		return refuse(request, RP_EINVAL, "limit", "expected 1 to %d",
			      MOST_LISTED);
	if (cursor && read_cursor(cursor, &at, &id) < 0)
		return refuse(request, RP_EINVAL, "cursor",
			      "expected the value of `next` in the answer with "
			      "the previous page");
	return f.queue ? guard_queue(request, MAY_READ, f.queue) : 0;
}

/* Read up to a page of the jobs that were found, beginning with found->ids[i].
 * Returns the index of the first job that was not read, or RP_E*. */
static int64_t
read_page(struct request *request, rp_conn *conn, const struct found *found,
	  size_t i, json_t *list)
{
	size_t most = (size_t)request->limit;

	for (; i < found->count && json_array_size(list) < most; i++) {
		rp_batch *batch;
		int r = rp_job_get(conn, found->ids[i], &batch);

		if (r == RP_ENOENT) /* the job was deleted after it was found */
			continue;
		if (r < 0)
			return r;
		if (may(request, MAY_READ, rp_batch_at(batch, 0)->queue))
			json_array_append_new(
				list, job_json(request, rp_batch_at(batch, 0),
					       RP_LIST_PAYLOAD));
		rp_batch_free(batch);
	}
	return (int64_t)i;
}

static void
answer_page(struct request *request, rp_conn *conn, const struct found *found)
{
	const char *cursor = parameter(request, "cursor");
	json_t *list = json_array(), *object;
	size_t from = 0;
	int64_t id = 0, to;
	char next[2 * ID_TEXT];

	if (cursor && read_cursor(cursor, &from, &id) == 0)
		from = find_start(found, from, id);
	to = read_page(request, conn, found, from, list);
	if (to < 0) {
		json_decref(list);
		refuse_error(request, (int)to, rp_last_error(conn));
		return;
	}
	object = json_pack("{s:o}", "jobs", list);
	if ((size_t)to < found->count) {
		snprintf(next, sizeof(next), "%lld-%lld", (long long)to,
			 (long long)found->ids[to - 1]);
		json_object_set_new(object, "next", json_string(next));
	} else {
		json_object_set_new(object, "next", json_null());
	}
	if (found->is_partial)
		json_object_set_new(object, "partial", json_true());
	answer_json(request, 200, object);
}

void
jobs_run(struct request *request, rp_conn *conn)
{
	struct filter f = FILTER_INIT;
	struct found found = { 0 };
	int r;

	if (take_query(request, &f) < 0)
		return;
	r = find_matching(conn, &f, &found);
	if (r < 0)
		refuse_error(request, r, rp_last_error(conn));
	else
		answer_page(request, conn, &found);
	found_free(&found);
}

/* ---- changes ---- */

int
dry_run_of(struct request *request)
{
	const char *text = parameter(request, "dry_run");

	request->is_dry =
		text && (strcmp(text, "1") == 0 || strcmp(text, "true") == 0);
	if (text && !request->is_dry && strcmp(text, "0") != 0 &&
	    strcmp(text, "false") != 0)
		return refuse(request, RP_EINVAL, "dry_run", "expected 1 or 0");
	return 0;
}

/* Returns the change that the request's path names. Sets *ret_allowed to the
 * states that the request may name, and *ret_otherwise to the states that are
 * used if the request names none. */
static const struct act *
act_of(const struct request *request, int *ret_allowed, int *ret_otherwise)
{
	const char *verb = request->segments[3];
	const struct act *act = strcmp(verb, "cancel") == 0  ? &cancels
				: strcmp(verb, "purge") == 0 ? &purges
							     : &retries;

	*ret_allowed = act->allowed;
	*ret_otherwise = act->otherwise;
	if (act == &retries)
		*ret_allowed = IN(RP_STATE_DEAD);
	return act;
}

static int
take_bulk(struct request *request, struct filter *f, const struct act **ret)
{
	int allowed, otherwise;

	*ret = act_of(request, &allowed, &otherwise);
	if (take_body(request, f) < 0)
		return -1;
	if (!f->state && !otherwise)
		return refuse(request, RP_EINVAL, "state",
			      "missing: name the state of the jobs");
	return take_state(request, f, allowed, otherwise);
}

int
bulk_prepare(struct request *request)
{
	static const char *const names[] = { "dry_run", NULL };
	struct filter f = FILTER_INIT;
	const struct act *act;

	if (check_parameters(request, names) < 0 || dry_run_of(request) < 0 ||
	    body_parse_optional(request) < 0)
		return -1;
	return take_bulk(request, &f, &act);
}

static void
answer_dry(struct request *request, rp_conn *conn, const struct found *found)
{
	json_t *list = json_array(), *object;
	int64_t r;

	request->limit = EXAMPLES;
	r = read_page(request, conn, found, 0, list);
	if (r < 0) {
		json_decref(list);
		refuse_error(request, (int)r, rp_last_error(conn));
		return;
	}
	object = json_pack("{s:I, s:o}", "jobs", (json_int_t)found->count,
			   "examples", list);
	if (found->is_partial)
		json_object_set_new(object, "jobs_at_least", json_true());
	answer_json(request, 200, object);
}

void
bulk_run(struct request *request, rp_conn *conn)
{
	struct cmd cmd = { .conn = conn };
	struct change c = CHANGE_INIT(&cmd, NULL);
	struct rp_changed changed = { 0 };
	struct found found = { 0 };
	int r;

	if (take_bulk(request, &c.filter, &c.act) < 0)
		return;
	c.filter.all = !request->is_dry;
	r = find_matching(conn, &c.filter, &found);
	if (r == 0 && request->is_dry) {
		answer_dry(request, conn, &found);
	} else {
		r = r < 0 ? r : change_found(&c, &found, &changed);
		if (r < 0)
			refuse_error(request, r, rp_last_error(conn));
		else
			answer_json(request, 200,
				    json_pack("{s:I, s:I}", "jobs",
					      (json_int_t)changed.done, "taken",
					      (json_int_t)changed.taken));
	}
	found_free(&found);
}
