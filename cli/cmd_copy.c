/*
 * cmd_copy.c - the command `copy`: copy queues to another database, or move
 * them there.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"

#include <string.h>
#include <unistd.h>

#define SHOW_US 200000
#define BAR 30

/* ---- on a terminal ---- */

struct progress {
	int shows;
	int doing;
	int64_t began_at, shown_at;
};

static void
show(const rp_copied *so_far, double seconds)
{
	static const char *const words[] = { "", "waiting", "copying",
					     "verifying", "removing" };
	int64_t jobs = so_far->live + so_far->kept;
	char bar[BAR + 1];
	int full =
		so_far->end ? (int)(so_far->position * BAR / so_far->end) : 0;

	if (so_far->doing == RP_COPY_WAITING) {
		fprintf(stderr, "\rwaiting for %lld running job%s\033[K",
			(long long)so_far->running, plural(so_far->running));
		return;
	}
	memset(bar, '.', BAR);
	memset(bar, '#', (size_t)(full > BAR ? BAR : full));
	bar[BAR] = '\0';
	fprintf(stderr, "\r%-9s [%s] %lld job%s, %.0f/s\033[K",
		words[so_far->doing], bar, (long long)jobs, plural(jobs),
		seconds > 0 ? (double)jobs / seconds : 0);
}

static int
on_progress(const rp_copied *so_far, void *ctx)
{
	struct progress *p = ctx;
	int64_t now = monotonic_us();

	if (so_far->doing != p->doing) {
		p->doing = so_far->doing;
		p->began_at = now;
		p->shown_at = 0;
	}
	if (p->shows && now - p->shown_at >= SHOW_US) {
		p->shown_at = now;
		show(so_far, (double)(now - p->began_at) / 1e6);
	}
	return interrupted();
}

/* ---- the result ---- */

static int
report_json(const rp_copied *c, double seconds)
{
	json_t *object = json_object();

	json_object_set_new(object, "queues", json_integer(c->queues));
	json_object_set_new(object, "live", json_integer(c->live));
	json_object_set_new(object, "kept", json_integer(c->kept));
	json_object_set_new(object, "written", json_integer(c->written));
	json_object_set_new(object, "removed", json_integer(c->removed));
	json_object_set_new(object, "schedules", json_integer(c->schedules));
	json_object_set_new(object, "running", json_integer(c->running));
	json_object_set_new(object, "id_shift",
			    c->shift < 0 ? json_null()
					 : json_integer(c->shift));
	json_object_set_new(object, "seconds", json_real(seconds));
	return print_json(object);
}

static int
report(const rp_copied *c, double seconds, int move)
{
	printf("%lld queue%s: %lld live and %lld kept jobs of the source were "
	       "compared with the target;\n"
	       "all fields of each job are equal\n",
	       (long long)c->queues, plural(c->queues), (long long)c->live,
	       (long long)c->kept);
	printf("%lld written, %lld removed from the source; %.1f s",
	       (long long)c->written, (long long)c->removed, seconds);
	if (c->written && seconds > 0)
		printf(", %.0f jobs/s", (double)c->written / seconds);
	putchar('\n');
	if (c->schedules)
		printf("%lld schedule%s %s\n", (long long)c->schedules,
		       c->schedules == 1 ? "" : "s",
		       move ? "moved to the target"
			    : "copied, and paused in the target");
	if (c->shift > 0)
		printf("ids: each is %lld larger than in the source\n",
		       (long long)c->shift);
	else
		puts(c->shift ? "ids: larger than in the source, but not all "
				"by the same number"
			      : "ids: the same as in the source");
	if (c->running)
		printf("running jobs that stay in the source: %lld%s\n",
		       (long long)c->running,
		       move ? "; run the command again when they have ended"
			    : "");
	puts(move ? "paused: the source" : "paused: the target");
	return DONE;
}

