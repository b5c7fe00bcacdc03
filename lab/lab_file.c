/*
 * lab_file.c - the lab on SQLite: make and remove the scratch, a file beside
 * the database. The user's own file is not opened.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "run.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process.h"

/* A scratch file is named PATH-lab-PID-RANDOM, where PATH is the path of the
 * database in the user's URL. */
#define MARK "-lab-"

static char *
file_url(struct lab *lab)
{
	const char *url = lab->options->url;
	int path = (int)strcspn(url, "?");
	char *ret;

	srandom((unsigned)monotonic_us());
	snprintf(lab->name, sizeof(lab->name), "%ld-%ld", (long)getpid(),
		 random());
	if (asprintf(&ret, "%.*s" MARK "%s%s", path, url, lab->name,
		     url + path) < 0)
		return NULL;
	return ret;
}

/* ---- the scratch ---- */

static int
file_session(const struct lab *lab, struct lab_side *side)
{
	(void)lab;
	(void)side;
	return 0;
}

/* Return the id of the process that made this scratch file, or 0 if the file is
 * not a scratch file. */
static int
owner_of(const char *name, const char *prefix)
{
	static const char *const ends[] = { "", "-wal", "-shm", "-journal" };
	size_t n = strlen(prefix);
	int owner, read = 0;

	if (strncmp(name, prefix, n) != 0 ||
	    sscanf(name + n, "%9d-%*11d%n", &owner, &read) != 1 || read == 0)
		return 0;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (strcmp(name + n + read, ends[i]) == 0)
			return owner;
	return 0;
}

/* Remove the scratch files of earlier runs that were killed. */
static void
remove_leftovers(struct lab *lab)
{
	char folder[sizeof(lab->path)], path[2 * sizeof(lab->path)];
	char *slash, *prefix;
	const struct dirent *entry;
	DIR *dir;

	snprintf(folder, sizeof(folder), "%.*s",
		 (int)(strlen(lab->path) - strlen(lab->name)), lab->path);
	slash = strrchr(folder, '/');
	if (!slash)
		return;
	*slash = '\0';
	prefix = slash + 1;
	dir = opendir(*folder ? folder : "/");
	while (dir && (entry = readdir(dir))) {
		int owner = owner_of(entry->d_name, prefix);

		if (owner <= 0 || strstr(entry->d_name, lab->name) ||
		    (owner != getpid() &&
		     (kill(owner, 0) == 0 || errno != ESRCH)))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (unlink(path) == 0)
			lab->left(path);
	}
	if (dir)
		closedir(dir);
}

static int
file_prepare(struct lab *lab, const struct lab_script *script)
{
	struct rp_url url;
	char *path;

	(void)script;
	if (rp__url_parse(lab->url, &url, NULL) < 0)
		return lab_fail(lab->control.why, "out of memory");
	path = realpath(url.path, NULL);
	rp__url_free(&url);
	if (!path)
		return lab_fail(lab->control.why, "%s", strerror(errno));
	snprintf(lab->path, sizeof(lab->path), "%s", path);
	free(path);
	remove_leftovers(lab);
	return 0;
}

/* Close the connection first, and then remove its files. */
static int
file_remove(struct lab *lab)
{
	static const char *const ends[] = { "-wal", "-shm", "-journal", "" };
	char path[sizeof(lab->path) + 16];

	lab_close(&lab->control);
	for (size_t i = 0; *lab->path && i < 4; i++) {
		snprintf(path, sizeof(path), "%s%s", lab->path, ends[i]);
		if (unlink(path) < 0 && errno != ENOENT)
			return lab_fail(lab->control.why, "%s: %s", path,
					strerror(errno));
	}
	return 0;
}

/* ---- cost ---- */

static int
file_begin(struct lab *lab)
{
	(void)lab;
	return 0;
}

static int
file_finish(struct lab *lab)
{
	if (lab->result.blocked_us)
		strcpy(lab->result.waited_for, "file");
	return 0;
}

static int
file_watch(struct lab *lab, int64_t passed_us)
{
	(void)lab;
	(void)passed_us;
	return 0;
}

const struct lab_place lab_file = {
	.dies_at_fork = 1,
	.url_of = file_url,
	.prepare = file_prepare,
	.session = file_session,
	.watch = file_watch,
	.begin = file_begin,
	.finish = file_finish,
	.remove = file_remove,
};
