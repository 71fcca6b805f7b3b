/* SPDX-License-Identifier: MIT */
/* source/netlink: batches, what is left out, and the times that frames carry. */
#include "unit/test.h"

#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/util.h"
#include "source/netlink.h"

#define BATCH 4
#define ROUNDS 16 /* as in netlink.c */

struct seen {
	int data, empty, lost;
	size_t bytes;
	struct frame last;
	char first[64];
	int fail_at; /* data frames; 0: never */
};

static int on_frame(const struct frame *f, void *userdata)
{
	struct seen *seen = userdata;

	seen->last = *f;
	if (f->kind == FRAME_EMPTY)
		seen->empty++;
	if (f->kind == FRAME_LOST)
		seen->lost++;
	if (f->kind != FRAME_DATA)
		return 0;
	if (!seen->data++)
		memcpy(seen->first, f->data, MIN(f->len, sizeof(seen->first)));
	seen->bytes += f->len;
	return seen->fail_at == seen->data ? -ENOMEM : 0;
}

static const struct source_ops ops = { .id = EXEUNT_SOURCE_PROCEVENTS };

struct fixture {
	struct exeunt_source_status status;
	struct source source;
	struct netlink_batch batch;
	struct netlink_channel channel;
	int peer;
};

static int setup(void **state)
{
	struct fixture *x = calloc(1, sizeof(*x));
	int fds[2];

	assert_non_null(x);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	x->source = (struct source){ .ops = &ops, .status = &x->status };
	x->channel = (struct netlink_channel){ .fd = fds[0], .number = 7 };
	x->peer = fds[1];
	assert_int_equal(netlink_batch_init(&x->batch, BATCH, 64, false), 0);
	assert_int_equal(netlink_channel_begin(&x->channel), 0);
	*state = x;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *x = *state;

	netlink_batch_done(&x->batch);
	close_fd(x->channel.fd);
	close_fd(x->peer);
	free(x);
	return 0;
}

static void send_some(struct fixture *x, int n, const char *text)
{
	for (int i = 0; i < n; i++)
		assert_int_equal(send(x->peer, text, strlen(text), 0), (ssize_t)strlen(text));
}

static int drain(struct fixture *x, struct seen *seen, bool *more)
{
	*more = false;
	return netlink_channel_drain(&x->channel, &x->batch, &x->source, true, on_frame, seen,
				     more);
}

static void test_batches(void **state)
{
	struct fixture *x = *state;
	struct seen seen = { 0 };
	bool more;

	send_some(x, BATCH + 1, "hello");
	assert_int_equal(drain(x, &seen, &more), BATCH + 1);
	assert_false(more);
	assert_int_equal(seen.data, BATCH + 1);
	assert_int_equal(seen.bytes, (BATCH + 1) * 5);
	assert_memory_equal(seen.first, "hello", 5);
	assert_int_equal(seen.last.channel, 7);
	assert_int_equal(seen.last.source, EXEUNT_SOURCE_PROCEVENTS);
	assert_int_equal(x->status.messages, BATCH + 1);
	assert_int_equal(x->status.bytes, (BATCH + 1) * 5);
	assert_int_equal(drain(x, &seen, &more), 0);
}

/* One socket does not keep the others waiting for ever. */
static void test_turns(void **state)
{
	struct fixture *x = *state;
	struct seen seen = { 0 };
	bool more;

	send_some(x, ROUNDS * BATCH + 2, "x");
	assert_int_equal(drain(x, &seen, &more), ROUNDS * BATCH);
	assert_true(more);
	assert_int_equal(drain(x, &seen, &more), 2);
	assert_false(more);
}

static bool not_skip(struct source *s, const void *data, size_t len)
{
	(void)s;
	return len != 4 || memcmp(data, "skip", 4) != 0;
}

static void test_wanted(void **state)
{
	struct fixture *x = *state;
	struct seen seen = { 0 };
	bool more;

	x->batch.wanted = not_skip;
	send_some(x, 1, "skip");
	send_some(x, 1, "keep");
	assert_int_equal(drain(x, &seen, &more), 2);
	assert_int_equal(seen.data, 1);
	assert_memory_equal(seen.first, "keep", 4);
	assert_int_equal(x->status.messages, 1);
}

