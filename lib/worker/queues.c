/*
 * queues.c - the list of queues that a worker serves. A route is the name of a
 * queue, or a pattern for names, together with a handler. The list has the
 * queues that routes name, and the queues that match the patterns. The worker
 * looks for new queues from time to time, and adds those that match a pattern.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "worker.h"

#include <stdlib.h>
#include <string.h>

/* The time between two looks for new queues, in milliseconds. */
#define LOOK_MS 1000

/* A look reads the queues whose ids are larger than old_queue_id. This is an
 * older value of the largest known id, replaced every YOUNG_MS. The largest id
 * that is known now would not do. Transactions that create queues may commit in
 * another order than that of the ids, so a queue may appear later than a queue
 * with a larger id. */
#define YOUNG_MS 5000
/* All queues are read every ALL_MS, in order to notice queues that were
 * dropped. */
#define ALL_MS 30000

/* ---- the list ---- */

static int
is_named(const rp_worker *w, const char *queue)
{
	for (size_t i = 0; i < w->routes_count; i++)
		if (!w->routes[i].is_pattern &&
		    strcmp(w->routes[i].queue, queue) == 0)
			return 1;
	return 0;
}

/* A new list of queues, which will replace the worker's list. One allocation
 * holds the pointers, followed by copies of the names. Because the names are
 * copied, the list stays valid when the queues in `found` are freed. */
struct list {
	const char **queues;
	size_t count;
	char *text; /* the place for the next name */
};

static int
list_new(const rp_worker *w, struct list *ret)
{
	size_t most = w->routes_count + w->found_count + 1, size = 0;

	for (size_t i = 0; i < w->routes_count; i++)
		size += strlen(w->routes[i].queue) + 1;
	for (size_t i = 0; i < w->found_count; i++)
		size += strlen(w->found[i].name) + 1;
	ret->queues = calloc(1, most * sizeof(*ret->queues) + size);
	ret->count = 0;
	ret->text = (char *)(ret->queues + most);
	return ret->queues ? 0 : RP_ENOMEM;
}

static void
append(struct list *list, const char *queue)
{
	list->queues[list->count++] = list->text;
	list->text = stpcpy(list->text, queue) + 1;
}

static void
add(struct list *list, const char *queue)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->queues[i], queue) == 0)
			return;
	append(list, queue);
}

/* Append to the list the queues that were found for the route's pattern. Skip
 * queues that are in the list already, and queues that a route names. */
static void
add_found(rp_worker *w, struct route *route, struct list *list)
{
	route->first = list->count;
	for (size_t i = 0; i < w->found_count; i++)
		if (!w->found[i].is_listed &&
		    rp__pattern_matches(route->queue, w->found[i].name) &&
		    !is_named(w, w->found[i].name)) {
			w->found[i].is_listed = 1;
			append(list, w->found[i].name);
		}
	route->count = list->count - route->first;
}

/* Make a new list of the worker's queues, in the order of the routes, and
 * replace the old list. If memory runs out, the old list stays until the next
 * look for queues, LOOK_MS later. */
static int
list_queues(rp_worker *w)
{
	struct list list;

	if (list_new(w, &list) < 0)
		return rp__fail(&w->conn->error, RP_ENOMEM, "out of memory");
	for (size_t i = 0; i < w->found_count; i++)
		w->found[i].is_listed = 0;
	for (size_t i = 0; i < w->routes_count; i++) {
		struct route *route = &w->routes[i];

		if (route->is_pattern)
			add_found(w, route, &list);
		else
			add(&list, route->queue);
	}
	free(w->queues);
	w->queues = list.queues;
	w->waiter.queues = list.queues;
	w->waiter.version++;
	w->is_list_old = 0;
	return 0;
}

void
rp__queues_rotate(rp_worker *w)
{
	for (size_t i = 0; w->has_patterns && i < w->routes_count; i++) {
		const struct route *route = &w->routes[i];
		const char **from = w->queues + route->first;
		const char *first = *from;

		if (!route->is_pattern || route->count < 2)
			continue;
		memmove(from, from + 1, (route->count - 1) * sizeof(*from));
		from[route->count - 1] = first;
	}
}

/* ---- looking for queues ---- */

/* One search of the database for queues that match the worker's patterns. */
struct look {
	rp_worker *worker;
	struct found *found; /* the queues that match a pattern */
	size_t count;
	int64_t last_id;
};

static void
free_found(struct found *found, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(found[i].name);
	free(found);
}

