/* SPDX-License-Identifier: MIT */
/* See metrics.h. */
#include "sink/metrics.h"

#include <exeunt/exeunt.h>

#include "record/filter.h"
#include "sink/exposition.h"
#include "sink/sink.h"

#define CAUSE_UNKNOWN (EXEUNT_CAUSE_CORE_DUMPED + 1)

static const struct bucket {
	int64_t ns;
	const char *le;
} buckets[METRICS_BUCKETS] = {
	{ 1 * NS_PER_MSEC, "0.001" },  { 5 * NS_PER_MSEC, "0.005" }, { 10 * NS_PER_MSEC, "0.01" },
	{ 25 * NS_PER_MSEC, "0.025" }, { 50 * NS_PER_MSEC, "0.05" }, { 100 * NS_PER_MSEC, "0.1" },
	{ 250 * NS_PER_MSEC, "0.25" }, { 500 * NS_PER_MSEC, "0.5" }, { NS_PER_SEC, "1" },
	{ 5 * NS_PER_SEC, "5" },       { 60 * NS_PER_SEC, "60" },
};

/* What another source brought later is late for a reason, and an accounting file has whole seconds. */
static void count_lag(struct metrics *m, const struct exeunt_record *r)
{
	int64_t lag = MAX(r->time_ns - r->exit_time_ns, 0);
	size_t i = 0;

	if (!exeunt_has(r, EXEUNT_F_EXIT_TIME) || r->backfilled ||
	    r->exit_precision_ns >= (uint64_t)NS_PER_SEC)
		return;
	while (i < METRICS_BUCKETS && lag > buckets[i].ns)
		i++;
	m->lag[i]++;
	m->lag_count++;
	m->lag_sum_ns += lag;
}

static void count_exit(struct metrics *m, const struct exeunt_record *r)
{
	size_t cause = exeunt_has(r, EXEUNT_F_EXIT_CAUSE) ? r->exit_cause : CAUSE_UNKNOWN;

	m->exits[MIN(cause, (size_t)CAUSE_UNKNOWN)]++;
	m->failed += exeunt_has(r, EXEUNT_F_EXIT_CODE) && r->exit_code;
	m->backfilled += r->backfilled;
	count_lag(m, r);
}

void metrics_count(struct metrics *m, const struct exeunt_record *r)
{
	bool is_exit = r->type == EXEUNT_TYPE_EXIT;

	if (is_exit && m->filter && !filter_match(m->filter, r)) {
		m->filtered++;
		return;
	}
	m->records++;
	if (is_exit)
		count_exit(m, r);
	if (r->loss && r->loss->source < EXEUNT_SOURCE_COUNT &&
	    r->loss->cause < EXEUNT_LOSS_CAUSE_COUNT)
		m->lost[r->loss->source][r->loss->cause] += r->loss->count;
}

static void single(struct exposition *e, const char *name, const char *type, const char *help,
		   uint64_t value)
{
	exposition_family(e, name, type, help);
	exposition_u64(e, "", NULL, value);
}

static void write_exits(const struct metrics *m, struct exposition *e)
{
	static const char *const causes[] = { "exited", "signaled", "core_dumped", "unknown" };

	_Static_assert(ARRAY_SIZE(causes) == ARRAY_SIZE(m->exits), "a name for each cause");
	exposition_family(e, "exeunt_exits_total", "counter",
			  "Processes that ended, by what ended them.");
	for (size_t i = 0; i < ARRAY_SIZE(causes); i++)
		exposition_u64(e, "", LABELS({ "cause", causes[i] }), m->exits[i]);
	single(e, "exeunt_exits_failed_total", "counter",
	       "Of those that ended by themselves, the ones with an exit code that is not 0.",
	       m->failed);
	single(e, "exeunt_exits_backfilled_total", "counter",
	       "Of those that ended, the ones that another source told of after a loss.",
	       m->backfilled);
}

