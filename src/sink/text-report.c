/* SPDX-License-Identifier: MIT */
/* See text-report.h: what is in a line, and how wide the columns are. The cells of single fields are in text-field.c. */
#include "sink/text-report.h"

#include "record/fields.h"
#include "sink/output.h"
#include "sink/text-field.h"

#define CELL_ROOM 64

enum sum_column { EXITS, FAILED, KILLED, CORE, UTIME, STIME, ELAPSED, RSS, SUM_COLUMNS };

static const char *const titles[SUM_COLUMNS] = { "EXITS", "FAILED", "KILLED",  "CORE",
						 "UTIME", "STIME",  "ELAPSED", "RSS" };

/* Text of what it is grouped by is cut there, in all but the last column. */
#define FIELD_WIDTH_MOST 48
#define FIELD_WIDTH_LEAST 8
#define FROM_LEN 16

struct text_report {
	struct text_report_options options;
	uint8_t fields[TALLY_FIELDS_MOST];
	struct tally *tally;
	const struct tally_rows *rows;
	bool has_rss;
	int widths[SUM_COLUMNS];
	int field_widths[TALLY_FIELDS_MOST];
	struct text_buffer line, cell;
};

static char *put_value(char *p, const struct tally_sums *s, enum tally_value value,
		       char *(*put)(char *, uint64_t))
{
	if (s->exits && s->unknown[value] == s->exits)
		return FMT_LIT(p, "-");
	if (s->unknown[value])
		*p++ = '>';
	return put(p, s->value[value]);
}

static char *put_status(char *p, const struct tally_sums *s, uint64_t count)
{
	if (s->exits && s->unknown_status == s->exits)
		return FMT_LIT(p, "-");
	if (s->unknown_status)
		*p++ = '>';
	return fmt_u64(p, count);
}

/* Returns the length. */
static int sum_cell(char *buf, enum sum_column c, const struct tally_sums *s)
{
	char *p = buf;

	switch (c) {
	case EXITS:
		p = fmt_u64(p, s->exits);
		break;
	case FAILED:
		p = put_status(p, s, s->failed);
		break;
	case KILLED:
		p = put_status(p, s, s->killed);
		break;
	case CORE:
		p = put_status(p, s, s->core_dumped);
		break;
	case UTIME:
		p = put_value(p, s, TALLY_CPU_USER, fmt_duration_us);
		break;
	case STIME:
		p = put_value(p, s, TALLY_CPU_SYSTEM, fmt_duration_us);
		break;
	case ELAPSED:
		p = put_value(p, s, TALLY_ELAPSED, fmt_duration_us);
		break;
	case RSS:
		p = put_value(p, s, TALLY_RSS_PEAK, fmt_bytes);
		break;
	case SUM_COLUMNS:
		break;
	}
	return (int)(p - buf);
}

static const char *field_title(unsigned int field, char *buf, size_t size)
{
	const struct field_info *f = &field_table[field];
	const char *dot = strrchr(f->path, '.');
	const char *name = f->alias ? f->alias : dot ? dot + 1 : f->path;
	size_t i = 0;

	for (; name[i] && i + 1 < size; i++)
		buf[i] = name[i] >= 'a' && name[i] <= 'z' ? (char)(name[i] - 'a' + 'A') : name[i];
	buf[i] = '\0';
	return buf;
}

/* A name that is not known has a number, where that is grouped by too. */
static unsigned int shown_field(unsigned int field, const struct exeunt_record *r)
{
	if (exeunt_has(r, field))
		return field;
	switch (field) {
	case EXEUNT_F_USER:
		return EXEUNT_F_UID;
	case EXEUNT_F_GROUP:
		return EXEUNT_F_GID;
	case EXEUNT_F_LOGIN_USER:
		return EXEUNT_F_LOGIN_UID;
	default:
		return field;
	}
}

/* What stands in place of the fields for the sum of several groups; a name may look like it, JSON tells for certain. */
static char *put_label(char *p, const struct text_report *t, const struct tally_row *row)
{
	if (row->sums == &t->rows->total)
		return FMT_LIT(p, "*** total");
	p = FMT_LIT(p, "*** ");
	if (row->groups) {
		p = fmt_u64(p, row->groups);
		*p++ = ' ';
	}
	return row->groups == 1 ? FMT_LIT(p, "other") : FMT_LIT(p, "others");
}

