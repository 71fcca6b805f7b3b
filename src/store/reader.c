/* SPDX-License-Identifier: MIT */
/* See reader.h. Three tables, each in order of id, are merged by it. */
#include "store/reader.h"

#include <exeunt/exeunt.h>

#include "record/fields.h"
#include "store/columns.h"
#include "store/sql.h"

#define TABLES 3
#define FIRST_FIELD 5 /* columns from 0: id, run, type, seq, time */

struct run {
	int64_t id;
	char host_name[256], boot_id[64];
};

struct store_reader {
	sqlite3 *db;
	struct store_query query;
	sqlite3_stmt *table[TABLES]; /* processes, losses, statuses */
	bool ended[TABLES];
	int64_t id[TABLES]; /* of the row at hand; 0: to be fetched */
	uint64_t fields[EXEUNT_PRESENT_WORDS];
	struct columns_room room;
	struct run run;
	struct exeunt_loss loss;
	struct store_row row;
	char error[512];
};

static int fail(struct store_reader *r, int sqlite_error)
{
	snprintf(r->error, sizeof(r->error), "%s",
		 r->db ? sqlite3_errmsg(r->db) : "not enough memory");
	return sql_errno(sqlite_error);
}

static int prepare(struct store_reader *r, int table, const char *columns, const char *name,
		   const char *where)
{
	char *sql = sqlite3_mprintf("SELECT %s FROM %s WHERE id > %lld%s ORDER BY id %s", columns,
				    name, (long long)r->query.after_id, where,
				    r->query.newest_first ? "DESC" : "ASC");
	int e = sql ? sqlite3_prepare_v2(r->db, sql, -1, &r->table[table], NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	return e == SQLITE_OK ? 0 : fail(r, e);
}

static int prepare_processes(struct store_reader *r)
{
	int n;
	_cleanup_free_
	char *list = columns_list(r->fields, &n);
	_cleanup_free_
	char *columns = NULL;
	char where[128] = "";
	size_t len = 0;

	if (!list || asprintf(&columns, "id, run, type, seq, time%s", list) < 0)
		return -ENOMEM;
	if (r->query.since_ns)
		len = (size_t)snprintf(where, sizeof(where), " AND process_exit_time >= %lld",
				       (long long)r->query.since_ns);
	if (r->query.until_ns)
		snprintf(where + len, sizeof(where) - len, " AND process_exit_time < %lld",
			 (long long)r->query.until_ns);
	return prepare(r, 0, columns, "processes", where);
}

static int prepare_all(struct store_reader *r)
{
	int e = prepare_processes(r);

	if (e >= 0)
		e = prepare(
			r, 1,
			"id, run, 'loss', seq, time, source, cause, count, exact, cpu, window_start,"
			" window_end, backfilled",
			"losses", "");
	if (e >= 0)
		e = prepare(r, 2, "id, run, type, seq, time, record", "statuses", "");
	return e;
}

static void choose_fields(struct store_reader *r)
{
	for (size_t i = 0; i < EXEUNT_PRESENT_WORDS; i++)
		r->fields[i] = r->query.fields ? r->query.fields[i] : ~UINT64_C(0);
	/* the entity id is made of both */
	if (field_in(r->fields, EXEUNT_F_ENTITY_ID))
		field_add(r->fields, EXEUNT_F_PID);
	/* beyond the last field there is none */
	for (int f = EXEUNT_F_COUNT; f < 64 * EXEUNT_PRESENT_WORDS; f++)
		r->fields[f / 64] &= ~(UINT64_C(1) << (f % 64));
}

int store_reader_new(struct store_reader **ret, const char *path, const struct store_query *query,
		     char *error, size_t size)
{
	struct store_reader *r = calloc(1, sizeof(*r));
	int e;

	snprintf(error, size, "not enough memory");
	if (!r)
		return -ENOMEM;
	r->query = *query;
	choose_fields(r);
	e = sql_open_reader(&r->db, path);
	e = e == SQLITE_OK ? prepare_all(r) : fail(r, e);
	if (e < 0) {
		snprintf(error, size, "'%s': %s", path, r->error);
		store_reader_free(r);
		return e;
	}
	*ret = r;
	return 0;
}

void store_reader_free(struct store_reader *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < TABLES; i++)
		sqlite3_finalize(r->table[i]);
	sqlite3_close(r->db);
	columns_room_done(&r->room);
	free(r);
}

/* The row of each table that is next in it. */
static int fetch(struct store_reader *r, int table)
{
	int e;

	if (r->ended[table] || r->id[table])
		return 0;
	e = sqlite3_step(r->table[table]);
	if (e == SQLITE_ROW) {
		r->id[table] = sqlite3_column_int64(r->table[table], 0);
		return 0;
	}
	r->ended[table] = true;
	return e == SQLITE_DONE ? 0 : fail(r, e);
}

