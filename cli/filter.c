/*
 * filter.c - select the jobs that a command acts on, by ids or by a filter. The
 * queries in sql/<database>/find/ find the jobs that match a filter.
 *
 * A command that only reads must cost the same however many jobs there are. So
 * it examines only the first 10,000 jobs of each state, unless --all is given.
 * A command that changes jobs examines all of them.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "list.h"

#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "queries.h"

int
is_narrow(const struct filter *f)
{
	return f->key || f->group || f->error || f->older_ms >= 0;
}

int
has_filter(const struct filter *f)
{
	return f->queue || f->kind || is_narrow(f);
}

int
no_filter(const struct cmd *cmd, const struct filter *f)
{
	if (f->state)
		return usage(cmd,
			     "--state %.40s alone would match jobs of all "
			     "queues: add --queue QUEUE, or --older 0s for all "
			     "queues",
			     f->state);
	return usage(cmd, "which jobs? Give ids, or a filter such as --queue, "
			  "--kind or --key");
}

void
name_states(char *to, size_t room, int states)
{
	size_t used = 0;

	for (int s = RP_STATE_SCHEDULED; s <= RP_STATE_BLOCKED; s++) {
		int is_last = states >> s == 1;

		if (states & IN(s))
			used += (size_t)snprintf(to + used, room - used, "%s%s",
						 used == 0 ? ""
						 : is_last ? " or "
							   : ", ",
						 rp_state_text(s));
	}
}

int
listed_states(const struct filter *f)
{
	return f->error ? LIVE | IN(RP_STATE_DEAD) : LIVE;
}

int
choose_states(struct filter *f, int allowed, int otherwise, char *words)
{
	int number;

	f->states = otherwise;
	if (!f->state)
		return 0;
	number = rp_state_number(f->state);
	f->states = strcmp(f->state, "all") == 0 ? allowed
		    : number                     ? allowed & IN(number)
						 : 0;
	if (f->states)
		return 0;
	name_states(words, STATE_NAMES, allowed);
	return -1;
}

int
check_states(const struct cmd *cmd, struct filter *f, int allowed,
	     int otherwise)
{
	char words[STATE_NAMES];

	if (choose_states(f, allowed, otherwise, words) == 0)
		return 0;
	return usage(cmd, "--state %.40s: expected %s, or \"all\"", f->state,
		     words);
}

/* ---- results ---- */

/* Returns 0 or RP_ENOMEM. */
static int
add(struct found *found, int64_t id, int state)
{
	size_t room = found->room ? 2 * found->room : 64;
	int64_t *ids = found->ids;
	int *states = found->states;

	if (found->count == found->room) {
		ids = realloc(ids, room * sizeof(*ids));
		if (ids)
			found->ids = ids;
		states = realloc(states, room * sizeof(*states));
		if (states)
			found->states = states;
		if (!ids || !states)
			return RP_ENOMEM;
		found->room = room;
	}
	ids[found->count] = id;
	states[found->count++] = state;
	return 0;
}

void
found_free(struct found *found)
{
	free(found->ids);
	free(found->states);
	*found = (struct found){ 0 };
}

static int
add_row(void *ctx, const struct rp_row *row)
{
	struct found *found = ctx;

	if (row->columns[0].type == RP_INT)
		return add(found, row->columns[0].i, (int)row->columns[1].i);
	found->is_partial = 1;
	return 0;
}

int
parse_ids(const struct cmd *cmd, int argc, char **argv, struct found *ret)
{
	int64_t id;

	for (int i = 0; i < argc; i++) {
		if (parse_id(argv[i], &id) < 0)
			return usage(cmd,
				     "%.80s: expected a job's id (a queue is "
				     "named with --queue)",
				     argv[i]);
		if (add(ret, id, 0) < 0)
			return complain(FAILED, "out of memory");
	}
	return 0;
}

/* ---- searching ---- */