static int
matches_any(const rp_worker *w, const char *queue)
{
	for (size_t i = 0; i < w->routes_count; i++)
		if (w->routes[i].is_pattern &&
		    rp__pattern_matches(w->routes[i].queue, queue))
			return 1;
	return 0;
}

static int
add_queue(void *ctx, size_t row, const struct rp_value *c)
{
	struct look *look = ctx;
	struct found *more;
	char *name = strndup(c[QUEUES_AFTER_OUT_NAME].data,
			     c[QUEUES_AFTER_OUT_NAME].size);

	(void)row;
	if (!name)
		return RP_ENOMEM;
	look->last_id = c[QUEUES_AFTER_OUT_ID].i;
	if (!matches_any(look->worker, name)) {
		free(name);
		return RP_ROW_TAKE;
	}
	more = realloc(look->found, (look->count + 1) * sizeof(*more));
	if (!more) {
		free(name);
		return RP_ENOMEM;
	}
	look->found = more;
	more[look->count++] = (struct found){ name, 0 };
	return RP_ROW_TAKE;
}

static int
is_found(const rp_worker *w, const char *name)
{
	for (size_t i = 0; i < w->found_count; i++)
		if (strcmp(w->found[i].name, name) == 0)
			return 1;
	return 0;
}

/* Call this after a look that has read all queues. Replace `found`, the
 * worker's array of queues that match a pattern. Returns 1 if the array has
 * changed. */
static int
replace_found(rp_worker *w, struct look *look)
{
	int differs = look->count != w->found_count;

	for (size_t i = 0; i < look->count && !differs; i++)
		differs = strcmp(look->found[i].name, w->found[i].name) != 0;
	if (!differs) {
		free_found(look->found, look->count);
		return 0;
	}
	free_found(w->found, w->found_count);
	w->found = look->found;
	w->found_count = look->count;
	return 1;
}

/* Call this after a look that has read only the newest queues. Append to
 * `found` the queues that it does not have yet. Returns 1 if any were
 * appended. */
static int
append_found(rp_worker *w, struct look *look)
{
	struct found *all = realloc(
		w->found, (w->found_count + look->count + 1) * sizeof(*all));
	size_t before = w->found_count;

	if (!all) {
		free_found(look->found, look->count);
		return rp__fail(&w->conn->error, RP_ENOMEM, "out of memory");
	}
	w->found = all;
	for (size_t i = 0; i < look->count; i++)
		if (is_found(w, look->found[i].name))
			free(look->found[i].name);
		else
			all[w->found_count++] = look->found[i];
	free(look->found);
	return w->found_count > before;
}

static int
look_for_queues(rp_worker *w, int64_t now)
{
	int is_all = now >= w->look_at_all;
	const struct rp_value p[QUEUES_AFTER_PARAMS] = {
		[QUEUES_AFTER_AFTER] = rp__int(is_all ? 0 : w->old_queue_id),
	};
	struct look look = { .worker = w, .last_id = w->last_queue_id };
	int r = rp__read_once(w->conn, RP_V_QUEUES_AFTER, p, 1, add_queue,
			      &look);

	if (r < 0) {
		free_found(look.found, look.count);
		return r;
	}
	if (now >= w->young_until) {
		w->old_queue_id = w->last_queue_id;
		w->young_until = now + YOUNG_MS;
	}
	if (look.last_id > w->last_queue_id)
		w->last_queue_id = look.last_id;
	if (is_all)
		w->look_at_all = now + ALL_MS;
	return is_all ? replace_found(w, &look) : append_found(w, &look);
}

int
rp__queues_find(rp_worker *w)
{
	int64_t now = rp__monotonic_ms();
	int r = 0;

	w->look_at = INT64_MAX;
	if (w->has_patterns) {
		w->look_at = now + LOOK_MS;
		r = look_for_queues(w, now);
	}
	w->is_list_old |= r > 0;
	if (r < 0 || !w->is_list_old)
		return r;
	r = list_queues(w);
	return r < 0 ? r : 1;
}

int
rp__queues_find_if_due(rp_worker *w, int64_t now)
{
	int r;

	if (now < w->look_at)
		return 0;
	r = rp__queues_find(w);
	w->maybe_ready |= r > 0;
	if (r >= 0 && w->registered_version != w->waiter.version)
		r = rp__worker_register_queues(w);
	return r < 0 ? rp__worker_trouble(w, r) : 0;
}

int
rp__queues_find_at_the_end(rp_worker *w)
{
	return w->has_patterns ? rp__queues_find_if_due(w, INT64_MAX - 1) : 0;
}

void
rp__queues_free(rp_worker *w)
{
	free(w->queues);
	free_found(w->found, w->found_count);
}
