/*
 * cmd.h - declarations that all commands share.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef CMD_H
#define CMD_H

#include <jansson.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "readpast.h"
#include "process.h"
#include "quote.h"

/* Exit statuses. */
enum { DONE = 0, FAILED = 1, USAGE = 2, NOTHING = 3, REFUSED = 4, DIED = 7 };
enum { CANCELLED = 5, TIMED_OUT = 6 }; /* further statuses of `wait` */
#define HELPED (-1) /* not an exit status: the help was printed */

#define LISTED 50 /* jobs or groups in a list if no limit is given */
/* the largest payload of a queue whose settings are the defaults */
#define MAX_PAYLOAD (16 * 1024 * 1024)

struct history;

/* the state of one run of the program */
struct cmd {
	const char *url;
	const char *history_file; /* NULL or "": no history is kept */
	const char *name; /* the command's name; NULL until it is known */
	int schema;       /* how the command opens the database: RP_SCHEMA_* */
	rp_conn *conn;    /* set by cmd_open() */
	int output_reported; /* 1: the command has printed that standard output
			      * cannot be written; 0: main.c prints it */
	struct history
		*history; /* set by parse_options(); NULL: no history is kept */
};

struct command {
	const char *name;
	int (*run)(struct cmd *cmd, int argc, char **argv);
	int schema;
	const char *usage;   /* the command's arguments */
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
/* Print the error of a call that failed. Returns an exit status. */
int cmd_failed(const struct cmd *cmd, int code);
int worst(int a, int b);
/* Check a name. `what` is the subject of the message, and `most` is the largest
 * length of the name, in bytes. Returns 0, or an exit status after printing an
 * error. */
int check_name(const struct cmd *cmd, const char *what, const char *name,
	       size_t most);
/* Check that a new queue may have this name. Returns 0, or an exit status after
 * printing an error. */
int check_new_queue(const struct cmd *cmd, const char *name);

/* database.c */
int is_file(const char *url); /* returns 1 if the database is a file, 0 if it is
			       * on a server */
#define DATABASE_NAME 600
/* Describe a database: the absolute path of a file, or a schema and its
 * server. The password is left out. */
void name_database(char *to, size_t room, const char *url);
int open_database(const char *url, int schema, rp_conn **ret, rp_error *error);
int cmd_open(struct cmd *cmd); /* 0, or an exit status */
/* Print why the database was not opened. Returns an exit status. */
int not_opened(const char *url, int code, const rp_error *error);
/* Check that the queue exists. If the queue does not exist and `make` is set,
 * create the queue and print a message. Returns an exit status. */
int find_queue(struct cmd *cmd, const char *name, int make);

/*
 * An option is written --name VALUE, --name=VALUE, -n VALUE or -nVALUE,
 * anywhere among the other arguments, but before `--`. Each command has a table
 * of its options, which names the variable that each option sets. OPTIONS_END
 * ends the table. The help of the command is printed from this table, and
 * tools/check_docs.py compares the manual and the completions with it. All
 * commands also have --db and --history, which may come before the command.
 */
enum option_type {
	FLAG,
	TEXT,
	OPTIONAL, /* a text that may be left out: --name sets "", --name=TEXT
		   * sets TEXT */
	COUNT,
	LIMIT, /* a count from 1 to RP_MOST_LIMIT, or the word none, which sets
		* 0 */
	SIZE,
	DURATION,
	TIME,
	PRIORITY,
	TEXTS
};
struct option {
	const char *name; /* "--delay" */
	enum option_type type;
	void *to; /* the variable to set: an int, const char *, int64_t or
		   * struct texts, depending on the type */
	const char *arg; /* name of the value in the help; NULL: the option is a
			  * FLAG, which has no value */
	const char *help; /* one or more lines */
};
/* the digits of a number that readpast.h defines, as a string literal */
#define DIGITS(limit) DIGITS_OF(limit)
#define DIGITS_OF(digits) #digits
#define PRIORITIES "0 to " DIGITS(RP_MOST_PRIORITY)
#define JSON_OPTION(to)                                                        \
	{                                                                      \
		"--json", FLAG, (to), NULL, "JSON lines"                       \
	}
#define OPTIONS_END                                                            \
	{                                                                      \
		NULL, FLAG, NULL, NULL, NULL                                   \
	}
struct texts {
	const char **items;
	size_t count;
};
/* Parse the options and remove them from argv; *argc becomes the number of
 * arguments left. Returns 0, HELPED, or an exit status after printing an
 * error. */
int parse_options(struct cmd *cmd, int *argc, char **argv,
		  const struct option *options);
/* Parse the option at argv[*i]. If its value is the next argument, *i is set to
 * the index of the value. Returns 0, or an exit status after printing an
 * error. */
int take_option(struct cmd *cmd, const struct option *options, int argc,
		char **argv, int *i);

/* cmd_queue.c: check that the user has named one queue, and open the database.
 * Returns 0, or an exit status after printing an error. */
int open_for_queue(struct cmd *cmd, int argc);

/* numbers.c: the parse functions return 0, or -1 if the text is not valid */
int parse_count(const char *text, int64_t *ret); /* such as 10, 5k or 1M */
int parse_whole(const char *text, int64_t *ret); /* digits only */
int parse_size(const char *text, int64_t *ret);
/* parse_time() returns one of these numbers if the text has the form of a time.
 * time_problem() describes them, and returns NULL for any other number. */
enum { NO_SUCH_TIME = -2, TIME_OUT_OF_RANGE = -3 };
int parse_time(const char *text, int64_t *ret_ms);
const char *time_problem(int r);

/* fired.c: the schedule that made a job, and the instant (the scheduled time)
 * for which it made the job. Both are read from the job's headers. */
struct fired {
	json_t *headers; /* owns the texts */
	const char *schedule, *at;
	const char *missed; /* how many missed instants the job stands for, as
			     * text; NULL: none */
	int manual;         /* not 0: `cron run` made the job */
	int second_hand;    /* not 0: this job is the copy of a dead job */
};
/* Returns 1, or 0 if no schedule made the job. Free with fired_clear(). */
int fired_read(struct fired *ret, const rp_job *job);
void fired_clear(struct fired *fired);
int parse_id(const char *text, int64_t *ret);
int parse_claim(const char *text, int64_t *ret_id, int64_t *ret_claim_no);
void print_duration(char *to, size_t room, int64_t ms);
/* Format a rate as N/DURATION, the form that `queue set --rate` accepts. */
void format_rate(char *to, size_t room, int64_t count, int64_t ms);

/* In cmd_queue_set.c. parse_rate() parses the value of --rate: N/DURATION, or
 * the word none. parse_on_failure() parses the value of --group-on-failure.
 * Both return 0, or an exit status after printing an error. */
int parse_rate(const struct cmd *cmd, const char *text, rp_queue *queue);
int parse_on_failure(const struct cmd *cmd, const char *text, rp_queue *queue);

/* print.c */
void print_text(FILE *to, const char *text, size_t size, size_t most);
char *escape_text(const char *text, size_t most);
void print_duration_short(char *to, size_t room, int64_t ms);
void format_count(char *to, size_t room, int64_t n, int at_least);
const char *plural(int64_t n); /* "s", the ending of a plural, or "" if n is
				* 1 */

/* failures.c */
int has_failed(const rp_job *job); /* returns 1 if the job's last attempt
				    * failed */
int print_came_back(FILE *to, const char *before, const rp_job *job);
void print_failures(const rp_job *job);
json_t *json_failures(const rp_job *job);

/* within.c */
void set_handling(void); /* tells the library which job this process handles, so
			  * that it can refuse a wait that would never end */
char *join_lines(char **texts, size_t n); /* NULL: out of memory */

/* interrupt.c */
int interrupt_fd(void);
void catch_interrupts(void);
/* Install the action, unless the signal is ignored. An ignored signal stays
 * ignored: nohup ignores SIGHUP, and a shell ignores SIGINT for programs that
 * it starts in the background. */
void catch_unless_ignored(int number, const struct sigaction *action);
int interrupted(void); /* 0, or the number of the signal that arrived last */
int wait_for_input(int timeout_ms);

/* ---- spec.c ---- */

/* Make a JSON object of NAME=VALUE pairs. If `with_trace` is set, add the trace
 * from the environment variables; see trace.h. The caller frees the text. NULL:
 * an error was printed. */
char *make_headers(const struct cmd *cmd, const struct texts *pairs,
		   int with_trace);

size_t most_payload(struct cmd *cmd, const char *queue);

/* output.c: output_error() returns 0, or the errno that says why standard
 * output cannot be written. complain_of_output() prints this error, and returns
 * FAILED. */
int output_error(void);
int complain_of_output(int errnum, const char *consequence);

/* The options with the settings of one job. A duration is -1 and `backoff` is
 * NULL if the option was not given. */
struct terms {
	int64_t keep_ms, timeout_ms, expire_ms, unique_for_ms;
	const char *backoff;
};

/* Check the settings and write them to the job specification `model`. *backoff
 * is memory that the caller frees when `model` is no longer used. */
int take_terms(const struct cmd *cmd, const struct terms *terms,
	       rp_job_spec *model, char **backoff);
void end_if_interrupted(void);

/* base64.c */
/* Returns memory that the caller frees, or NULL if memory ran out. */
char *encode_base64(const void *data, size_t size);
/* Decode a text of `size` characters. `to` has room for `size` bytes. *ret
 * becomes the number of decoded bytes. Returns 0, or -1 if the text is not
 * base64. */
int decode_base64(const char *text, size_t size, char *to, size_t *ret);

/* json_compact.c */
/* Returns a value as JSON without white space. A number has as few digits as
 * its value needs, if possible. The caller frees the text. NULL: out of
 * memory. */
char *json_compact(json_t *value);

/* json.c */
json_t *json_time(int64_t ms); /* 0: null */
json_t *json_text(const char *text);

/* The type of a struct's member decides how the member is printed, as JSON or
 * as a line. sql/params has the types of a job's members, with the same names.
 */
enum field_type {
	FIELD_number,
	FIELD_number_or_none, /* -1 means none */
	FIELD_per_10s,
	FIELD_small,
	FIELD_flag,
	FIELD_flag_if_set, /* printed only if set */
	FIELD_time_if_set, /* printed only if it is not 0 */
	FIELD_claim,
	FIELD_state,
	FIELD_time,
	FIELD_span,  /* milliseconds; 0 means none */
	FIELD_limit, /* a count; 0 means none */
	FIELD_text,
	FIELD_json,
	FIELD_list, /* a JSON array of milliseconds */
	FIELD_payload,
	FIELD_result,
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

/* json_members() makes a JSON object of these members, and takes ownership of
 * their values. It returns NULL if memory ran out. */
struct member {
	const char *name;
	json_t *value;
};
json_t *json_members(const struct member *members, size_t n);
#define JSON_MEMBERS(members)                                                  \
	json_members(members, sizeof(members) / sizeof(*(members)))

json_t *json_claim(int64_t id, int64_t claim_no); /* "ID:CLAIMNO" */
json_t *json_job(const rp_job *job);
void json_put_result(json_t **object, const rp_job *job);
/* The words for RP_ADDED, RP_EXISTED and RP_REPLACED. */
extern const char *const added_words[];
json_t *json_added(const char *queue, const rp_added *added);
json_t *json_stats(const rp_queue_stats *stats);
json_t *json_worker(const rp_worker_info *worker);
const char *on_failure(const rp_queue *queue); /* "block" or "pass" */
json_t *json_queue(const rp_queue *queue);
json_t *json_group(const char *queue, const rp_group *group);
json_t *json_schedule(const rp_schedule *schedule);
json_t *json_why(const rp_why *why); /* why.c */
int print_json(json_t *object); /* prints one line and frees the object; returns
				 * 0 or FAILED */
void format_time(char *to, size_t room, int64_t ms);

/* One function per command. */
int cmd_cancel(struct cmd *cmd, int argc, char **argv);
int cmd_change(struct cmd *cmd, int argc, char **argv);
int cmd_check(struct cmd *cmd, int argc, char **argv);
int cmd_claim(struct cmd *cmd, int argc, char **argv);
int cmd_copy(struct cmd *cmd, int argc, char **argv);
int cmd_complete(struct cmd *cmd, int argc, char **argv);
int cmd_cron_add(struct cmd *cmd, int argc, char **argv);
int cmd_cron_apply(struct cmd *cmd, int argc, char **argv);
int cmd_cron_list(struct cmd *cmd, int argc, char **argv);
int cmd_cron_pause(struct cmd *cmd, int argc, char **argv);
int cmd_cron_remove(struct cmd *cmd, int argc, char **argv);
int cmd_cron_resume(struct cmd *cmd, int argc, char **argv);
int cmd_cron_run(struct cmd *cmd, int argc, char **argv);
int cmd_cron_next(struct cmd *cmd, int argc, char **argv);
int cmd_doctor(struct cmd *cmd, int argc, char **argv);
int cmd_enqueue(struct cmd *cmd, int argc, char **argv);
int cmd_extend(struct cmd *cmd, int argc, char **argv);
int cmd_fail(struct cmd *cmd, int argc, char **argv);
int cmd_groups(struct cmd *cmd, int argc, char **argv);
int cmd_help(struct cmd *cmd, int argc, char **argv);
int cmd_hold(struct cmd *cmd, int argc, char **argv);
int cmd_init(struct cmd *cmd, int argc, char **argv);
int cmd_lab(struct cmd *cmd, int argc, char **argv);
int cmd_list(struct cmd *cmd, int argc, char **argv);
int cmd_metrics(struct cmd *cmd, int argc, char **argv);
int cmd_pause(struct cmd *cmd, int argc, char **argv);
int cmd_purge(struct cmd *cmd, int argc, char **argv);
int cmd_queue_drop(struct cmd *cmd, int argc, char **argv);
int cmd_queue_list(struct cmd *cmd, int argc, char **argv);
int cmd_queue_set(struct cmd *cmd, int argc, char **argv);
int cmd_release(struct cmd *cmd, int argc, char **argv);
int cmd_resume(struct cmd *cmd, int argc, char **argv);
int cmd_retry(struct cmd *cmd, int argc, char **argv);
int cmd_serve(struct cmd *cmd, int argc, char **argv);
int cmd_show(struct cmd *cmd, int argc, char **argv);
int cmd_stats(struct cmd *cmd, int argc, char **argv);
int cmd_stress(struct cmd *cmd, int argc, char **argv);
int cmd_sweep(struct cmd *cmd, int argc, char **argv);
int cmd_token_add(struct cmd *cmd, int argc, char **argv);
int cmd_token_list(struct cmd *cmd, int argc, char **argv);
int cmd_token_remove(struct cmd *cmd, int argc, char **argv);
int cmd_top(struct cmd *cmd, int argc, char **argv);
int cmd_version(struct cmd *cmd, int argc, char **argv);
int cmd_wait(struct cmd *cmd, int argc, char **argv);
int cmd_why(struct cmd *cmd, int argc, char **argv);
int cmd_work(struct cmd *cmd, int argc, char **argv);
int cmd_workers(struct cmd *cmd, int argc, char **argv);

#endif