static void write_lag(const struct metrics *m, struct exposition *e)
{
	uint64_t sum = 0;

	exposition_family(e, "exeunt_exit_lag_seconds", "histogram",
			  "From the end of a process to its record.");
	for (size_t i = 0; i < METRICS_BUCKETS; i++) {
		sum += m->lag[i];
		exposition_u64(e, "_bucket", LABELS({ "le", buckets[i].le }), sum);
	}
	exposition_u64(e, "_bucket", LABELS({ "le", "+Inf" }), m->lag_count);
	exposition_seconds(e, "_sum", NULL, m->lag_sum_ns);
	exposition_u64(e, "_count", NULL, m->lag_count);
}

static bool is_asked_for(const struct exeunt_source_status *s)
{
	return s->state != EXEUNT_STATE_OFF;
}

/* Zeros too, so that a rate is right from the first loss on. */
static void write_lost(const struct metrics *m, const struct exeunt_status *status,
		       struct exposition *e)
{
	exposition_family(e, "exeunt_lost_total", "counter",
			  "Messages of a source that were lost, by why.");
	for (size_t i = 0; i < status->n_sources; i++) {
		const struct exeunt_source_status *s = &status->sources[i];

		for (unsigned int cause = 0; is_asked_for(s) && cause < EXEUNT_LOSS_CAUSE_COUNT;
		     cause++)
			if (cause != EXEUNT_LOSS_SLOW_SINK) /* that is the sinks' */
				exposition_u64(e, "",
					       LABELS({ "source", exeunt_source_name(s->source) },
						      { "cause", exeunt_loss_cause_name(cause) }),
					       m->lost[s->source][cause]);
	}
}

/* A number of each struct of one kind. */
struct column {
	const char *name, *type, *help;
	size_t offset;
};

static uint64_t value_of(const struct column *c, const void *base)
{
	return load_u64((const char *)base + c->offset);
}

#define LEDGER(member) offsetof(struct exeunt_balance, member)

static void write_ledger(const struct exeunt_balance *b, struct exposition *e)
{
	static const struct column columns[] = {
		{ "exeunt_ledger_exits_total", "counter", "Exit records made.", LEDGER(exits) },
		{ "exeunt_ledger_lost_total", "counter",
		  "Messages lost of the source that leads; exits that happened are records and these.",
		  LEDGER(lost) },
		{ "exeunt_ledger_backfilled_total", "counter",
		  "Exits that another source brought after a loss.", LEDGER(backfilled) },
		{ "exeunt_ledger_tasks_total", "counter",
		  "Ends of processes and threads that were decoded.", LEDGER(threads_seen) },
		{ "exeunt_ledger_amends_total", "counter", "Records that amend an earlier one.",
		  LEDGER(amends) },
		{ "exeunt_ledger_unparsable_total", "counter",
		  "Messages that could not be decoded.", LEDGER(unparsable) },
		{ "exeunt_ledger_evicted_total", "counter", "Entries that a full table cost.",
		  LEDGER(evicted) },
		{ "exeunt_ledger_unmatched_total", "counter",
		  "Processes that a second source told of and the leading one never did.",
		  LEDGER(unmatched) },
		{ "exeunt_ledger_records_total", "counter", "Records of every type.",
		  LEDGER(records) },
		{ "exeunt_ledger_pending", "gauge", "Ended processes that wait for late parts.",
		  LEDGER(pending) },
		{ "exeunt_ledger_unfinished", "gauge",
		  "Ended threads of processes that still live.", LEDGER(unfinished) },
	};

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		single(e, columns[i].name, columns[i].type, columns[i].help,
		       value_of(&columns[i], b));
}

#define SOURCE(member) offsetof(struct exeunt_source_status, member)

static void write_sources(const struct exeunt_status *status, struct exposition *e)
{
	static const struct column columns[] = {
		{ "exeunt_source_messages_total", "counter", "Messages read from a source.",
		  SOURCE(messages) },
		{ "exeunt_source_bytes_total", "counter", "Bytes read from a source.",
		  SOURCE(bytes) },
		{ "exeunt_source_lost_total", "counter", "Messages of a source that were lost.",
		  SOURCE(lost) },
		{ "exeunt_source_receive_buffer_bytes", "gauge",
		  "What the kernel may queue in each socket of a source.", SOURCE(receive_buffer) },
	};

	exposition_family(e, "exeunt_source_up", "gauge",
			  "Whether a source works; one that was not asked for is left out.");
	for (size_t i = 0; i < status->n_sources; i++)
		if (is_asked_for(&status->sources[i]))
			exposition_u64(
				e, "",
				LABELS({ "source", exeunt_source_name(status->sources[i].source) }),
				status->sources[i].state == EXEUNT_STATE_OPEN);
	for (size_t c = 0; c < ARRAY_SIZE(columns); c++) {
		exposition_family(e, columns[c].name, columns[c].type, columns[c].help);
		for (size_t i = 0; i < status->n_sources; i++) {
			const struct exeunt_source_status *s = &status->sources[i];

			if (is_asked_for(s))
				exposition_u64(e, "",
					       LABELS({ "source", exeunt_source_name(s->source) }),
					       value_of(&columns[c], s));
		}
	}
}