/* Returns the end of the error message. It says in which state the failed copy
 * has left the queues, and whether the user can continue by running the command
 * again. `begun` is not 0 if the library has reported progress at least
 * once. */
static const char *
consequence(int r, int begun)
{
	int hopeless = r == RP_EINVAL || r == RP_ENOENT || r == RP_ETAKEN ||
		       r == RP_ESCHEMA || r == RP_EREADONLY;

	if (begun)
		return hopeless ? "; the queues stay paused"
				: "; nothing is lost or doubled, and the "
				  "queues stay paused: run the command again "
				  "to continue";
	if (r == RP_ELOST)
		return "; nothing is lost or doubled: run the command again";
	return hopeless ? "" : "; the source is unchanged";
}

struct arguments {
	int move, leave, json;
	const char *const *queues;
};

static int
copy(struct cmd *cmd, rp_conn *to, const struct arguments *a)
{
	struct progress progress = { .shows = isatty(STDERR_FILENO) };
	rp_copy_options options = RP_COPY_INIT;
	int64_t began_at = monotonic_us();
	rp_copied copied = RP_COPIED_INIT;
	rp_error error;
	double seconds;
	int r;

	options.queues = a->queues;
	options.move = a->move;
	options.leave_running = a->leave;
	options.progress = on_progress;
	options.progress_ctx = &progress;
	/* Catch signals, so that a signal stops the copy only between two
	 * commits. */
	catch_interrupts();
	r = rp_copy(cmd->conn, to, &options, &copied, &error);
	if (progress.shows)
		fputs("\r\033[K", stderr);
	if (r < 0) {
		int status = complain(
			status_of(r) == DONE ? FAILED : status_of(r), "%s%s",
			error.message, consequence(r, progress.doing != 0));

		end_if_interrupted();
		return status;
	}
	seconds = (double)(monotonic_us() - began_at) / 1e6;
	return a->json ? report_json(&copied, seconds)
		       : report(&copied, seconds, a->move);
}

static int
check_queue(struct cmd *cmd, const char *name)
{
	rp_queues *queues;
	int r = rp_queue_list(cmd->conn, name, &queues);

	if (r < 0)
		return cmd_failed(cmd, r);
	rp_queues_free(queues);
	return 0;
}

static int
open_side(const char *side, const char *url, int schema, rp_conn **ret)
{
	rp_error error;
	int r = open_database(url, schema, ret, &error);

	return r < 0 ? complain(status_of(r), "%s: %s", side, error.message)
		     : 0;
}

int
cmd_copy(struct cmd *cmd, int argc, char **argv)
{
	struct arguments a = { .queues = NULL };
	const char *running = "wait";
	const struct option options[] = {
		{ "--move", FLAG, &a.move, NULL,
		  "delete from the source the jobs that the target has" },
		{ "--running", TEXT, &running, "R",
		  "\"wait\" for running jobs, or \"leave\" them in the source "
		  "(wait)" },
		{ "--json", FLAG, &a.json, NULL, "JSON" },
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options);
	rp_conn *to;

	if (status)
		return status;
	if (argc < 2)
		return usage(cmd,
			     "give two URLs: of the source and of the target");
	a.leave = strcmp(running, "leave") == 0;
	if (!a.leave && strcmp(running, "wait") != 0)
		return usage(cmd, "--running %.40s: expected wait or leave",
			     running);
	if (argc > 2) {
		argv[argc] = NULL;
		a.queues = (const char *const *)argv + 2;
	}
	status = open_side("source", argv[0], cmd->schema, &cmd->conn);
	/* Check the queues' names first, because opening the target may
	 * create a file. */
	for (int i = 2; i < argc && !status; i++)
		status = check_queue(cmd, argv[i]);
	if (status)
		return status;
	status = open_side("target", argv[1], RP_SCHEMA_CREATE, &to);
	if (status)
		return status;
	status = copy(cmd, to, &a);
	rp_close(to);
	return status;
}
