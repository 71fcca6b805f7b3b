/* SPDX-License-Identifier: MIT */
/* exeunt report FILE...: what the files tell of, counted and summed by what the user names. The files are read as replay reads them. */
#include "cmd/cmd.h"

#include "cmd/since-last.h"
#include "cmd/stream.h"
#include "record/tally.h"
#include "sink/json-report.h"
#include "sink/text-report.h"

static const char usage[] =
	"Usage: exeunt report [OPTION]... FILE...\n"
	"Count and sum the processes that files tell of: captures, accounting files, audit logs; plain\n"
	"or .gz, known by their content. '-' is standard input. By name, the most CPU first, or else:\n"
	"  exeunt report --by user,comm --sort failed --top 10 /var/log/account/pacct\n";

struct report {
	struct stream stream; /* first: it is the userdata of stream_message() */
	struct tally *tally;
	struct tally_options options;
	uint64_t fields[EXEUNT_PRESENT_WORDS];
	int64_t after; /* position in a store */
	unsigned int
		n_columns; /* of the fields those that were named; what comes with them is behind */
	enum tally_sort sort;
	struct exeunt_loss losses[EXEUNT_SOURCE_COUNT][EXEUNT_LOSS_CAUSE_COUNT];
};

/* A name may stand for several numbers, or be unknown: the number is grouped by too. -1: none. */
static int number_of(unsigned int field)
{
	switch (field) {
	case EXEUNT_F_USER:
		return EXEUNT_F_UID;
	case EXEUNT_F_GROUP:
		return EXEUNT_F_GID;
	case EXEUNT_F_LOGIN_USER:
		return EXEUNT_F_LOGIN_UID;
	default:
		return -1;
	}
}

static bool is_grouped_by(const struct tally_options *o, unsigned int field)
{
	for (unsigned int i = 0; i < o->n_fields; i++)
		if (o->fields[i] == field)
			return true;
	return false;
}

static int take_field(struct report *rep, const char *name, size_t len)
{
	struct tally_options *o = &rep->options;
	int field = field_find(name, len);

	if (field == -ENOTUNIQ)
		return cmd_usage_error("report ", "--by: several fields end in '%.*s'", (int)len,
				       name);
	if (field < 0)
		return cmd_usage_error(
			"report ", "--by: there is no field '%.*s'; exeunt-record(5) has them all",
			(int)len, name);
	if (!tally_can_group(field))
		return cmd_usage_error("report ", "--by: '%.*s' is summed, not grouped by",
				       (int)len, name);
	/* half of the room is for the numbers behind */
	if (o->n_fields == TALLY_FIELDS_MOST / 2)
		return cmd_usage_error("report ", "--by: no more than %d fields",
				       TALLY_FIELDS_MOST / 2);
	if (!is_grouped_by(o, (unsigned int)field))
		o->fields[o->n_fields++] = (uint8_t)field;
	return -1;
}

/* Returns an exit status, or -1 to go on. */
static int take_fields(struct report *rep, const char *by)
{
	struct tally_options *o = &rep->options;

	for (;; by++) {
		size_t len = strcspn(by, ",");
		int status = take_field(rep, by, len);

		if (status >= 0)
			return status;
		by += len;
		if (!*by)
			break;
	}
	rep->n_columns = o->n_fields;
	for (unsigned int i = 0; i < rep->n_columns; i++) {
		int number = number_of(o->fields[i]);

		if (number >= 0 && !is_grouped_by(o, (unsigned int)number))
			o->fields[o->n_fields++] = (uint8_t)number;
	}
	return -1;
}

static int take_sort(struct report *rep, const char *word)
{
	static const char *const words[] = {
		[TALLY_BY_CPU] = "cpu",		[TALLY_BY_EXITS] = "exits",
		[TALLY_BY_ELAPSED] = "elapsed", [TALLY_BY_FAILED] = "failed",
		[TALLY_BY_NAME] = "name",
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!strcmp(words[i], word)) {
			rep->sort = (enum tally_sort)i;
			return -1;
		}
	}
	return cmd_usage_error("report ", "--sort=%s: expected cpu, exits, elapsed, failed or name",
			       word);
}

