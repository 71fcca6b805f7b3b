/* SPDX-License-Identifier: MIT */
/*
 * The manual tells what the program does, no less and no more: every path that a line of JSON can hold is an entry of
 * exeunt-record(5) and every entry is such a path; every short name and every option is in exeunt(8), and
 * its filters are such.
 *
 *	test-man EXEUNT-RECORD.5 EXEUNT.8 [PROGRAM]
 */
#include "unit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <exeunt/exeunt.h>

#include "base/util.h"
#include "record/fields.h"
#include "record/filter.h"
#include "record/tally.h"
#include "sink/json-report.h"

#define PATHS_MAX 512
#define PATH_SIZE 96
#define LINE_SIZE 65536

static char *record_page, *command_page;
static const char *program;

/* A set of paths. */
struct paths {
	char names[PATHS_MAX][PATH_SIZE];
	size_t n;
};

static bool has(const struct paths *p, const char *name)
{
	for (size_t i = 0; i < p->n; i++) {
		if (!strcmp(p->names[i], name))
			return true;
	}
	return false;
}

static void add(struct paths *p, const char *name, size_t len)
{
	char *to = p->names[p->n];

	assert_true(p->n < PATHS_MAX && len < PATH_SIZE);
	memcpy(to, name, len);
	to[len] = '\0';
	if (!has(p, to))
		p->n++;
}

/* Every path of a line of JSON that this program wrote; an array of objects is "name[]". */
static const char *walk(const char *s, const char *path, struct paths *paths);

static const char *walk_string(const char *s)
{
	for (s++; *s != '"'; s++)
		s += *s == '\\';
	return s + 1;
}

static const char *walk_object(const char *s, const char *path, struct paths *paths)
{
	for (s++; *s != '}'; s += *s == ',') {
		const char *end = walk_string(s);
		char inner[PATH_SIZE];

		snprintf(inner, sizeof(inner), "%s%s%.*s", path, *path ? "." : "",
			 (int)(end - s) - 2, s + 1);
		assert_int_equal(*end, ':');
		s = walk(end + 1, inner, paths);
	}
	return s + 1;
}

static const char *walk(const char *s, const char *path, struct paths *paths)
{
	char inner[PATH_SIZE + 2];

	if (*s == '{')
		return walk_object(s, path, paths);
	add(paths, path, strlen(path));
	if (*s == '"')
		return walk_string(s);
	if (*s != '[')
		return s + strcspn(s, ",}]");
	snprintf(inner, sizeof(inner), "%s[]", path);
	for (s++; *s != ']'; s += *s == ',')
		s = *s == '{'	? walk_object(s, inner, paths)
		    : *s == '"' ? walk_string(s)
				: s + strcspn(s, ",]");
	return s + 1;
}

static void add_line(struct paths *paths, const struct exeunt_record *r)
{
	static char line[LINE_SIZE];
	struct json *j;
	ssize_t n;

	assert_int_equal(json_new(&j, "host", "00000000-0000-0000-0000-000000000001"), 0);
	n = json_format(j, r, line, sizeof(line) - 1);
	json_free(j);
	assert_true(n > 0);
	line[n] = '\0';
	walk(line, "", paths);
}

static void add_row(struct paths *paths, struct tally *t, const struct tally_row *row)
{
	static char line[LINE_SIZE];
	const char *text;
	struct json *j;
	ssize_t n;

	assert_int_equal(json_new(&j, NULL, NULL), 0);
	n = json_report_format(j, t, row, &text);
	assert_true(n > 0 && n < LINE_SIZE);
	memcpy(line, text, (size_t)n);
	line[n] = '\0';
	json_free(j);
	walk(line, "", paths);
}

/* The row of a group of which one exit told everything and one nothing, and a row of others. */
static void add_report(struct paths *paths)
{
	const struct tally_options o = { .fields = { EXEUNT_F_PID },
					 .n_fields = 1,
					 .interval_ns = 1 };
	struct exeunt_record all = { .type = EXEUNT_TYPE_EXIT },
			     nothing = { .type = EXEUNT_TYPE_EXIT };
	struct tally_row others = { .groups = 2 };
	struct tally_rows rows;
	struct tally *t;

	for (int i = 0; i < EXEUNT_F_COUNT; i++)
		field_set(&all, i);
	field_set(&nothing, EXEUNT_F_PID);
	field_set(&nothing, EXEUNT_F_EXIT_TIME);
	assert_int_equal(tally_new(&t, &o), 0);
	tally_take(t, &all, true);
	tally_take(t, &nothing, true);
	assert_int_equal(tally_rows(t, TALLY_BY_CPU, 0, &rows), 0);
	assert_int_equal(rows.n, 1);
	add_row(paths, t, &rows.rows[0]);
	others.sums = &rows.total;
	add_row(paths, t, &others);
	tally_free(t);
}

