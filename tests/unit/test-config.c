/* SPDX-License-Identifier: MIT */
/* The file of `exeunt run --config`: what a line means, and that each wrong one is told with its number. */
#include "unit/test.h"

#include <fcntl.h>

#include "cmd/cmd.h"
#include "cmd/config.h"
#include "unit/stderr.h"

#define GROUPS (OPTIONS_LISTEN | OPTIONS_RUN)

static struct options o;
static struct config *config;
static char path[32];

/* Reads these bytes as a file. */
static int read_bytes(const char *text, size_t len)
{
	int fd = memfd_create("config", MFD_CLOEXEC), status;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), len);
	config_free(config);
	config = NULL;
	o = (struct options){ 0 };
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	catch_stderr();
	status = config_read(&config, path, &o, GROUPS);
	end_catch();
	close(fd);
	return status;
}

static int read_text(const char *text)
{
	return read_bytes(text, strlen(text));
}

/* How many lines of `said` there are. */
static unsigned int messages(void)
{
	unsigned int n = 0;

	for (const char *p = said; (p = strchr(p, '\n')); p++)
		n++;
	return n;
}

/* One of them is about this line, and holds this text. */
static void assert_told(int line, const char *text)
{
	char start[64];
	const char *at, *end, *found;

	snprintf(start, sizeof(start), "%s:%d: ", path, line);
	at = strstr(said, start);
	if (!at)
		fail_msg("nothing is said of line %d: %s", line, said);
	end = strchr(at, '\n');
	found = strstr(at, text);
	if (!found || found > end)
		fail_msg("'%s' is not said of line %d: %s", text, line, said);
}

/* That alone is wrong with the file. */
static void assert_wrong(const char *file, int line, const char *text)
{
	assert_int_equal(read_text(file), CMD_USAGE);
	assert_told(line, text);
	assert_int_equal(messages(), 1);
}

static void whole_file(void **state)
{
	(void)state;
	assert_int_equal(read_text("# of the daemon\n"
				   "pacct = own\n"
				   "\n"
				   "[exeunt]\n"
				   "status: 10\n"
				   "quiet = yes\n"
				   "threads = no\n"
				   "redact = one\n"
				   "redact = two\n"
				   "[sink files] ; a comment\n"
				   "to = json:/a b/c\n"
				   "filter = exit.code != 0 ; another\n"
				   "buffer = 1M\n"
				   "  ; and one more\n"
				   "[sink the rest]\n"
				   "rate = 5\n"
				   "fields = pid\n"
				   "to = socket"),
			 -1);
	assert_string_equal(said, "");
	assert_string_equal(o.pacct, "own");
	assert_int_equal(o.status_seconds, 10);
	assert_true(o.quiet);
	assert_false(o.threads);
	assert_int_equal(o.n_redact, 2);
	assert_string_equal(o.redact[1], "two");
	assert_int_equal(o.n_to, 2);
	assert_string_equal(o.to[0].name, "files");
	assert_string_equal(o.to[0].spec, "json:/a b/c");
	assert_string_equal(o.to[0].filter, "exit.code != 0");
	assert_int_equal(o.to[0].buffer, 1 << 20);
	assert_int_equal(o.buffer, 0);
	assert_string_equal(o.to[1].name, "the rest");
	assert_int_equal(o.to[1].rate, 5);
	assert_null(o.to[1].filter);
	assert_string_equal(o.to[1].fields, "pid");
}

static void lines_that_go_on(void **state)
{
	(void)state;
	assert_int_equal(read_text("[sink a]\n"
				   "filter = uid == 0 ; comment\n"
				   "\tor pid > 5 ; another\n"
				   "# between\n"
				   "\n"
				   "  or user == \"x\"\n"
				   "to = json:/x\n"),
			 -1);
	assert_string_equal(o.to[0].filter, "uid == 0 or pid > 5 or user == \"x\"");
	/* the first one of a section goes on nothing */
	assert_int_equal(read_text("status = 3\n[sink a]\n  to = json:/x\n"), -1);
	assert_int_equal(o.status_seconds, 3);
	assert_string_equal(o.to[0].spec, "json:/x");
}

