/*
 * check_server.c - checks of `readpast doctor` on a server that need more than
 * one query. They test whether notifications arrive, and which plan a claim
 * uses.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <string.h>

#include "doctor.h"
#include "internal.h"

#define MOST_PAGES 2000

/* ---- do notifications arrive? ---- */

int
check_wakeup(struct doctor *d)
{
	rp_options options = RP_OPTIONS_INIT;
	int pooled = rp__is_pooled(d->conn), came;
	rp_conn *other;
	rp_error error;

	if (!rp__has_notifications(d->conn))
		return DOCTOR_NOT_HERE;
	options.schema = RP_SCHEMA_REQUIRE;
	if (rp_open(d->url, &options, &other, &error) < 0)
		return doctor_undone(d, "cannot open a second connection: %s",
				     error.message);
	came = rp__hears(d->conn, other);
	rp_close(other);
	if (came && !pooled)
		return 0;
	return doctor_found(
		d, json_pack("{ss sb sb}", "why",
			     pooled ? "a pooler is in between, and may give "
				      "each transaction another session"
				    : "a notification did not arrive",
			     "pooler", pooled, "came_back", came));
}

/* ---- is the plan of a claim good? ---- */

/* Return the plan from the result of an EXPLAIN, or NULL if the result
 * has no plan. */
static json_t *
plan_in(const json_t *rows)
{
	const char *text = json_string_value(
		json_object_get(json_array_get(rows, 0), "QUERY PLAN"));
	json_t *all = text ? json_loads(text, 0, NULL) : NULL;
	json_t *plan =
		json_incref(json_object_get(json_array_get(all, 0), "Plan"));

	json_decref(all);
	return plan;
}

static const char *
text_of(const json_t *node, const char *name)
{
	const char *text = json_string_value(json_object_get(node, name));

	return text ? text : "";
}

/* Find the node of the plan that reads the ready line from table job. InitPlans
 * are skipped, because they read other tables. */
static const json_t *
find_scan(const json_t *node)
{
	const json_t *child, *found = NULL;
	size_t i;

	if (strcmp(text_of(node, "Relation Name"), "job") == 0)
		return node;
	json_array_foreach (json_object_get(node, "Plans"), i, child)
		if (strcmp(text_of(child, "Parent Relationship"), "InitPlan") !=
			    0 &&
		    !found)
			found = find_scan(child);
	return found;
}

static int64_t
pages_of(const json_t *plan)
{
	return json_integer_value(json_object_get(plan, "Shared Hit Blocks")) +
	       json_integer_value(json_object_get(plan, "Shared Read Blocks"));
}

/* Judge a plan. The finding's fix is the text `fix` and the name of table job.
 * Returns 0 if the plan is good, and -1 on failure. Returns 1 if a finding was
 * reported, or if the plan could not be judged. */
static int
judge(struct doctor *d, const json_t *plan, const char *fix)
{
	const json_t *scan = find_scan(plan);
	const char *index = text_of(scan, "Index Name");
	int64_t pages = pages_of(plan);
	int r;

	if (!plan || (strcmp(index, "job_line") == 0 && pages <= MOST_PAGES))
		return !plan;
	r = doctor_found(
		d, json_pack("{so so so}", "how",
			     json_sprintf("%s%s%s", text_of(scan, "Node Type"),
					  *index ? " of " : "", index),
			     "pages",
			     pages ? json_integer(pages) : json_string("all"),
			     "fix",
			     json_sprintf("%s %s.job", fix,
					  text_of(scan, "Schema"))));
	return r < 0 ? r : 1;
}

static int
ask(struct doctor *d, const char *question, const char *fix)
{
	json_t *rows = json_array(), *plan;
	int r = rows ? doctor_ask(d, doctor_question(d, question), rows) : -1;

	if (r == 0) {
		plan = plan_in(rows);
		r = judge(d, plan, fix);
		json_decref(plan);
	}
	json_decref(rows);
	return r;
}

/* Check the plan of a claim. First judge the estimated plan, which costs
 * nothing. Then run the statement twice, and judge how many pages the second
 * run reads. The first run marks dead index entries, and the second run skips
 * the marked ones. Entries that an old snapshot needs cannot be marked, so many
 * pages mean that something prevents vacuum. */
int
check_plan(struct doctor *d)
{
	json_t *warm;
	int r;

	if (!doctor_question(d, "plan"))
		return DOCTOR_NOT_HERE;
	warm = json_array();
	r = warm ? ask(d, "plan",
		       "see the finding about index job_line, if there is one; "
		       "then run: analyze")
		 : -1;

	if (r == 0)
		r = doctor_ask(d, doctor_question(d, "plan_cost"), warm);
	if (r == 0 && json_array_size(warm))
		r = ask(d, "plan_cost",
			"find out whether a client sweeps, and what prevents "
			"vacuum on table");
	json_decref(warm);
	return r < 0 ? r : 0;
}
