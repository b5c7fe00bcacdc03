/*
 * zone.c - read time zones from TZif files (RFC 9636). This code uses the block
 * with 64-bit times and the rule at the end of the file. It skips the 32-bit
 * block and the flags for standard time and UT.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cron.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

/* Limits of RFC 9636, 3.2, for local time minus UTC. */
#define LEAST_OFFSET (-89999)
#define MOST_OFFSET 93599

struct type {
	int32_t offset;
	char name[12];
};

struct rp_zone {
	struct type types[256];
	struct rp_rule rule; /* applies after the last change, if has_rule is
			      * 1 */
	int has_rule;
	size_t count;
	struct change {
		int64_t at;
		unsigned char type; /* index of the type that begins to apply
				     * at the time `at` */
	} changes[];
};

/* ---- parsing --------------------------------------------------------- */

/* The rest of a file that is being parsed. */
struct bytes {
	const unsigned char *at;
	size_t left;
};

/* Take the next `size` bytes. Returns NULL if there are fewer. */
static const unsigned char *
take(struct bytes *in, uint64_t size)
{
	const unsigned char *at = in->at;

	if (size > in->left)
		return NULL;
	in->at += size;
	in->left -= (size_t)size;
	return at;
}

static uint32_t
big_endian_32(const unsigned char *b)
{
	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 |
	       (uint32_t)b[2] << 8 | b[3];
}

static int64_t
big_endian_64(const unsigned char *b)
{
	return (int64_t)((uint64_t)big_endian_32(b) << 32 |
			 big_endian_32(b + 4));
}

/* The numbers in a header, in the order of the file. */
enum { UT, STANDARD, LEAP, TIMES, TYPES, CHARS, NUMBERS };
struct header {
	unsigned char version;
	uint64_t n[NUMBERS];
};

/* The functions below return NULL, or a text that says what is wrong with the
 * file. */

static const char *
parse_header(struct bytes *in, struct header *ret)
{
	const unsigned char *head = take(in, 44);

	if (!head || memcmp(head, "TZif", 4) != 0)
		return "the file is not a time zone file";
	ret->version = head[4];
	for (int i = 0; i < NUMBERS; i++)
		ret->n[i] = big_endian_32(head + 20 + 4 * i);
	return NULL;
}

/* Returns the size in bytes of a block in which a time has `width` bytes. */
static uint64_t
block_size(const struct header *header, int width)
{
	const uint64_t *n = header->n;
	uint64_t w = (uint64_t)width;

	return n[TIMES] * (w + 1) + n[TYPES] * 6 + n[CHARS] +
	       n[LEAP] * (w + 4) + n[STANDARD] + n[UT];
}

static const char *
parse_types(const struct header *header, const unsigned char *types,
	    const unsigned char *chars, struct rp_zone *zone)
{
	for (size_t i = 0; i < header->n[TYPES]; i++) {
		const unsigned char *type = types + 6 * i;
		struct type *to = &zone->types[i];
		int32_t offset = (int32_t)big_endian_32(type);
		size_t name = type[5], n;

		if (offset < LEAST_OFFSET || offset > MOST_OFFSET)
			return "an offset from UTC is too large";
		if (name >= header->n[CHARS] ||
		    !memchr(chars + name, '\0', header->n[CHARS] - name))
			return "an abbreviation has no end";
		n = strnlen((const char *)chars + name, sizeof(to->name) - 1);
		memcpy(to->name, chars + name, n);
		/* The name is printed, so it must be printable. */
		for (size_t k = 0; k < n; k++)
			if (to->name[k] <= ' ' || to->name[k] > '~')
				to->name[k] = '?';
		to->offset = offset;
	}
	return NULL;
}

static const char *
parse_block(const struct header *header, const unsigned char *block,
	    struct rp_zone *zone)
{
	size_t count = (size_t)header->n[TIMES];
	const unsigned char *kinds = block + 8 * count, *types = kinds + count;