/* Looking names up takes its time, and is for nothing unless somebody asks for them. */
static bool needs_names(const struct report *rep)
{
	return rep->stream.filter || is_grouped_by(&rep->options, EXEUNT_F_USER) ||
	       is_grouped_by(&rep->options, EXEUNT_F_GROUP);
}

/* One for each source and cause, however many there are. */
static void add_loss(struct report *rep, const struct exeunt_loss *l)
{
	struct exeunt_loss *to;

	if ((unsigned int)l->source >= EXEUNT_SOURCE_COUNT ||
	    (unsigned int)l->cause >= EXEUNT_LOSS_CAUSE_COUNT)
		return;
	to = &rep->losses[l->source][l->cause];
	if (!to->count) {
		*to = *l;
		return;
	}
	if (to->cpu != l->cpu)
		to->cpu = -1;
	to->count += l->count;
	to->backfilled += l->backfilled;
	to->exact = to->exact && l->exact;
	to->window_start_ns = MIN(to->window_start_ns, l->window_start_ns);
	to->window_end_ns = MAX(to->window_end_ns, l->window_end_ns);
}

static int on_record(const struct exeunt_record *r, void *userdata)
{
	struct report *rep = userdata;
	bool shown;

	switch (r->type) {
	case EXEUNT_TYPE_EXIT:
	case EXEUNT_TYPE_AMEND:
		shown = !rep->stream.filter || filter_match(rep->stream.filter, r);
		tally_take(rep->tally, r, shown);
		if (!shown)
			exeunt_keep_back(rep->stream.x, r);
		break;
	case EXEUNT_TYPE_LOSS:
		add_loss(rep, r->loss);
		break;
	case EXEUNT_TYPE_STOP:
		text_summary(r, rep->stream.summary, sizeof(rep->stream.summary));
		break;
	default:
		break;
	}
	return 0;
}

/* A line by one of the sinks; `what` and `i` say which. */
typedef int (*line_fn)(struct report *rep, const void *what, size_t i);

/* Nothing runs away: the reader is waited for. Returns 0, or an error of the output or of memory. */
static int write_line(struct report *rep, line_fn fn, const void *what, size_t i)
{
	struct output *o = rep->stream.output;
	int r = fn(rep, what, i);

	if (r > 0) {
		r = output_drain(o, -1);
		if (r >= 0)
			r = fn(rep, what, i);
	}
	if (r > 0)
		r = -EMSGSIZE; /* longer than --buffer */
	if (r >= 0 && output_pending(o) >= OUTPUT_CHUNK)
		r = output_drain(o, -1);
	return r;
}

static int json_line(struct report *rep, const void *what, size_t i)
{
	const struct tally_rows *rows = what;

	return json_report_row(rep->stream.json, rep->tally, &rows->rows[i], rep->stream.output);
}

static int text_line(struct report *rep, const void *what, size_t i)
{
	return text_report_write(*(struct text_report *const *)what, i, rep->stream.output);
}

static int loss_line(struct report *rep, const void *what, size_t i)
{
	(void)i;
	if (rep->stream.options->json)
		return json_write(rep->stream.json, what, rep->stream.output);
	return text_write(rep->stream.text, what, rep->stream.output);
}

/* What was missed is a part of the truth about the table: with JSON in lines of the type `loss`, numbered from 1. */
static int put_losses(struct report *rep)
{
	struct exeunt_record r = { .size = sizeof(r),
				   .version = EXEUNT_RECORD_VERSION,
				   .type = EXEUNT_TYPE_LOSS };
	int status = 0;

	for (int s = 0; s < EXEUNT_SOURCE_COUNT; s++) {
		for (int c = 0; c < EXEUNT_LOSS_CAUSE_COUNT && status >= 0; c++) {
			r.loss = &rep->losses[s][c];
			if (!r.loss->count)
				continue;
			r.seq++;
			r.time_ns = r.loss->window_end_ns;
			status = write_line(rep, loss_line, &r, 0);
		}
	}
	return status;
}

static int put_json(struct report *rep, const struct tally_rows *rows)
{
	struct stream *s = &rep->stream;
	int r = json_new(&s->json, exeunt_host_name(s->x), exeunt_boot_id(s->x));

	for (size_t i = 0; i < rows->n && r >= 0; i++)
		r = write_line(rep, json_line, rows, i);
	return r;
}

