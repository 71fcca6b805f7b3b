/* SPDX-License-Identifier: MIT */
/* Files, pipes and gzip of every shape come out byte for byte; damage is told after what was good. */
#include "unit/test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <zlib.h>

#include "base/input.h"
#include "base/util.h"

#define CONTENT_LEN ((size_t)3000000)

static char folder[] = "/tmp/exeunt-test-input-XXXXXX";
static char path[64];
static uint8_t *content;
static uint8_t *packed;
static size_t packed_len;

static void write_file(const void *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	for (size_t at = 0; at < len;) {
		ssize_t n = write(fd, (const uint8_t *)data + at, len - at);

		assert_true(n > 0);
		at += (size_t)n;
	}
	close(fd);
}

/* Compresses to `out`, with a header that says gzip; returns the size. */
static size_t pack(const void *data, size_t len, uint8_t *out, size_t room)
{
	z_stream z = { 0 };

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY),
			 Z_OK);
	z.next_in = (uint8_t *)(uintptr_t)data;
	z.avail_in = (uInt)len;
	z.next_out = out;
	z.avail_out = (uInt)room;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	len = z.total_out;
	deflateEnd(&z);
	return len;
}

static int setup(void **state)
{
	uint64_t x = 1;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/file", folder);
	content = malloc(CONTENT_LEN);
	packed = malloc(2 * CONTENT_LEN);
	assert_true(content && packed);
	for (size_t i = 0; i < CONTENT_LEN; i++) {
		x = x * UINT64_C(6364136223846793005) + 1;
		content[i] = i % 64 < 40 ? (uint8_t)i : (uint8_t)(x >> 40);
	}
	packed_len = pack(content, CONTENT_LEN, packed, 2 * CONTENT_LEN);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	free(content);
	free(packed);
	return rmdir(folder);
}

/* Reads to the end or to the first error, which is returned; insists that the content is the expected one. */
static ssize_t read_all(struct input *in, const uint8_t *expected, size_t *total)
{
	const uint8_t *data;
	ssize_t n;

	*total = 0;
	while ((n = input_next(in, &data)) > 0) {
		assert_int_equal(input_offset(in), *total + (size_t)n);
		assert_memory_equal(data, expected + *total, (size_t)n);
		*total += (size_t)n;
	}
	return n;
}

static void expect_file(size_t len, ssize_t result)
{
	_cleanup_input_ struct input *in = NULL;
	size_t total;

	assert_int_equal(input_open(&in, path), 0);
	assert_string_equal(input_name(in), path);
	assert_int_equal(read_all(in, content, &total), result);
	assert_int_equal(total, len);
	assert_int_equal(input_error(in)[0] == '\0', result == 0);
	/* The end and damage stay. */
	assert_int_equal(read_all(in, content, &total), result);
	assert_int_equal(total, 0);
}

static void plain_files(void **state)
{
	static const size_t sizes[] = { 0, 1, 2, 3, 262143, 262144, 262145, CONTENT_LEN };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		write_file(content, sizes[i]);
		expect_file(sizes[i], 0);
	}
}

static void gzip_whole_joined_and_padded(void **state)
{
	size_t half = CONTENT_LEN / 2, n;

	(void)state;
	write_file(packed, packed_len);
	expect_file(CONTENT_LEN, 0);
	n = pack(content, half, packed, CONTENT_LEN);
	n += pack(content, 0, packed + n, CONTENT_LEN);
	n += pack(content + half, CONTENT_LEN - half, packed + n, CONTENT_LEN);
	memset(packed + n, 0, 600000);
	write_file(packed, n + 600000);
	expect_file(CONTENT_LEN, 0);
	n = pack(content, 0, packed, CONTENT_LEN);
	write_file(packed, n);
	expect_file(0, 0);
	packed_len = pack(content, CONTENT_LEN, packed, 2 * CONTENT_LEN);
}

