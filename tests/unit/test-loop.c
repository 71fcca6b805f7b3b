/* SPDX-License-Identifier: MIT */
/*
 * The engine over sources that fail, never run dry, or fall silent: it goes on with the others and says so, what it holds
 * is told without anything new to wake it, and it ends when it is asked to.
 */
#include "unit/test.h"

#include <poll.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "base/util.h"
#include "lib/engine.h"

#define T EXEUNT_SOURCE_TASKSTATS
#define A EXEUNT_SOURCE_AUDIT

/* A source that does as it is told. */
struct fake {
	struct source base;
	char room
		[65536]; /* the engine knows what kind of source is behind which id, and finds zeros */
	struct source_ops ops;
	int fd; /* an epoll descriptor with nothing in it: it never wakes anybody */
	int drain_error, check_error;
	bool more;
	uint64_t lost; /* to be told at the next check */
	unsigned int drains;
	int32_t pid; /* of an end to be told at the next drain; 0: none */
};

static struct fake fakes[EXEUNT_SOURCE_OUTPUT];
static struct exeunt *x;
static unsigned int exits, stops, messages;
static struct exeunt_loss losses[8];
static size_t n_losses;

static int hand_on(struct fake *f, enum frame_kind kind, const void *data, size_t len, frame_fn fn,
		   void *userdata)
{
	struct frame frame = { .source = f->ops.id,
			       .kind = kind,
			       .channel = f->ops.id == A ? AUDIT_CHANNEL_TEXT : 0,
			       .mono_ns = mono_now(),
			       .real_ns = real_now(),
			       .data = data,
			       .len = len };

	frame.since_ns = frame.mono_ns;
	return fn(&frame, userdata);
}

static const char audit_text[] =
	"type=SYSCALL msg=audit(%lld.000:1): arch=c000003e syscall=231 a0=0 a1=0 a2=0 a3=0 items=0 "
	"ppid=1 pid=%d auid=0 uid=0\n"
	"type=PROCTITLE msg=audit(%lld.000:1): proctitle=\"demo\"\n"
	"type=EOE msg=audit(%lld.000:1): \n";

static int drain_fake(struct source *s, bool woken, frame_fn fn, void *userdata, bool *more)
{
	struct fake *f = (struct fake *)s;
	long long now = time(NULL);
	char lines[512];
	int n = f->pid != 0;

	(void)woken;
	f->drains++;
	*more = f->more;
	if (f->drain_error)
		return -f->drain_error;
	if (f->pid) {
		snprintf(lines, sizeof(lines), audit_text, now, f->pid, now, now);
		hand_on(f, FRAME_DATA, lines, strlen(lines), fn, userdata);
	}
	f->pid = 0;
	if (!f->more)
		hand_on(f, FRAME_EMPTY, NULL, 0, fn, userdata);
	return n;
}

static int check_fake(struct source *s, frame_fn fn, void *userdata)
{
	struct fake *f = (struct fake *)s;
	uint64_t lost = f->lost;

	f->lost = 0;
	if (lost)
		hand_on(f, FRAME_LOST, &lost, sizeof(lost), fn, userdata);
	return -f->check_error;
}

static int fd_of_fake(const struct source *s)
{
	return ((const struct fake *)s)->fd;
}

static void free_fake(struct source *s)
{
	close(((struct fake *)s)->fd);
}

static int on_record(const struct exeunt_record *r, void *userdata)
{
	(void)userdata;
	exits += r->type == EXEUNT_TYPE_EXIT;
	stops += r->type == EXEUNT_TYPE_STOP;
	if (r->type == EXEUNT_TYPE_LOSS && n_losses < ARRAY_SIZE(losses))
		losses[n_losses++] = *r->loss;
	return 0;
}

static void on_message(int level, const char *text, void *userdata)
{
	(void)level;
	(void)text;
	(void)userdata;
	messages++;
}

static void add_fake(enum exeunt_source id)
{
	struct fake *f = &fakes[id];

	*f = (struct fake){ .ops = { .id = id,
				     .free = free_fake,
				     .fd = fd_of_fake,
				     .drain = drain_fake,
				     .check = check_fake } };
	f->base.ops = &f->ops;
	f->base.status = &x->status[id];
	f->base.status->state = EXEUNT_STATE_OPEN;
	f->fd = epoll_create1(EPOLL_CLOEXEC);
	x->sources[id] = &f->base;
}

