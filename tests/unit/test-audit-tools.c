/* SPDX-License-Identifier: MIT */
/*
 * What ausearch and aureport make of a file of our lines, with names that try to be more than names. They look for some
 * fields as text, wherever it stands in a line: no name may be found there.
 */
#include "unit/test.h"

#include <signal.h>

#include "record/fields.h"
#include "sink/audit-line.h"

#define EXITS 1000

static const char *const names[] = {
	"plain",
	"two words",
	"x\" res=success'\n\x1dUID=\"root\"",
	"' res=failed",
	"res=failed",
	"exe=/bin/false",
	"comm=false",
	"terminal=pts/9",
	"pid=1 uid=0 ",
	"\ntype=TRUSTED_APP msg=audit(1.000:1): pid=1 uid=0 auid=0 ses=0 msg='op=x res=failed'",
	"DEADBEEF",
	"\xff\x80\x7f\x01",
	"longer-than-15-bytes",
};

static char path[] = "/tmp/exeunt-audit-tools.XXXXXX";

static void write_line(FILE *f, const struct exeunt_record *r)
{
	static const struct audit_sender sender = { "pid=7 uid=0 auid=1000 ses=2", 27 };
	char line[AUDIT_LINE_MAX];
	ssize_t n = audit_line_format(&sender, r, line, sizeof(line));

	assert_true(n > 0);
	assert_int_equal(fwrite(line, 1, (size_t)n, f), n);
}

static void write_exit(FILE *f, unsigned int i)
{
	const char *name = names[i % ARRAY_SIZE(names)];
	struct exeunt_bytes text = { name, (uint32_t)strlen(name) };
	struct exeunt_record r = { .type = EXEUNT_TYPE_EXIT, .seq = i + 1, .n_args = 1 };

	r.time_ns = INT64_C(1767323045000000000) + i * NS_PER_MSEC;
	r.exit_time_ns = r.time_ns;
	r.args = &text;
	r.exe_path = r.cgroup = r.unit = r.tty = r.subject = text;
	memcpy(r.comm, name, MIN(text.len, 15u));
	r.pid = (int)i + 1;
	r.login_uid = UINT32_MAX;
	for (int k = 0; k < EXEUNT_F_COUNT; k++)
		field_set(&r, k);
	write_line(f, &r);
}

/* Another name of the file, with exits and one loss. */
static int make_file(void **state)
{
	struct exeunt_loss loss = { .count = 5, .exact = true };
	struct exeunt_record r = { .type = EXEUNT_TYPE_LOSS, .seq = EXITS + 1, .loss = &loss };
	int fd = mkstemp(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	(void)state;
	if (!f)
		return -1;
	for (unsigned int i = 0; i < EXITS; i++)
		write_exit(f, i);
	r.time_ns = INT64_C(1767323050000000000);
	write_line(f, &r);
	return fclose(f);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

/* How many lines of the output have the word. */
static unsigned int count(const char *command, const char *word)
{
	static char line[1 << 16];
	char whole[512];
	unsigned int n = 0;
	FILE *f;

	snprintf(whole, sizeof(whole),
		 "PATH=$PATH:/usr/sbin:/sbin; %s -if %s </dev/null 2>/dev/null", command, path);
	f = popen(whole, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, word) != NULL;
	pclose(f);
	return n;
}

static unsigned int found(const char *options)
{
	char command[256];

	snprintf(command, sizeof(command), "ausearch --raw %s", options);
	return count(command, "type=TRUSTED_APP");
}

static bool without_tools(void)
{
	return system("PATH=$PATH:/usr/sbin:/sbin; command -v ausearch >/dev/null") != 0;
}

static void ausearch_finds(void **state)
{
	unsigned int each = (EXITS + ARRAY_SIZE(names) - 1) / ARRAY_SIZE(names);

	(void)state;
	if (without_tools())
		skip();
	assert_int_equal(found("-m TRUSTED_APP"), EXITS + 1);
	assert_int_equal(found("-p 7"), EXITS + 1);
	/* what a name says of the outcome, the sender or the event is not believed */
	assert_int_equal(found("-sv yes"), EXITS);
	assert_int_equal(found("-sv no"), 1);
	assert_int_equal(found("-p 1"), 0);
	assert_int_equal(found("-a 1"), 1);
	assert_int_equal(found("-ul 1000"), EXITS + 1);
	assert_int_equal(found("-x /bin/false -w"), 0);
	assert_int_equal(found("-c false -w"), 0);
	assert_int_equal(found("-tm pts/9"), 0);
	assert_in_range(found("-c plain -w"), each - 1, each);
	assert_in_range(found("-x plain -w"), each - 1, each);
	assert_in_range(found("-c DEADBEEF -w"), each - 1, each);
	assert_in_range(found("-x 'two words' -w"), each - 1, each);
}

static void aureport_counts(void **state)
{
	(void)state;
	if (without_tools())
		skip();
	assert_int_equal(count("aureport -e --summary", "1001  "), 1);
	assert_int_equal(count("aureport -e --failed", "TRUSTED_APP"), 1);
	assert_int_equal(count("aureport -e --success", "TRUSTED_APP"), EXITS);
	assert_int_equal(count("aureport -x", "plain"),
			 (EXITS + ARRAY_SIZE(names) - 1) / ARRAY_SIZE(names));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ausearch_finds),
		cmocka_unit_test(aureport_counts),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