/* One record of each shape, with all that can be in it. */
static void add_all_lines(struct paths *paths)
{
	static const struct exeunt_loss loss = { .window_end_ns = 1 };
	static const struct exeunt_source_status source = {
		.state = EXEUNT_STATE_REFUSED,
		.error = 1,
		.reason = "r",
		.remedy = "m",
		.detail = "d",
		.version = 1,
		.receive_buffer = 1,
	};
	static const struct exeunt_status status = {
		.version = "1",
		.kernel_release = "1",
		.started_ns = 1,
		.sources = &source,
		.n_sources = 1,
	};
	struct exeunt_record r = { .type = EXEUNT_TYPE_EXIT, .exit_signal = 1 };

	for (int i = 0; i < EXEUNT_F_COUNT; i++)
		field_set(&r, i);
	add_line(paths, &r);
	r = (struct exeunt_record){ .type = EXEUNT_TYPE_LOSS, .loss = &loss };
	add_line(paths, &r);
	r = (struct exeunt_record){ .type = EXEUNT_TYPE_STOP, .status = &status };
	add_line(paths, &r);
	add_report(paths);
}

/* The entries of the page: ".It Va PATH", with KIND for each kind of delay. */
static void add_entries(struct paths *paths, const char *page)
{
	static const char start[] = "\n.It Va ";

	for (const char *s = page; (s = strstr(s, start));) {
		const char *kind;
		size_t len;

		s += strlen(start);
		len = strcspn(s, " \n");
		kind = memmem(s, len, "KIND", 4);
		for (int k = 0; kind && k < EXEUNT_DELAY_COUNT; k++) {
			char name[PATH_SIZE];
			int n = snprintf(name, sizeof(name), "%.*s%s%.*s", (int)(kind - s), s,
					 exeunt_delay_name((enum exeunt_delay_kind)k),
					 (int)(s + len - kind) - 4, kind + 4);

			add(paths, name, (size_t)n);
		}
		if (!kind)
			add(paths, s, len);
	}
}

static void assert_in_page(const char *page, const char *what, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void assert_in_page(const char *page, const char *what, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!strstr(page, text))
		fail_msg("%s: not in the manual as \"%s\"", what, text);
}

static void paths_and_entries_are_the_same(void **state)
{
	static struct paths written, told;

	(void)state;
	add_all_lines(&written);
	add_entries(&told, record_page);
	assert_true(written.n > EXEUNT_F_COUNT);
	for (size_t i = 0; i < EXEUNT_F_COUNT; i++)
		assert_true(has(&written, field_table[i].path));
	for (size_t i = 0; i < written.n; i++) {
		if (!has(&told, written.names[i]))
			fail_msg("not in exeunt-record(5): %s", written.names[i]);
	}
	for (size_t i = 0; i < told.n; i++) {
		if (!has(&written, told.names[i]))
			fail_msg("in exeunt-record(5), but never written: %s", told.names[i]);
	}
}

static void short_names_are_told(void **state)
{
	(void)state;
	for (int i = 0; i < EXEUNT_F_COUNT; i++) {
		const struct field_info *f = &field_table[i];

		if (!f->alias)
			continue;
		assert_in_page(record_page, f->path, "\n.It Va %s Pq Ic %s\n", f->path, f->alias);
		assert_in_page(command_page, f->path, "\n.It Ic %s Ta %s\n", f->alias, f->path);
	}
}

static void words_are_told(void **state)
{
	(void)state;
	for (int i = 0; i < EXEUNT_LOSS_CAUSE_COUNT; i++)
		assert_in_page(record_page, "cause of a loss", "\n.It Cm %s\n",
			       exeunt_loss_cause_name((enum exeunt_loss_cause)i));
	for (int i = EXEUNT_TYPE_EXIT; i <= EXEUNT_TYPE_INTERIM; i++)
		assert_in_page(record_page, "type of a record", "\n.It Cm %s\n",
			       exeunt_type_name((enum exeunt_type)i));
	for (int i = 0; i < EXEUNT_DELAY_COUNT; i++)
		assert_in_page(record_page, "kind of delay", "\n.It Cm %s\n",
			       exeunt_delay_name((enum exeunt_delay_kind)i));
	for (int i = 0; i < EXEUNT_SOURCE_OUTPUT; i++)
		assert_in_page(record_page, "source", "\n.It %s\n",
			       exeunt_source_name((enum exeunt_source)i));
}

