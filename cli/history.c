/*
 * history.c - write a history: a file with the records of what clients did, as
 * JSON lines.
 *
 * Each line is appended by one write(), so that many clients can share the
 * file. docs/history.md describes the format. `readpast check` reads a history
 * and checks that the promises were kept.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "history.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "checker.h"
#include "internal.h"

struct history {
	int fd;
	pthread_mutex_t lock; /* for `torn` and `failed`, and for writing */
	int torn;   /* 1: the file may end in an incomplete line, which the next
		     * write has to end with GIVEN_UP */
	int failed; /* 1: an event could not be written */
	char client[160];
	int is_log; /* 1: this is a worker's log. Its lines also have the time,
		     * the queue and the error */
	const char *queue, *error;
};

const char *
history_verdict(int verdict)
{
	static const char *const words[] = { "done", "fail", "dead", "release",
					     "extend" };

	return words[verdict];
}

const char *
history_result(int result)
{
	return result == 0               ? "ok"
	       : result == RP_EGONE      ? "gone"
	       : result == RP_ECANCELLED ? "cancelled"
					 : "unknown";
}

struct history *
history_on(int fd)
{
	struct history *h = calloc(1, sizeof(*h));
	char host[128] = "";

	if (!h) {
		complain(FAILED, "out of memory");
		return NULL;
	}
	gethostname(host, sizeof(host) - 1);
	snprintf(h->client, sizeof(h->client), "%s:%ld", host, (long)getpid());
	h->fd = fd;
	pthread_mutex_init(&h->lock, NULL);
	return h;
}

/* Returns 1 if this is a regular file whose last line has no newline. The
 * client that wrote this line was killed, or the disk was full. */
static int
ends_torn(const char *path)
{
	struct stat file;
	char last = '\n';
	int fd;

	if (stat(path, &file) < 0 || !S_ISREG(file.st_mode) ||
	    file.st_size == 0)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (pread(fd, &last, 1, file.st_size - 1) != 1)
		last = '\n';
	close(fd);
	return last != '\n';
}

struct history *
history_open(const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	struct history *h;

	if (fd < 0) {
		complain(FAILED, "cannot write the history %s: %s", path,
			 strerror(errno));
		return NULL;
	}
	h = history_on(fd);
	if (h)
		h->torn = ends_torn(path);
	return h;
}

void
history_about(struct history *h, const char *queue, const char *error)
{
	if (!h)
		return;
	h->is_log = 1;
	h->queue = queue;
	h->error = error;
}

int
history_close(struct history *h)
{
	int failed;

	if (!h)
		return 0;
	failed = h->failed;
	if (h->fd > STDERR_FILENO)
		close(h->fd);
	pthread_mutex_destroy(&h->lock);
	free(h);
	return failed ? -1 : 0;
}

int
history_fd(const struct history *h)
{
	return h ? h->fd : -1;
}

static void
add_for_log(const struct history *h, json_t *line)
{
	char error[RP_MOST_ERROR + 1];
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	json_object_set_new(
		line, "time",
		json_time(now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000));
	json_object_set_new(line, "queue", json_text(h->queue));
	if (!h->error)
		return;
	rp__clean(error, sizeof(error), h->error);
	json_object_set_new(line, "error", json_string(error));
}

/* Note that a line was not written. `written` is what write() has returned. Of
 * successive failures only the first is reported, because all have the same
 * cause. */
static void
give_up(struct history *h, ssize_t written, int was_torn)
{
	/* A short write leaves errno unchanged. The second write sets it,
	 * unless there is room again. */
	if (written >= 0) {
		errno = ENOSPC;
		written = write(h->fd, GIVEN_UP, GIVEN_UP_SIZE);
	}
	h->torn = written != (ssize_t)GIVEN_UP_SIZE;
	if (!was_torn || !h->failed)
		complain(FAILED, "cannot write the history: %s",
			 strerror(errno));
	h->failed = 1;
}

/* Append a line. `text` has GIVEN_UP before the line, which is also written if
 * the file may end in an incomplete line. */
static void
write_line(struct history *h, const char *text)
{
	ssize_t written;
	int was_torn;
	size_t n;

	pthread_mutex_lock(&h->lock);
	was_torn = h->torn;
	text += was_torn ? 0 : GIVEN_UP_SIZE;
	n = strlen(text);
	written = write(h->fd, text, n);
	h->torn = 0;
	if (written != (ssize_t)n)
		give_up(h, written, was_torn);
	pthread_mutex_unlock(&h->lock);
}

/* Append a line with these fields to the file, and free the fields. */
static void
append(struct history *h, const char *event, json_t *fields)
{
	json_t *line = json_pack("{sI ss ss}", "at", (json_int_t)monotonic_us(),
				 "client", h->client, "event", event);
	char *json = NULL, *text = NULL;

	if (h->is_log)
		add_for_log(h, line);
	if (line && fields && json_object_update(line, fields) == 0)
		json = json_dumps(line, JSON_COMPACT);
	json_decref(fields);
	json_decref(line);
	if (json && asprintf(&text, GIVEN_UP "%s\n", json) >= 0) {
		write_line(h, text);
		free(text);
	}
	free(json);
}

