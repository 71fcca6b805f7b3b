/* SPDX-License-Identifier: MIT */
/*
 * Accounting files whole, damaged and foreign: every good record comes out, none is invented, each damaged region is
 * told once, and all of it however the file is cut into pieces.
 */
#include "unit/test.h"

#include "decode/pacct_stream.h"
#include "unit/pacct.h"

#define MAX_EVENTS 4096
#define MAX_FILE (1 << 18)

/* What came out of a stream, in order: a record (its offset and pid) or a damaged region. */
struct event {
	uint64_t offset, bytes;
	int damage; /* -1: a record */
	uint32_t pid;
};

static struct seen {
	struct event events[MAX_EVENTS];
	size_t n, records, regions;
	int end, stop_after;
} seen;

static uint8_t file[MAX_FILE];
static size_t file_len;

static int on_exit_record(const struct pacct_exit *e, void *userdata)
{
	struct seen *s = userdata;

	assert_true(s->n < MAX_EVENTS);
	s->events[s->n++] = (struct event){
		.offset = e->offset, .bytes = pacct_size(e->format), .damage = -1, .pid = e->pid
	};
	return ++s->records == (size_t)s->stop_after ? 7 : 0;
}

static void on_damage(uint64_t offset, uint64_t bytes, enum pacct_damage damage, void *userdata)
{
	struct seen *s = userdata;

	assert_true(s->n < MAX_EVENTS && bytes > 0);
	s->events[s->n++] =
		(struct event){ .offset = offset, .bytes = bytes, .damage = (int)damage };
	s->regions++;
}

/* Feeds the file in pieces of at most `piece` bytes (0: of random size) and checks that nothing is left out. */
static void read_file(size_t piece, uint64_t *seed)
{
	struct pacct_stream s;
	uint64_t next = 0;

	memset(&seen, 0, sizeof(seen));
	pacct_stream_init(&s, 0, on_exit_record, on_damage, &seen);
	for (size_t at = 0, n; at < file_len; at += n) {
		n = MIN(piece ? piece : 1 + mk_random(seed) % 200, file_len - at);
		assert_int_equal(pacct_stream_feed(&s, at, file + at, n), 0);
	}
	seen.end = pacct_stream_end(&s);
	for (size_t i = 0; i < seen.n; i++) {
		assert_int_equal(seen.events[i].offset, next);
		next += seen.events[i].bytes;
		/* Two regions side by side would be one told twice. */
		assert_false(i && seen.events[i].damage >= 0 && seen.events[i - 1].damage >= 0);
	}
	assert_int_equal(next, file_len);
	assert_int_equal(s.records, seen.records);
	assert_int_equal(s.damaged_regions, seen.regions);
	assert_int_equal(pacct_stream_offset(&s), file_len);
	assert_int_equal(seen.end, file_len && !seen.records ? -EBADMSG : 0);
}

static void add(const void *bytes, size_t len)
{
	assert_true(file_len + len <= sizeof(file));
	memcpy(file + file_len, bytes, len);
	file_len += len;
}

static void add_exit(const struct mk_exit *x, enum mk_format f)
{
	uint8_t bytes[64];

	add(bytes, mk_record(bytes, x, f));
}

static void add_fill(uint8_t byte, size_t len)
{
	assert_true(file_len + len <= sizeof(file));
	memset(file + file_len, byte, len);
	file_len += len;
}

static void add_base(int n, enum mk_format f)
{
	struct mk_exit x = base_exit();

	for (int i = 0; i < n; i++)
		add_exit(&x, f);
}

static void assert_event(size_t i, int damage, uint64_t offset, uint64_t bytes)
{
	assert_true(i < seen.n);
	assert_int_equal(seen.events[i].damage, damage);
	assert_int_equal(seen.events[i].offset, offset);
	assert_int_equal(seen.events[i].bytes, bytes);
}

static void no_record_and_one(void **state)
{
	(void)state;
	file_len = 0;
	read_file(64, NULL);
	assert_int_equal(seen.n, 0);
	for (enum mk_format f = 0; f < MK_FORMATS; f++) {
		file_len = 0;
		add_base(1, f);
		read_file(1, NULL);
		assert_int_equal(seen.records, 1);
	}
}

/* A record is handed over when its last byte comes, not when the next record does: a live file must not lag. */
static void nothing_is_held_back(void **state)
{
	(void)state;
	for (enum mk_format f = 0; f < MK_FORMATS; f++) {
		struct pacct_stream s;
		size_t size = pacct_size(formats[f]);

		file_len = 0;
		add_base(3, f);
		memset(&seen, 0, sizeof(seen));
		pacct_stream_init(&s, 0, on_exit_record, on_damage, &seen);
		for (size_t i = 0; i < file_len; i++) {
			assert_int_equal(pacct_stream_feed(&s, i, file + i, 1), 0);
			assert_int_equal(seen.records, (i + 1) / size);
		}
	}
}

