/*
 * near.c - suggest time zones whose names are similar to a wrong name.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cron.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NEAREST 3
/* How many levels of folders are searched. The zones in America/Argentina are
 * at level 2. */
#define DEEPEST 4

struct search {
	const char *wanted;
	int seen; /* number of zones that were compared */
	struct {
		char name[RP_MOST_ZONE + 1];
		int distance;
	} found[NEAREST]; /* the nearest first; "": not used */
};

/* Returns how many letters must be changed, added or removed to turn `a` into
 * `b`. Upper and lower case count as equal. Both names have at most
 * RP_MOST_ZONE bytes. */
static int
distance(const char *a, const char *b)
{
	int row[RP_MOST_ZONE + 1];
	size_t n = strlen(b);

	for (size_t j = 0; j <= n; j++)
		row[j] = (int)j;
	for (size_t i = 1; a[i - 1]; i++) {
		int diagonal = row[0];

		row[0] = (int)i;
		for (size_t j = 1; j <= n; j++) {
			int same = tolower((unsigned char)a[i - 1]) ==
				   tolower((unsigned char)b[j - 1]);
			int least = diagonal + !same;

			diagonal = row[j];
			if (row[j] + 1 < least)
				least = row[j] + 1;
			if (row[j - 1] + 1 < least)
				least = row[j - 1] + 1;
			row[j] = least;
		}
	}
	return row[n];
}

/* Compare the wanted name with a zone's name. If the wanted name has no slash,
 * compare it with the zone's city, too. Keep the zone if it is among
 * the NEAREST zones with the smallest distance so far. */
static void
consider(struct search *search, const char *name)
{
	const char *slash = strrchr(name, '/');
	int far = distance(search->wanted, name), i;

	search->seen++;
	if (slash && !strchr(search->wanted, '/')) {
		int of_city = distance(search->wanted, slash + 1);

		far = of_city < far ? of_city : far;
	}
	if (far > 1 + (int)strlen(search->wanted) / 5)
		return;
	for (i = NEAREST; i > 0 && (!*search->found[i - 1].name ||
				    search->found[i - 1].distance > far);
	     i--)
		if (i < NEAREST)
			search->found[i] = search->found[i - 1];
	if (i < NEAREST) {
		strcpy(search->found[i].name, name);
		search->found[i].distance = far;
	}
}

static void walk(struct search *search, DIR *folder, const char *prefix,
		 int depth);

/* Look at an entry of the zone folder: a zone, or a folder of zones. `name` is
 * its path in the zone folder, `leaf` the last part of the path. */
static void
visit(struct search *search, DIR *folder, const char *name, const char *leaf,
      int depth)
{
	int fd =
		openat(dirfd(folder), leaf, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *inner = fd >= 0 ? fdopendir(fd) : NULL;

	if (inner && depth < DEEPEST)
		walk(search, inner, name, depth + 1);
	else if (fd < 0)
		consider(search, name);
	if (inner)
		closedir(inner);
	else if (fd >= 0)
		close(fd);
}

static void
walk(struct search *search, DIR *folder, const char *prefix, int depth)
{
	const struct dirent *entry;

	while ((entry = readdir(folder)) != NULL) {
		char name[RP_MOST_ZONE + 1];

		/* Names of zones begin with a capital letter. The names of
		 * other files, such as zone.tab, do not. */
		if (!isupper((unsigned char)*entry->d_name))
			continue;
		if (snprintf(name, sizeof(name), "%s%s%s", prefix,
			     *prefix ? "/" : "",
			     entry->d_name) < (int)sizeof(name))
			visit(search, folder, name, entry->d_name, depth);
	}
}

int
rp__zones_near(const char *folder, const char *name, char *to, size_t room)
{
	struct search search = { .wanted = name };
	DIR *zones = opendir(folder);
	size_t used = 0;

	if (zones) {
		walk(&search, zones, "", 0);
		closedir(zones);
	}
	*to = '\0';
	for (int i = 0; i < NEAREST && *search.found[i].name; i++) {
		/* If a name differs only in upper and lower case, the user
		 * surely means this zone, so suggest no further names. */
		int is_last = i + 1 == NEAREST || !*search.found[i + 1].name ||
			      search.found[i].distance == 0;
		int n = snprintf(to + used, room - used, "%s%s",
				 i == 0    ? ""
				 : is_last ? " or "
					   : ", ",
				 search.found[i].name);

		if (n < 0 || (size_t)n >= room - used)
			break;
		used += (size_t)n;
		if (is_last)
			break;
	}
	to[used] = '\0';
	return search.seen ? 0 : -1;
}
