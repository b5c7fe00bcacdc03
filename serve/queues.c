/*
 * queues.c - requests about queues and their settings.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "fields.h"

#include <string.h>

#include "handlers.h"
#include "internal.h"
#include "settings.h"

#define MOST_SETTINGS 32
#define MOST_RATE 40 /* bytes of a rate as text */

/* ---- reading ---- */

void
queues_run(struct request *request, rp_conn *conn)
{
	json_t *list = json_array();
	rp_queues *queues;
	int r = rp_queue_list(conn, NULL, &queues);

	if (r < 0) {
		json_decref(list);
		refuse_error(request, r, rp_last_error(conn));
		return;
	}
	for (size_t i = 0; i < rp_queues_count(queues); i++)
		if (may(request, MAY_READ, rp_queues_at(queues, i)->name))
			json_array_append_new(
				list, json_queue(rp_queues_at(queues, i)));
	rp_queues_free(queues);
	answer_json(request, 200, json_pack("{s:o}", "queues", list));
}

static void
answer_queue(struct request *request, rp_conn *conn, int status)
{
	rp_queues *queues;
	int r = rp_queue_list(conn, request->segments[2], &queues);

	if (r < 0) {
		refuse_error(request, r, rp_last_error(conn));
		return;
	}
	answer_json(request, status, json_queue(rp_queues_at(queues, 0)));
	rp_queues_free(queues);
}

void
queue_run(struct request *request, rp_conn *conn)
{
	answer_queue(request, conn, 200);
}

/* ---- settings ---- */

/* The settings that a body gives. A text is NULL if the body does not have that
 * setting. */
struct wanted {
	rp_queue queue;
	const char *rate, *on_failure;
};

/* List the settings that are numbers. Their names in a body are the names of
 * the options of `queue set`, with _ in place of -. Returns how many there
 * are. */
static size_t
list_wants(struct want *wants, char names[][32])
{
	static const enum want_type types[] = {
		[COUNT] = WANT_COUNT,       [PRIORITY] = WANT_COUNT,
		[LIMIT] = WANT_LIMIT,       [SIZE] = WANT_SIZE,
		[DURATION] = WANT_DURATION,
	};
	size_t n = 0;

	for (size_t i = 0; i < settings_count; i++) {
		const struct setting *s = &settings[i];

		if (s->type == TEXT)
			continue;
		snprintf(names[n], 32, "%s", s->option + 2);
		for (char *c = names[n]; *c; c++)
			*c = *c == '-' ? '_' : *c;
		wants[n] = (struct want){ names[n], types[s->type],
					  offsetof(struct wanted, queue) +
						  s->offset,
					  s->least, s->most };
		n++;
	}
	return n;
}

/* Write the settings that are texts to wanted->queue. */
static int
take_words(struct request *request, struct wanted *wanted)
{
	rp_queue *queue = &wanted->queue;
	const char *word = wanted->on_failure;

	/* The library removes the setting if dead_to is "". */
	if (json_is_null(json_object_get(request->json, "dead_to")) ||
	    (queue->dead_to && strcmp(queue->dead_to, "none") == 0))
		queue->dead_to = "";
	if (queue->dead_to && strcmp(queue->dead_to, request->segments[2]) == 0)
		return refuse(request, RP_EINVAL, "dead_to",
			      "expected another queue than this one");
	if (word && strcmp(word, "block") != 0 && strcmp(word, "pass") != 0)
		return refuse(request, RP_EINVAL, "group_on_failure",
			      "expected block or pass");
	if (word)
		queue->group_pass = strcmp(word, "pass") == 0;
	if (json_is_null(json_object_get(request->json, "rate")))
		wanted->rate = "none";
	if (wanted->rate && rate_of(wanted->rate, queue) < 0)
		return refuse(request, RP_EINVAL, "rate",
			      "expected " EXPECTED_RATE);
	return 0;
}

static int
take_settings(struct request *request, rp_queue *queue)
{
	struct wanted wanted = { .queue = *queue };
	struct want wants[MOST_SETTINGS];
	char names[MOST_SETTINGS][32];
	size_t n = list_wants(wants, names);

	wants[n++] = (struct want)WANT("dead_to", NAME, struct wanted,
				       queue.dead_to, 0, RP_MOST_NAME);
	wants[n++] = (struct want)WANT("rate", TEXT, struct wanted, rate, 1,
				       MOST_RATE);
	wants[n++] = (struct want)WANT("group_on_failure", TEXT, struct wanted,
				       on_failure, 1, MOST_RATE);
	wants[n] = (struct want)WANTS_END;
	if (fields_read(request, request->json, "", wants, &wanted) < 0 ||
	    take_words(request, &wanted) < 0)
		return -1;
	*queue = wanted.queue;
	queue->name = request->segments[2];
	return 0;
}