static int begin(void **state)
{
	struct exeunt_options o = { .size = sizeof(o),
				    .sources = EXEUNT_SOURCE_BIT(T) | EXEUNT_SOURCE_BIT(A),
				    .numeric = true,
				    .on_record = on_record,
				    .on_message = on_message };

	(void)state;
	exits = stops = messages = 0;
	n_losses = 0;
	if (exeunt_new(&x, &o))
		return -1;
	add_fake(T);
	add_fake(A);
	x->live = true;
	x->intake.real_ns = real_now();
	engine_update_sources(x);
	return loop_watch(x);
}

static int end(void **state)
{
	(void)state;
	exeunt_free(x);
	return 0;
}

/* Dispatches whenever the handle asks for it, for as long as there is nothing to show. */
static void run_until(const size_t *count, int64_t most_ms)
{
	int64_t until = mono_now() + most_ms * NS_PER_MSEC;
	struct pollfd p = { .fd = exeunt_fd(x), .events = POLLIN };

	while (!*count && mono_now() < until)
		if (poll(&p, 1, 100) > 0)
			assert_int_equal(exeunt_dispatch(x), 0);
}

static void the_others_go_on(void **state)
{
	(void)state;
	fakes[T].drain_error = ENETDOWN;
	assert_int_equal(exeunt_dispatch(x), 0);
	assert_int_equal(n_losses, 1);
	assert_int_equal(losses[0].source, T);
	assert_int_equal(losses[0].cause, EXEUNT_LOSS_NOT_RUNNING);
	assert_false(losses[0].exact);
	assert_true(losses[0].window_start_ns <= losses[0].window_end_ns);
	assert_int_equal(x->status[T].state, EXEUNT_STATE_FAILED);
	assert_int_equal(x->status[T].error, ENETDOWN);
	assert_non_null(x->status[T].reason);
	assert_int_equal(messages, 1);
	/* audit leads now, and the failed one is left alone */
	fakes[A].pid = 4242;
	assert_int_equal(exeunt_dispatch(x), 0);
	assert_int_equal(exits, 1);
	assert_int_equal(fakes[T].drains, 1);
	assert_int_equal(exeunt_stop(x), 0);
	assert_int_equal(n_losses, 1);
	assert_int_equal(stops, 1);
}

static void a_counter_that_cannot_be_read_is_a_failure_too(void **state)
{
	(void)state;
	fakes[A].check_error = EBADF;
	assert_int_equal(check_sources(x), 0);
	assert_int_equal(x->status[A].state, EXEUNT_STATE_FAILED);
	assert_int_equal(n_losses, 1);
	assert_int_equal(losses[0].source, A);
}

/* The last one that tells of ends: the caller learns of it, and still gets its stop record. */
static void without_any_it_ends(void **state)
{
	(void)state;
	fakes[T].drain_error = fakes[A].drain_error = EIO;
	assert_int_equal(exeunt_dispatch(x), -EIO);
	assert_non_null(strstr(exeunt_error(x), "audit"));
	assert_int_equal(n_losses, 2);
	assert_int_equal(exeunt_stop(x), 0);
	assert_int_equal(stops, 1);
}

static void no_memory_is_no_fault_of_a_source(void **state)
{
	(void)state;
	fakes[T].drain_error = ENOMEM;
	assert_int_equal(exeunt_dispatch(x), -ENOMEM);
	assert_int_equal(x->status[T].state, EXEUNT_STATE_OPEN);
}

/* Nothing comes any more, and the loss that waits to be filled is told all the same. */
static void a_silent_host_is_told_of_its_losses(void **state)
{
	(void)state;
	ledger_set_hold(x->ledger, NS_PER_SEC);
	fakes[T].lost = 7;
	fakes[A].pid = 4242;
	assert_int_equal(exeunt_dispatch(x), 0);
	run_until(&n_losses, 10000);
	assert_int_equal(n_losses, 1);
	assert_int_equal(losses[0].count, 7);
}

/* Faster than we can read: the queues are never empty. */
static void who_cannot_keep_up_learns_of_it(void **state)
{
	(void)state;
	fakes[T].more = true;
	fakes[T].lost = 7;
	fakes[A].pid = 4242;
	assert_int_equal(exeunt_dispatch(x), 0);
	run_until(&n_losses, 10000);
	assert_int_equal(n_losses, 1);
	/* and may stop */
	assert_int_equal(exeunt_stop(x), 0);
	assert_int_equal(stops, 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_others_go_on),
		TEST(a_counter_that_cannot_be_read_is_a_failure_too),
		TEST(without_any_it_ends),
		TEST(no_memory_is_no_fault_of_a_source),
		TEST(a_silent_host_is_told_of_its_losses),
		TEST(who_cannot_keep_up_learns_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
