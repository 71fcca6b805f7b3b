/* SPDX-License-Identifier: MIT */
/* See segment.h. */
#include "store/segment.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <exeunt/exeunt.h>

#include "store/columns.h"
#include "store/sql.h"

enum { ADD_PROCESS, ADD_LOSS, ADD_STATUS, STATEMENTS };

#define FIRST_FIELD 6 /* behind id, run, type, seq, time */

struct segment {
	sqlite3 *db;
	sqlite3_stmt *statements[STATEMENTS];
	char error[256];
};

static const char schema[] =
	"CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
	"INSERT OR IGNORE INTO meta VALUES('schema', '" EXEUNT_SCHEMA "'), ('format', 1);"
	"CREATE TABLE IF NOT EXISTS runs(run INTEGER PRIMARY KEY, host_name TEXT, boot_id TEXT, started INTEGER,"
	" version TEXT);"
	"CREATE TABLE IF NOT EXISTS losses(id INTEGER PRIMARY KEY, run INTEGER, seq INTEGER, time INTEGER,"
	" source TEXT, cause TEXT, count INTEGER, exact INTEGER, cpu INTEGER, window_start INTEGER,"
	" window_end INTEGER, backfilled INTEGER);"
	"CREATE TABLE IF NOT EXISTS statuses(id INTEGER PRIMARY KEY, run INTEGER, seq INTEGER, time INTEGER,"
	" type TEXT, record TEXT);"
	"CREATE VIEW IF NOT EXISTS exits AS SELECT id,"
	" strftime('%Y-%m-%dT%H:%M:%fZ', process_exit_time / 1000000000.0, 'unixepoch') AS ended,"
	" process_pid AS pid, process_parent_pid AS ppid, process_user_name AS user, process_comm AS comm,"
	" process_exit_code AS code, process_exit_signal_name AS signal,"
	" usage_elapsed_us / 1e6 AS elapsed, (usage_cpu_user_us + usage_cpu_system_us) / 1e6 AS cpu,"
	" usage_memory_rss_peak_bytes AS rss, process_executable_path AS exe,"
	" rtrim(replace(process_command_args, char(31), ' ')) AS args"
	" FROM processes WHERE type = 'exit';";

static int fail(struct segment *s, int sqlite_error)
{
	snprintf(s->error, sizeof(s->error), "%s",
		 s->db ? sqlite3_errmsg(s->db) : "not enough memory");
	return sql_errno(sqlite_error);
}

static int exec(struct segment *s, const char *sql)
{
	int r = sqlite3_exec(s->db, sql, NULL, NULL, NULL);

	return r == SQLITE_OK ? 0 : fail(s, r);
}

static int make_tables(struct segment *s)
{
	_cleanup_free_
	char *columns = columns_declare();
	char *sql =
		columns ? sqlite3_mprintf(
				  "BEGIN;CREATE TABLE IF NOT EXISTS processes(id INTEGER PRIMARY KEY,"
				  " run INTEGER, type TEXT, seq INTEGER, time INTEGER%s);%sCOMMIT",
				  columns, schema)
			: NULL;
	int r = sql ? exec(s, sql) : -ENOMEM;

	sqlite3_free(sql);
	return r;
}

static int prepare(struct segment *s, int which, const char *table, int n_columns)
{
	char sql[2048];
	size_t len = (size_t)snprintf(sql, sizeof(sql), "INSERT INTO %s VALUES(?", table);
	int r;

	for (int i = 1; i < n_columns; i++)
		len += (size_t)snprintf(sql + len, sizeof(sql) - len, ",?");
	snprintf(sql + len, sizeof(sql) - len, ")");
	r = sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &s->statements[which],
			       NULL);
	return r == SQLITE_OK ? 0 : fail(s, r);
}

static int prepare_all(struct segment *s)
{
	int r = prepare(s, ADD_PROCESS, "processes", FIRST_FIELD - 1 + EXEUNT_F_COUNT);

	if (r >= 0)
		r = prepare(s, ADD_LOSS, "losses", 12);
	if (r >= 0)
		r = prepare(s, ADD_STATUS, "statuses", 6);
	return r;
}

