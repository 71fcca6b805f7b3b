/* SPDX-License-Identifier: MIT */
/* One reader's stream: its numbers, its filter and fields, and that what it missed is told exactly, where it is missing. */
#include "unit/test.h"

#include <fcntl.h>
#include <signal.h>

#include "record/fields.h"
#include "record/filter.h"
#include "sink/feed.h"
#include "sink/output.h"
#include "sink/sink.h"

#define BOUND 65536
#define LINES 100000
#define LINE_SIZE 400

/* What the stream wrote, a line for each record; read back from a pipe as far as the test lets it. */
struct stream {
	struct feed feed;
	struct output *output;
	int fds[2];
	char line[LINE_SIZE + 1];
	size_t len;
	uint64_t seq, lines, exits, told, stops;
	uint64_t stop_filtered;
};

/* "seq type count records lost filtered", and blanks up to a fixed length. */
static int write_line(void *format, const struct exeunt_record *r, struct output *o)
{
	const struct exeunt_balance *b = r->status ? &r->status->balance : NULL;
	char *p = output_reserve(o, LINE_SIZE + 1);
	char text[LINE_SIZE];

	(void)format;
	if (!p)
		return 1;
	snprintf(text, sizeof(text), "%llu %u %llu %llu %llu %llu", (unsigned long long)r->seq,
		 r->type, (unsigned long long)(r->loss ? r->loss->count : 0),
		 (unsigned long long)(b ? b->records : 0),
		 (unsigned long long)(b ? b->lost_output : 0),
		 (unsigned long long)(b ? b->filtered : 0));
	snprintf(p, LINE_SIZE + 1, "%-*s\n", LINE_SIZE - 1, text);
	output_commit(o, LINE_SIZE);
	return 0;
}

static void begin(struct stream *s, const struct sink_options *options)
{
	*s = (struct stream){ 0 };
	assert_int_equal(pipe2(s->fds, O_NONBLOCK), 0);
	assert_int_equal(output_new(&s->output, s->fds[1], BOUND), 0);
	feed_init(&s->feed, options, write_line, NULL, s->output);
}

static void end(struct stream *s)
{
	output_free(s->output);
	close(s->fds[0]);
	close(s->fds[1]);
}

/* A gap is followed by a loss of as many records, and by nothing else. */
static void check_line(struct stream *s)
{
	unsigned long long seq, count, records, lost, filtered;
	unsigned int type;

	assert_int_equal(sscanf(s->line, "%llu %u %llu %llu %llu %llu", &seq, &type, &count,
				&records, &lost, &filtered),
			 6);
	assert_int_equal(seq, s->seq + 1 + (type == EXEUNT_TYPE_LOSS ? count : 0));
	s->seq = seq;
	s->lines++;
	s->exits += type == EXEUNT_TYPE_EXIT;
	s->told += type == EXEUNT_TYPE_LOSS ? count : 0;
	if (type == EXEUNT_TYPE_STOP || type == EXEUNT_TYPE_STATUS) {
		assert_int_equal(records, s->lines);
		assert_int_equal(lost, s->told);
		assert_int_equal(records + lost, seq);
	}
	if (type == EXEUNT_TYPE_STOP) {
		s->stops++;
		s->stop_filtered = filtered;
	}
}

/* At most `max` bytes. */
static void read_back(struct stream *s, size_t max)
{
	char c;

	while (max-- && read(s->fds[0], &c, 1) == 1) {
		assert_true(s->len < sizeof(s->line));
		s->line[s->len++] = c;
		if (c != '\n')
			continue;
		s->line[s->len - 1] = '\0';
		check_line(s);
		s->len = 0;
	}
}

static void read_all(struct stream *s)
{
	do
		read_back(s, SIZE_MAX);
	while (feed_flush(&s->feed) == 1);
	read_back(s, SIZE_MAX);
	assert_int_equal(s->len, 0);
}

static struct exeunt_record exit_of(int pid)
{
	struct exeunt_record r = { .size = sizeof(r),
				   .version = EXEUNT_RECORD_VERSION,
				   .type = EXEUNT_TYPE_EXIT,
				   .time_ns = 1000 + pid,
				   .pid = pid };

	r.present[EXEUNT_F_PID / 64] |= UINT64_C(1) << (EXEUNT_F_PID % 64);
	return r;
}

static void give_exits(struct stream *s, int n)
{
	for (int pid = 1; pid <= n; pid++) {
		const struct exeunt_record r = exit_of(pid);

		feed_record(&s->feed, &r);
	}
}

static void give_status(struct stream *s, enum exeunt_type type)
{
	const struct exeunt_status status = { .balance = { .records = 77, .lost_output = 88 } };
	const struct exeunt_record r = { .size = sizeof(r),
					 .version = EXEUNT_RECORD_VERSION,
					 .type = (uint16_t)type,
					 .time_ns = 5,
					 .status = &status };

	feed_record(&s->feed, &r);
}

static const struct sink_options everything;

static void counts_from_one(void **state)
{
	struct stream s;

	(void)state;
	begin(&s, &everything);
	give_status(&s, EXEUNT_TYPE_START);
	give_exits(&s, 10);
	give_status(&s, EXEUNT_TYPE_STATUS);
	give_exits(&s, 10);
	give_status(&s, EXEUNT_TYPE_STOP);
	read_all(&s);
	assert_int_equal(s.lines, 23);
	assert_int_equal(s.seq, 23);
	assert_int_equal(s.exits, 20);
	assert_int_equal(s.stops, 1);
	end(&s);
}