static int
run(rp_conn *conn, const struct filter *f, int64_t now, const char *name,
    struct found *ret)
{
	const struct rp_value none = { .type = RP_NULL };
	const struct rp_param params[] = {
		{ "queue", rp__text(f->queue) },
		{ "queues", rp__text(f->queues) },
		{ "kind", rp__text(f->kind) },
		{ "key", rp__text(f->key) },
		{ "group", rp__text(f->group) },
		{ "error", rp__text(f->error) },
		{ "before",
		  f->older_ms < 0 ? none : rp__int(now - f->older_ms) },
		{ "now_ms", rp__int(now) },
		{ "states", rp__int(f->states) },
		{ "looks", rp__int(f->all ? INT32_MAX : RP_MOST_COUNTED) },
		{ "every", rp__int(f->all) },
		{ NULL, none },
	};
	const struct rp_query query = {
		.sql = find_query(rp_conn_scheme(conn), "find", name),
		.params = params,
		.flags = RP_QUERY_READ,
		.row = add_row,
		.ctx = ret,
	};

	return rp__query(conn, &query);
}

int
find_matching(rp_conn *conn, const struct filter *f, struct found *ret)
{
	rp_queues *queues = NULL;
	int64_t now;
	int r = rp_now(conn, &now);

	/* If the filter names a queue that does not exist, return an error and
	 * not an empty result. */
	if (r == 0 && f->queue)
		r = rp_queue_list(conn, f->queue, &queues);
	rp_queues_free(queues);
	if (r == 0 && f->states & LIVE)
		r = run(conn, f, now, "live", ret);
	if (r == 0 && f->states & KEPT)
		r = run(conn, f, now, "kept", ret);
	return r;
}

int
find_jobs(struct cmd *cmd, const struct filter *f, struct found *ret)
{
	int r = find_matching(cmd->conn, f, ret);

	return r < 0 ? cmd_failed(cmd, r) : 0;
}

void
complain_of_partial(const struct found *found)
{
	if (found->is_partial)
		complain(0,
			 "only the first %d jobs of each state were searched; "
			 "--all searches all jobs",
			 RP_MOST_COUNTED);
}

/* ---- commands that read each job (show, why) ---- */

static int
check_look(const struct cmd *cmd, struct filter *f, int argc)
{
	if (argc && (has_filter(f) || f->state))
		return usage(cmd, "give either ids or a filter, not both");
	if (argc == 0 && !has_filter(f))
		return no_filter(cmd, f);
	return check_states(cmd, f, LIVE | KEPT, LIVE | KEPT);
}

/* Read and print the jobs one by one, so that an error with one job does not
 * keep the other jobs from being printed. */
static int
look_at_each(struct cmd *cmd, const struct found *found, look_fn *look,
	     int json)
{
	int status = 0;

	for (size_t i = 0; i < found->count && status != FAILED; i++)
		status = worst(status, look(cmd, found->ids[i], i == 0, json));
	complain_of_partial(found);
	return status;
}

int
each_job(struct cmd *cmd, int argc, char **argv, look_fn *look)
{
	struct filter f = FILTER_INIT;
	struct found found = { 0 };
	int json = 0, dry_run = 0;
	const struct option options[] = {
		FILTER_OPTIONS(&f),
		{ "--all", FLAG, &f.all, NULL,
		  "search all jobs, not only the first 10,000" },
		{ "--dry-run", FLAG, &dry_run, NULL,
		  "only print how many match, and three of them" },
		JSON_OPTION(&json),
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options);

	if (!status)
		status = check_look(cmd, &f, argc);
	if (!status)
		status = parse_ids(cmd, argc, argv, &found);
	if (!status)
		status = cmd_open(cmd);
	if (!status && argc == 0)
		status = find_jobs(cmd, &f, &found);
	if (!status && dry_run)
		status = print_dry_run(cmd, &found, "shown", json);
	else if (!status && found.count == 0)
		status = complain(NOTHING, "no job matches");
	else if (!status)
		status = look_at_each(cmd, &found, look, json);
	found_free(&found);
	return status;
}