static void gzip_cut_off_gives_what_was_good(void **state)
{
	size_t cuts[] = {
		3, 9, 11, packed_len / 3, packed_len - 9, packed_len - 8, packed_len - 1
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cuts); i++) {
		_cleanup_input_ struct input *in = NULL;
		size_t total;

		write_file(packed, cuts[i]);
		assert_int_equal(input_open(&in, path), 0);
		assert_int_equal(read_all(in, content, &total), -EBADMSG);
		assert_non_null(strstr(input_error(in), path));
		assert_non_null(strstr(input_error(in), "cut off"));
		assert_true(cuts[i] < 100 ? total == 0 : total > CONTENT_LEN / 4);
		assert_true(cuts[i] < packed_len - 8 || total == CONTENT_LEN);
	}
}

static void gzip_damaged(void **state)
{
	_cleanup_input_ struct input *in = NULL;
	const uint8_t *data;
	ssize_t n;

	(void)state;
	packed[packed_len - 6] ^= 1; /* the checksum */
	write_file(packed, packed_len);
	expect_file(CONTENT_LEN, -EBADMSG);
	packed[packed_len - 6] ^= 1;
	memcpy(packed + packed_len, "tail", 4);
	write_file(packed, packed_len + 4);
	expect_file(CONTENT_LEN, -EBADMSG);
	memset(packed + packed_len / 2, 0xff, 64);
	write_file(packed, packed_len);
	assert_int_equal(input_open(&in, path), 0);
	/* Damage in the middle: what lies well before it is right, and it does not pass for the end. */
	assert_true(input_next(in, &data) > 1000);
	assert_memory_equal(data, content, 1000);
	while ((n = input_next(in, &data)) > 0)
		;
	assert_int_equal(n, -EBADMSG);
	packed_len = pack(content, CONTENT_LEN, packed, 2 * CONTENT_LEN);
}

/* Gzip is told by content: a name that ends in .gz means nothing, and two bytes of magic are not enough. */
static void nearly_gzip_is_plain(void **state)
{
	static const uint8_t nearly[] = { 0x1f, 0x8b, 0x07, 1, 2, 3 };
	_cleanup_input_ struct input *in = NULL;
	const uint8_t *data;

	(void)state;
	write_file(nearly, sizeof(nearly));
	assert_int_equal(input_open(&in, path), 0);
	assert_int_equal(input_next(in, &data), sizeof(nearly));
	assert_memory_equal(data, nearly, sizeof(nearly));
	assert_false(input_is_compressed(in));
}

static void peeking_takes_nothing(void **state)
{
	(void)state;
	for (int compressed = 0; compressed < 2; compressed++) {
		_cleanup_input_ struct input *in = NULL;
		const uint8_t *data;
		size_t total;

		write_file(compressed ? packed : content, compressed ? packed_len : CONTENT_LEN);
		assert_int_equal(input_open(&in, path), 0);
		assert_true(input_peek(in, 10, &data) >= 10);
		assert_memory_equal(data, content, 10);
		assert_true(input_peek(in, SIZE_MAX, &data) >= (ssize_t)INPUT_PEEK_MAX);
		assert_memory_equal(data, content, INPUT_PEEK_MAX);
		assert_int_equal(input_offset(in), 0);
		assert_int_equal(input_is_compressed(in), compressed);
		assert_int_equal(read_all(in, content, &total), 0);
		assert_int_equal(total, CONTENT_LEN);
		assert_int_equal(input_peek(in, 10, &data), 0);
	}
	write_file(content, 7);
	{
		_cleanup_input_ struct input *in = NULL;
		const uint8_t *data;

		assert_int_equal(input_open(&in, path), 0);
		assert_int_equal(input_peek(in, 100, &data), 7);
	}
}