/* Filters of the sink and of the reader both count; what they keep back has no number. */
static void filters(void **state)
{
	char error[FILTER_ERROR_SIZE];
	struct sink_options options = { 0 };
	struct filter *above, *below;
	struct stream s;

	(void)state;
	assert_int_equal(filter_new(&above, "pid > 10", error, sizeof(error)), 0);
	assert_int_equal(filter_new(&below, "pid <= 30", error, sizeof(error)), 0);
	options.filter = above;
	begin(&s, &options);
	s.feed.own = below;
	give_exits(&s, 100);
	give_status(&s, EXEUNT_TYPE_STOP);
	read_all(&s);
	assert_int_equal(s.exits, 20);
	assert_int_equal(s.seq, 21);
	assert_int_equal(s.stop_filtered, 80);
	end(&s);
	filter_free(above);
	filter_free(below);
}

static uint64_t seen_present, seen_type;

static int note_present(void *format, const struct exeunt_record *r, struct output *o)
{
	(void)format;
	(void)o;
	seen_present = r->present[EXEUNT_F_PID / 64];
	seen_type = r->type;
	return 0;
}

/* The record itself, which other sinks get too, is left alone. */
static void fields_of_its_own(void **state)
{
	struct exeunt_record r = exit_of(5);
	uint64_t none[EXEUNT_PRESENT_WORDS] = { 0 };
	const struct sink_options options = { .fields = none };
	struct exeunt_record before;
	struct feed f;

	(void)state;
	r.seq = 1;
	before = r;
	feed_init(&f, &options, note_present, NULL, NULL);
	feed_record(&f, &r);
	assert_int_equal(seen_type, EXEUNT_TYPE_EXIT);
	assert_int_equal(seen_present, 0);
	assert_memory_equal(&r, &before, sizeof(r));
	r.type = EXEUNT_TYPE_LOSS; /* is not about a process */
	feed_record(&f, &r);
	assert_int_equal(seen_present, before.present[EXEUNT_F_PID / 64]);
}

/* More than pipe and buffer hold; then the reader takes all, and hears of what it missed before anything newer. */
static void slow_reader_hears_exactly_what_it_missed(void **state)
{
	struct stream s;

	(void)state;
	begin(&s, &everything);
	give_status(&s, EXEUNT_TYPE_START);
	give_exits(&s, LINES);
	assert_true(s.feed.lost > 0);
	give_status(&s, EXEUNT_TYPE_STATUS);
	read_all(&s);
	assert_int_equal(s.told, s.feed.lost);
	assert_int_equal(s.exits + s.told, LINES);
	give_exits(&s, 10);
	give_status(&s, EXEUNT_TYPE_STOP);
	read_all(&s);
	assert_int_equal(s.exits + s.told, LINES + 10);
	assert_int_equal(s.stops, 1);
	end(&s);
}

/* A reader that takes a little now and then: many gaps, each told in its place. */
static void many_gaps(void **state)
{
	unsigned int seed = 1;
	int given = 0;
	struct stream s;

	(void)state;
	begin(&s, &everything);
	for (int turn = 0; turn < 2000; turn++) {
		int n = rand_r(&seed) % 40;

		give_exits(&s, n);
		given += n;
		if (turn % 50 == 0)
			give_status(&s, EXEUNT_TYPE_STATUS);
		read_back(&s, (size_t)(rand_r(&seed) % 12000));
		feed_flush(&s.feed);
	}
	assert_true(s.told > 0);
	assert_true(s.exits > 0);
	give_status(&s, EXEUNT_TYPE_STOP);
	read_all(&s);
	assert_int_equal(s.exits + s.told, given);
	assert_int_equal(s.told, s.feed.lost);
	assert_int_equal(s.stops, 1);
	end(&s);
}

/* The stop record is for a reader that is behind most of all. */
static void stop_waits_for_room(void **state)
{
	struct stream s;

	(void)state;
	begin(&s, &everything);
	give_exits(&s, LINES);
	give_status(&s, EXEUNT_TYPE_STOP);
	assert_int_equal(feed_flush(&s.feed), 1);
	read_all(&s);
	assert_int_equal(s.stops, 1);
	assert_int_equal(s.exits + s.told, LINES);
	assert_int_equal(s.seq, s.lines + s.told);
	end(&s);
}

static void reader_that_left_is_counted(void **state)
{
	struct sink_report report = { 0 };
	struct stream s;

	(void)state;
	begin(&s, &everything);
	close(s.fds[0]);
	s.fds[0] = -1;
	give_exits(&s, 10);
	assert_int_equal(feed_flush(&s.feed), -EPIPE);
	give_exits(&s, LINES);
	assert_int_equal(feed_flush(&s.feed), -EPIPE);
	feed_report(&s.feed, &report);
	assert_true(report.dropped > 0);
	assert_int_equal(report.records + report.dropped, LINES + 10);
	assert_true(report.queued_bytes <= BOUND);
	output_free(s.output);
	close(s.fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_from_one),
		cmocka_unit_test(filters),
		cmocka_unit_test(fields_of_its_own),
		cmocka_unit_test(slow_reader_hears_exactly_what_it_missed),
		cmocka_unit_test(many_gaps),
		cmocka_unit_test(stop_waits_for_room),
		cmocka_unit_test(reader_that_left_is_counted),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
