/* SPDX-License-Identifier: MIT */
/* JSON Lines as others see them: hostile text read back by python's json, lines of any length, outputs that are full. */
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

static struct exeunt_record record(enum exeunt_type type, uint64_t seq)
{
	return (struct exeunt_record){ .type = (uint16_t)type,
				       .seq = seq,
				       .time_ns = INT64_C(1767323045678901234) };
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

static const char *const names[] = {
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

static void hostile_text_reads_back(void **state)
{
	struct json *j = new_json();
	FILE *f = tmpfile();
	unsigned int n = 0;
	uint64_t x = 88172645463325252;

	(void)state;
	assert_non_null(f);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++, n++)
		put_exact(f, j, names[i], strlen(names[i]));
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
		cmocka_unit_test(hostile_text_reads_back),
		cmocka_unit_test(all_fields_read_back),
		cmocka_unit_test(long_records),
		cmocka_unit_test(no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
