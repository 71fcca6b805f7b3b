/* SPDX-License-Identifier: MIT */
/* JSON Lines: exact lines for each type, hostile text read back by python's json, the plan cache, full outputs. */
#include "unit/test.h"

#include <fcntl.h>
#include <sys/wait.h>

#include "record/fields.h"
#include "sink/json.h"
#include "sink/output.h"

#define HOST "host.example"
#define BOOT "01234567-89ab-cdef-0123-456789abcdef"
#define BYTES(s) ((struct exeunt_bytes){ s, sizeof(s) - 1 })

static char line[1 << 20];

static struct json *new_json(void)
{
	struct json *j = NULL;

	assert_int_equal(json_new(&j, HOST, BOOT), 0);
	return j;
}

static const char *format(struct json *j, const struct exeunt_record *r)
{
	ssize_t n = json_format(j, r, line, sizeof(line) - 1);

	assert_true(n > 0);
	line[n] = '\0';
	return line;
}

#define HEAD(type, seq)                                                                     \
	"{\"schema\":\"exeunt/1\",\"type\":\"" type                                         \
	"\",\"time\":\"2026-01-02T03:04:05.678901234Z\",\"seq\":" seq                       \
	",\"host\":{\"name\":\"host.example\",\"boot_id\":\"01234567-89ab-cdef-0123-456789" \
	"abcdef\"}"

static struct exeunt_record record(enum exeunt_type type, uint64_t seq)
{
	return (struct exeunt_record){ .type = (uint16_t)type,
				       .seq = seq,
				       .time_ns = INT64_C(1767323045678901234) };
}

static void exit_line(void **state)
{
	struct exeunt_record r = record(EXEUNT_TYPE_EXIT, 41);
	struct exeunt_bytes args[] = { BYTES("make"), BYTES(""), BYTES("-j\"2\"") };
	struct json *j = new_json();

	(void)state;
	r.pid = 4242;
	r.parent_pid = 100;
	r.entity_start_ns = 0xabcdef01;
	strcpy(r.comm, "make");
	r.args = args;
	r.n_args = 3;
	r.exit_time_ns = r.time_ns - 678901234;
	r.exit_code = 2;
	r.exit_cause = EXEUNT_CAUSE_EXITED;
	r.exit_status = 512;
	r.uid = 1000;
	r.user = BYTES("alice");
	r.nice = -5;
	r.elapsed_us = 181220;
	r.cpu_user_us = 120000;
	r.delay[EXEUNT_DELAY_IRQ].total_ns = 7;
	r.sources =
		EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_TASKSTATS) | EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_PACCT);
	r.inherited[EXEUNT_F_LOGIN_UID / 64] |= UINT64_C(1) << EXEUNT_F_LOGIN_UID % 64;
	r.inherited[0] |= UINT64_C(1) << EXEUNT_F_CGROUP;
	for (int i = 0; i < EXEUNT_F_COUNT; i++) {
		if (i == EXEUNT_F_PID || i == EXEUNT_F_PARENT_PID || i == EXEUNT_F_ENTITY_ID ||
		    i == EXEUNT_F_COMM || i == EXEUNT_F_ARGS || i == EXEUNT_F_EXIT_TIME ||
		    i == EXEUNT_F_EXIT_CODE || i == EXEUNT_F_EXIT_CAUSE ||
		    i == EXEUNT_F_EXIT_STATUS || i == EXEUNT_F_UID || i == EXEUNT_F_USER ||
		    i == EXEUNT_F_NICE || i == EXEUNT_F_ELAPSED || i == EXEUNT_F_CPU_USER ||
		    i == EXEUNT_F_DELAY + 4 * EXEUNT_DELAY_IRQ + 1 || i == EXEUNT_F_SOURCES ||
		    i == EXEUNT_F_MISSING || i == EXEUNT_F_INHERITED)
			field_set(&r, i);
	}
	assert_string_equal(
		format(j, &r),
		HEAD("exit",
		     "41") ",\"process\":{\"pid\":4242,\"parent_pid\":100,"
			   "\"entity_id\":\"0123456789abcdef0123456789abcdef-4242-abcdef01\",\"comm\":\"make\","
			   "\"command_args\":[\"make\",\"\",\"-j\\\"2\\\"\"],"
			   "\"exit\":{\"time\":\"2026-01-02T03:04:05.000000000Z\",\"code\":2,\"cause\":\"exited\","
			   "\"status\":512},\"user\":{\"id\":1000,\"name\":\"alice\"},\"nice\":-5},"
			   "\"usage\":{\"elapsed_us\":181220,\"cpu\":{\"user_us\":120000}},"
			   "\"delay\":{\"irq\":{\"total_ns\":7}},\"sources\":[\"taskstats\",\"pacct\"],"
			   "\"missing\":[],\"inherited\":[\"process.linux.cgroup\",\"audit.login_uid\"]}\n");
	json_free(j);
}

