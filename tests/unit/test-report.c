/* SPDX-License-Identifier: MIT */
/* Rows of a report as JSON and as a table: what is unknown, what is only partly known, names from hostile hands. */
#include "unit/test.h"

#include "unit/tally.h"

#include "record/status.h"
#include "sink/json-report.h"
#include "sink/text-report.h"

struct fixture {
	struct tally *tally;
	struct tally_rows rows;
	uint8_t fields[TALLY_FIELDS_MOST];
	unsigned int n_fields;
};

static void begin(struct fixture *f, const struct tally_options *o)
{
	*f = (struct fixture){ .n_fields = o->n_fields };
	f->tally = new_tally(o);
	memcpy(f->fields, o->fields, sizeof(f->fields));
}

static void begin_by(struct fixture *f, enum exeunt_field field)
{
	begin(f, &(struct tally_options){ .fields = { (uint8_t)field }, .n_fields = 1 });
}

static void end(struct fixture *f)
{
	tally_free(f->tally);
}

/* The row as JSON, in static memory. */
static const char *json_of(struct fixture *f, size_t row)
{
	static char copy[1 << 20];
	const char *text;
	struct json *j;
	ssize_t len;

	assert_true(row < f->rows.n);
	assert_int_equal(json_new(&j, NULL, NULL), 0);
	len = json_report_format(j, f->tally, &f->rows.rows[row], &text);
	assert_true(len > 0 && (size_t)len < sizeof(copy));
	memcpy(copy, text, (size_t)len);
	copy[len] = '\0';
	json_free(j);
	return copy;
}

/* The whole table as text, in static memory. */
static const char *table_of(struct fixture *f, int width)
{
	static char copy[1 << 16];
	const struct text_report_options o = {
		.width = width, .utc = true, .fields = f->fields, .n_fields = f->n_fields
	};
	struct text_report *t;
	size_t len = 0;

	assert_int_equal(text_report_new(&t, &o, f->tally, &f->rows), 0);
	for (size_t i = 0; i < text_report_lines(t); i++) {
		const char *text;
		ssize_t n = text_report_format(t, i, &text);

		assert_true(n > 0 && len + (size_t)n < sizeof(copy));
		memcpy(copy + len, text, (size_t)n);
		len += (size_t)n;
	}
	copy[len] = '\0';
	text_report_free(t);
	return copy;
}

static struct exeunt_record whole(const char *comm, int32_t pid)
{
	struct exeunt_record r = exit_with_cpu(comm, pid, 1500000);

	r.cpu_system_us = 250000;
	r.elapsed_us = 3000000;
	r.rss_peak_bytes = 4096;
	r.read_bytes = 1;
	r.write_bytes = 2;
	r.exit_time_ns = 90 * SECOND;
	field_set(&r, EXEUNT_F_CPU_SYSTEM);
	field_set(&r, EXEUNT_F_ELAPSED);
	field_set(&r, EXEUNT_F_RSS_PEAK);
	field_set(&r, EXEUNT_F_READ_BYTES);
	field_set(&r, EXEUNT_F_WRITE_BYTES);
	field_set(&r, EXEUNT_F_EXIT_TIME);
	record_set_status(&r, 0x100);
	return r;
}

static void all_is_known(void **state)
{
	struct exeunt_record r = whole("make", 1);
	struct fixture f;

	(void)state;
	begin_by(&f, EXEUNT_F_COMM);
	tally_take(f.tally, &r, true);
	tally_take(f.tally, &r, true);
	f.rows = rows_of(f.tally, TALLY_BY_CPU, 0);
	assert_string_equal(
		json_of(&f, 0),
		"{\"schema\":\"exeunt/1\",\"type\":\"report\",\"process\":{\"comm\":\"make\"},\"exits\":2,\"failed\":2,"
		"\"killed\":0,\"core_dumped\":0,\"uncertain\":0,\"usage\":{\"elapsed_us\":{\"sum\":6000000,\"mean\":3000000,"
		"\"max\":3000000},\"cpu\":{\"user_us\":3000000,\"system_us\":500000},\"memory\":{\"rss_peak_bytes\":"
		"{\"max\":4096}},\"io\":{\"read_bytes\":2,\"write_bytes\":4}},\"first_exit\":\"1970-01-01T00:01:30.000000000Z\","
		"\"last_exit\":\"1970-01-01T00:01:30.000000000Z\"}\n");
	assert_string_equal(table_of(&f, 0),
			    "EXITS FAILED KILLED CORE UTIME STIME ELAPSED  RSS COMM\n"
			    "    2      2      0    0 3.000 0.500   6.000 4.0K make\n"
			    "    2      2      0    0 3.000 0.500   6.000 4.0K *** total\n");
	end(&f);
}

