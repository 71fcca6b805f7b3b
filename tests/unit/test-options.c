/* SPDX-License-Identifier: MIT */
/* Options: what is said behind a --to is said of that sink, what is said in front of all of them, of all. */
#include "unit/test.h"

#include "base/util.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "unit/stderr.h"

#define GROUPS (OPTIONS_LISTEN | OPTIONS_RUN)
#define PARSE(...) parse_all((const char *[]){ "exeunt", __VA_ARGS__, NULL })
#define PARSE_ONTO(...) parse_onto((const char *[]){ "exeunt", __VA_ARGS__, NULL })

static struct options o;

#define ARGS_MAX 32

/* As main() has them: they may be changed, and live as long as the options. */
static char texts[ARGS_MAX][64], *argv[ARGS_MAX];

static int copy(const char *const *args)
{
	int n = 0;

	for (; args[n]; n++) {
		snprintf(texts[n], sizeof(texts[n]), "%s", args[n]);
		argv[n] = texts[n];
	}
	argv[n] = NULL;
	return n;
}

static int parse_all(const char *const *args)
{
	int argc = copy(args), status;

	catch_stderr();
	status = options_parse(&o, argc, argv, "run", GROUPS, "");
	end_catch();
	return status;
}

/* Over what is in `o`. */
static int parse_onto(const char *const *args)
{
	int argc = copy(args), status;

	catch_stderr();
	status = options_parse_onto(&o, argc, argv, "run", GROUPS, "");
	end_catch();
	return status;
}

static void behind_a_sink(void **state)
{
	(void)state;
	assert_int_equal(PARSE("--filter=uid == 0", "--buffer=1M", "--interval=30", "--to=json:/a",
			       "--filter", "pid > 5", "--name=one", "--to", "json:/b",
			       "--fields=pid", "--buffer=2M", "--rate=7", "--interval=5"),
			 -1);
	assert_int_equal(o.n_to, 2);
	assert_string_equal(o.filter, "uid == 0");
	assert_int_equal(o.buffer, 1 << 20);
	assert_int_equal(o.interval_ns, 30 * NS_PER_SEC);
	assert_string_equal(o.to[0].spec, "json:/a");
	assert_string_equal(o.to[0].filter, "pid > 5");
	assert_string_equal(o.to[0].name, "one");
	assert_int_equal(o.to[0].buffer, 0);
	assert_string_equal(o.to[1].spec, "json:/b");
	assert_null(o.to[1].filter);
	assert_null(o.to[1].name);
	assert_string_equal(o.to[1].fields, "pid");
	assert_int_equal(o.to[1].buffer, 2 << 20);
	assert_int_equal(o.to[1].rate, 7);
	assert_int_equal(o.to[1].interval_ns, 5 * NS_PER_SEC);
}

static void in_front_of_all(void **state)
{
	(void)state;
	assert_int_equal(PARSE("--rate=5", "--to=json:/a"), CMD_USAGE);
	assert_non_null(strstr(said, "--rate=5: expected a --to before it"));
	assert_int_equal(PARSE("--name=x"), CMD_USAGE);
	assert_int_equal(PARSE("--fields=pid"), CMD_USAGE);
}

static void sixteen_sinks(void **state)
{
	const char *args[OPTIONS_SINKS + 3] = { "exeunt" };

	(void)state;
	for (int i = 1; i <= OPTIONS_SINKS; i++)
		args[i] = "--to=json:/a";
	assert_int_equal(parse_all(args), -1);
	assert_int_equal(o.n_to, OPTIONS_SINKS);
	args[OPTIONS_SINKS + 1] = "--to=json:/b";
	assert_int_equal(parse_all(args), CMD_USAGE);
	assert_non_null(strstr(said, "no more than 16 of them"));
}

/* The command line over the file: what it says in front of its own sinks is not said of the last one of the file. */
static void command_line_over_file(void **state)
{
	(void)state;
	o = (struct options){ .filter = "a", .n_to = 1, .to[0] = { .spec = "json:/file" } };
	assert_int_equal(PARSE_ONTO("--filter=b", "--buffer=1M", "--to=json:/c", "--filter=d"), -1);
	assert_string_equal(o.filter, "b");
	assert_int_equal(o.buffer, 1 << 20);
	assert_null(o.to[0].filter);
	assert_int_equal(o.to[0].buffer, 0);
	assert_string_equal(o.to[1].filter, "d");
	o = (struct options){ .n_to = 1, .to[0] = { .spec = "json:/file" } };
	assert_int_equal(PARSE_ONTO("--rate=5"), CMD_USAGE);
	assert_int_equal(o.to[0].rate, 0);
}

/* What needs another option may find it in the file. */
static void halves(void **state)
{
	char error[256];

	(void)state;
	assert_int_equal(PARSE("--force", "--to=json:-"), CMD_USAGE);
	assert_int_equal(PARSE("--force", "--config=/x"), -1);
	o = (struct options){ 0 };
	assert_int_equal(options_set(&o, GROUPS, "pacct", "own", error, sizeof(error)), 0);
	assert_int_equal(PARSE_ONTO("--force", "--config=/x"), -1);
	assert_true(o.force);
}

static void lines_of_a_file(void **state)
{
	char error[256];

	(void)state;
	o = (struct options){ 0 };
	assert_int_equal(options_set(&o, GROUPS, "quiet", "yes", error, sizeof(error)), 0);
	assert_true(o.quiet);
	assert_int_equal(options_set(&o, GROUPS, "numeric", "no", error, sizeof(error)), 0);
	assert_false(o.numeric);
	assert_int_equal(options_set(&o, GROUPS, "quiet", "", error, sizeof(error)), -EINVAL);
	assert_string_equal(error, "quiet = : expected yes or no");
	assert_int_equal(options_set(&o, GROUPS, "q", "yes", error, sizeof(error)), -EINVAL);
	assert_int_equal(options_set(&o, GROUPS, "help", "yes", error, sizeof(error)), -EINVAL);
	assert_int_equal(options_set(&o, GROUPS, "json", "yes", error, sizeof(error)), -EINVAL);
	assert_true(options_has(GROUPS, "to"));
	assert_false(options_has(GROUPS, "config"));
	assert_false(options_has(OPTIONS_OF_SINK, "quiet"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(behind_a_sink), cmocka_unit_test(in_front_of_all),
		cmocka_unit_test(sixteen_sinks), cmocka_unit_test(command_line_over_file),
		cmocka_unit_test(halves),	 cmocka_unit_test(lines_of_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