int
queue_set_prepare(struct request *request)
{
	rp_queue queue = RP_QUEUE_INIT;

	if (nothing_prepare(request) < 0 || body_parse_optional(request) < 0 ||
	    take_settings(request, &queue) < 0)
		return -1;
	/* The dead jobs of this queue will be added to the queue dead_to. */
	return queue.dead_to && *queue.dead_to
		       ? guard_queue(request, MAY_ENQUEUE, queue.dead_to)
		       : 0;
}

/* PUT creates the queue; if the queue exists, PUT changes nothing. PATCH
 * changes a queue that exists. */
void
queue_set_run(struct request *request, rp_conn *conn)
{
	int makes = strcmp(request->method, "PUT") == 0;
	rp_queue queue = RP_QUEUE_INIT;
	int64_t is_new = 0;
	int r;

	if (take_settings(request, &queue) < 0)
		return;
	r = rp_begin(conn);
	if (r == 0) {
		r = rp__queue_known(conn, queue.name);
		if (r == RP_ENOENT && makes)
			r = rp__queue_create(conn, queue.name, &is_new);
		if (r == 0 && (is_new || !makes))
			r = rp_queue_set(conn, &queue);
		if (r == 0)
			r = rp_commit(conn);
	}
	if (r < 0) {
		const rp_error error = *rp_last_error(conn);

		rp_rollback(conn);
		refuse_error(request, r, &error);
		return;
	}
	answer_queue(request, conn, is_new ? 201 : 200);
}

/* The waiter's sweeps delete the jobs of the queue, because that can take
 * minutes. */
void
queue_drop_run(struct request *request, rp_conn *conn)
{
	int r = rp__queue_drop(conn, request->segments[2], 0);

	if (r < 0)
		refuse_error(request, r, rp_last_error(conn));
	else
		answer_json(request, 200,
			    json_pack("{s:s, s:s}", "queue",
				      request->segments[2], "result",
				      "dropped"));
}

/* ---- pause ---- */

static int
take_reason(struct request *request, const char **ret)
{
	struct body {
		const char *reason;
	} body = { NULL };
	static const struct want wants[] = {
		WANT("reason", NAME, struct body, reason, 0, RP_MOST_REASON),
		WANTS_END,
	};
	int r = fields_read(request, request->json, "", wants, &body);

	*ret = body.reason && *body.reason ? body.reason : NULL;
	return r;
}

int
queue_pause_prepare(struct request *request)
{
	const char *reason;

	if (nothing_prepare(request) < 0 || body_parse_optional(request) < 0)
		return -1;
	return take_reason(request, &reason);
}

void
queue_pause_run(struct request *request, rp_conn *conn)
{
	const char *reason;
	int r;

	if (take_reason(request, &reason) < 0)
		return;
	r = rp_queue_pause(conn, request->segments[2], reason);
	if (r < 0)
		refuse_error(request, r, rp_last_error(conn));
	else
		answer_queue(request, conn, 200);
}

void
queue_resume_run(struct request *request, rp_conn *conn)
{
	int r = rp_queue_resume(conn, request->segments[2]);

	if (r < 0)
		refuse_error(request, r, rp_last_error(conn));
	else
		answer_queue(request, conn, 200);
}

/* ---- hold ---- */

struct hold {
	const char *group; /* NULL: the whole queue */
	int64_t for_ms;    /* -1: the hold is to end now */
	int clear;
};

static int
take_hold(struct request *request, struct hold *ret)
{
	static const struct want wants[] = {
		WANT("group", NAME, struct hold, group, 1, RP_MOST_KEY),
		WANT("for", DURATION, struct hold, for_ms, 1, RP_MOST_MS),
		WANT("clear", FLAG, struct hold, clear, 0, 0),
		WANTS_END,
	};

	*ret = (struct hold){ NULL, -1, 0 };
	if (fields_read(request, request->json, "", wants, ret) < 0)
		return -1;
	if (ret->clear == (ret->for_ms >= 0))
		return refuse(request, RP_EINVAL, "for",
			      "give either for, a duration such as \"30s\", or "
			      "clear");
	return 0;
}

int
queue_hold_prepare(struct request *request)
{
	struct hold hold;

	if (nothing_prepare(request) < 0 || body_parse(request) < 0)
		return -1;
	return take_hold(request, &hold);
}

void
queue_hold_run(struct request *request, rp_conn *conn)
{
	const char *queue = request->segments[2];
	struct hold hold;
	int r;

	if (take_hold(request, &hold) < 0)
		return;
	r = rp_queue_hold(conn, queue, hold.group,
			  hold.clear ? 0 : hold.for_ms);
	if (r < 0)
		refuse_error(request, r, rp_last_error(conn));
	else
		answer_json(request, 200,
			    json_pack("{s:s, s:s?, s:s}", "queue", queue,
				      "group", hold.group, "result",
				      hold.clear ? "cleared" : "held"));
}