static void nothing_is_known(void **state)
{
	struct exeunt_record r = { .type = EXEUNT_TYPE_EXIT };
	struct fixture f;

	(void)state;
	begin_by(&f, EXEUNT_F_COMM);
	tally_take(f.tally, &r, true);
	f.rows = rows_of(f.tally, TALLY_BY_CPU, 0);
	assert_string_equal(json_of(&f, 0),
			    "{\"schema\":\"exeunt/1\",\"type\":\"report\",\"exits\":1}\n");
	assert_string_equal(table_of(&f, 0),
			    "EXITS FAILED KILLED CORE UTIME STIME ELAPSED COMM\n"
			    "    1      -      -    -     -     -       - -\n"
			    "    1      -      -    -     -     -       - *** total\n");
	end(&f);
}

/* A sum of those that told is less than the truth, and says so. */
static void a_part_is_known(void **state)
{
	struct exeunt_record r = whole("make", 1), none = exit_of("make", 2);
	struct fixture f;
	const char *json;

	(void)state;
	begin_by(&f, EXEUNT_F_COMM);
	tally_take(f.tally, &r, true);
	tally_take(f.tally, &none, true);
	f.rows = rows_of(f.tally, TALLY_BY_CPU, 0);
	json = json_of(&f, 0);
	assert_non_null(strstr(json, "\"mean\":3000000,"));
	assert_non_null(strstr(
		json,
		"\"incomplete\":[\"process.exit.status\",\"usage.elapsed_us\",\"usage.cpu.user_us\","
		"\"usage.cpu.system_us\",\"usage.memory.rss_peak_bytes\",\"usage.io.read_bytes\","
		"\"usage.io.write_bytes\"]}\n"));
	assert_non_null(strstr(table_of(&f, 0),
			       "\n    2     >1     >0   >0 >1.500 >0.250  >3.000 >4.0K make\n"));
	end(&f);
}

/* Paths of what it is grouped by and of what is summed share their objects, each of which is opened once. */
static void objects_are_opened_once(void **state)
{
	const struct tally_options o = { .fields = { EXEUNT_F_AUDIT_KEY, EXEUNT_F_READ_CHARS,
						     EXEUNT_F_UID, EXEUNT_F_COMM,
						     EXEUNT_F_CPU_RUN },
					 .n_fields = 5 };
	struct exeunt_record r = whole("make", 1);
	struct fixture f;
	const char *json;

	(void)state;
	r.uid = 1000;
	r.read_chars = 77;
	r.cpu_run_ns = 12;
	r.audit_key = TEXT("k");
	for (unsigned int i = 0; i < o.n_fields; i++)
		field_set(&r, o.fields[i]);
	begin(&f, &o);
	tally_take(f.tally, &r, true);
	f.rows = rows_of(f.tally, TALLY_BY_CPU, 0);
	json = json_of(&f, 0);
	assert_non_null(strstr(
		json, "\"process\":{\"comm\":\"make\",\"user\":{\"id\":1000}},\"exits\":1,"));
	assert_non_null(
		strstr(json, "\"cpu\":{\"user_us\":1500000,\"system_us\":250000,\"run_ns\":12},"));
	assert_non_null(strstr(
		json,
		"\"io\":{\"read_bytes\":1,\"write_bytes\":2,\"read_chars\":77}},\"audit\":{\"key\":\"k\"},\"first_exit\""));
	assert_non_null(strstr(table_of(&f, 0), " KEY READ_CHARS UID  COMM RUN_NS\n"));
	assert_non_null(strstr(table_of(&f, 0), " k   77         1000 make 0.000\n"));
	end(&f);
}

static void hostile_names(void **state)
{
	static const struct exeunt_bytes args[] = {
		{ "rm", 2 }, { "", 0 }, { "\x1b[2J\n", 5 }, { "\xff", 1 }
	};
	struct exeunt_record r = exit_of("a\n\"\x1b\xff", 1);
	struct fixture f;

	(void)state;
	begin_by(&f, EXEUNT_F_COMM);
	tally_take(f.tally, &r, true);
	f.rows = rows_of(f.tally, TALLY_BY_CPU, 0);
	assert_non_null(
		strstr(json_of(&f, 0),
		       "\"comm\":\"a\\n\\\"\\u001b\xef\xbf\xbd\",\"comm_hex\":\"610a221bff\"}"));
	assert_non_null(strstr(table_of(&f, 0), " a\\n\"\\x1b\\xff\n"));
	end(&f);
	begin_by(&f, EXEUNT_F_ARGS);
	r.args = args;
	r.n_args = 4;
	field_set(&r, EXEUNT_F_ARGS);
	tally_take(f.tally, &r, true);
	f.rows = rows_of(f.tally, TALLY_BY_CPU, 0);
	assert_non_null(strstr(json_of(&f, 0),
			       "\"command_args\":[\"rm\",\"\",\"\\u001b[2J\\n\",\"\xef\xbf\xbd\"],"
			       "\"command_args_hex\":[\"726d\",\"\",\"1b5b324a0a\",\"ff\"]}"));
	assert_non_null(strstr(table_of(&f, 0), " rm \"\" \\x1b[2J\\n \\xff\n"));
	end(&f);
}