/* Absent is absent, the name of a signal comes with the signal, and a number that is no signal stays readable. */
static void killed_line(void **state)
{
	struct exeunt_record r = record(EXEUNT_TYPE_EXIT, 1);
	struct json *j = new_json();

	(void)state;
	assert_string_equal(format(j, &r), HEAD("exit", "1") "}\n");
	r.exit_signal = 11;
	r.exit_core_dumped = true;
	r.exit_cause = EXEUNT_CAUSE_CORE_DUMPED;
	field_set(&r, EXEUNT_F_EXIT_SIGNAL);
	field_set(&r, EXEUNT_F_EXIT_CORE_DUMPED);
	field_set(&r, EXEUNT_F_EXIT_CAUSE);
	assert_string_equal(
		format(j, &r),
		HEAD("exit",
		     "1") ",\"process\":{\"exit\":{\"signal\":11,\"signal_name\":\"SIGSEGV\","
			  "\"core_dumped\":true,\"cause\":\"core_dumped\"}}}\n");
	r.exit_signal = 100;
	r.exit_core_dumped = false;
	r.exit_cause = EXEUNT_CAUSE_SIGNALED;
	field_set(&r, EXEUNT_F_EXIT_CERTAIN);
	field_set(&r, EXEUNT_F_BACKFILLED);
	r.backfilled = true;
	assert_string_equal(
		format(j, &r),
		HEAD("exit",
		     "1") ",\"process\":{\"exit\":{\"signal\":100,\"signal_name\":\"SIG100\","
			  "\"core_dumped\":false,\"cause\":\"signaled\",\"certain\":false}},"
			  "\"backfilled\":true}\n");
	json_free(j);
}

static void loss_line(void **state)
{
	struct exeunt_loss loss = { .source = EXEUNT_SOURCE_TASKSTATS,
				    .cause = EXEUNT_LOSS_SOCKET_OVERFLOW,
				    .count = 12,
				    .exact = true,
				    .cpu = 0,
				    .window_start_ns = INT64_C(1767323045000000001),
				    .window_end_ns = INT64_C(1767323046000000002),
				    .backfilled = 3 };
	struct exeunt_record r = record(EXEUNT_TYPE_LOSS, 2);
	struct json *j = new_json();

	(void)state;
	r.loss = &loss;
	assert_string_equal(
		format(j, &r),
		HEAD("loss",
		     "2") ",\"loss\":{\"source\":\"taskstats\",\"count\":12,\"exact\":true,"
			  "\"cause\":\"socket_overflow\",\"cpu\":0,\"window\":{"
			  "\"start\":\"2026-01-02T03:04:05.000000001Z\","
			  "\"end\":\"2026-01-02T03:04:06.000000002Z\"},\"backfilled\":3}}\n");
	loss = (struct exeunt_loss){ .source = EXEUNT_SOURCE_OUTPUT,
				     .cause = EXEUNT_LOSS_SLOW_SINK,
				     .count = 1,
				     .cpu = -1 };
	assert_string_equal(
		format(j, &r),
		HEAD("loss", "2") ",\"loss\":{\"source\":\"output\",\"count\":1,\"exact\":false,"
				  "\"cause\":\"slow_sink\",\"backfilled\":0}}\n");
	json_free(j);
}

