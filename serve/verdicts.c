/*
 * verdicts.c - requests that give verdicts on claimed jobs.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "fields.h"

#include <stdlib.h>
#include <string.h>

#include "handlers.h"
#include "internal.h"
#include "writes.h"

struct wanted_verdict {
	const char *claim, *verdict, *error, *progress, *hold;
	int64_t id, claim_no, delay_ms, lease_ms, hold_ms;
	json_t *result;
	const char *result_base64;
};

const char *const verdict_words[RP_EXTEND + 1] = {
	[RP_DONE] = "done",       [RP_FAIL] = "fail",     [RP_DEAD] = "dead",
	[RP_RELEASE] = "release", [RP_EXTEND] = "extend",
};

static const char only_done[] = "only for the verdict \"done\"";

static int
take_word(struct request *request, const char *word, const char *field,
	  int *ret)
{
	for (int i = RP_DONE; word && i <= RP_EXTEND; i++)
		if (strcmp(word, verdict_words[i]) == 0) {
			*ret = i;
			return 0;
		}
	return refuse(request, RP_EINVAL, field,
		      "expected done, fail, dead, release or extend");
}

static int
take_claim_no(struct request *request, const struct wanted_verdict *w,
	      const char *where, rp_verdict *v)
{
	if (w->claim ? w->id || w->claim_no : !w->id || !w->claim_no)
		return refuse_member(request, where, "claim",
				     "give either claim, or id and claim_no");
	v->id = w->id;
	v->claim_no = w->claim_no;
	if (w->claim && parse_claim(w->claim, &v->id, &v->claim_no) < 0)
		return refuse_member(request, where, "claim",
				     "expected ID:CLAIMNO");
	return 0;
}

static int
refuse_result(struct request *request, const char *where, const char *member)
{
	char field[64];

	snprintf(field, sizeof(field), "%s.%s", where, member);
	return refuse(request, RP_EFBIG, field,
		      "the result is larger than %d bytes", RP_MOST_RESULT);
}

/* Take a result. Like a payload, it is a string, any other JSON value, or bytes
 * in base64. With another verdict than "done", null stands for no result. */
static int
take_result(struct request *request, const struct wanted_verdict *w,
	    const char *where, rp_verdict *v)
{
	struct bytes result;

	if (v->verdict != RP_DONE && w->result_base64)
		return refuse_member(request, where, "result_base64",
				     only_done);
	if (v->verdict != RP_DONE)
		return !w->result || json_is_null(w->result)
			       ? 0
			       : refuse_member(request, where, "result",
					       only_done);
	if (bytes_read(request, where, "result", w->result, w->result_base64,
		       &result) < 0)
		return -1;
	v->result_bytes = result.data;
	v->result_size = result.size;
	if (result.memory && !writes_keep(request->writes, result.memory))
		return refuse_memory(request);
	if (result.size > RP_MOST_RESULT)
		return refuse_result(request, where,
				     w->result_base64 ? "result_base64"
						      : "result");
	return 0;
}

/* Take the members with which a verdict also holds the job's group or queue. */
static int
take_hold(struct request *request, const struct wanted_verdict *w,
	  const char *where, rp_verdict *v)
{
	if (!w->hold)
		return w->hold_ms < 0 ? 0
				      : refuse_member(request, where, "for",
						      "only together with "
						      "hold");
	if (v->verdict == RP_DONE || v->verdict == RP_EXTEND)
		return refuse_member(request, where, "hold",
				     "only for the verdicts \"fail\", \"dead\" "
				     "and \"release\"");
	v->hold = rp__hold_number(w->hold);
	if (!v->hold)
		return refuse_member(request, where, "hold",
				     "expected group or queue");
	if (w->hold_ms < 0)
		return refuse_member(request, where, "for",
				     "for how long? Give a duration such as "
				     "\"30s\"");
	v->hold_ms = w->hold_ms;
	return 0;
}

/* Check that the verdict has no member that belongs to another kind of
 * verdict. */
static int
check_verdict(struct request *request, const struct wanted_verdict *w,
	      const char *where, const rp_verdict *v)
{
	int kind = v->verdict;

	if (w->delay_ms >= 0 && kind != RP_FAIL && kind != RP_RELEASE)
		return refuse_member(request, where, "delay",
				     "only for the verdicts \"fail\" and "
				     "\"release\"");
	if (w->lease_ms >= 0 && kind != RP_EXTEND)
		return refuse_member(request, where, "lease",
				     "only for the verdict \"extend\"");
	if (w->error && kind != RP_FAIL && kind != RP_DEAD)
		return refuse_member(
			request, where, "error",
			"only for the verdicts \"fail\" and \"dead\"");
	if (w->progress && kind == RP_DONE)
		return refuse_member(request, where, "progress",
				     "not for the verdict \"done\"");
	return 0;
}