/* A section indented as a whole must not become one long value. */
static void indented_sections(void **state)
{
	(void)state;
	assert_wrong("[sink a]\n  to = json:/x\n  filter = uid == 0\n", 3, "begins with a blank");
	assert_wrong("[sink a]\n  to = json:/x\n  [sink b]\n", 3, "begins with a blank");
}

static void other_editors(void **state)
{
	(void)state;
	assert_int_equal(read_text("\xef\xbb\xbfstatus = 5\r\n"
				   "[sink a]\r\n"
				   "to = json:/x\r\n"
				   "\r\n"),
			 -1);
	assert_int_equal(o.status_seconds, 5);
	assert_string_equal(o.to[0].spec, "json:/x");
	assert_int_equal(read_text(""), -1);
	assert_int_equal(o.n_to, 0);
	assert_int_equal(read_text("\n\n;\n#\n   \n"), -1);
}

static void wrong_lines(void **state)
{
	(void)state;
	assert_wrong("status = 3\nnonsense\n", 2, "expected [SECTION], or NAME = VALUE");
	assert_wrong("\n= 5\n", 2, "expected [SECTION], or NAME = VALUE");
	assert_wrong("\n\nno-such = 5\n", 3, "'no-such': no such option here");
	assert_wrong("config = /x\n", 1, "'config': no such option here");
	assert_wrong("status = 3x\n", 1, "expected a time");
	assert_wrong("quiet = maybe\n", 1, "expected yes or no");
	assert_wrong("to = json:/x\n", 1, "expected in a section [sink NAME]");
	assert_wrong("rate = 5\n", 1, "expected a --to before it");
	assert_wrong("[sink a]\nto = json:-\nstatus = 5\n", 3, "no such option here");
	assert_wrong("[sink a]\nto = json:-\nname = b\n", 3, "no such option here");
	/* a value is judged when it is whole, and told where it began */
	assert_wrong("status = 3\n 4\n\n[sink a]\nto = json:-\n", 1, "expected a time");
}

static void said_twice(void **state)
{
	(void)state;
	assert_wrong("status = 3\nquiet = yes\nstatus = 4\n", 3, "'status' is in line 1 already");
	assert_wrong("status = 3\n[exeunt]\nstatus = 4\n", 3, "'status' is in line 1 already");
	assert_wrong("[sink a]\nto = json:-\nto = json:/x\n", 3, "'to' is in line 2 already");
	assert_wrong("[sink a]\nto = json:-\n[sink a]\nto = json:/x\n", 3, "is there already");
	assert_int_equal(
		read_text("[sink a]\nto = json:-\nrate = 1\n[sink b]\nto = json:/x\nrate = 2\n"),
		-1);
	assert_int_equal(o.to[1].rate, 2);
}

/* What is in a section that is none is told of once, and means nothing. */
static void wrong_sections(void **state)
{
	(void)state;
	assert_wrong("[unknown]\nstatus = 7\nfoo = 3\n[exeunt]\nquiet = yes\n", 1,
		     "[unknown]: expected [exeunt], or [sink NAME]");
	assert_false(o.status_given);
	assert_true(o.quiet);
	assert_wrong("[sink]\n", 1, "expected [exeunt], or [sink NAME]");
	assert_wrong("[sink a\n", 1, "expected [SECTION]");
	assert_wrong("[exeunt] more\n", 1, "expected [SECTION]");
	assert_wrong("[sink a]\nto = json:-\n[exeunt]\nstatus = 3\n", 3, "comes before the sinks");
	assert_int_equal(read_text("[sink a]\n[sink b]\nto = json:-\n"), CMD_USAGE);
	assert_non_null(strstr(said, "[sink a] has no line 'to = SINK'"));
}