static void start_line(void **state)
{
	struct exeunt_source_status sources[] = {
		{ .source = EXEUNT_SOURCE_TASKSTATS,
		  .state = EXEUNT_STATE_OPEN,
		  .version = 16,
		  .messages = 10,
		  .bytes = 4400,
		  .lost = 1,
		  .receive_buffer = 8388608,
		  .sockets = 2 },
		{ .source = EXEUNT_SOURCE_AUDIT,
		  .state = EXEUNT_STATE_REFUSED,
		  .error = EPERM,
		  .reason = "not \"permitted\"\n",
		  .remedy = "run as root" },
	};
	struct exeunt_status status = { .version = "0.1.0",
					.kernel_release = "6.12",
					.started_ns = INT64_C(1767323045000000000),
					.delay_accounting = true,
					.balance = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 },
					.sources = sources,
					.n_sources = 2 };
	struct exeunt_record r = record(EXEUNT_TYPE_START, 1);
	struct json *j = new_json();

	(void)state;
	r.status = &status;
	assert_string_equal(
		format(j, &r),
		HEAD("start",
		     "1") ",\"exeunt\":{\"version\":\"0.1.0\",\"started\":\"2026-01-02T03:04:05.000000000Z\","
			  "\"sources\":[{\"name\":\"taskstats\",\"state\":\"open\",\"version\":16,\"messages\":10,"
			  "\"bytes\":4400,\"lost\":1,\"receive_buffer_bytes\":8388608,\"sockets\":2},"
			  "{\"name\":\"audit\",\"state\":\"refused\",\"errno\":1,"
			  "\"reason\":\"not \\\"permitted\\\"\\n\",\"remedy\":\"run as root\",\"messages\":0,"
			  "\"bytes\":0,\"lost\":0,\"sockets\":0}]},\"kernel\":{\"release\":\"6.12\"},"
			  "\"delay_accounting\":true,\"balance\":{\"exits\":1,\"threads_seen\":2,\"amends\":3,"
			  "\"backfilled\":4,\"lost\":5,\"lost_output\":6,\"filtered\":7,\"unparsable\":8,"
			  "\"evicted\":9,\"pending\":10,\"unfinished\":11,\"records\":12}}\n");
	json_free(j);
}

static void hosts(void **state)
{
	struct exeunt_record r = record(EXEUNT_TYPE_EXIT, 1);
	char name[300] = { 0 };
	struct json *j = NULL;

	(void)state;
	assert_int_equal(json_new(&j, NULL, NULL), 0);
	field_set(&r, EXEUNT_F_PID);
	field_set(&r, EXEUNT_F_ENTITY_ID);
	assert_non_null(strstr(format(j, &r),
			       "\"seq\":1,\"process\":{\"pid\":0,\"entity_id\":\"00000000000000000"
			       "000000000000000-0-0\"}}\n"));
	json_free(j);
	assert_int_equal(json_new(&j, "a\"\xff", ""), 0);
	assert_non_null(
		strstr(format(j, &r),
		       ",\"host\":{\"name\":\"a\\\"\xef\xbf\xbd\",\"name_hex\":\"6122ff\"},"));
	json_free(j);
	memset(name, 'x', sizeof(name) - 1);
	assert_int_equal(json_new(&j, name, NULL), -EINVAL);
	json_free(NULL);
}

static void large_numbers(void **state)
{
	struct exeunt_record r = record(EXEUNT_TYPE_EXIT, UINT64_C(9007199254740991));
	struct json *j = new_json();

	(void)state;
	r.exe_inode = UINT64_C(9007199254740992);
	r.exe_dev = UINT64_MAX;
	r.pid = INT32_MIN;
	r.uid = UINT32_MAX;
	field_set(&r, EXEUNT_F_EXE_INODE);
	field_set(&r, EXEUNT_F_EXE_DEV);
	field_set(&r, EXEUNT_F_PID);
	field_set(&r, EXEUNT_F_UID);
	assert_non_null(strstr(format(j, &r), "\"seq\":9007199254740991,\"host\""));
	assert_non_null(strstr(line,
			       "\"pid\":-2147483648,\"executable\":{\"dev\":9007199254740991,"
			       "\"dev_hex\":\"ffffffffffffffff\",\"inode\":9007199254740991,"
			       "\"inode_hex\":\"20000000000000\"},\"user\":{\"id\":4294967295}}"));
	json_free(j);
}