/* The text of field column `i` in t->cell, at most `columns` wide (-1: all). Returns its width, or -ENOMEM. */
static int field_cell(struct text_report *t, unsigned int i, const struct exeunt_record *r,
		      int columns)
{
	t->cell.len = 0;
	return text_field(&t->cell, r, shown_field(t->fields[i], r), columns, t->options.utc);
}

static int add_blanks(struct text_report *t, int n)
{
	int r = n > 0 ? text_buffer_room(&t->line, (size_t)n) : 0;

	if (r < 0 || n <= 0)
		return r;
	memset(t->line.data + t->line.len, ' ', (size_t)n);
	t->line.len += (size_t)n;
	return 0;
}

static int add(struct text_report *t, const char *s, size_t len)
{
	int r = text_buffer_room(&t->line, len);

	if (r < 0)
		return r;
	memcpy(t->line.data + t->line.len, s, len);
	t->line.len += len;
	return 0;
}

static int add_sums(struct text_report *t, const struct tally_sums *s)
{
	int r = 0;

	for (int c = 0; c < SUM_COLUMNS && r >= 0; c++) {
		char buf[CELL_ROOM];
		const char *text = s ? buf : titles[c];
		int len = s ? sum_cell(buf, c, s) : (int)strlen(text);

		if (c == RSS && !t->has_rss)
			continue;
		r = add_blanks(t, t->widths[c] - len);
		if (r >= 0)
			r = add(t, text, (size_t)len);
		if (r >= 0)
			r = add_blanks(t, 1);
	}
	return r;
}

static int add_interval(struct text_report *t, const struct tally_row *row)
{
	char buf[CELL_ROOM];
	int len = 0, r;

	if (!tally_interval(t->tally))
		return 0;
	if (!row)
		len = (int)(FMT_LIT(buf, "FROM") - buf);
	else if (row->has_interval)
		len = (int)text_time(buf, row->interval_start_ns, t->options.utc);
	else if (row->group)
		len = (int)(FMT_LIT(buf, "-") - buf);
	/* seconds are left out where all intervals begin with a minute */
	if (len > FROM_LEN && tally_interval(t->tally) % (60 * NS_PER_SEC) == 0)
		len = FROM_LEN;
	r = add(t, buf, (size_t)len);
	if (r < 0)
		return r;
	len = (tally_interval(t->tally) % (60 * NS_PER_SEC) ? FROM_LEN + 3 : FROM_LEN) - len;
	return add_blanks(t, len + 1);
}

/* Columns that are left for the last cell; -1: no end. */
static int room_left(const struct text_report *t)
{
	int used = 0;

	if (!t->options.width)
		return -1;
	for (int c = 0; c < SUM_COLUMNS; c++)
		used += c == RSS && !t->has_rss ? 0 : t->widths[c] + 1;
	if (tally_interval(t->tally))
		used += (tally_interval(t->tally) % (60 * NS_PER_SEC) ? FROM_LEN + 3 : FROM_LEN) +
			1;
	for (unsigned int i = 0; i + 1 < t->options.n_fields; i++)
		used += t->field_widths[i] + 1;
	return MAX(t->options.width - used, FIELD_WIDTH_LEAST);
}

/* A cell for each field, `r` NULL: its title. */
static int add_cells(struct text_report *t, const struct exeunt_record *r)
{
	unsigned int n = t->options.n_fields;
	int status = 0;

	for (unsigned int i = 0; i < n && status >= 0; i++) {
		char title[CELL_ROOM];
		int columns = i + 1 < n ? t->field_widths[i] : room_left(t);

		t->cell.len = 0;
		field_title(t->fields[i], title, sizeof(title));
		status = r ? field_cell(t, i, r, columns)
			   : text_field_raw(&t->cell, title, strlen(title), columns);
		if (status < 0)
			break;
		columns -= status;
		status = add(t, t->cell.data, t->cell.len);
		if (status >= 0 && i + 1 < n)
			status = add_blanks(t, columns + 1);
	}
	return status;
}