#define SINK(member) offsetof(struct sink_report, member)

static void write_sinks(const struct metrics_facts *f, struct exposition *e)
{
	static const struct column columns[] = {
		{ "exeunt_sink_records_total", "counter", "Records that a sink put out.",
		  SINK(records) },
		{ "exeunt_sink_dropped_total", "counter",
		  "Records that a reader of a sink was too slow for.", SINK(dropped) },
		{ "exeunt_sink_filtered_total", "counter",
		  "Records that a filter of a sink kept back.", SINK(filtered) },
		{ "exeunt_sink_written_bytes_total", "counter",
		  "Bytes that the readers of a sink took.", SINK(written_bytes) },
		{ "exeunt_sink_restarts_total", "counter",
		  "How often a sink began anew what it writes to.", SINK(restarts) },
		{ "exeunt_sink_queued_bytes", "gauge",
		  "Bytes that the readers of a sink have not taken yet.", SINK(queued_bytes) },
		{ "exeunt_sink_readers", "gauge", "Readers that a sink has.", SINK(readers) },
	};
	struct sink_report report;

	for (size_t c = 0; c < ARRAY_SIZE(columns); c++) {
		exposition_family(e, columns[c].name, columns[c].type, columns[c].help);
		for (size_t i = 0; i < f->n_sinks; i++) {
			f->sinks[i]->ops->report(f->sinks[i], &report);
			exposition_u64(e, "", LABELS({ "sink", f->sinks[i]->options.name }),
				       value_of(&columns[c], &report));
		}
	}
	exposition_family(e, "exeunt_sink_errno", "gauge",
			  "The errno of the trouble that a sink is in; 0 is none.");
	for (size_t i = 0; i < f->n_sinks; i++) {
		f->sinks[i]->ops->report(f->sinks[i], &report);
		exposition_u64(e, "", LABELS({ "sink", f->sinks[i]->options.name }),
			       (uint64_t)report.error);
	}
}

/* Not process_...: node_exporter has families of that name, of itself. */
static void write_self(const struct metrics_facts *f, struct exposition *e)
{
	const struct exeunt_status *status = f->status;

	single(e, "exeunt_up", "gauge", "Whether it runs; 0 in the last file of a run.",
	       f->running);
	exposition_family(e, "exeunt_build_info", "gauge",
			  "1; what runs, and on what, are its labels.");
	exposition_u64(e, "",
		       LABELS({ "version", exeunt_version() },
			      { "kernel", status->kernel_release ? status->kernel_release : "" }),
		       1);
	exposition_family(e, "exeunt_start_time_seconds", "gauge",
			  "When it began to collect, in seconds since 1970.");
	exposition_seconds(e, "", NULL, status->started_ns);
	exposition_family(e, "exeunt_cpu_seconds_total", "counter",
			  "CPU time that it used itself.");
	exposition_seconds(e, "", LABELS({ "mode", "user" }), f->cpu_user_ns);
	exposition_seconds(e, "", LABELS({ "mode", "system" }), f->cpu_system_ns);
	single(e, "exeunt_resident_memory_bytes", "gauge", "Memory that it uses itself.",
	       f->resident_bytes);
}

void metrics_write(const struct metrics *m, const struct metrics_facts *f, struct exposition *e)
{
	write_self(f, e);
	write_exits(m, e);
	write_lag(m, e);
	write_lost(m, f->status, e);
	write_ledger(&f->status->balance, e);
	write_sources(f->status, e);
	write_sinks(f, e);
}