/* Add the fields `group` and `delay_ms`. The checker needs them to know in
 * which order the jobs of a group must run. */
static void
add_turn(json_t *fields, const rp_job_spec *job)
{
	if (job->group_key)
		json_object_set_new(fields, "group", json_text(job->group_key));
	if (job->delay_ms || job->run_at)
		json_object_set_new(fields, "delay_ms",
				    json_integer(job->delay_ms ? job->delay_ms
							       : job->run_at));
}

void
history_enqueued(struct history *h, const char *queue, const rp_job_spec *job,
		 const rp_added *added, int64_t asked)
{
	static const char *const outcomes[] = { "added", "existed",
						"replaced" };
	json_t *fields;

	if (!h)
		return;
	fields = json_pack("{sI ss ss sI}", "id", (json_int_t)added->id,
			   "queue", queue, "outcome", outcomes[added->outcome],
			   "asked", (json_int_t)asked);
	if (job)
		add_turn(fields, job);
	append(h, "enqueued", fields);
}

void
history_limits(struct history *h, const rp_queue *queue, int64_t asked)
{
	if (!h)
		return;
	append(h, "limits",
	       json_pack("{ss sI sI ss sI sI sI}", "queue", queue->name,
			 "limit", (json_int_t)queue->run_limit, "group_limit",
			 (json_int_t)queue->group_limit, "group_on_failure",
			 queue->group_pass ? "pass" : "block", "rate",
			 (json_int_t)queue->rate_count, "rate_ms",
			 (json_int_t)queue->rate_ms, "asked",
			 (json_int_t)asked));
}

/* If a schedule made the job, add three fields: the schedule's name, the time
 * for which the job was scheduled, and how much later the job was made. */
static void
add_fire(json_t *fields, const rp_job *job)
{
	struct fired fired;
	int64_t at;

	if (fired_read(&fired, job) && !fired.manual && !fired.second_hand &&
	    parse_time(fired.at, &at) == 0) {
		json_object_set_new(fields, "schedule",
				    json_string(fired.schedule));
		json_object_set_new(fields, "scheduled_for",
				    json_string(fired.at));
		json_object_set_new(fields, "late_ms",
				    json_integer(job->created_at > at
							 ? job->created_at - at
							 : 0));
	}
	fired_clear(&fired);
}

void
history_claimed(struct history *h, const rp_job *job, int64_t asked)
{
	json_t *fields;

	if (!h)
		return;
	fields = json_pack(
		"{sI ss sI sI sI sI sI sI}", "id", (json_int_t)job->id, "queue",
		job->queue, "claim", (json_int_t)job->claim_no, "attempt",
		(json_int_t)job->attempt, "max_attempts",
		(json_int_t)job->max_attempts, "lease_ms",
		(json_int_t)(job->lease_until - job->claimed_at), "asked",
		(json_int_t)asked, "priority", (json_int_t)job->priority);
	if (job->group_key)
		json_object_set_new(fields, "group", json_text(job->group_key));
	add_fire(fields, job);
	append(h, "claimed", fields);
}

static json_t *
claim_of(int64_t id, int64_t claim_no)
{
	return json_pack("{sI sI}", "id", (json_int_t)id, "claim",
			 (json_int_t)claim_no);
}

void
history_started(struct history *h, const rp_job *job)
{
	if (h)
		append(h, "started", claim_of(job->id, job->claim_no));
}

static json_t *
verdict_of(int64_t id, int64_t claim_no, int verdict, int64_t lease_ms)
{
	json_t *fields = claim_of(id, claim_no);

	json_object_set_new(fields, "verdict",
			    json_string(history_verdict(verdict)));
	/* A renewal that only sends progress does not set the length of the
	 * lease. */
	if (verdict == RP_EXTEND && lease_ms >= 0)
		json_object_set_new(fields, "lease_ms", json_integer(lease_ms));
	return fields;
}

void
history_settling(struct history *h, int64_t id, int64_t claim_no, int verdict,
		 int64_t lease_ms)
{
	if (h)
		append(h, "settling",
		       verdict_of(id, claim_no, verdict, lease_ms));
}

void
history_settled(struct history *h, int64_t id, int64_t claim_no, int verdict,
		int64_t lease_ms, int result, int state, int64_t asked)
{
	json_t *fields;

	if (!h)
		return;
	fields = verdict_of(id, claim_no, verdict, lease_ms);
	json_object_set_new(fields, "result",
			    json_string(history_result(result)));
	if (result == 0)
		json_object_set_new(fields, "state",
				    json_string(rp_state_text(state)));
	json_object_set_new(fields, "asked", json_integer(asked));
	append(h, "settled", fields);
}

void
history_lost(struct history *h, const rp_job *job, int result)
{
	json_t *fields;

	if (!h)
		return;
	fields = claim_of(job->id, job->claim_no);
	json_object_set_new(fields, "result",
			    json_string(history_result(result)));
	append(h, "lost", fields);
}

void
history_job(struct history *h, const char *event, int64_t id)
{
	if (h)
		append(h, event, json_pack("{sI}", "id", (json_int_t)id));
}

void
history_purged(struct history *h, const char *queue)
{
	if (h)
		append(h, "purged", json_pack("{ss}", "queue", queue));
}
