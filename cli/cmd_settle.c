/*
 * cmd_settle.c - the commands that give verdicts on claims: complete, fail,
 * release, extend.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "history.h"
#include "internal.h"

/* Parse all claims. If one of them has a mistake, NULL is returned and no claim
 * is settled. */
static rp_verdict *
parse_claims(const struct cmd *cmd, const rp_verdict *model, int argc,
	     char **argv)
{
	rp_verdict *verdicts = calloc((size_t)argc + 1, sizeof(*verdicts));

	if (!verdicts) {
		complain(FAILED, "out of memory");
		return NULL;
	}
	for (int i = 0; i < argc; i++) {
		verdicts[i] = *model;
		if (parse_claim(argv[i], &verdicts[i].id,
				&verdicts[i].claim_no) == 0)
			continue;
		usage(cmd, "%.80s: expected a claim, ID:CLAIMNO", argv[i]);
		free(verdicts);
		return NULL;
	}
	return verdicts;
}

static const char *
refusal(int result)
{
	return result == RP_ENOENT ? "no such job" : rp_error_text(result);
}

/* Make a JSON object with the outcome for one claim: the job's new state, or
 * why the command was refused. */
static json_t *
json_settled(const rp_verdict *v)
{
	static const char *const words[] = {
		[RP_DONE] = "completed",  [RP_FAIL] = "failed",
		[RP_DEAD] = "failed",     [RP_RELEASE] = "released",
		[RP_EXTEND] = "extended",
	};
	int good = v->result >= 0;
	const struct member members[] = {
		{ "id", json_integer(v->id) },
		{ "claim", json_claim(v->id, v->claim_no) },
		{ "claim_no", json_integer(v->claim_no) },
		{ "result", json_text(good ? words[v->verdict]
				      : v->result == RP_ENOENT ? "missing"
							       : "refused") },
		{ "state", json_text(good ? rp_state_text(v->state) : NULL) },
		{ "error", json_text(good ? NULL : refusal(v->result)) },
	};

	return JSON_MEMBERS(members);
}

static int
settle(struct cmd *cmd, rp_verdict *verdicts, size_t n, char **claims, int json)
{
	int64_t asked = monotonic_us();
	int status = cmd_open(cmd), r;

	if (status)
		return status;
	for (size_t i = 0; i < n; i++)
		history_settling(cmd->history, verdicts[i].id,
				 verdicts[i].claim_no, verdicts[i].verdict,
				 verdicts[i].delay_ms);
	r = rp_settle(cmd->conn, verdicts, n);
	if (r < 0)
		return cmd_failed(cmd, r);
	for (size_t i = 0; i < n; i++) {
		const rp_verdict *v = &verdicts[i];

		history_settled(cmd->history, v->id, v->claim_no, v->verdict,
				v->delay_ms, v->result, v->state, asked);
		if (json)
			status = worst(status, print_json(json_settled(v)));
		if (v->result < 0)
			status = worst(status, complain(status_of(v->result),
							"%.80s: %s", claims[i],
							refusal(v->result)));
	}
	return status;
}

static int
parse_and_settle(struct cmd *cmd, const rp_verdict *model, int argc,
		 char **argv, int json)
{
	rp_verdict *verdicts;
	int status;

	if (argc == 0)
		return usage(cmd, "which claims? (ID:CLAIMNO)");
	verdicts = parse_claims(cmd, model, argc, argv);
	if (!verdicts)
		return USAGE;
	status = settle(cmd, verdicts, (size_t)argc, argv, json);
	free(verdicts);
	return status;
}

/* Read the result from a file, or from standard input if the name is `-`. This
 * happens before any job is completed. `to` has room for one byte more than the
 * largest result, so a result that is too large is noticed. Returns an exit
 * status. */
static int
read_result(const char *name, char *to, size_t *ret_size)
{
	int standard = strcmp(name, "-") == 0, failed;
	FILE *file = standard ? stdin : fopen(name, "r");

	if (!file)
		return complain(USAGE, "%.200s: %s", name, strerror(errno));
	*ret_size = fread(to, 1, RP_MOST_RESULT + 1, file);
	failed = ferror(file) ? errno : 0;
	if (!standard)
		fclose(file);
	if (failed)
		return complain(FAILED, "%.200s: %s", name, strerror(failed));
	if (*ret_size > RP_MOST_RESULT)
		return complain(USAGE,
				"%.200s: the result has more than " DIGITS(
					RP_MOST_RESULT) " bytes; store it "
							"elsewhere, and give "
							"its address as the "
							"result",
				name);
	return 0;
}