/* The longest text that is grouped by, every byte of which becomes eight. */
static void long_names(void **state)
{
	static char path[60000];
	struct exeunt_record r = exit_of("x", 1);
	struct fixture f;

	(void)state;
	memset(path, '\x01', sizeof(path));
	path[0] = '\xff';
	r.exe_path = (struct exeunt_bytes){ path, sizeof(path) };
	field_set(&r, EXEUNT_F_EXE_PATH);
	begin(&f, &(struct tally_options){ .fields = { EXEUNT_F_EXE_PATH, EXEUNT_F_COMM },
					   .n_fields = 2 });
	tally_take(f.tally, &r, true);
	f.rows = rows_of(f.tally, TALLY_BY_CPU, 0);
	assert_true(strlen(json_of(&f, 0)) > 8 * sizeof(path) - 16);
	/* it leaves room for the column behind it */
	assert_non_null(strstr(table_of(&f, 0), "\\x01+ x\n"));
	end(&f);
}

/* On a terminal the last column is cut, and no line is longer than it. */
static void width(void **state)
{
	struct exeunt_record r = whole("a-name-of-15-by", 1);
	struct fixture f;

	(void)state;
	begin_by(&f, EXEUNT_F_COMM);
	tally_take(f.tally, &r, true);
	f.rows = rows_of(f.tally, TALLY_BY_CPU, 0);
	assert_non_null(strstr(table_of(&f, 58), " a-name-+\n"));
	assert_non_null(strstr(table_of(&f, 80), " a-name-of-15-by\n"));
	end(&f);
}

static void intervals_and_others(void **state)
{
	const struct tally_options o = { .fields = { EXEUNT_F_COMM },
					 .n_fields = 1,
					 .interval_ns = 60 * SECOND };
	struct exeunt_record r;
	struct fixture f;

	(void)state;
	begin(&f, &o);
	for (int i = 0; i < 3; i++) {
		r = whole(i == 0 ? "a" : i == 1 ? "b" : "c", i);
		tally_take(f.tally, &r, true);
	}
	field_clear(&r, EXEUNT_F_EXIT_TIME);
	tally_take(f.tally, &r, true);
	f.rows = rows_of(f.tally, TALLY_BY_NAME, 1);
	assert_int_equal(f.rows.n, 3);
	assert_non_null(strstr(
		json_of(&f, 0),
		"\"type\":\"report\",\"interval\":{\"start\":\"1970-01-01T00:01:00.000000000Z\","
		"\"end\":\"1970-01-01T00:02:00.000000000Z\"},\"process\":{\"comm\":\"a\"},"));
	assert_non_null(strstr(
		json_of(&f, 1),
		"\"end\":\"1970-01-01T00:02:00.000000000Z\"},\"others\":true,\"groups\":2,\"exits\":2,"));
	assert_null(strstr(json_of(&f, 2), "interval"));
	assert_null(strstr(json_of(&f, 2), "first_exit"));
	assert_string_equal(
		table_of(&f, 0),
		"EXITS FAILED KILLED CORE UTIME STIME ELAPSED  RSS FROM             COMM\n"
		"    1      1      0    0 1.500 0.250   3.000 4.0K 1970-01-01 00:01 a\n"
		"    2      2      0    0 3.000 0.500   6.000 4.0K 1970-01-01 00:01 *** 2 others\n"
		"    1      1      0    0 1.500 0.250   3.000 4.0K -                c\n"
		"    4      4      0    0 6.000 1.000  12.000 4.0K                  *** total\n");
	end(&f);
}

/* A user without a name is a number, where that is grouped by. */
static void users(void **state)
{
	const struct tally_options o = { .fields = { EXEUNT_F_USER, EXEUNT_F_COMM, EXEUNT_F_UID },
					 .n_fields = 3 };
	struct exeunt_record r = exit_of("x", 1);
	struct fixture f;

	(void)state;
	begin(&f, &o);
	f.n_fields = 2;
	tally_take(f.tally, &r, true);
	r.uid = 77;
	field_set(&r, EXEUNT_F_UID);
	tally_take(f.tally, &r, true);
	r.user = TEXT("alice");
	field_set(&r, EXEUNT_F_USER);
	tally_take(f.tally, &r, true);
	f.rows = rows_of(f.tally, TALLY_BY_NAME, 0);
	assert_int_equal(f.rows.n, 3);
	assert_non_null(strstr(table_of(&f, 0), " - alice x\n"));
	assert_non_null(strstr(table_of(&f, 0), " - 77    x\n"));
	assert_non_null(strstr(table_of(&f, 0), " - -     x\n"));
	assert_non_null(strstr(json_of(&f, 0), "\"user\":{\"id\":77,\"name\":\"alice\"}"));
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_known),	   cmocka_unit_test(nothing_is_known),
		cmocka_unit_test(a_part_is_known), cmocka_unit_test(objects_are_opened_once),
		cmocka_unit_test(hostile_names),   cmocka_unit_test(long_names),
		cmocka_unit_test(width),	   cmocka_unit_test(intervals_and_others),
		cmocka_unit_test(users),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
