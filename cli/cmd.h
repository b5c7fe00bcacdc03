/*
 * cmd.h - what the commands share.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef CMD_H
#define CMD_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "readpast.h"
#include "process.h"

/* Exit statuses. */
enum { DONE = 0, FAILED = 1, USAGE = 2, NOTHING = 3, REFUSED = 4 };
#define HELPED (-1) /* as a status: done, for help was asked for and given */

struct history;

/* One run of the program. */
struct cmd {
	const char *url;
	const char *name;        /* the command's */
	int schema;              /* how it opens the database: RP_SCHEMA_* */
	rp_conn *conn;           /* cmd_open() */
	struct history *history; /* NULL: none is kept */
};

struct command {
	const char *name;
	int (*run)(struct cmd *cmd, int argc, char **argv);
	int schema;
	const char *usage;   /* its arguments */
	const char *summary; /* one line */
	const char *note;    /* more lines of help, or NULL */
};

/* main.c */
extern const struct command commands[];
const struct command *find_command(const char *name);

/* common.c */
int complain(int status, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int usage(const struct cmd *cmd, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int status_of(int code);
int is_file(const char *url); /* and no server? */
int open_database(const char *url, int schema, rp_conn **ret, rp_error *error);
int cmd_open(struct cmd *cmd); /* 0, or an exit status */
int not_opened(const char *url, int code, const rp_error *error); /* same */
int cmd_failed(const struct cmd *cmd, int code); /* complain; exit status */
int worst(int a, int b);

/*
 * Options: --name VALUE, --name=VALUE, or -n VALUE, anywhere among the other
 * arguments and up to `--`. A table of what there is, ended by OPTIONS_END,
 * says where each value goes; parsing takes them out of argv. It is also the
 * help of the command, which tools/check_docs.py holds the manual and the
 * completions to.
 */
enum option_type { FLAG, TEXT, COUNT, SIZE, DURATION, TIME, PRIORITY, TEXTS };
struct option {
	const char *name; /* "--delay" */
	enum option_type type;
	void *to;         /* int, const char *, int64_t; struct texts */
	const char *arg;  /* how help names the value; NULL: a FLAG has none */
	const char *help; /* lines */
};
/* A limit of readpast.h within a text. */
#define DIGITS(limit) DIGITS_OF(limit)
#define DIGITS_OF(digits) #digits
#define PRIORITIES "0 to " DIGITS(RP_MOST_PRIORITY)
#define OPTIONS_END                                                            \
	{                                                                      \
		NULL, FLAG, NULL, NULL, NULL                                   \
	}
struct texts {
	const char **items;
	size_t count;
};
/* 0, or an exit status (said), or HELPED. *argc is what is left. */
int parse_options(const struct cmd *cmd, int *argc, char **argv,
		  const struct option *options);

/* Looks at one of the jobs that a command was told: an exit status. */
typedef int look_fn(struct cmd *cmd, int64_t id, int first, int json);
int each_job(struct cmd *cmd, int argc, char **argv, look_fn *look);

/* numbers.c: 0, or -1 */
int parse_count(const char *text, int64_t *ret);
int parse_size(const char *text, int64_t *ret);
int parse_time(const char *text, int64_t *ret_ms);
int parse_id(const char *text, int64_t *ret);
int parse_claim(const char *text, int64_t *ret_id, int64_t *ret_claim_no);
void print_duration(char *to, size_t room, int64_t ms);

/* print.c */
void print_text(FILE *to, const char *text, size_t size, size_t most);
void print_duration_short(char *to, size_t room, int64_t ms);

/* failures.c */
int has_failed(const rp_job *job); /* its last attempt? */
int print_came_back(FILE *to, const char *before, const rp_job *job);
void print_failures(const rp_job *job);
json_t *json_failures(const rp_job *job);

/* interrupt.c */
void catch_interrupts(void);
int interrupted(void); /* 0: no signal has come */
int wait_for_input(int timeout_ms);
void end_if_interrupted(void);

/* json.c */
json_t *json_time(int64_t ms); /* 0: null */
json_t *json_text(const char *text);

/* A member of a struct that is shown, by JSON or as a line. The types of a
 * job's fields are those of sql/params. */
enum field_type {
	FIELD_number,
	FIELD_number_or_none, /* -1: none */
	FIELD_per_10s,
	FIELD_small,
	FIELD_flag,
	FIELD_claim,
	FIELD_state,
	FIELD_time,
	FIELD_text,
	FIELD_json,
	FIELD_payload,
	FIELD_failures
};
struct field {
	const char *name;
	enum field_type type;
	size_t offset;
};
#define FIELDS_END                                                             \
	{                                                                      \
		NULL, FIELD_number, 0                                          \
	}
extern const struct field job_fields[]; /* ended by FIELDS_END */

/* An object of values that it takes over. NULL: out of memory. */
struct member {
	const char *name;
	json_t *value;
};
json_t *json_members(const struct member *members, size_t n);
#define JSON_MEMBERS(members)                                                  \
	json_members(members, sizeof(members) / sizeof(*(members)))

json_t *json_job(const rp_job *job);
json_t *json_stats(const rp_queue_stats *stats);
json_t *json_worker(const rp_worker_info *worker);
json_t *json_queue(const rp_queue *queue);
int print_json(json_t *object); /* a line; frees it. 0 or FAILED */
void format_time(char *to, size_t room, int64_t ms);

/* one per command */
int cmd_cancel(struct cmd *cmd, int argc, char **argv);
int cmd_check(struct cmd *cmd, int argc, char **argv);
int cmd_claim(struct cmd *cmd, int argc, char **argv);
int cmd_copy(struct cmd *cmd, int argc, char **argv);
int cmd_complete(struct cmd *cmd, int argc, char **argv);
int cmd_doctor(struct cmd *cmd, int argc, char **argv);
int cmd_enqueue(struct cmd *cmd, int argc, char **argv);
int cmd_extend(struct cmd *cmd, int argc, char **argv);
int cmd_fail(struct cmd *cmd, int argc, char **argv);
int cmd_help(struct cmd *cmd, int argc, char **argv);
int cmd_init(struct cmd *cmd, int argc, char **argv);
int cmd_lab(struct cmd *cmd, int argc, char **argv);
int cmd_list(struct cmd *cmd, int argc, char **argv);
int cmd_pause(struct cmd *cmd, int argc, char **argv);
int cmd_purge(struct cmd *cmd, int argc, char **argv);
int cmd_queue_drop(struct cmd *cmd, int argc, char **argv);
int cmd_queue_list(struct cmd *cmd, int argc, char **argv);
int cmd_queue_set(struct cmd *cmd, int argc, char **argv);
int cmd_release(struct cmd *cmd, int argc, char **argv);
int cmd_resume(struct cmd *cmd, int argc, char **argv);
int cmd_retry(struct cmd *cmd, int argc, char **argv);
int cmd_show(struct cmd *cmd, int argc, char **argv);
int cmd_stats(struct cmd *cmd, int argc, char **argv);
int cmd_stress(struct cmd *cmd, int argc, char **argv);
int cmd_sweep(struct cmd *cmd, int argc, char **argv);
int cmd_top(struct cmd *cmd, int argc, char **argv);
int cmd_version(struct cmd *cmd, int argc, char **argv);
int cmd_why(struct cmd *cmd, int argc, char **argv);
int cmd_work(struct cmd *cmd, int argc, char **argv);
int cmd_workers(struct cmd *cmd, int argc, char **argv);

#endif
