/*
 * spec.c - turn options of `enqueue` into fields of an rp_job_spec: the
 * headers, and settings of a single job such as its backoff.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"
#include "trace.h"

#include <stdlib.h>
#include <string.h>

/* Add a NAME=VALUE pair to the headers. Returns 0, or an exit status after
 * printing an error. */
static int
add_header(const struct cmd *cmd, json_t *headers, const char *pair)
{
	const char *equals = strchr(pair, '=');
	char *name = equals ? strndup(pair, (size_t)(equals - pair)) : NULL;
	int status = 0;

	if (name && json_object_get(headers, name))
		status = usage(cmd, "--header %.80s: the header is given twice",
			       name);
	else if (!name || !*name ||
		 json_object_set_new(headers, name, json_string(equals + 1)) <
			 0)
		status = usage(cmd,
			       "--header %.80s: expected NAME=VALUE, in UTF-8",
			       pair);
	free(name);
	return status;
}

char *
make_headers(const struct cmd *cmd, const struct texts *pairs, int with_trace)
{
	json_t *object = json_object();
	char *text = NULL;
	int ok = object != NULL;

	for (size_t i = 0; i < pairs->count && ok; i++)
		ok = add_header(cmd, object, pairs->items[i]) == 0;
	if (ok && (!with_trace || trace_add(object) == 0))
		text = json_dumps(object, JSON_COMPACT);
	if (ok && !text)
		complain(FAILED, "out of memory");
	json_decref(object);
	return text;
}

/* Parse the first delay of a list, up to a comma or the end. Returns -1 if this
 * delay is not a duration. */
static int64_t
first_delay(const char *list)
{
	char word[32];
	size_t n = strcspn(list, ",");
	int64_t ms;

	if (n >= sizeof(word))
		return -1;
	memcpy(word, list, n);
	word[n] = '\0';
	return rp_duration(word, &ms) < 0 ? -1 : ms;
}

/* Make a JSON array of a list of durations. Returns 0, or an exit status after
 * printing an error. */
static int
make_backoff(const struct cmd *cmd, const char *list, char **ret)
{
	json_t *array = json_array();
	const char *at = list;

	do {
		int64_t ms = first_delay(at);

		if (ms < 0 || json_array_size(array) == RP_MOST_BACKOFF) {
			json_decref(array);
			return usage(cmd,
				     "--backoff %.80s: expected 1 to %d "
				     "durations with commas between them, such "
				     "as 10s,1m,1h",
				     list, RP_MOST_BACKOFF);
		}
		json_array_append_new(array, json_integer(ms));
		at += strcspn(at, ",");
	} while (*at++);
	*ret = json_dumps(array, JSON_COMPACT);
	json_decref(array);
	return *ret ? 0 : complain(FAILED, "out of memory");
}

static int
take_span(const struct cmd *cmd, const char *option, int64_t ms, int64_t *ret)
{
	if (ms == 0)
		return usage(cmd, "%s 0: expected at least 1ms", option);
	*ret = ms < 0 ? 0 : ms;
	return 0;
}

int
take_terms(const struct cmd *cmd, const struct terms *terms, rp_job_spec *model,
	   char **backoff)
{
	int status = take_span(cmd, "--keep", terms->keep_ms, &model->keep_ms);

	if (!status)
		status = take_span(cmd, "--timeout", terms->timeout_ms,
				   &model->timeout_ms);
	if (!status)
		status = take_span(cmd, "--expire", terms->expire_ms,
				   &model->expire_ms);
	if (!status)
		status = take_span(cmd, "--unique-for", terms->unique_for_ms,
				   &model->unique_for_ms);
	if (!status && model->unique_for_ms && !model->unique_key)
		status = usage(cmd, "--unique-for needs --unique KEY");
	if (!status && terms->backoff)
		status = make_backoff(cmd, terms->backoff, backoff);
	model->backoff = *backoff;
	return status;
}

/* Returns the largest payload that the queue accepts, so that payloads can be
 * checked before they are sent. The database checks them again. */
size_t
most_payload(struct cmd *cmd, const char *queue)
{
	rp_queues *queues;
	size_t most = MAX_PAYLOAD;

	if (rp_queue_list(cmd->conn, queue, &queues) < 0)
		return most;
	most = (size_t)rp_queues_at(queues, 0)->max_payload;
	rp_queues_free(queues);
	return most;
}