static void a_file_of_all_formats(void **state)
{
	uint64_t seed = 5, btime = 1500000000;

	(void)state;
	file_len = 0;
	for (int i = 0; i < 3000; i++) {
		struct mk_exit x;

		mk_random_exit(&x, &seed, (uint32_t)btime + (uint32_t)i);
		if (!x.mem && !(x.flag & PACCT_AFORK))
			x.mem = 900; /* v0 had no phantoms */
		add_exit(&x, mk_random(&seed) % MK_FORMATS);
	}
	read_file(4096, NULL);
	assert_int_equal(seen.records, 3000);
	assert_int_equal(seen.regions, 0);
}

static void foreign_files_are_refused(void **state)
{
	static const char text[] = "Nov 30 20:46:01 host kernel: Process accounting resumed\n";
	uint64_t seed = 9;

	(void)state;
	file_len = 0;
	add_fill('0', 65);
	read_file(0, &seed);
	assert_int_equal(seen.records, 0);
	assert_event(0, PACCT_DAMAGE_TEXT, 0, 65);
	file_len = 0;
	add_fill(0, 100000);
	read_file(0, &seed);
	assert_event(0, PACCT_DAMAGE_ZEROS, 0, 100000);
	file_len = 0;
	while (file_len < 5000)
		add(text, sizeof(text) - 1);
	read_file(0, &seed);
	assert_event(0, PACCT_DAMAGE_TEXT, 0, file_len);
	for (file_len = 0; file_len < MAX_FILE; file_len++)
		file[file_len] = (uint8_t)(mk_random(&seed) >> 7);
	read_file(0, &seed);
	assert_event(0, PACCT_DAMAGE_JUNK, 0, MAX_FILE);
}

static void programs_are_refused(void **state)
{
	_cleanup_file_
	FILE *f = fopen("/proc/self/exe", "rb");

	(void)state;
	assert_non_null(f);
	file_len = fread(file, 1, sizeof(file), f);
	assert_true(file_len > 10000);
	read_file(4096, NULL);
	assert_int_equal(seen.records, 0);
}

/* FreeBSD's struct acctv3 for amd64: zero, version, length, comm[16], three floats, btime, ids ... length, flags. */
static void freebsd_is_named(void **state)
{
	static const char *const names[] = { "sh", "make", "w" };

	(void)state;
	for (int version = 2; version <= 3; version++) {
		file_len = 0;
		for (int i = 0; i < 40; i++) {
			uint8_t r[80] = { 0, (uint8_t)version, sizeof(r), 0 };

			memcpy(r + 4, names[i % 3], strlen(names[i % 3]));
			mk_put(r + 20, mk_float(5000), 4, false);
			mk_put(r + 40, (uint64_t)ENDED, 8, false);
			mk_put(r + 48, 1001, 4, false);
			r[72] = sizeof(r);
			r[76] = 0x21;
			add(r, sizeof(r));
		}
		read_file(100, NULL);
		assert_int_equal(seen.records, 0);
		assert_event(0, PACCT_DAMAGE_FREEBSD, 0, file_len);
	}
}

static void damage_is_told_once_and_costs_nothing_else(void **state)
{
	(void)state;
	for (enum mk_format f = 0; f < MK_FORMATS; f++) {
		size_t size = pacct_size(formats[f]);

		file_len = 0;
		add("ten bytes:", 10);
		add_base(3, f);
		add_fill(0, 4096);
		add_base(2, f);
		add(base_exit().comm, 5); /* "demo", NUL */
		add_base(2, f);
		add_fill(0xff, 1000);
		add_base(1, f);
		add(file + 10, 40);
		read_file(33, NULL);
		assert_int_equal(seen.records, 8);
		assert_int_equal(seen.regions, 5);
		assert_event(0, PACCT_DAMAGE_TEXT, 0, 10);
		assert_event(4, PACCT_DAMAGE_ZEROS, 10 + 3 * size, 4096);
		assert_event(7, PACCT_DAMAGE_TORN, 10 + 5 * size + 4096, 5);
		assert_event(10, PACCT_DAMAGE_JUNK, 15 + 7 * size + 4096, 1000);
		assert_event(12, PACCT_DAMAGE_TORN, file_len - 40, 40);
	}
}