/* `row` NULL: the titles. */
static int add_fields(struct text_report *t, const struct tally_row *row)
{
	struct exeunt_record r;
	char label[CELL_ROOM];

	if (!row)
		return add_cells(t, NULL);
	if (!row->group)
		return add(t, label, (size_t)(put_label(label, t, row) - label));
	tally_group_record(t->tally, row->group, &r);
	return add_cells(t, &r);
}

/* `row` NULL: the titles. */
static int make_line(struct text_report *t, const struct tally_row *row)
{
	int r;

	t->line.len = 0;
	r = add_sums(t, row ? row->sums : NULL);
	if (r >= 0)
		r = add_interval(t, row);
	if (r >= 0)
		r = add_fields(t, row);
	while (r >= 0 && t->line.len && t->line.data[t->line.len - 1] == ' ')
		t->line.len--;
	return r < 0 ? r : add(t, "\n", 1);
}

static void measure_sums(struct text_report *t, const struct tally_sums *s)
{
	for (int c = 0; c < SUM_COLUMNS; c++) {
		char buf[CELL_ROOM];

		t->widths[c] = MAX(t->widths[c], sum_cell(buf, c, s));
	}
}

/* The last column needs no width of its own. */
static int measure_fields(struct text_report *t, const struct tally_row *row)
{
	struct exeunt_record r;

	if (t->options.n_fields < 2 || !row->group)
		return 0;
	tally_group_record(t->tally, row->group, &r);
	for (unsigned int i = 0; i + 1 < t->options.n_fields; i++) {
		int width = field_cell(t, i, &r, FIELD_WIDTH_MOST);

		if (width < 0)
			return width;
		t->field_widths[i] = MAX(t->field_widths[i], width);
	}
	return 0;
}

static struct tally_row total_row(const struct text_report *t)
{
	return (struct tally_row){ .sums = &t->rows->total, .groups = t->rows->groups };
}

static int measure(struct text_report *t)
{
	char title[CELL_ROOM];
	int r = 0;

	for (int c = 0; c < SUM_COLUMNS; c++)
		t->widths[c] = (int)strlen(titles[c]);
	for (unsigned int i = 0; i < t->options.n_fields; i++)
		t->field_widths[i] = (int)strlen(field_title(t->fields[i], title, sizeof(title)));
	measure_sums(t, &t->rows->total);
	for (size_t i = 0; i < t->rows->n && r >= 0; i++) {
		measure_sums(t, t->rows->rows[i].sums);
		r = measure_fields(t, &t->rows->rows[i]);
	}
	return r;
}

int text_report_new(struct text_report **ret, const struct text_report_options *o, struct tally *t,
		    const struct tally_rows *rows)
{
	struct text_report *r = calloc(1, sizeof(*r));
	int status;

	if (!r)
		return -ENOMEM;
	r->options = *o;
	r->options.n_fields = MIN(o->n_fields, (unsigned int)TALLY_FIELDS_MOST);
	memcpy(r->fields, o->fields, r->options.n_fields);
	r->tally = t;
	r->rows = rows;
	r->has_rss = rows->total.unknown[TALLY_RSS_PEAK] < rows->total.exits;
	status = measure(r);
	if (status < 0) {
		text_report_free(r);
		return status;
	}
	*ret = r;
	return 0;
}

void text_report_free(struct text_report *r)
{
	if (!r)
		return;
	free(r->line.data);
	free(r->cell.data);
	free(r);
}

size_t text_report_lines(const struct text_report *r)
{
	return r->rows->n + 2;
}

ssize_t text_report_format(struct text_report *r, size_t line, const char **ret)
{
	const struct tally_row total = total_row(r);
	const struct tally_row *row = line == 0		   ? NULL
				      : line <= r->rows->n ? &r->rows->rows[line - 1]
							   : &total;
	int status = make_line(r, row);

	*ret = r->line.data;
	return status < 0 ? status : (ssize_t)r->line.len;
}

int text_report_write(struct text_report *r, size_t line, struct output *o)
{
	const char *text;
	ssize_t len = text_report_format(r, line, &text);
	char *p;

	if (len < 0)
		return (int)len;
	p = output_reserve(o, (size_t)len);
	if (!p)
		return 1;
	memcpy(p, text, (size_t)len);
	output_commit(o, (size_t)len);
	return 0;
}