/* Runs python's reader on a file of "EXPECTATION<tab>LINE"; it prints what is wrong, if anything. */
static const char reader[] =
	"import json, sys\n"
	"def once(pairs):\n"
	"    d = dict(pairs)\n"
	"    assert len(d) == len(pairs), 'a key twice: %r' % pairs\n"
	"    return d\n"
	"def text(d, key, raw):\n"
	"    try: want = raw.decode('utf-8'); bad = False\n"
	"    except UnicodeDecodeError: want = raw.decode('utf-8', 'replace'); bad = True\n"
	"    assert d[key] == want, (d[key], raw)\n"
	"    assert d.get(key + '_hex') == (raw.hex() if bad else None), (d, raw)\n"
	"    return bad\n"
	"def paths(d, at=''):\n"
	"    for k, v in d.items():\n"
	"        if isinstance(v, dict): yield from paths(v, at + k + '.')\n"
	"        else: yield at + k\n"
	"n = 0\n"
	"for row in open(sys.argv[1], 'rb').read().split(b'\\n')[:-1]:\n"
	"    want, line = row.split(b'\\t')\n"
	"    assert not any(c < 32 or c == 127 for c in line), line\n"
	"    line = line.decode('utf-8')\n"
	"    assert not any(0x80 <= ord(c) < 0xa0 for c in line), line\n"
	"    d = json.loads(line, object_pairs_hook=once)\n"
	"    n += 1\n"
	"    if want.startswith(b'paths:'):\n"
	"        have = [p for p in paths(d) if p.split('.')[0] not in ('schema','type','time','seq','host')]\n"
	"        assert have == want[6:].decode().split(','), (have, want)\n"
	"        assert d['inherited'] == have, d['inherited']\n"
	"        continue\n"
	"    p, raw = d['process'], bytes.fromhex(want.decode())\n"
	"    text(p['executable'], 'path', raw)\n"
	"    bad = text(p['user'], 'name', raw)\n"
	"    text(p, 'comm', raw[:15].split(b'\\0')[0])\n"
	"    args = [raw, b'x', raw[1:], b'', raw[:-1]]\n"
	"    assert p['command_args'] == [a.decode('utf-8', 'replace') for a in args], (p, raw)\n"
	"    bad = any(a.decode('utf-8', 'ignore').encode() != a for a in args)\n"
	"    assert p.get('command_args_hex') == ([a.hex() for a in args] if bad else None), (p, raw)\n"
	"    assert p['exit']['code'] == 0, p\n"
	"assert n == int(sys.argv[2]), n\n";

