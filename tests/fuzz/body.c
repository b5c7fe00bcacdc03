/*
 * body.c - fuzz the reader of JSON bodies. It must refuse every member that is
 * unknown, or whose type or range is wrong.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "fuzz.h"

#include "fields.h"
#include "internal.h"
#include "request.h"

struct all {
	const char *text;
	int64_t count, limit, size, duration, time;
	int flag;
	json_t *json;
};

static const struct want wants[] = {
	WANT("text", TEXT, struct all, text, 1, 10),
	WANT("count", COUNT, struct all, count, 1, 1000),
	WANT("limit", LIMIT, struct all, limit, 1, RP_MOST_LIMIT),
	WANT("size", SIZE, struct all, size, 0, RP_MOST_PAYLOAD),
	WANT("duration", DURATION, struct all, duration, 0, RP_MOST_MS),
	WANT("time", TIME, struct all, time, 0, RP_MOST_TIME),
	WANT("flag", FLAG, struct all, flag, 0, 0),
	WANT("json", JSON, struct all, json, 0, 0),
	WANTS_END,
};

static void
check(const struct all *all)
{
	if (all->text) {
		size_t n = strlen(all->text);

		must(n >= 1 && n <= 10 && rp__utf8(all->text, n));
	}
	must(all->count >= 0 && all->count <= 1000);
	must(all->limit >= 0 && all->limit <= RP_MOST_LIMIT);
	must(all->size >= 0 && all->size <= RP_MOST_PAYLOAD);
	must(all->duration >= 0 && all->duration <= RP_MOST_MS);
	must(all->time >= 0 && all->time <= RP_MOST_TIME);
	must(all->flag == 0 || all->flag == 1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = text_of(data, size);
	struct request request = { .body = text, .body_size = size };
	struct all all = { 0 };

	if (body_parse(&request) == 0 &&
	    fields_read(&request, request.json, "", wants, &all) == 0) {
		must(request.answer.status == 0);
		check(&all);
	} else {
		must_be_refused(&request, 400);
	}
	forget_request(&request);
	free(text);
	return 0;
}