static void test_error_ends(void **state)
{
	struct fixture *x = *state;
	struct seen seen = { .fail_at = 2 };
	bool more;

	send_some(x, 3, "hello");
	assert_int_equal(drain(x, &seen, &more), -ENOMEM);
	assert_int_equal(seen.data, 2);
}

/* Woken for a few: they came just now. Many, or not woken: since the queue was last seen empty. */
static void test_since(void **state)
{
	struct fixture *x = *state;
	struct seen seen = { 0 };
	bool more;

	x->channel.empty_ns -= 10 * NS_PER_SEC;
	send_some(x, 2, "a");
	assert_int_equal(drain(x, &seen, &more), 2);
	assert_true(seen.last.mono_ns - seen.last.since_ns < NS_PER_SEC);
	assert_true(mono_now() - x->channel.empty_ns < NS_PER_SEC);

	x->channel.empty_ns -= 10 * NS_PER_SEC;
	send_some(x, 2, "a");
	assert_int_equal(netlink_channel_drain(&x->channel, &x->batch, &x->source, false, on_frame,
					       &seen, &more),
			 2);
	assert_true(seen.last.mono_ns - seen.last.since_ns > 9 * NS_PER_SEC);
}

static void test_tells_empty(void **state)
{
	struct fixture *x = *state;
	struct seen seen = { 0 };

	assert_int_equal(netlink_tell_empty(&x->source, 42, on_frame, &seen), 0);
	assert_int_equal(seen.empty, 1);
	assert_int_equal(seen.last.mono_ns, 42);
	assert_int_equal(seen.last.since_ns, 42);
	assert_int_equal(seen.last.channel, -1);
}

/* The counter is 32 bits wide and wraps. */
static void test_lost(void **state)
{
	struct fixture *x = *state;
	struct seen seen = { 0 };

	assert_int_equal(netlink_channel_check(&x->channel, &x->source, on_frame, &seen), 0);
	assert_int_equal(seen.lost, 0);
	x->channel.drops -= 3;
	assert_int_equal(netlink_channel_check(&x->channel, &x->source, on_frame, &seen), 0);
	assert_int_equal(seen.lost, 1);
	assert_int_equal(x->status.lost, 3);
	assert_int_equal(netlink_channel_check(&x->channel, &x->source, on_frame, &seen), 0);
	assert_int_equal(seen.lost, 1);
}

/* Only the kernel has port 0: what another process sends to our port is no record. */
static void test_forged(void **state)
{
	struct sockaddr_nl to = { 0 };
	struct nlmsghdr message = { .nlmsg_len = sizeof(message), .nlmsg_type = 1300 };
	struct fixture *x = *state;
	struct seen seen = { 0 };
	socklen_t len = sizeof(to);
	int forger = netlink_open(NETLINK_USERSOCK, 0);
	bool more;

	if (forger < 0)
		skip();
	close_fd(x->channel.fd);
	x->channel.fd = netlink_open(NETLINK_USERSOCK, 0);
	assert_true(x->channel.fd >= 0);
	assert_int_equal(getsockname(x->channel.fd, (struct sockaddr *)&to, &len), 0);
	assert_int_equal(sendto(forger, &message, sizeof(message), 0, (struct sockaddr *)&to, len),
			 sizeof(message));
	assert_int_equal(drain(x, &seen, &more), 1);
	assert_int_equal(seen.data, 0);
	assert_int_equal(x->status.messages, 0);
	close_fd(forger);
}

static void test_buffer(void **state)
{
	struct fixture *x = *state;
	uint64_t granted = 0;
	uint32_t one = netlink_choose_buffer(1), many = netlink_choose_buffer(4096);

	assert_true(one >= 1u << 20 && one <= 32u << 20);
	assert_true(many >= 1u << 20 && many <= one);
	assert_int_equal(netlink_set_buffer(x->channel.fd, 65536, &granted), 0);
	assert_int_equal(granted, 65536);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_batches, setup, teardown),
		cmocka_unit_test_setup_teardown(test_turns, setup, teardown),
		cmocka_unit_test_setup_teardown(test_wanted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_error_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(test_since, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tells_empty, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(test_forged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_buffer, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