static int put_text(struct report *rep, const struct tally_rows *rows)
{
	const struct text_report_options o = {
		.width = stream_width(&rep->stream),
		.utc = rep->stream.options->utc,
		.fields = rep->options.fields,
		.n_fields = rep->n_columns,
	};
	struct text_report *t;
	int r = text_report_new(&t, &o, rep->tally, rows);

	if (r < 0)
		return r;
	for (size_t i = 0; i < text_report_lines(t) && r >= 0; i++)
		r = write_line(rep, text_line, &t, i);
	text_report_free(t);
	return r;
}

/* Returns an exit status. */
static int put_table(struct report *rep, bool failed)
{
	const struct options *o = rep->stream.options;
	struct tally_rows rows;
	int r = tally_rows(rep->tally, rep->sort, o->top, &rows);

	if (r >= 0 && failed && !rows.total.exits)
		return CMD_FAILED; /* which has been told; an empty table would say more than is known */
	if (r >= 0)
		r = o->json ? put_json(rep, &rows) : put_text(rep, &rows);
	if (r >= 0)
		r = put_losses(rep);
	if (r == -ENOMEM || r == -EMSGSIZE) {
		cmd_error("cannot make the table: %s",
			  r == -ENOMEM ? "not enough memory" : "a line is longer than --buffer");
		return CMD_FAILED;
	}
	if (r >= 0 && rows.lost_amends)
		cmd_note("%llu corrections came so late that they are not in the sums",
			 (unsigned long long)rows.lost_amends);
	return stream_finish(&rep->stream); /* which tells an error of the output */
}

static int read_files(struct report *rep, char **paths, int n)
{
	struct stream *s = &rep->stream;
	struct exeunt_options options = { .size = sizeof(options),
					  .on_record = on_record,
					  .on_message = stream_message,
					  .userdata = rep };
	int r, status;

	/* which fields a filter asks for, nobody tells */
	tally_asks_for(rep->tally, rep->fields);
	options.store_after = rep->after;
	options.fields = s->filter ? NULL : rep->fields;
	options.numeric = s->options->numeric || !needs_names(rep);
	r = exeunt_new(&s->x, &options);
	if (r < 0) {
		cmd_error("cannot begin: %s", strerror(-r));
		return CMD_FAILED;
	}
	status = exeunt_replay(s->x, (const char *const *)paths, (size_t)n) < 0 ? CMD_FAILED
										: CMD_DONE;
	if (exeunt_stop(s->x) < 0)
		status = CMD_FAILED;
	return status;
}

static int report(struct report *rep, char **paths, int n)
{
	int status = read_files(rep, paths, n), finished;

	if (!rep->stream.x)
		return status;
	finished = put_table(rep, status != CMD_DONE);
	if (!status && !finished && rep->stream.options->since_last)
		finished = since_last_remember(paths[0], rep->stream.options->since_last,
					       exeunt_store_position(rep->stream.x));
	if (!rep->stream.options->quiet && !rep->stream.options->json)
		cmd_note("%s", rep->stream.summary);
	return status ? status : finished;
}

static int begin(struct report *rep, const struct options *o)
{
	int status = take_fields(rep, o->by ? o->by : "comm");

	if (status < 0 && o->sort)
		status = take_sort(rep, o->sort);
	if (status < 0)
		status = stream_open(&rep->stream, o, "report");
	if (status >= 0)
		return status;
	rep->stream.batch = true;
	rep->options.interval_ns = o->interval_ns;
	if (tally_new(&rep->tally, &rep->options) < 0) {
		cmd_error("not enough memory");
		return CMD_FAILED;
	}
	return -1;
}

int cmd_report(int argc, char **argv)
{
	struct report rep = { .stream = { .fd = -1 } };
	struct options o;
	int status = options_parse(&o, argc, argv, "report", OPTIONS_REPORT, usage);

	if (status >= 0)
		return status;
	if (o.first_operand >= argc)
		return cmd_usage_error("report ", "which FILE?");
	status = begin(&rep, &o);
	if (status < 0)
		status = since_last_recall(argv + o.first_operand, argc - o.first_operand,
					   o.since_last, &rep.after);
	if (status < 0)
		status = report(&rep, argv + o.first_operand, argc - o.first_operand);
	exeunt_free(rep.stream.x);
	tally_free(rep.tally);
	stream_close(&rep.stream);
	return status;
}