/* The characters that are written with an escape in a literal display. */
static void unescape(char *s)
{
	static const char *const escapes[][2] = {
		{ "\\-", "-" },	  { "\\(aq", "'" }, { "\\(ha", "^" },
		{ "\\(ti", "~" }, { "\\(ga", "`" }, { "\\e", "\\" },
	};
	char *to = s;

	while (*s) {
		size_t used = 1;
		char c = *s;

		for (size_t i = 0; i < ARRAY_SIZE(escapes); i++) {
			if (strncmp(s, escapes[i][0], strlen(escapes[i][0])) != 0)
				continue;
			used = strlen(escapes[i][0]);
			c = *escapes[i][1];
		}
		*to++ = c;
		s += used;
	}
	*to = '\0';
}

/* Below "Examples of filters", the lines that begin with a tab. */
static void examples_of_filters_compile(void **state)
{
	const char *s = strstr(command_page, "\n.Ss Examples of filters\n");
	const char *end = s ? strstr(s, "\n.Ed\n") : NULL;
	unsigned int n = 0;

	(void)state;
	assert_non_null(end);
	for (; (s = strstr(s, "\n\t")) && s < end; s++) {
		char expr[256], error[FILTER_ERROR_SIZE];
		struct filter *f;

		snprintf(expr, sizeof(expr), "%.*s", (int)strcspn(s + 2, "\n"), s + 2);
		unescape(expr);
		if (filter_new(&f, expr, error, sizeof(error)) != 0)
			fail_msg("%s", error);
		filter_free(f);
		n++;
	}
	assert_true(n > 5);
}

/* Calls fn for each line of the program's help; "" is that of the program itself. */
static void read_help(const char *command, void (*fn)(const char *line))
{
	char shell[512], line[512];
	unsigned int lines = 0;
	FILE *f;

	snprintf(shell, sizeof(shell), "'%s' %s --help", program, command);
	f = popen(shell, "r");
	assert_non_null(f);
	for (; fgets(line, sizeof(line), f); lines++)
		fn(line);
	assert_int_equal(pclose(f), 0);
	assert_true(lines > 3);
}

/* "  -o, --output=FILE   write there ..." */
static void option_is_told(const char *line)
{
	const char *name = line + strspn(line, " ");

	if (name[0] == '-' && name[1] != '-' && name[2] == ',')
		name += strspn(name + 3, " ") + 3;
	if (name == line || strncmp(name, "--", 2) != 0)
		return;
	assert_in_page(command_page, "option", "Fl \\-%.*s", (int)strcspn(name + 2, "= \n"),
		       name + 2);
}

/* "  live      a line for each process ..." */
static void command_is_told(const char *line)
{
	char name[32];

	if (strncmp(line, "  ", 2) != 0 || sscanf(line + 2, "%31[a-z]", name) != 1)
		return;
	assert_in_page(command_page, "command", "\n.It Xo\n.Nm\n.Cm %s\n", name);
	read_help(name, option_is_told);
}

static void commands_and_options_are_told(void **state)
{
	(void)state;
	if (!program)
		skip();
	read_help("", command_is_told);
}

static char *read_page(const char *path)
{
	_cleanup_file_
	FILE *f = fopen(path, "r");
	static const size_t size = 1 << 20;
	char *page = calloc(1, size);

	if (!f || !page || fread(page, 1, size - 1, f) == 0) {
		fprintf(stderr, "cannot read %s\n", path);
		exit(1);
	}
	return page;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_and_entries_are_the_same),
		cmocka_unit_test(short_names_are_told),
		cmocka_unit_test(words_are_told),
		cmocka_unit_test(examples_of_filters_compile),
		cmocka_unit_test(commands_and_options_are_told),
	};
	int failed;

	if (argc < 3) {
		fprintf(stderr, "usage: %s EXEUNT-RECORD.5 EXEUNT.8 [PROGRAM]\n", argv[0]);
		return 2;
	}
	record_page = read_page(argv[1]);
	command_page = read_page(argv[2]);
	program = argv[3];
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(record_page);
	free(command_page);
	return failed;
}
