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

static const struct want filter_wants[] = {
	WANT("state", TEXT, struct filter, state, 1, 16),
	WANT("kind", TEXT, struct filter, kind, 1, RP_MOST_NAME),
	WANT("key", TEXT, struct filter, key, 1, RP_MOST_KEY),
	WANT("group", TEXT, struct filter, group, 1, RP_MOST_KEY),
	WANT("error", TEXT, struct filter, error, 1, RP_MOST_ERROR),
	WANT("older", DURATION, struct filter, older_ms, 0, RP_MOST_MS),
	WANTS_END,
};

/* Make request->json from those parameters of the query that a body with a
 * filter would have as members. */
static int
query_to_json(struct request *request)
{
	request->json = json_object();
	for (const struct want *want = filter_wants; want->name; want++) {
		const char *value = parameter(request, want->name);

		if (value && json_object_set_new(request->json, want->name,
						 json_string(value)) < 0)
			return refuse_memory(request);
	}
	return request->json ? 0 : refuse_memory(request);
}

/* Read a filter from the query, after query_to_json(). */
static int
take_query(struct request *request, struct filter *f)
{
	f->queue = parameter(request, "queue");
	if (fields_read(request, request->json, "", filter_wants, f) < 0)
		return -1;
	return take_state(request, f, LIVE | KEPT, listed_states(f));
}

/* Read a filter from the body. */
static int
take_body(struct request *request, struct filter *f)
{
	f->queue = request->segments[2];
	return fields_read(request, request->json, "", filter_wants, f);
}

/* ---- pages ---- */

/* A cursor names the first jobs of the next page and the state of each, as in
 * "2-17,2-18,2-21". The page begins at the first place in the list where one of
 * these jobs is found with this state. If none is found, the jobs in front of
 * the list are being taken out quickly, and the page begins with the first job
 * of the list. So a page skips no job that stays, as long as one job of the
 * cursor stays, too. If a job of the cursor moves to an earlier place, the page
 * repeats the jobs after that place. */
#define CURSOR_JOBS 16
#define CURSOR_TEXT ((ID_TEXT + 3) * CURSOR_JOBS)

struct cursor {
	int64_t ids[CURSOR_JOBS];
	int states[CURSOR_JOBS];
	size_t count;
};

static int
read_cursor(const char *text, struct cursor *ret)
{
	char copy[CURSOR_TEXT], *rest = copy, *word;

	ret->count = 0;
	if (strlen(text) >= sizeof(copy))
		return -1;
	strcpy(copy, text);
	while ((word = strsep(&rest, ","))) {
		size_t n = ret->count++;

		if (n == CURSOR_JOBS || *word < '1' || *word > '9' ||
		    word[1] != '-' || parse_id(word + 2, &ret->ids[n]) < 0)
			return -1;
		ret->states[n] = *word - '0';
	}
	return 0;
}

/* Write the cursor of the page that begins with the index `at`. */
static void
write_cursor(const struct found *found, size_t at, char *to, size_t room)
{
	size_t end = at + CURSOR_JOBS, used = 0;

	for (size_t i = at; i < end && i < found->count; i++)
		used += (size_t)snprintf(to + used, room - used, "%s%d-%lld",
					 i > at ? "," : "", found->states[i],
					 (long long)found->ids[i]);
}

/* Returns whether a job that had the state `a` is at the same place in a list
 * if it has the state `b` now. Ready jobs become blocked, and ready again, when
 * the limit of their queue is reached, or not any more. */
static int
is_same_place(int a, int b)
{
	const int line = IN(RP_STATE_READY) | IN(RP_STATE_BLOCKED);

	return a == b || (IN(a) & line && IN(b) & line);
}

/* Returns the index at which the page of a cursor begins. */
static size_t
find_start(const struct found *found, const struct cursor *cursor)
{
	for (size_t i = 0; i < found->count; i++)
		for (size_t k = 0; k < cursor->count; k++)
			if (found->ids[i] == cursor->ids[k] &&
			    is_same_place(found->states[i], cursor->states[k]))
				return i;
	return 0;
}

int
jobs_prepare(struct request *request)
{
	static const char *const names[] = { "queue", "state",  "kind",
					     "key",   "group",  "error",
					     "older", "cursor", "limit",
					     NULL };
	const char *cursor = parameter(request, "cursor");
	struct filter f = FILTER_INIT;
	struct cursor start;

	if (check_parameters(request, names) < 0 ||
	    query_to_json(request) < 0 || take_query(request, &f) < 0)
		return -1;
	if (limit_read(request) < 0)
		return -1;
	if (cursor && read_cursor(cursor, &start) < 0)
		return refuse(request, RP_EINVAL, "cursor",
			      "expected the value of `next` in the answer with "
			      "the previous page");
	return f.queue ? guard_named_queue(request, "queue", f.queue) : 0;
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
	char next[CURSOR_TEXT];
	struct cursor start;
	size_t from = 0;
	int64_t to;

	if (cursor && read_cursor(cursor, &start) == 0)
		from = find_start(found, &start);
	to = read_page(request, conn, found, from, list);
	if (to < 0) {
		json_decref(list);
		refuse_error(request, (int)to, rp_last_error(conn));
		return;
	}
	object = json_pack("{s:o}", "jobs", list);
	if ((size_t)to < found->count) {
		write_cursor(found, (size_t)to, next, sizeof(next));
		json_object_set_new(object, "next", json_string(next));
	} else {
		json_object_set_new(object, "next", json_null());
	}
	if (found->is_partial)
		json_object_set_new(object, "partial", json_true());
	answer_json(request, 200, object);
}

/* Make a JSON list of the queues that the token may read. The caller frees it.
 * Returns 0 or RP_E*. */
static int
list_readable(const struct request *request, rp_conn *conn, char **ret)
{
	json_t *list = json_array();
	rp_queues *queues;
	int r = rp_queue_list(conn, NULL, &queues);

	for (size_t i = 0; r == 0 && i < rp_queues_count(queues); i++) {
		const char *name = rp_queues_at(queues, i)->name;

		if (may(request, MAY_READ, name))
			json_array_append_new(list, json_string(name));
	}
	if (r == 0) {
		rp_queues_free(queues);
		*ret = json_dumps(list, JSON_COMPACT);
		r = *ret ? 0 : RP_ENOMEM;
	}
	json_decref(list);
	return r;
}

/* A token that may not read all queues gets a search of its own queues only.
 * Otherwise the jobs of other queues could use up the number of jobs that a
 * search examines, and the cursor would reveal their ids. */
void
jobs_run(struct request *request, rp_conn *conn)
{
	struct filter f = FILTER_INIT;
	struct found found = { 0 };
	char *queues = NULL;
	int r = 0;

	if (take_query(request, &f) < 0)
		return;
	if (!f.queue && !may(request, MAY_READ, NULL))
		r = list_readable(request, conn, &queues);
	f.queues = queues;
	if (r == 0)
		r = find_matching(conn, &f, &found);
	if (r < 0)
		refuse_error(request, r, rp_last_error(conn));
	else
		answer_page(request, conn, &found);
	found_free(&found);
	free(queues);
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
		if (r < 0 && changed.done)
			refuse_partly(request, r, rp_last_error(conn),
				      changed.done);
		else if (r < 0)
			refuse_error(request, r, rp_last_error(conn));
		else
			answer_json(request, 200,
				    json_pack("{s:I, s:I}", "jobs",
					      (json_int_t)changed.done, "taken",
					      (json_int_t)changed.taken));
	}
	found_free(&found);
}