int
cmd_complete(struct cmd *cmd, int argc, char **argv)
{
	rp_verdict model = RP_VERDICT_INIT;
	char bytes[RP_MOST_RESULT + 1];
	const char *result = NULL;
	int json = 0;
	const struct option options[] = {
		{ "--result", TEXT, &result, "FILE",
		  "file with the job's result; -: standard input" },
		JSON_OPTION(&json),
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options);

	if (!status && argc && result) {
		model.result_bytes = bytes;
		status = read_result(result, bytes, &model.result_size);
	}
	return status ? status
		      : parse_and_settle(cmd, &model, argc, argv, json);
}

/* The options with which a verdict holds the job's group or queue. */
struct hold {
	const char *what;
	int64_t for_ms; /* -1: not given */
};
#define HOLD_INIT                                                              \
	{                                                                      \
		NULL, -1                                                       \
	}
#define HOLD_OPTIONS(hold)                                                     \
	{ "--hold", TEXT, &(hold)->what, "group|queue",                        \
	  "also hold the job's group or queue: start none of its jobs" },      \
	{                                                                      \
		"--for", DURATION, &(hold)->for_ms, "D",                       \
			"how long --hold lasts"                                \
	}

/* Check the options --hold and --for, and write their values to the verdict.
 * Returns 0, or an exit status after printing an error. */
static int
take_hold(const struct cmd *cmd, const struct hold *hold, rp_verdict *verdict)
{
	if (!hold->what)
		return hold->for_ms < 0
			       ? 0
			       : usage(cmd, "--for needs --hold group or "
					    "--hold queue");
	verdict->hold = rp__hold_number(hold->what);
	verdict->hold_ms = hold->for_ms;
	if (!verdict->hold)
		return usage(cmd, "--hold %.80s: expected group or queue",
			     hold->what);
	if (hold->for_ms < 0)
		return usage(cmd,
			     "--hold %s: for how long? Give --for D, such "
			     "as --for 30s",
			     hold->what);
	return hold->for_ms > 0 ? 0
				: usage(cmd, "--for 0s: expected at least 1ms");
}

int
cmd_fail(struct cmd *cmd, int argc, char **argv)
{
	rp_verdict model = RP_VERDICT_INIT;
	struct hold hold = HOLD_INIT;
	int for_good = 0, json = 0;
	const struct option options[] = {
		{ "--error", TEXT, &model.error, "TEXT",
		  "the reason of the failure" },
		{ "--retry-in", DURATION, &model.delay_ms, "D",
		  "delay before the next attempt (the queue's backoff)" },
		{ "--for-good", FLAG, &for_good, NULL, "never try again" },
		HOLD_OPTIONS(&hold),
		JSON_OPTION(&json),
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options);

	if (!status)
		status = take_hold(cmd, &hold, &model);
	if (status)
		return status;
	if (!model.error)
		return usage(cmd,
			     "give the reason of the failure: --error TEXT");
	if (for_good && model.delay_ms >= 0)
		return usage(cmd,
			     "give either --for-good or --retry-in, not both");
	model.verdict = for_good ? RP_DEAD : RP_FAIL;
	return parse_and_settle(cmd, &model, argc, argv, json);
}

int
cmd_release(struct cmd *cmd, int argc, char **argv)
{
	rp_verdict model = RP_VERDICT_INIT;
	struct hold hold = HOLD_INIT;
	int json = 0;
	const struct option options[] = {
		{ "--delay", DURATION, &model.delay_ms, "D",
		  "delay until the job is ready (none)" },
		HOLD_OPTIONS(&hold),
		JSON_OPTION(&json),
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options);

	if (!status)
		status = take_hold(cmd, &hold, &model);
	model.verdict = RP_RELEASE;
	return status ? status
		      : parse_and_settle(cmd, &model, argc, argv, json);
}

int
cmd_extend(struct cmd *cmd, int argc, char **argv)
{
	rp_verdict model = RP_VERDICT_INIT;
	int json = 0;
	const struct option options[] = {
		{ "--lease", DURATION, &model.delay_ms, "D",
		  "length of the new lease, counted from now\n"
		  "(default: the queue's)" },
		{ "--progress", TEXT, &model.progress, "TEXT",
		  "text that says how far the job is; the job's next\nattempt "
		  "can read it" },
		JSON_OPTION(&json),
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options);

	if (status)
		return status;
	if (model.delay_ms == 0)
		return usage(cmd, "--lease 0: expected at least 1ms");
	if (model.progress && strlen(model.progress) > RP_MOST_PROGRESS)
		return usage(cmd, "--progress: expected at most %d bytes",
			     RP_MOST_PROGRESS);
	model.verdict = RP_EXTEND;
	return parse_and_settle(cmd, &model, argc, argv, json);
}
