/* SPDX-License-Identifier: MIT */
/* The bucket that bounds a sink's rate, and what a stream tells of what it cut. */
#include "unit/test.h"

#include "base/util.h"
#include "sink/feed.h"
#include "sink/output.h"
#include "sink/rate.h"
#include "sink/sink.h"

static unsigned int take_many(struct rate *r, unsigned int n, int64_t now)
{
	unsigned int taken = 0;

	for (unsigned int i = 0; i < n; i++)
		taken += rate_take(r, now);
	return taken;
}

static void none_is_no_bound(void **state)
{
	struct rate r;

	(void)state;
	rate_init(&r, 0, 0);
	assert_int_equal(take_many(&r, 100000, 0), 100000);
}

static void a_second_at_once(void **state)
{
	struct rate r;

	(void)state;
	rate_init(&r, 200, 5);
	assert_int_equal(take_many(&r, 1000, 5), 200);
	assert_int_equal(take_many(&r, 1000, 5 + NS_PER_SEC / 2), 100);
	assert_int_equal(take_many(&r, 1000, 5 + 100 * NS_PER_SEC), 200);
}

static void never_more_over_time(void **state)
{
	struct rate r;
	unsigned int taken = 0;

	(void)state;
	rate_init(&r, 7, 0);
	for (int64_t now = 0; now < 100 * NS_PER_SEC; now += NS_PER_MSEC)
		taken += take_many(&r, 3, now);
	assert_in_range(taken, 700, 707);
}

static void huge_rates(void **state)
{
	struct rate r;

	(void)state;
	rate_init(&r, UINT64_MAX, 0);
	assert_int_equal(take_many(&r, 1000000, 0), 1000000);
}

/* What was written, in the order of it. */
struct written {
	uint64_t exits, losses, last_seq, told;
	bool refuses, exact;
};

static int write_record(void *format, const struct exeunt_record *r, struct output *o)
{
	struct written *w = format;

	(void)o;
	if (w->refuses)
		return 1;
	assert_true(r->seq > w->last_seq);
	w->last_seq = r->seq;
	w->exits += r->type == EXEUNT_TYPE_EXIT;
	w->losses += r->type == EXEUNT_TYPE_LOSS;
	if (r->type == EXEUNT_TYPE_LOSS) {
		w->told += r->loss->count;
		w->exact = r->loss->exact;
	}
	return 0;
}

static const struct exeunt_record an_exit = { .size = sizeof(an_exit),
					      .version = EXEUNT_RECORD_VERSION,
					      .type = EXEUNT_TYPE_EXIT,
					      .time_ns = 1000 };

static void what_is_cut_is_told(void **state)
{
	const struct sink_options none = { 0 };
	struct written w = { 0 };
	struct sink_report report = { 0 };
	struct rate rate;
	struct feed f;

	(void)state;
	rate_init(&rate, 1, 0);
	feed_init(&f, &none, write_record, &w, NULL);
	f.rate = &rate;
	for (int i = 0; i < 1000; i++)
		feed_record(&f, &an_exit);
	assert_in_range(w.exits, 1, 100);
	assert_true(feed_tell(&f, false));
	assert_false(feed_tell(&f, false));
	assert_int_equal(w.losses, 1);
	assert_true(w.exact);
	assert_int_equal(w.exits + w.told, 1000);
	feed_report(&f, &report);
	assert_int_equal(report.dropped, w.told);
	assert_int_equal(report.records, w.exits + 1);
}

static void a_loss_that_finds_no_room_is_told_later(void **state)
{
	const struct sink_options none = { 0 };
	struct written w = { .refuses = true };
	struct feed f;

	(void)state;
	feed_init(&f, &none, write_record, &w, NULL);
	for (int i = 0; i < 10; i++)
		feed_record(&f, &an_exit);
	assert_false(feed_tell(&f, true));
	feed_lost(&f, 5, false, 500, 2000);
	assert_int_equal(f.dropped_from_ns, 500);
	assert_int_equal(f.dropped_to_ns, 2000);
	w.refuses = false;
	assert_true(feed_tell(&f, true));
	assert_int_equal(w.told, 15);
	assert_false(w.exact);
	assert_int_equal(w.last_seq, 11);
	feed_lost(&f, 0, false, 0, 0);
	assert_false(feed_tell(&f, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(none_is_no_bound),
		cmocka_unit_test(a_second_at_once),
		cmocka_unit_test(never_more_over_time),
		cmocka_unit_test(huge_rates),
		cmocka_unit_test(what_is_cut_is_told),
		cmocka_unit_test(a_loss_that_finds_no_room_is_told_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