static int
take_verdict(struct request *request, json_t *object, const char *where,
	     rp_verdict *v)
{
	static const struct want wants[] = {
		WANT("claim", TEXT, struct wanted_verdict, claim, 1, 64),
		WANT("id", COUNT, struct wanted_verdict, id, 1, INT64_MAX),
		WANT("claim_no", COUNT, struct wanted_verdict, claim_no, 1,
		     INT64_MAX),
		WANT("verdict", TEXT, struct wanted_verdict, verdict, 1, 16),
		WANT("delay", DURATION, struct wanted_verdict, delay_ms, 0,
		     RP_MOST_MS),
		WANT("lease", DURATION, struct wanted_verdict, lease_ms, 1,
		     RP_MOST_MS),
		WANT("error", TEXT, struct wanted_verdict, error, 0, INT32_MAX),
		WANT("result", VALUE, struct wanted_verdict, result, 0, 0),
		WANT("result_base64", TEXT, struct wanted_verdict,
		     result_base64, 0, INT32_MAX),
		WANT("progress", TEXT, struct wanted_verdict, progress, 0,
		     RP_MOST_PROGRESS),
		WANT("hold", TEXT, struct wanted_verdict, hold, 1, 16),
		WANT("for", DURATION, struct wanted_verdict, hold_ms, 1,
		     RP_MOST_MS),
		WANTS_END,
	};
	struct wanted_verdict w = { .delay_ms = -1,
				    .lease_ms = -1,
				    .hold_ms = -1 };
	char field[64];

	*v = (rp_verdict)RP_VERDICT_INIT;
	if (fields_read(request, object, where, wants, &w) < 0)
		return -1;
	snprintf(field, sizeof(field), "%s.verdict", where);
	if (take_word(request, w.verdict, field, &v->verdict) < 0 ||
	    take_claim_no(request, &w, where, v) < 0 ||
	    check_verdict(request, &w, where, v) < 0 ||
	    take_hold(request, &w, where, v) < 0)
		return -1;
	v->delay_ms = v->verdict == RP_EXTEND ? w.lease_ms : w.delay_ms;
	v->error = w.error;
	v->progress = w.progress;
	return take_result(request, &w, where, v);
}

int
verdicts_take(struct request *request, json_t *list, size_t least)
{
	struct writes *writes = request->writes;
	size_t n = json_array_size(list), i;
	json_t *one;

	/* For which queues the token allows work is checked when the queues of
	 * the jobs are read. */
	if (request->token && !token_may_work(request->token))
		return refuse_scope(request);
	if (!json_is_array(list) || n < least || n > MOST_JOBS)
		return refuse(request, RP_EINVAL, "verdicts",
			      "expected a list of %zu to %d verdicts", least,
			      MOST_JOBS);
	writes->verdicts = calloc(n + 1, sizeof(*writes->verdicts));
	if (!writes->verdicts)
		return refuse_memory(request);
	json_array_foreach (list, i, one) {
		char where[32];

		snprintf(where, sizeof(where), "verdicts[%zu]", i);
		if (take_verdict(request, one, where, &writes->verdicts[i]) < 0)
			return -1;
	}
	writes->verdicts_count = n;
	return 0;
}

int
verdict_outcome(const rp_verdict *v)
{
	return v->state == RP_STATE_DEAD ? RP_DEAD : v->verdict;
}

static const char *
result_text(int result)
{
	return result == 0               ? "ok"
	       : result == RP_ECANCELLED ? "cancelled"
	       : result == RP_ENOENT     ? "not-found"
					 : "gone";
}

json_t *
writes_verdicts(const struct writes *writes)
{
	json_t *results = json_array();

	for (size_t i = 0; i < writes->verdicts_count; i++) {
		const rp_verdict *v = &writes->verdicts[i];
		json_t *one = json_pack("{s:I, s:s}", "id", (json_int_t)v->id,
					"outcome", result_text(v->result));

		json_object_set_new(one, "state",
				    v->result == 0
					    ? json_text(rp_state_text(v->state))
					    : json_null());
		json_array_append_new(results, one);
	}
	return json_pack("{s:o}", "results", results);
}

static void
verdicts_finish(struct request *request)
{
	answer_json(request, 200, writes_verdicts(request->writes));
}

int
verdicts_prepare(struct request *request)
{
	struct body {
		json_t *verdicts;
	} body = { NULL };
	const struct want wants[] = {
		WANT("verdicts", JSON, struct body, verdicts, 0, 0),
		WANTS_END,
	};
	struct writes *writes = writes_new(request);

	if (!writes || nothing_prepare(request) < 0 ||
	    body_parse(request) < 0 ||
	    fields_read(request, request->json, "", wants, &body) < 0)
		return -1;
	writes->finish = verdicts_finish;
	return verdicts_take(request, body.verdicts, 1);
}