static void read_back(FILE *f, unsigned int n)
{
	char path[64];
	char count[16];
	int status;
	pid_t pid;

	assert_int_equal(fflush(f), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(f));
	snprintf(count, sizeof(count), "%u", n);
	pid = fork();
	if (pid == 0) {
		execlp("python3", "python3", "-c", reader, path, count, (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void put_hostile(FILE *f, struct json *j, const char *raw, size_t len)
{
	struct exeunt_record r = record(EXEUNT_TYPE_EXIT, 1);
	struct exeunt_bytes args[5];

	r.exe_path = (struct exeunt_bytes){ raw, (uint32_t)len };
	r.user = r.exe_path;
	memcpy(r.comm, raw, MIN(len, 15u));
	args[0] = r.exe_path;
	args[1] = BYTES("x");
	args[2] = (struct exeunt_bytes){ raw + 1, (uint32_t)len - 1 };
	args[3] = BYTES("");
	args[4] = (struct exeunt_bytes){ raw, (uint32_t)len - 1 };
	r.args = args;
	r.n_args = 5;
	field_set(&r, EXEUNT_F_EXE_PATH);
	field_set(&r, EXEUNT_F_USER);
	field_set(&r, EXEUNT_F_COMM);
	field_set(&r, EXEUNT_F_ARGS);
	field_set(&r, EXEUNT_F_EXIT_CODE);
	for (size_t i = 0; i < len; i++)
		fprintf(f, "%02x", (unsigned char)raw[i]);
	fprintf(f, "\t%s", format(j, &r));
}

/* The text lies at the end of its memory, so that the sanitizer sees a read behind it. */
static void put_exact(FILE *f, struct json *j, const char *raw, size_t len)
{
	char *copy = malloc(len);

	assert_non_null(copy);
	memcpy(copy, raw, len);
	put_hostile(f, j, copy, len);
	free(copy);
}

static void hostile_text_reads_back(void **state)
{
	static const char *const rows[] = {
		"plain",
		"a b",
		"\"",
		"\\",
		"\\\"\\",
		"\n",
		"\r\n\t\b\f",
		"\x01\x02\x1f",
		"\x7f",
		"/usr/bin/a-program-with-a-long-name",
		"caf\xc3\xa9",
		"\xe6\x97\xa5\xe6\x9c\xac",
		"\xf0\x9f\x98\x80",
		"\xf4\x8f\xbf\xbf",
		"\xc2\x80\xc2\x9f\xc2\xa0",
		"\xef\xbf\xbd",
		"\xed\xa0\x80",
		"\xed\xa0\xbd\xed\xb8\x80",
		"\xc0\xaf",
		"\xe0\x80\xaf",
		"\xf0\x80\x80\xaf",
		"\xf4\x90\x80\x80",
		"\xff\xfe",
		"\x80",
		"abc\xc3",
		"abc\xe2\x82",
		"abc\xf0\x9f\x98",
		"\xe2\x82(\xa1",
		"\x1b[2J\x1b]0;x\x07",
		"},\"type\":\"loss\"",
		"</script>",
		"\xe2\x80\xa8\xe2\x80\xa9",
		"\xe2\x80\xaexyz.gpj",
		"\\u0000",
		"\\ud800",
		"1234567\x01",
		"12345678\x01",
		"1234567\"",
		"12345678\\x",
	};
	struct json *j = new_json();
	FILE *f = tmpfile();
	unsigned int n = 0;
	uint64_t x = 88172645463325252;

	(void)state;
	assert_non_null(f);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++, n++)
		put_exact(f, j, rows[i], strlen(rows[i]));
	put_exact(f, j, "nul\0inside", 10);
	n++;
	/* Each byte value at each place of a word, and short texts of every length. */
	for (int c = 0; c < 256; c++) {
		for (size_t len = 1; len <= 18; len++, n++) {
			char raw[18];

			memset(raw, 'a', sizeof(raw));
			raw[(size_t)c % len] = (char)c;
			put_exact(f, j, raw, len);
		}
	}
	for (int i = 0; i < 2000; i++, n++) {
		char raw[40];
		size_t len;

		for (size_t k = 0; k < sizeof(raw); k++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			/* Mostly bytes of which multi-byte characters are made. */
			raw[k] = (char)(x & 1 ? 0x80 + (x >> 8) % 64 : (x >> 8) & 0xff);
		}
		len = 1 + (x >> 40) % sizeof(raw);
		put_exact(f, j, raw, len);
	}
	read_back(f, n);
	fclose(f);
	json_free(j);
}

/* Every field at once: each key where the table says, none twice, nothing too long for its room. */
static void all_fields_read_back(void **state)
{
	struct exeunt_record r = record(EXEUNT_TYPE_INTERIM, 1);
	struct json *j = new_json();
	FILE *f = tmpfile();

	(void)state;
	assert_non_null(f);
	memset(r.present, 0xff, sizeof(r.present));
	memset(r.inherited, 0xff, sizeof(r.inherited));
	memset(r.comm, 'c', sizeof(r.comm));
	r.exit_cause = 99;
	r.sources = UINT32_MAX;
	fprintf(f, "paths:");
	for (int i = 0; i < EXEUNT_F_COUNT; i++)
		fprintf(f, "%s%s", i ? "," : "", field_table[i].path);
	fprintf(f, "\t%s", format(j, &r));
	read_back(f, 1);
	fclose(f);
	json_free(j);
}

/* More sets of fields than the cache has plans, in changing order: always the line that a new handle makes. */
static void plan_cache_changes_nothing(void **state)
{
	struct exeunt_record r = record(EXEUNT_TYPE_EXIT, 1);
	struct json *j = new_json();
	char *want = malloc(sizeof(line));
	uint64_t x = 1;

	(void)state;
	assert_non_null(want);
	r.pid = 77;
	r.elapsed_us = 123456789012;
	r.user = BYTES("u");
	r.exe_path = BYTES("/bin/x");
	strcpy(r.comm, "x");
	for (int i = 0; i < 3000; i++) {
		struct json *fresh = new_json();

		x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		/* 256 sets; every other time one of four. */
		r.present[0] = (x >> 33) % (i & 1 ? 256 : 4) * UINT64_C(0x0101010101010101);
		r.present[1] = (x >> 33) % 7;
		r.type = (uint16_t)(EXEUNT_TYPE_EXIT + i % 3);
		strcpy(want, format(fresh, &r));
		assert_string_equal(format(j, &r), want);
		json_free(fresh);
	}
	free(want);
	json_free(j);
}

static void long_records(void **state)
{
	enum { N = 2000, LEN = 100 };
	static struct exeunt_bytes args[N];
	char *text = malloc(LEN);
	struct exeunt_record r = record(EXEUNT_TYPE_EXIT, 1);
	struct json *j = new_json();
	struct output *o;
	char got[4096];
	size_t len;
	int fd[2];

	(void)state;
	assert_non_null(text);
	memset(text, '\xff', LEN);
	for (int i = 0; i < N; i++)
		args[i] = (struct exeunt_bytes){ text, LEN };
	r.args = args;
	r.n_args = N;
	field_set(&r, EXEUNT_F_ARGS);
	len = strlen(format(j, &r));
	/* Three bytes each as U+FFFD, two each as digits. */
	assert_in_range(len, 5 * N * LEN, 6 * N * LEN);
	assert_int_equal(json_format(j, &r, got, sizeof(got)), -ENOSPC);

	assert_int_equal(pipe(fd), 0);
	assert_int_equal(fcntl(fd[0], F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(output_new(&o, fd[1], 0), 0);
	assert_int_equal(json_write(j, &r, o), 0);
	assert_int_equal(output_pending(o), len);
	for (size_t at = 0; at < len;) {
		ssize_t n;

		assert_true(output_flush(o) >= 0);
		n = read(fd[0], got, sizeof(got));
		assert_true(n > 0);
		assert_memory_equal(got, line + at, n);
		at += (size_t)n;
	}
	output_free(o);
	close(fd[0]);
	close(fd[1]);
	free(text);
	json_free(j);
}

/* A pipe that nobody reads: whole lines or nothing, and each refusal is told. */
static void no_room(void **state)
{
	struct exeunt_record r = record(EXEUNT_TYPE_EXIT, 0);
	struct json *j = new_json();
	unsigned int written = 0;
	unsigned int dropped = 0;
	struct output *o;
	unsigned int seen = 0;
	FILE *f;
	int fd[2];

	(void)state;
	assert_int_equal(pipe(fd), 0);
	assert_int_equal(output_new(&o, fd[1], 65536), 0);
	while (dropped < 1000) {
		int ret;

		r.seq = written + 1;
		ret = json_write(j, &r, o);
		assert_in_range(ret, 0, 1);
		written += ret == 0;
		dropped += ret == 1;
	}
	assert_int_equal(output_refused(o), dropped);
	assert_true(output_pending(o) <= 65536);
	f = fdopen(fd[0], "r");
	assert_non_null(f);
	for (char text[4096]; seen < written; seen++) {
		char want[64];

		assert_true(output_flush(o) >= 0);
		assert_non_null(fgets(text, sizeof(text), f));
		snprintf(want, sizeof(want), "\"seq\":%u,", seen + 1);
		assert_non_null(strstr(text, want));
		assert_string_equal(text + strlen(text) - 2, "}\n");
	}
	assert_int_equal(output_pending(o), 0);
	output_free(o);
	fclose(f);
	close(fd[1]);
	json_free(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exit_line),
		cmocka_unit_test(killed_line),
		cmocka_unit_test(loss_line),
		cmocka_unit_test(start_line),
		cmocka_unit_test(hosts),
		cmocka_unit_test(large_numbers),
		cmocka_unit_test(hostile_text_reads_back),
		cmocka_unit_test(all_fields_read_back),
		cmocka_unit_test(plan_cache_changes_nothing),
		cmocka_unit_test(long_records),
		cmocka_unit_test(no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
