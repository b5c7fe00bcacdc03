/*
 * cmd_lab.c - the command `lab`: compare techniques of taking jobs from a
 * table, on the user's own database.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"

#include <stdarg.h>
#include <string.h>

#include "internal.h"
#include "lab.h"

#define SENTENCE 300
#define MOST_WORKERS 64
#define MOST_JOBS 1000000
#define MOST_DELAY_MS 10000

static volatile sig_atomic_t stop;

static void
on_signal(int number)
{
	stop = number;
}

static void
catch_signals(void)
{
	const struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

static void
tell_left(const char *what)
{
	complain(DONE, "lab: removed %s, left by a run that was killed", what);
}

/* ---- the sentence about a run ---- */

/* Returns, in words, the thing that the workers waited for longest, such as "a
 * row". result->waited_for is the name of a wait event of the server. */
static const char *
waited_for(const struct lab_result *result)
{
	static const char *const words[][2] = {
		{ "relation", "the table" },
		{ "transactionid", "a row" },
		{ "tuple", "a row" },
		{ "advisory", "an application lock" },
		{ "file", "the file" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(words[i][0], result->waited_for) == 0)
			return words[i][1];
	return "each other";
}

static void add(char *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void
add(char *text, const char *format, ...)
{
	size_t n = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + n, SENTENCE - n, format, args);
	va_end(args);
}

/* Describe a run in one sentence. The sentence depends only on the numbers of
 * the run. */
static void
say(const struct lab_options *o, const struct lab_result *result, char *text)
{
	double time = (double)result->elapsed_us + 1;
	double at_once =
		(double)result->runs * (double)o->delay_ms * 1e3 / time;
	double blocked = (double)result->blocked_us / time / o->workers * 100;
	int64_t again = result->runs - result->processed;

	*text = '\0';
	if (result->twice)
		add(text,
		    "%lld of %d job%s ran more than once: %.0f %% of the work "
		    "was for nothing",
		    (long long)result->twice, o->jobs, plural(o->jobs),
		    (double)again * 100 / (double)result->runs);
	else
		add(text, "%s ran %sonce", result->lost ? "no job" : "each job",
		    result->lost ? "more than " : "");
	if (result->lost)
		add(text, "; %lld never ran", (long long)result->lost);
	if (result->twice)
		return;
	if (at_once >= 1.2)
		add(text, ", %.1f at a time", at_once);
	else if (blocked >= 30)
		add(text, ", one at a time");
	if (blocked < 1)
		add(text, "; workers hardly waited");
	else
		add(text, "; %.0f %% of the time was spent waiting for %s",
		    blocked, waited_for(result));
	if (result->deadlocks)
		add(text, "; %lld transaction%s aborted",
		    (long long)result->deadlocks, plural(result->deadlocks));
}

struct report {
	struct lab_options options;
	int json;
	int lines; /* lines printed so far */
};

/* Print the headings. Later calls do nothing. */
static void
print_head(struct report *report)
{
	const struct lab_options *o = &report->options;

	if (report->json || report->lines++)
		return;
	printf("%d worker%s, %d job%s of %lldms\n\n", o->workers,
	       plural(o->workers), o->jobs, plural(o->jobs),
	       (long long)o->delay_ms);
	printf("%-11s %9s %5s %5s %8s %9s %6s %10s %9s\n", "TECHNIQUE",
	       "PROCESSED", "TWICE", "LOST", "BLOCKED", "DEADLOCKS", "JOBS/s",
	       "STATEMENTS", "WAL BYTES");
}

static int
print_result(struct report *report, const struct lab_script *script,
	     const struct lab_result *result)
{
	const struct lab_options *o = &report->options;
	double seconds = (double)(result->elapsed_us + 1) / 1e6;
	double rate = (double)result->processed / seconds;
	double statements = (double)result->statements / o->jobs;
	double log_bytes = (double)result->log_bytes / o->jobs;
	char text[SENTENCE];

	say(o, result, text);
	print_head(report);
	if (report->json)
		return print_json(json_pack(
			"{ss si si sI sI sI sI sI sI sI sf sf sf sf ss}",
			"technique", script->name, "workers", o->workers,
			"jobs", o->jobs, "delay_ms", (json_int_t)o->delay_ms,
			"processed", (json_int_t)result->processed, "twice",
			(json_int_t)result->twice, "lost",
			(json_int_t)result->lost, "runs",
			(json_int_t)result->runs, "blocked_ms",
			(json_int_t)result->blocked_us / 1000, "deadlocks",
			(json_int_t)result->deadlocks, "seconds", seconds,
			"jobs_per_s", rate, "statements_per_job", statements,
			"wal_bytes_per_job", log_bytes, "says", text));
	printf("%-11s %9lld %5lld %5lld %7.2fs %9lld %6.0f %10.1f %9.0f\n"
	       "  %s\n",
	       script->name, (long long)result->processed,
	       (long long)result->twice, (long long)result->lost,
	       (double)result->blocked_us / 1e6, (long long)result->deadlocks,
	       rate, statements, log_bytes, text);
	return fflush(stdout) == 0 ? DONE : FAILED;
}

static int
print_cannot(struct report *report, const struct lab_script *script,
	     const char *why)
{
	print_head(report);
	if (report->json)
		return print_json(json_pack("{ss ss}", "technique",
					    script->name, "cannot", why));
	printf("%-11s cannot run on this database\n"
	       "  %s\n",
	       script->name, why);
	return DONE;
}

/* ---- running ---- */

static int
run_one(struct report *report, const struct lab_script *script, int named)
{
	struct lab_result result;
	char why[LAB_WHY];
	int r = lab_run(&report->options, script, tell_left, &result, why);

	if (r == 0)
		return print_result(report, script, &result);
	if (r == LAB_STOPPED)
		return complain(FAILED,
				"lab: stopped; its tables were removed");
	if (r == LAB_CANNOT && !named)
		return print_cannot(report, script, why);
	return complain(FAILED, "lab: %s: %s", script->name, why);
}

static int
run_all(struct report *report, char **names, int count)
{
	const struct lab_script *scripts = lab_scripts(report->options.url);
	int status = DONE;

	for (int i = 0; i < count; i++) {
		const struct lab_script *s = lab_find(scripts, names[i]);

		if (s->cannot)
			return complain(FAILED, "lab: %s: %s", s->name,
					s->cannot);
	}
	catch_signals();
	for (const struct lab_script *s = scripts; s->name && !count && !status;
	     s++)
		if (strcmp(s->name, "scratch") != 0)
			status = run_one(report, s, 0);
	for (int i = 0; i < count && !status; i++)
		status = run_one(report, lab_find(scripts, names[i]), 1);
	return status;
}

static void
list(const struct lab_script *script)
{
	for (; script->name; script++)
		if (strcmp(script->name, "scratch") != 0)
			printf("%-11s %s\n", script->name, script->idea);
}

/* ---- options ---- */

/* Refuse a URL with an unknown scheme before the first technique runs. */
static int
check_url(const struct cmd *cmd)
{
	struct rp_url url;
	rp_error error;
	int r = rp__url_parse(cmd->url, &url, &error);

	if (r < 0)
		return not_opened(cmd->url, r, &error);
	rp__url_free(&url);
	return 0;
}

/* Find the scripts to print: the scripts of `dialect` or, if `dialect` is NULL,
 * those of the user's database. */
static int
choose(const struct cmd *cmd, const char *dialect, int prints,
       const struct lab_script **ret)
{
	int status = dialect ? 0 : check_url(cmd);

	if (status)
		return status;
	*ret = dialect ? lab_dialect(dialect) : lab_scripts(cmd->url);
	if (!*ret)
		return usage(cmd,
			     "no such dialect: %.40s (sqlite, postgres or "
			     "sqlserver)",
			     dialect);
	if (dialect && !prints)
		return usage(cmd,
			     "--dialect %s: these scripts are not run here; "
			     "print one with --explain T, and run it yourself "
			     "on a database of this kind",
			     dialect);
	return 0;
}

static int
check_names(const struct cmd *cmd, const struct lab_script *scripts,
	    char **names, int count)
{
	for (int i = 0; i < count; i++)
		if (strcmp(names[i], "scratch") == 0 ||
		    !lab_find(scripts, names[i]))
			return usage(
				cmd,
				"no such technique: %.40s (--list prints all)",
				names[i]);
	return 0;
}

static int
check_numbers(const struct cmd *cmd, int64_t workers, int64_t jobs,
	      int64_t delay_ms)
{
	if (workers < 1 || workers > MOST_WORKERS)
		return usage(cmd, "--workers: expected 1 to %d", MOST_WORKERS);
	if (jobs < 1 || jobs > MOST_JOBS)
		return usage(cmd, "--jobs: expected 1 to %d", MOST_JOBS);
	if (delay_ms > MOST_DELAY_MS)
		return usage(cmd, "--delay: expected at most %ds",
			     MOST_DELAY_MS / 1000);
	return 0;
}

int
cmd_lab(struct cmd *cmd, int argc, char **argv)
{
	int64_t workers = 4, jobs = 500, delay_ms = 2;
	char *explain = NULL, *dialect = NULL;
	const struct lab_script *scripts = NULL;
	int names_only = 0;
	struct report report = { .options = { .stop = &stop } };
	const struct option options[] = {
		{ "--workers", COUNT, &workers, "N", "processes (4)" },
		{ "--jobs", COUNT, &jobs, "N", "rows in the table (500)" },
		{ "--delay", DURATION, &delay_ms, "D",
		  "duration of each job (2ms)" },
		{ "--list", FLAG, &names_only, NULL, "the techniques" },
		{ "--explain", TEXT, &explain, "T",
		  "explain a technique, with its SQL" },
		{ "--dialect", TEXT, &dialect, "NAME",
		  "list or explain the scripts for sqlite, postgres or\n"
		  "sqlserver; those for sqlserver are run by hand" },
		JSON_OPTION(&report.json),
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options);

	if (!status)
		status = check_numbers(cmd, workers, jobs, delay_ms);
	if (!status && report.json && (explain || names_only))
		status = usage(cmd, "give either --json or %s, not both",
			       explain ? "--explain" : "--list");
	if (!status)
		status = choose(cmd, dialect, explain || names_only, &scripts);
	if (!status && explain)
		status = check_names(cmd, scripts, &explain, 1);
	if (!status)
		status = check_names(cmd, scripts, argv, argc);
	if (status)
		return status;
	if (explain) {
		fputs(lab_find(scripts, explain)->text, stdout);
		return DONE;
	}
	if (names_only) {
		list(scripts);
		return DONE;
	}
	report.options.url = cmd->url;
	report.options.workers = (int)workers;
	report.options.jobs = (int)jobs;
	report.options.delay_ms = delay_ms;
	return run_all(&report, argv, argc);
}
