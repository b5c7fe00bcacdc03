/*
 * collect.c - keep a handler's output in temporary files until the handler has
 * ended, so that the output of concurrent handlers is not mixed.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* locked while the output of one job is printed, so that the outputs of several
 * jobs are not mixed */
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;

static int
make_file(void)
{
	const char *folder = getenv("TMPDIR");
	char *path;
	int fd;

	if (asprintf(&path, "%s/readpast-XXXXXX",
		     folder && *folder ? folder : "/tmp") < 0)
		return -1;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	free(path);
	return fd;
}

int
collect(struct collected *c, int from, const char *text, size_t n)
{
	int *fd = from == STDOUT_FILENO ? &c->output : &c->error;

	if (!*fd)
		*fd = make_file();
	if (*fd < 0)
		return errno;
	while (n > 0) {
		ssize_t written = write(*fd, text, n);

		if (written < 0 && errno != EINTR)
			return errno;
		if (written > 0) {
			text += written;
			n -= (size_t)written;
		}
	}
	return 0;
}

static int
hand_on(struct work *work, int file, int to, live_stop_fn *stop, void *ctx)
{
	char text[65536];
	ssize_t n = 0;
	int errnum = 0;

	if (file <= 0)
		return 0;
	lseek(file, 0, SEEK_SET);
	while (!errnum && (n = read(file, text, sizeof(text))) > 0)
		errnum = live_write(work, to, text, (size_t)n, stop, ctx);
	return n < 0 ? errno : errnum;
}

int
collect_hand_on(struct work *work, const struct collected *c,
		live_stop_fn *stop, void *ctx)
{
	int errnum;

	pthread_mutex_lock(&writing);
	errnum = hand_on(work, c->output, STDOUT_FILENO, stop, ctx);
	/* Ignore errors of writing to standard error, because they could only
	 * be reported there. */
	hand_on(work, c->error, STDERR_FILENO, stop, ctx);
	pthread_mutex_unlock(&writing);
	return errnum;
}

void
collect_free(struct collected *c)
{
	if (c->output > 0)
		close(c->output);
	if (c->error > 0)
		close(c->error);
}