	for (size_t i = 0; i < count; i++) {
		struct change *change = &zone->changes[i];

		change->at = big_endian_64(block + 8 * i);
		change->type = kinds[i];
		if (i > 0 && change->at <= change[-1].at)
			return "the times are not in order";
		if (change->type >= header->n[TYPES])
			return "a time has an unknown type";
	}
	zone->count = count;
	return parse_types(header, types, types + 6 * header->n[TYPES], zone);
}

/* Parse the end of the file: a line with the rule, or an empty line. */
static const char *
parse_footer(struct bytes *in, struct rp_zone *zone)
{
	char rule[128];
	const unsigned char *first = take(in, 1);
	size_t n = in->left;
	const unsigned char *text = take(in, n);

	if (!first || *first != '\n' || n == 0 || text[n - 1] != '\n')
		return "the end of the file is missing";
	n--;
	if (memchr(text, '\n', n) || memchr(text, '\0', n) || n >= sizeof(rule))
		return "the last line is wrong";
	memcpy(rule, text, n);
	rule[n] = '\0';
	zone->has_rule = n > 0;
	if (n > 0 && rp__rule_parse(rule, &zone->rule) < 0)
		return "the last line is not a rule for clock changes";
	return NULL;
}

/* Parse the header of the 64-bit block, and find the block. */
static const char *
find_block(struct bytes *in, struct header *ret,
	   const unsigned char **ret_block)
{
	const char *why = parse_header(in, ret);
	const uint64_t *n = ret->n;

	if (why)
		return why;
	if (ret->version < '2')
		return "the file has version 1, without 64-bit times";
	if (!take(in, block_size(ret, 4)))
		return "the file is cut short";
	why = parse_header(in, ret);
	if (why)
		return "the file is cut short";
	if (n[LEAP])
		return "the file counts leap seconds";
	if (n[TYPES] < 1 || n[TYPES] > 256 || n[CHARS] < 1 ||
	    (n[UT] && n[UT] != n[TYPES]) ||
	    (n[STANDARD] && n[STANDARD] != n[TYPES]))
		return "the numbers in the header are wrong";
	*ret_block = take(in, block_size(ret, 8));
	return *ret_block ? NULL : "the file is cut short";
}

int
rp__zone_parse(const char *name, const void *bytes, size_t size,
	       struct rp_zone **ret, rp_error *reterr)
{
	struct bytes in = { bytes, size };
	struct header header;
	const unsigned char *block;
	struct rp_zone *zone = NULL;
	const char *why = size > RP_MOST_ZONE_FILE
				  ? "the file is too large"
				  : find_block(&in, &header, &block);

	if (!why) {
		zone = calloc(1, sizeof(*zone) + header.n[TIMES] *
							 sizeof(struct change));
		if (!zone)
			return rp__fail(reterr, RP_ENOMEM, "out of memory");
		why = parse_block(&header, block, zone);
	}
	if (!why)
		why = parse_footer(&in, zone);
	if (why) {
		free(zone);
		return rp__fail(reterr, RP_EDB,
				"time zone %.63s: its file is damaged (%s): "
				"reinstall the package tzdata",
				name, why);
	}
	*ret = zone;
	return 0;
}

void
rp__zone_free(struct rp_zone *zone)
{
	free(zone);
}

/* ---- reading --------------------------------------------------------- */

/* Returns 1 if a zone can have this name. Such a name begins with a capital
 * letter and has only letters, digits and _+-/. So no name leads out of the
 * folder of zones. No name leads to the folder's files `localtime` and
 * `posixrules` either, which differ from host to host. */