static void too_many_sinks(void **state)
{
	char text[2048];
	size_t len = 0;

	(void)state;
	for (int i = 0; i <= OPTIONS_SINKS; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"[sink s%d]\nto = json:/x%d\n", i, i);
	assert_wrong(text, 2 * OPTIONS_SINKS + 1, "no more than 16 sinks");
	assert_int_equal(o.n_to, OPTIONS_SINKS);
}

static void every_wrong_line_is_told(void **state)
{
	(void)state;
	assert_int_equal(read_text("a = 1\nb\n[c]\n[sink d]\ne = 2\nto = json:-\n"), CMD_USAGE);
	assert_told(1, "'a'");
	assert_told(2, "expected");
	assert_told(3, "[c]");
	assert_told(5, "'e'");
	assert_int_equal(messages(), 4);
}

static void long_lines(void **state)
{
	char text[1024], *p = text;

	(void)state;
	p += sprintf(p, "status = 5\n[sink a]\nfilter = ");
	memset(p, 'x', 300);
	p += 300;
	strcpy(p, "\nto = json:/x\nwrong = 1\n");
	assert_int_equal(read_text(text), CMD_USAGE);
	assert_told(3, "longer than");
	assert_told(5, "'wrong'");
	assert_int_equal(messages(), 2);
	assert_string_equal(o.to[0].spec, "json:/x");
}

static void zero_bytes(void **state)
{
	static const char text[] = "status = \0 5\nquiet = yes\n";

	(void)state;
	assert_int_equal(read_bytes(text, sizeof(text) - 1), CMD_USAGE);
	assert_told(1, "zero byte");
	assert_int_equal(messages(), 1);
	assert_true(o.quiet);
}

/* A file that is no such file: what is said has an end. */
static void some_other_file(void **state)
{
	size_t size = 4 << 20;
	char *text = malloc(size);
	unsigned int seed = 7;

	(void)state;
	for (size_t i = 0; i < size; i++)
		text[i] = (char)rand_r(&seed);
	assert_int_equal(read_bytes(text, size), CMD_USAGE);
	assert_in_range(messages(), 2, 30);
	free(text);
}

/* A value that grows by lines has a bound. */
static void long_value(void **state)
{
	size_t size = 1 << 20, len;
	char *text = malloc(size + 256);

	(void)state;
	len = (size_t)sprintf(text, "filter = a\n");
	while (len < size)
		len += (size_t)sprintf(text + len, "  %0150d\n", 0);
	assert_int_equal(read_bytes(text, len), CMD_USAGE);
	assert_non_null(strstr(said, "the value of 'filter' is longer"));
	assert_in_range(messages(), 1, 30);
	free(text);
}

static void no_file(void **state)
{
	(void)state;
	catch_stderr();
	assert_int_equal(config_read(&config, "/nonexistent/exeunt.conf", &o, GROUPS), CMD_FAILED);
	config_free(config);
	config = NULL;
	assert_int_equal(config_read(&config, "/", &o, GROUPS), CMD_FAILED);
	end_catch();
	assert_non_null(strstr(said, "cannot open '/nonexistent/exeunt.conf'"));
	assert_non_null(strstr(said, "reading '/' failed"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_file),
		cmocka_unit_test(lines_that_go_on),
		cmocka_unit_test(indented_sections),
		cmocka_unit_test(other_editors),
		cmocka_unit_test(wrong_lines),
		cmocka_unit_test(said_twice),
		cmocka_unit_test(wrong_sections),
		cmocka_unit_test(too_many_sinks),
		cmocka_unit_test(every_wrong_line_is_told),
		cmocka_unit_test(long_lines),
		cmocka_unit_test(zero_bytes),
		cmocka_unit_test(some_other_file),
		cmocka_unit_test(long_value),
		cmocka_unit_test(no_file),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	config_free(config);
	return failed;
}