/* A crash left part of a record, or zeroed the rest of it, and accounting went on behind. */
static void torn_at_every_byte(void **state)
{
	uint64_t seed = 3;

	(void)state;
	for (int round = 0; round < 40; round++)
		for (size_t cut = 1; cut < 62; cut++) {
			enum mk_format f = round % MK_FORMATS;
			struct mk_exit x[7];
			size_t size = pacct_size(formats[f]), torn_at;

			file_len = 0;
			for (int i = 0; i < 7; i++) {
				mk_random_exit(&x[i], &seed, (uint32_t)ENDED + (uint32_t)round);
				x[i].mem = x[i].flag & PACCT_AFORK && !x[i].uid ? 0 : 700;
				x[i].etime |=
					1; /* nothing but zeros could also be a short process without a name */
				add_exit(&x[i], f);
				if (i == 3) {
					torn_at = file_len;
					add_exit(&x[i], f);
					file_len = torn_at + cut;
					if (round & 1)
						add_fill(0, 512 - file_len % 512);
				}
			}
			read_file(0, &seed);
			assert_true(seen.records >= 7);
			for (int i = 0; i < 3; i++)
				assert_int_equal(seen.events[i].damage, -1);
			assert_int_equal(seen.events[seen.n - 1].offset, file_len - size);
			/* Only what was torn behind its last plain number, or within its name, may pass as whole. */
			if (seen.records != 7)
				assert_true(round & 1 && cut > (f >= MK_V3_LE ? 42 : size - 28));
		}
}

static void the_cut_does_not_matter(void **state)
{
	static struct seen first;
	uint64_t seed = 11;

	(void)state;
	for (int round = 0; round < 200; round++) {
		file_len = 0;
		for (int i = 0; i < 30; i++) {
			struct mk_exit x;

			mk_random_exit(&x, &seed, (uint32_t)ENDED);
			add_exit(&x, mk_random(&seed) % MK_FORMATS);
			if (mk_random(&seed) % 4 == 0)
				add_fill((uint8_t)(mk_random(&seed) % 5), mk_random(&seed) % 150);
			if (mk_random(&seed) % 8 == 0)
				file[mk_random(&seed) % file_len] ^=
					(uint8_t)(1 << mk_random(&seed) % 8);
		}
		read_file(file_len, NULL);
		first = seen;
		for (int i = 0; i < 5; i++) {
			read_file(i ? 0 : 1, &seed);
			assert_memory_equal(&first, &seen, sizeof(seen));
		}
	}
}

static void stopped_and_resumed(void **state)
{
	struct pacct_stream s;
	uint64_t at;

	(void)state;
	file_len = 0;
	add_base(10, MK_V3_LE);
	memset(&seen, 0, sizeof(seen));
	seen.stop_after = 4;
	pacct_stream_init(&s, 0, on_exit_record, on_damage, &seen);
	assert_int_equal(pacct_stream_feed(&s, 0, file, 100), 0);
	assert_int_equal(pacct_stream_feed(&s, 100, file + 100, file_len - 100), 7);
	at = pacct_stream_offset(&s);
	assert_int_equal(at, 256);
	assert_int_equal(pacct_stream_feed(&s, at, file + at, file_len - at), 0);
	assert_int_equal(seen.records, 10);
	/* Bytes that were skipped: what was held back is given up. */
	pacct_stream_feed(&s, file_len, file, 30);
	pacct_stream_feed(&s, file_len + 64, file, 64);
	assert_int_equal(pacct_stream_end(&s), 0);
	assert_int_equal(seen.records, 11);
	assert_int_equal(seen.regions, 1);
	assert_event(10, PACCT_DAMAGE_TORN, file_len, 30);
	assert_int_equal(seen.events[11].offset, file_len + 64);
}

/* A board without a battery-backed clock starts in 1970, names may be strange, and all of it is real. */
static void odd_but_real_records(void **state)
{
	struct mk_exit x = base_exit();

	(void)state;
	file_len = 0;
	x.btime = 12;
	for (int i = 0; i < 3; i++)
		add_exit(&x, MK_V3_LE);
	x = base_exit();
	strcpy(x.comm, "\x01\n\"\xff b");
	add_exit(&x, MK_V3_BE);
	memset(x.comm, 0, sizeof(x.comm)); /* prctl(PR_SET_NAME, "") */
	add_exit(&x, MK_V3_LE);
	x.btime = UINT32_MAX;
	add_exit(&x, MK_V3_LE);
	read_file(50, NULL);
	assert_int_equal(seen.records, 6);
}

static void probing_a_head(void **state)
{
	(void)state;
	file_len = 0;
	add_base(4, MK_V2_BE);
	assert_int_equal(pacct_probe(file, 200, false), 3);
	assert_int_equal(pacct_probe(file, 256, true), 4);
	assert_int_equal(pacct_probe("type=SYSCALL msg=audit(1.2:3): arch", 35, true), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_record_and_one),
		cmocka_unit_test(nothing_is_held_back),
		cmocka_unit_test(a_file_of_all_formats),
		cmocka_unit_test(foreign_files_are_refused),
		cmocka_unit_test(programs_are_refused),
		cmocka_unit_test(freebsd_is_named),
		cmocka_unit_test(damage_is_told_once_and_costs_nothing_else),
		cmocka_unit_test(torn_at_every_byte),
		cmocka_unit_test(the_cut_does_not_matter),
		cmocka_unit_test(stopped_and_resumed),
		cmocka_unit_test(odd_but_real_records),
		cmocka_unit_test(probing_a_head),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
