/*
 * cmd_check.c - the command `check`: read histories (records of what clients
 * did), and check that the queue kept its promises.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <errno.h>
#include <string.h>

/* Read one history. The name `-` means standard input. */
static int
read_file(struct checker *checker, const char *name)
{
	int standard = strcmp(name, "-") == 0;
	FILE *file = standard ? stdin : fopen(name, "r");
	char why[300];
	int r;

	if (!file)
		return complain(USAGE, "%s: %s", name, strerror(errno));
	r = checker_read(checker, file, standard ? "standard input" : name, why,
			 sizeof(why));
	if (!standard)
		fclose(file);
	return r < 0 ? complain(USAGE, "%s", why) : 0;
}

int
check_left(struct cmd *cmd, struct checker *checker, const char *queue)
{
	static const int states[] = { 0, RP_STATE_DONE, RP_STATE_DEAD,
				      RP_STATE_CANCELLED };
	int status = cmd->conn ? 0 : cmd_open(cmd);

	for (size_t k = 0; k < 4 && !status; k++) {
		rp_batch *batch;
		int r = rp_job_list(cmd->conn, queue, states[k], INT32_MAX,
				    &batch);

		if (r < 0)
			return cmd_failed(cmd, r);
		for (size_t i = 0; i < rp_batch_count(batch) && !status; i++)
			if (checker_left(checker, rp_batch_at(batch, i)->id) <
			    0)
				status = complain(FAILED, "out of memory");
		rp_batch_free(batch);
	}
	checker_audited(checker);
	return status ? status : check_groups(cmd, checker, queue);
}

/* Write whether a promise of docs/design.md was kept: "ok", or for example
 * "BROKEN (3)". */
static void
verdict_word(const struct verdicts *v, enum promise p, char *to, size_t room)
{
	if (v->broken[p])
		snprintf(to, room, "BROKEN (%lld)", (long long)v->broken[p]);
	else
		snprintf(to, room, "%s",
			 p == P1 && !v->audited ? "not checked" : "ok");
}

void
verdicts_print_claims(const struct verdicts *v)
{
	printf(": %lld claim%s, %lld verdict%s", (long long)v->claims,
	       plural(v->claims), (long long)v->settled, plural(v->settled));
	if (v->gaps)
		printf("; %lld claim%s not recorded, because clients were "
		       "killed",
		       (long long)v->gaps, plural(v->gaps));
	putchar('\n');
}

void
verdicts_print(const struct verdicts *v)
{
	const char *comma = "";

	for (int p = 0; p < PROMISES; p++) {
		char word[64];

		if (!v->examined[p])
			continue;
		verdict_word(v, (enum promise)p, word, sizeof(word));
		printf("%s%s %s", comma, promise_names[p], word);
		comma = ", ";
	}
	putchar('\n');
}

json_t *
verdicts_json(const struct verdicts *v, json_t *object)
{
	for (int p = 0; p < PROMISES; p++) {
		char word[64];

		verdict_word(v, (enum promise)p, word, sizeof(word));
		if (v->examined[p])
			json_object_set_new(object, promise_names[p],
					    json_string(word));
	}
	return object;
}

int
verdicts_broken(const struct verdicts *v)
{
	for (int p = 0; p < PROMISES; p++)
		if (v->broken[p])
			return 1;
	return 0;
}

static void
print_finding(void *ctx, enum promise promise, const char *text)
{
	if (!*(const int *)ctx)
		printf("%s %s\n", promise_names[promise], text);
	else
		print_json(json_pack("{ss ss}", "promise",
				     promise_names[promise], "finding", text));
}

static void
print_counts(const struct verdicts *v)
{
	printf("%lld event%s of %lld job%s by %lld client%s",
	       (long long)v->events, plural(v->events), (long long)v->jobs,
	       plural(v->jobs), (long long)v->clients, plural(v->clients));
	verdicts_print_claims(v);
	if (v->incomplete)
		printf("%lld event%s missing: %s could not be written "
		       "completely, for example because the disk was full\n",
		       (long long)v->incomplete,
		       v->incomplete == 1 ? " is" : "s are",
		       v->incomplete == 1 ? "its line" : "their lines");
	if (v->instants)
		printf("%lld instants of %lld schedules fired, the latest %lld "
		       "ms after its time\n",
		       (long long)v->instants, (long long)v->schedules,
		       (long long)v->latest_ms);
}

/* Print a line such as: P1 ok, P2 BROKEN (3), ... P1 and P2 are promises of
 * docs/design.md. */
static int
print_verdicts(const struct verdicts *v, int json)
{
	json_t *object = json_object();

	if (json && v->incomplete)
		json_object_set_new(object, "incomplete",
				    json_integer(v->incomplete));
	if (json && v->instants) {
		json_object_set_new(object, "instants",
				    json_integer(v->instants));
		json_object_set_new(object, "schedules",
				    json_integer(v->schedules));
		json_object_set_new(object, "latest_ms",
				    json_integer(v->latest_ms));
	}
	if (json) {
		print_json(json_incref(verdicts_json(v, object)));
	} else {
		print_counts(v);
		verdicts_print(v);
	}
	json_decref(object);
	return verdicts_broken(v) ? FAILED : DONE;
}

int
cmd_check(struct cmd *cmd, int argc, char **argv)
{
	struct texts left = { 0 };
	int json = 0;
	const struct option options[] = {
		{ "--left", TEXTS, &left, "QUEUE",
		  "jobs that are still in this queue are not lost; may be "
		  "repeated" },
		JSON_OPTION(&json),
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options);
	struct checker *checker;
	struct verdicts v;

	if (!status && argc == 0)
		status = usage(cmd, "which files?");
	checker = status ? NULL : checker_new();
	if (!status && !checker)
		status = complain(FAILED, "out of memory");
	for (int i = 0; i < argc && !status; i++)
		status = read_file(checker, argv[i]);
	for (size_t i = 0; i < left.count && !status; i++)
		status = check_left(cmd, checker, left.items[i]);
	if (!status && checker_run(checker, print_finding, &json, &v) < 0)
		status = complain(FAILED, "out of memory");
	if (!status)
		status = print_verdicts(&v, json);
	checker_free(checker);
	free(left.items);
	return status;
}