/* A child writes a byte or so at a time; what is written is there at once, and peeking waits for as much as it wants. */
static void standard_input_as_a_pipe(void **state)
{
	_cleanup_input_ struct input *in = NULL;
	const uint8_t *data;
	int fds[2], saved = dup(STDIN_FILENO), status;
	size_t total;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		for (size_t at = 0, n; at < packed_len; at += n) {
			n = MIN(at < 40 ? (size_t)1 : (size_t)50000, packed_len - at);
			if (write(fds[1], packed + at, n) != (ssize_t)n)
				_exit(1);
		}
		_exit(0);
	}
	close(fds[1]);
	/* As a parent may have left it. */
	assert_int_equal(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
	dup2(fds[0], STDIN_FILENO);
	close(fds[0]);
	assert_int_equal(input_open(&in, "-"), 0);
	assert_string_equal(input_name(in), "standard input");
	assert_true(input_peek(in, 5000, &data) >= 5000);
	assert_int_equal(read_all(in, content, &total), 0);
	assert_int_equal(total, CONTENT_LEN);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	dup2(saved, STDIN_FILENO);
	close(saved);
}

static void on_alarm(int signal)
{
	(void)signal;
}

static void a_signal_ends_the_wait_and_no_more(void **state)
{
	_cleanup_input_ struct input *in = NULL;
	struct sigaction act = { .sa_handler = on_alarm };
	char fd_path[64];
	const uint8_t *data;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	snprintf(fd_path, sizeof(fd_path), "/proc/self/fd/%d", fds[0]);
	assert_int_equal(input_open(&in, fd_path), 0);
	sigaction(SIGALRM, &act, NULL);
	ualarm(1000, 1000); /* again and again, so that one comes while it waits */
	assert_int_equal(input_next(in, &data), -EINTR);
	ualarm(0, 0);
	assert_int_equal(write(fds[1], "abcd", 4), 4);
	assert_int_equal(input_next(in, &data), 4);
	assert_memory_equal(data, "abcd", 4);
	close(fds[0]);
	close(fds[1]);
}

static void what_cannot_be_read(void **state)
{
	struct input *in = NULL;

	(void)state;
	assert_int_equal(input_open(&in, "/no/such/file"), -ENOENT);
	assert_int_equal(input_open(&in, "/tmp"), -EISDIR);
	assert_null(in);
	input_close(NULL);
	/* Opens, and fails at the first read. */
	assert_int_equal(input_open(&in, "/proc/self/mem"), 0);
	{
		const uint8_t *data;

		assert_int_equal(input_next(in, &data), -EIO);
		assert_non_null(strstr(input_error(in), "/proc/self/mem: cannot read at byte 0"));
		assert_int_equal(input_next(in, &data), -EIO);
	}
	input_close(in);
}

/* 256 MiB out of 256 KiB: what is held does not grow with what comes. */
static void memory_is_bounded(void **state)
{
	_cleanup_input_ struct input *in = NULL;
	const size_t member = 16 << 20, members = 16, room = 1 << 20;
	uint8_t *zeros = calloc(1, member), *out = malloc(room);
	struct rusage before, after;
	const uint8_t *data;
	uint64_t total = 0;
	size_t n;
	ssize_t got;

	(void)state;
	assert_true(zeros && out);
	n = pack(zeros, member, out, room);
	free(zeros);
	assert_true(n * members <= room);
	for (size_t i = 1; i < members; i++)
		memcpy(out + i * n, out, n);
	write_file(out, n * members);
	free(out);
	getrusage(RUSAGE_SELF, &before);
	assert_int_equal(input_open(&in, path), 0);
	while ((got = input_next(in, &data)) > 0)
		total += (uint64_t)got;
	assert_int_equal(got, 0);
	assert_int_equal(total, member * members);
	getrusage(RUSAGE_SELF, &after);
	assert_true(after.ru_maxrss - before.ru_maxrss < 8192);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_files),
		cmocka_unit_test(gzip_whole_joined_and_padded),
		cmocka_unit_test(gzip_cut_off_gives_what_was_good),
		cmocka_unit_test(gzip_damaged),
		cmocka_unit_test(nearly_gzip_is_plain),
		cmocka_unit_test(peeking_takes_nothing),
		cmocka_unit_test(standard_input_as_a_pipe),
		cmocka_unit_test(a_signal_ends_the_wait_and_no_more),
		cmocka_unit_test(what_cannot_be_read),
		cmocka_unit_test(memory_is_bounded),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