static int
is_name(const char *name)
{
	static const char in_names[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				       "abcdefghijklmnopqrstuvwxyz"
				       "0123456789_+-/";

	return *name >= 'A' && *name <= 'Z' &&
	       name[strspn(name, in_names)] == '\0';
}

static int
unknown(const char *folder, const char *name, rp_error *reterr)
{
	char near[150];

	if (rp__zones_near(folder, name, near, sizeof(near)) < 0)
		return rp__fail(reterr, RP_EINVAL,
				"time zone %.63s: there are no zones in "
				"%.60s: install the package tzdata",
				name, folder);
	if (*near)
		return rp__fail(reterr, RP_EINVAL,
				"unknown time zone \"%.63s\": did you mean %s?",
				name, near);
	return rp__fail(reterr, RP_EINVAL,
			"unknown time zone \"%.63s\": expected a name such as "
			"Europe/Berlin (packages tzdata, tzdata-legacy)",
			name);
}

/* Read a regular file of at most `room` bytes. Returns its size, or -1 and sets
 * errno. */
static ssize_t
read_file(const char *path, char *to, size_t room)
{
	size_t size = 0;
	ssize_t n = -1;
	struct stat is;
	/* O_NONBLOCK, because open() could wait for ever if the path is a
	 * FIFO. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return -1;
	errno = ENOENT;
	if (fstat(fd, &is) == 0 && S_ISREG(is.st_mode)) {
		while (size < room &&
		       ((n = read(fd, to + size, room - size)) > 0 ||
			(n < 0 && errno == EINTR)))
			size += n > 0 ? (size_t)n : 0;
	}
	close(fd);
	return n < 0 ? -1 : (ssize_t)size;
}

static int
read_zone(const char *folder, const char *name, struct rp_zone **ret,
	  rp_error *reterr)
{
	const size_t room = RP_MOST_ZONE_FILE + 1;
	char path[512], *bytes = malloc(room);
	ssize_t size;
	int r, n;

	if (!bytes)
		return rp__fail(reterr, RP_ENOMEM, "out of memory");
	n = snprintf(path, sizeof(path), "%s/%s", folder, name);
	size = n < (int)sizeof(path) ? read_file(path, bytes, room) : -1;
	if (size >= 0)
		r = rp__zone_parse(name, bytes, (size_t)size, ret, reterr);
	else if (n >= (int)sizeof(path) || errno == ENOENT || errno == ENOTDIR)
		r = unknown(folder, name, reterr);
	else
		r = rp__fail(reterr, RP_EDB, "time zone %.63s: %s", name,
			     strerrordesc_np(errno));
	free(bytes);
	return r;
}

int
rp__zone_open(const char *folder, const char *name, struct rp_zone **ret,
	      rp_error *reterr)
{
	int r;

	if (!folder)
		folder = RP_ZONES;
	if (!name || strcmp(name, "UTC") == 0) {
		struct rp_zone *utc = calloc(1, sizeof(*utc));

		if (!utc)
			return rp__fail(reterr, RP_ENOMEM, "out of memory");
		strcpy(utc->types[0].name, "UTC");
		*ret = utc;
		return 0;
	}
	r = rp__check_name(reterr, "the time zone", name, RP_MOST_ZONE);
	if (r < 0)
		return r;
	return is_name(name) ? read_zone(folder, name, ret, reterr)
			     : unknown(folder, name, reterr);
}

/* ---- looking up ------------------------------------------------------ */

/* Returns how many changes are at or before `second`. */
static size_t
changes_until(const struct rp_zone *zone, int64_t second)
{
	size_t low = 0, high = zone->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (zone->changes[middle].at <= second)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void
rp__zone_at(const struct rp_zone *zone, int64_t second, struct rp_period *ret)
{
	size_t n = changes_until(zone, second);
	/* Before the first change, the zone uses type 0 (RFC 8536). */
	const struct type *type =
		&zone->types[n ? zone->changes[n - 1].type : 0];

	if (n == zone->count && zone->has_rule) {
		rp__rule_at(&zone->rule, second, ret);
	} else {
		ret->start = INT64_MIN;
		ret->end = n < zone->count ? zone->changes[n].at : INT64_MAX;
		ret->offset = type->offset;
		memcpy(ret->name, type->name, sizeof(ret->name));
	}
	if (n && zone->changes[n - 1].at > ret->start)
		ret->start = zone->changes[n - 1].at;
}