/* The table whose row is next of all; -1: none. */
static int next_table(const struct store_reader *r)
{
	int next = -1;

	for (int i = 0; i < TABLES; i++) {
		if (!r->id[i])
			continue;
		if (next < 0 ||
		    (r->query.newest_first ? r->id[i] > r->id[next] : r->id[i] < r->id[next]))
			next = i;
	}
	return next;
}

static void copy_text(char *to, size_t size, sqlite3_stmt *st, int column)
{
	const unsigned char *text = sqlite3_column_text(st, column);

	snprintf(to, size, "%s", text ? (const char *)text : "");
}

static int find_run(struct store_reader *r, int64_t id)
{
	sqlite3_stmt *st;
	int e;

	if (r->run.id == id)
		return 0;
	r->run = (struct run){ .id = id };
	e = sqlite3_prepare_v2(r->db, "SELECT host_name, boot_id FROM runs WHERE run = ?", -1, &st,
			       NULL);
	if (e != SQLITE_OK)
		return fail(r, e);
	sqlite3_bind_int64(st, 1, id);
	e = sqlite3_step(st);
	if (e == SQLITE_ROW) {
		copy_text(r->run.host_name, sizeof(r->run.host_name), st, 0);
		copy_text(r->run.boot_id, sizeof(r->run.boot_id), st, 1);
	}
	sqlite3_finalize(st);
	return e == SQLITE_ROW || e == SQLITE_DONE ? 0 : fail(r, e);
}

static uint16_t type_of(const char *name)
{
	for (int type = EXEUNT_TYPE_EXIT; type <= EXEUNT_TYPE_INTERIM; type++)
		if (name && !strcmp(name, exeunt_type_name(type)))
			return (uint16_t)type;
	return 0; /* of a version to come */
}

static enum exeunt_source source_of(const char *name)
{
	for (int i = 0; i < EXEUNT_SOURCE_COUNT; i++)
		if (name && !strcmp(name, exeunt_source_name(i)))
			return (enum exeunt_source)i;
	return EXEUNT_SOURCE_OUTPUT;
}

static enum exeunt_loss_cause cause_of(const char *name)
{
	for (int i = 0; i < EXEUNT_LOSS_CAUSE_COUNT; i++)
		if (name && !strcmp(name, exeunt_loss_cause_name(i)))
			return (enum exeunt_loss_cause)i;
	return EXEUNT_LOSS_NOT_RUNNING;
}

static void read_loss(struct store_reader *r, sqlite3_stmt *st)
{
	r->loss = (struct exeunt_loss){
		.source = source_of((const char *)sqlite3_column_text(st, 5)),
		.cause = cause_of((const char *)sqlite3_column_text(st, 6)),
		.count = (uint64_t)sqlite3_column_int64(st, 7),
		.exact = sqlite3_column_int(st, 8),
		.cpu = sqlite3_column_int(st, 9),
		.window_start_ns = sqlite3_column_int64(st, 10),
		.window_end_ns = sqlite3_column_int64(st, 11),
		.backfilled = (uint64_t)sqlite3_column_int64(st, 12),
	};
	r->row.record.loss = &r->loss;
}

static int read_row(struct store_reader *r, int table)
{
	sqlite3_stmt *st = r->table[table];
	struct exeunt_record *record = &r->row.record;
	int e = find_run(r, sqlite3_column_int64(st, 1));

	if (e < 0)
		return e;
	/* what is not said to be present means nothing: only that has to be cleared */
	memset(record->present, 0, sizeof(record->present));
	memset(record->inherited, 0, sizeof(record->inherited));
	record->size = sizeof(*record);
	record->version = EXEUNT_RECORD_VERSION;
	record->type = type_of((const char *)sqlite3_column_text(st, 2));
	record->seq = (uint64_t)sqlite3_column_int64(st, 3);
	record->time_ns = sqlite3_column_int64(st, 4);
	record->loss = NULL;
	record->status = NULL;
	r->row.id = r->id[table];
	r->row.host_name = r->run.host_name;
	r->row.boot_id = r->run.boot_id;
	r->row.json = table == 2 ? (const char *)sqlite3_column_text(st, 5) : NULL;
	if (table == 1)
		read_loss(r, st);
	return table == 0 ? columns_read(st, FIRST_FIELD, r->fields, record, &r->room) : 0;
}

int store_reader_next(struct store_reader *r, const struct store_row **ret)
{
	int table, e = 0;

	for (int i = 0; i < TABLES && e >= 0; i++)
		e = fetch(r, i);
	if (e < 0)
		return e;
	table = next_table(r);
	if (table < 0)
		return 0;
	e = read_row(r, table);
	r->id[table] = 0;
	*ret = &r->row;
	return e < 0 ? e : 1;
}

const char *store_reader_error(const struct store_reader *r)
{
	return r->error;
}