int segment_open(struct segment **ret, const char *path, char *error, size_t size)
{
	struct segment *s = calloc(1, sizeof(*s));
	int r;

	snprintf(error, size, "not enough memory");
	if (!s)
		return -ENOMEM;
	/* SQLite would let everybody read it, and its log has the mode of the file */
	close_fd(open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640));
	r = sqlite3_open_v2(path, &s->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
	r = r == SQLITE_OK ? 0 : fail(s, r);
	/* a committed transaction outlives us, and a power cut all but the last ones */
	if (r >= 0)
		r = exec(
			s,
			"PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;PRAGMA wal_autocheckpoint=4000");
	if (r >= 0)
		r = make_tables(s);
	if (r >= 0)
		r = prepare_all(s);
	if (r < 0) {
		snprintf(error, size, "%s: %s", path, s->error);
		segment_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

void segment_free(struct segment *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(s->statements[i]);
	/* Without a log it can be read where nothing can be written. With a reader in it just now it keeps the log. */
	sqlite3_exec(s->db, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
	sqlite3_close(s->db);
	free(s);
}

int segment_begin(struct segment *s)
{
	return exec(s, "BEGIN IMMEDIATE");
}

int segment_commit(struct segment *s)
{
	return exec(s, "COMMIT");
}

void segment_give_up(struct segment *s)
{
	if (!sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

static int step(struct segment *s, sqlite3_stmt *st, int bound)
{
	int r = bound == SQLITE_OK ? sqlite3_step(st) : bound;
	int e = r == SQLITE_DONE ? 0 : fail(s, r);

	sqlite3_reset(st);
	return e;
}

int segment_add_run(struct segment *s, const struct store_run *run)
{
	char *sql = sqlite3_mprintf("INSERT OR REPLACE INTO runs VALUES(%lld, %Q, %Q, %lld, %Q)",
				    (long long)run->id, run->host_name, run->boot_id,
				    (long long)run->started_ns, run->version);
	int r = sql ? exec(s, sql) : -ENOMEM;

	sqlite3_free(sql);
	return r;
}

static int add_loss(struct segment *s, int64_t id, int64_t run, const struct exeunt_record *r)
{
	const struct exeunt_loss *l = r->loss;
	sqlite3_stmt *st = s->statements[ADD_LOSS];
	const int64_t numbers[] = { id, run, (int64_t)r->seq, r->time_ns };
	const int64_t behind[] = { (int64_t)l->count,  l->exact,	 l->cpu,
				   l->window_start_ns, l->window_end_ns, (int64_t)l->backfilled };
	int e = SQLITE_OK;

	for (size_t i = 0; i < ARRAY_SIZE(numbers) && e == SQLITE_OK; i++)
		e = sqlite3_bind_int64(st, (int)i + 1, numbers[i]);
	if (e == SQLITE_OK)
		e = sqlite3_bind_text(st, 5, exeunt_source_name(l->source), -1, SQLITE_STATIC);
	if (e == SQLITE_OK)
		e = sqlite3_bind_text(st, 6, exeunt_loss_cause_name(l->cause), -1, SQLITE_STATIC);
	for (size_t i = 0; i < ARRAY_SIZE(behind) && e == SQLITE_OK; i++)
		e = sqlite3_bind_int64(st, (int)i + 7, behind[i]);
	return step(s, st, e);
}

static int add_status(struct segment *s, int64_t id, int64_t run, const struct exeunt_record *r,
		      const char *json, size_t json_len)
{
	sqlite3_stmt *st = s->statements[ADD_STATUS];
	const int64_t numbers[] = { id, run, (int64_t)r->seq, r->time_ns };
	int e = SQLITE_OK;

	for (size_t i = 0; i < ARRAY_SIZE(numbers) && e == SQLITE_OK; i++)
		e = sqlite3_bind_int64(st, (int)i + 1, numbers[i]);
	if (e == SQLITE_OK)
		e = sqlite3_bind_text(st, 5, exeunt_type_name(r->type), -1, SQLITE_STATIC);
	if (e == SQLITE_OK)
		e = sqlite3_bind_text(st, 6, json, (int)json_len, SQLITE_STATIC);
	return step(s, st, e);
}

static int add_process(struct segment *s, int64_t id, int64_t run, const struct exeunt_record *r)
{
	sqlite3_stmt *st = s->statements[ADD_PROCESS];
	int e = sqlite3_bind_int64(st, 1, id);

	if (e == SQLITE_OK)
		e = sqlite3_bind_int64(st, 2, run);
	if (e == SQLITE_OK)
		e = sqlite3_bind_text(st, 3, exeunt_type_name(r->type), -1, SQLITE_STATIC);
	if (e == SQLITE_OK)
		e = sqlite3_bind_int64(st, 4, (int64_t)r->seq);
	if (e == SQLITE_OK)
		e = sqlite3_bind_int64(st, 5, r->time_ns);
	if (e == SQLITE_OK)
		e = columns_bind(st, FIRST_FIELD, r);
	return step(s, st, e);
}

int segment_add(struct segment *s, int64_t id, int64_t run, const struct exeunt_record *r,
		const char *json, size_t json_len)
{
	if (r->loss)
		return add_loss(s, id, run, r);
	if (r->status)
		return add_status(s, id, run, r, json, json_len);
	return add_process(s, id, run, r);
}

int segment_finish(struct segment *s)
{
	return exec(s, "INSERT OR REPLACE INTO meta VALUES('done', 1)");
}

const char *segment_error(const struct segment *s)
{
	return s->error;
}

uint64_t segment_bytes(const char *path)
{
	char log[4096];
	struct stat st;
	uint64_t bytes = stat(path, &st) ? 0 : (uint64_t)st.st_size;

	snprintf(log, sizeof(log), "%s-wal", path);
	return bytes + (stat(log, &st) ? 0 : (uint64_t)st.st_size);
}

/* The ends of one table; both are found by the key. */
static int look_at(sqlite3 *db, const char *table, const char *stopped, struct segment_extent *e)
{
	char sql[512];
	sqlite3_stmt *st;
	int r;

	snprintf(
		sql, sizeof(sql),
		"SELECT id, time, %s FROM %s WHERE id = (SELECT min(id) FROM %s) OR id = (SELECT max(id) FROM %s)"
		" ORDER BY id",
		stopped, table, table, table);
	r = sqlite3_prepare_v2(db, sql, -1, &st, NULL);
	if (r != SQLITE_OK)
		return r;
	while ((r = sqlite3_step(st)) == SQLITE_ROW) {
		int64_t id = sqlite3_column_int64(st, 0), time = sqlite3_column_int64(st, 1);

		if (!e->first_id || id < e->first_id) {
			e->first_id = id;
			e->first_ns = time;
		}
		if (id > e->last_id) {
			e->last_id = id;
			e->last_ns = time;
			e->stopped = sqlite3_column_int(st, 2);
		}
	}
	sqlite3_finalize(st);
	return r == SQLITE_DONE ? SQLITE_OK : r;
}

static int ask_number(sqlite3 *db, const char *sql, int64_t *ret)
{
	sqlite3_stmt *st;
	int r = sqlite3_prepare_v2(db, sql, -1, &st, NULL);

	if (r != SQLITE_OK)
		return r;
	r = sqlite3_step(st);
	if (r == SQLITE_ROW)
		*ret = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return r == SQLITE_ROW ? SQLITE_OK : r;
}

int segment_look(const char *path, struct segment_extent *ret, char *error, size_t size)
{
	sqlite3 *db = NULL;
	int64_t exits = 0, done = 0, gone = 0, from = INT64_MAX;
	int r = sql_open_reader(&db, path);

	*ret = (struct segment_extent){ 0 };
	if (r == SQLITE_OK)
		r = look_at(db, "processes", "0", ret);
	if (r == SQLITE_OK)
		r = look_at(db, "losses", "0", ret);
	if (r == SQLITE_OK)
		r = look_at(db, "statuses", "type = 'stop'", ret);
	if (r == SQLITE_OK)
		r = ask_number(db, "SELECT count(*) FROM processes WHERE type = 'exit'", &exits);
	if (r == SQLITE_OK)
		r = ask_number(db, "SELECT count(*) FROM meta WHERE key = 'done'", &done);
	if (r == SQLITE_OK)
		r = ask_number(db, "SELECT total(count) FROM losses WHERE cause = 'retention'",
			       &gone);
	if (r == SQLITE_OK && gone)
		r = ask_number(db, "SELECT min(window_start) FROM losses WHERE cause = 'retention'",
			       &from);
	ret->exits = (uint64_t)exits;
	ret->gone = (uint64_t)gone;
	ret->gone_from_ns = from;
	ret->done = done != 0;
	if (r != SQLITE_OK)
		snprintf(error, size, "%s: %s", path,
			 db ? sqlite3_errmsg(db) : "not enough memory");
	sqlite3_close(db);
	return r == SQLITE_OK ? 0 : sql_errno(r);
}
