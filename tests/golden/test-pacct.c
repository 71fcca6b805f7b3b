/* SPDX-License-Identifier: MIT */
/*
 * Accounting files against what dump-acct of GNU acct 6.6.4 says of them: NAME.pacct beside NAME.dump-acct, made by
 * "TZ=UTC dump-acct NAME.pacct". linux-6.18 was written by a kernel, the others by tests/helpers/mkpacct ("FORMAT 60 7").
 *
 * Where the two differ, and why (each is left out of the comparison, or put into its terms):
 * - dump-acct prints status >> 8 as the exit code, so 0 for a process that a signal killed;
 * - it prints times in ticks of whatever length;
 * - it has no idea of a big-endian v0, nor of the 62 bytes of v1: for these there is no file here;
 * - it reads on at multiples of 64 whatever a record looks like: phantoms, zeros and text come out as processes;
 * - ac_io is printed; this kernel keeps CPU microseconds there, and we do not tell it;
 * - a terminal that is no pseudo terminal is looked up in /dev of the machine it runs on.
 */
#include <err.h>
#include <inttypes.h>
#include <time.h>

#include "base/util.h"
#include "decode/pacct_stream.h"

struct check {
	const char *name;
	FILE *oracle;
	unsigned int records, wrong;
};

/* One record of dump-acct: a name of 16 columns, which may hold any byte but NUL, and the rest of a line. */
struct line {
	char comm[17];
	int version;
	double utime, stime, etime, mem, io;
	uint32_t uid, gid, pid, ppid, code;
	char flags[6], tty[16];
	char when[32];
};

static bool read_line(FILE *f, struct line *l)
{
	char rest[256];

	memset(l, 0, sizeof(*l));
	if (fread(l->comm, 1, 16, f) != 16 || !fgets(rest, sizeof(rest), f))
		return false;
	return sscanf(rest,
		      "|v%d|%lf|%lf|%lf|%" SCNu32 "|%" SCNu32 "|%lf|%lf|%" SCNu32 "|%" SCNu32
		      "|%5[^|]|%" SCNu32 "|%15[^|]|%31[^\n]",
		      &l->version, &l->utime, &l->stime, &l->etime, &l->uid, &l->gid, &l->mem,
		      &l->io, &l->pid, &l->ppid, l->flags, &l->code, l->tty, l->when) == 14;
}

static bool same_name(const struct pacct_exit *e, const struct line *l)
{
	char padded[17];

	snprintf(padded, sizeof(padded), "%-16s", e->comm);
	return !memcmp(padded, l->comm, 16);
}

static bool same_flags(const struct pacct_exit *e, const struct line *l)
{
	static const struct {
		uint8_t flag;
		int column;
	} flags[] = {
		{ PACCT_ASU, 0 }, { PACCT_AFORK, 1 }, { PACCT_ACORE, 3 }, { PACCT_AXSIG, 4 }
	};

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		if (!(e->flags & flags[i].flag) != (l->flags[flags[i].column] == ' '))
			return false;
	return true;
}

static bool same_times(const struct pacct_exit *e, const struct line *l)
{
	time_t start = e->btime_s;
	char when[32];
	struct tm tm;

	strftime(when, sizeof(when), "%a %b %e %H:%M:%S %Y", gmtime_r(&start, &tm));
	return (double)e->utime_us / 10000 == l->utime && (double)e->stime_us / 10000 == l->stime &&
	       (double)e->etime_us / 10000 == l->etime && !strcmp(when, l->when);
}

static bool same_tty(const struct pacct_exit *e, const struct line *l)
{
	char tty[16] = "";

	sscanf(l->tty, "%15s", tty);
	if (!e->tty)
		return !strcmp(tty, "__");
	return strncmp(tty, "pts/", 4) != 0 || !strcmp(tty, e->tty_text);
}

static bool same(const struct pacct_exit *e, const struct line *l)
{
	return same_name(e, l) && same_flags(e, l) && same_times(e, l) && same_tty(e, l) &&
	       e->version == l->version && e->uid == l->uid && e->gid == l->gid &&
	       e->pid == l->pid && e->ppid == l->ppid && (double)e->mem_kib == l->mem &&
	       e->status >> 8 == l->code;
}

static int on_exit_record(const struct pacct_exit *e, void *userdata)
{
	struct check *c = userdata;
	struct line l;

	c->records++;
	if (!read_line(c->oracle, &l))
		errx(1, "%s: dump-acct has fewer records than we", c->name);
	if (same(e, &l))
		return 0;
	c->wrong++;
	printf("%s: record at %" PRIu64
	       " differs: '%s' pid %u, dump-acct: '%s' pid %u etime %.2f\n",
	       c->name, e->offset, e->comm, e->pid, l.comm, l.pid, l.etime);
	return 0;
}

static void on_damage(uint64_t offset, uint64_t bytes, enum pacct_damage damage, void *userdata)
{
	const struct check *c = userdata;

	errx(1, "%s: %" PRIu64 " bytes at %" PRIu64 " are taken for %s", c->name, bytes, offset,
	     pacct_damage_text(damage));
}

static unsigned int check_file(const char *folder, const char *name)
{
	_cleanup_file_
	FILE *f = NULL, *oracle = NULL;
	struct check c = { .name = name };
	struct pacct_stream s;
	uint8_t data[1000]; /* no multiple of a record */
	char path[4096];
	uint64_t at = 0;
	size_t n;

	snprintf(path, sizeof(path), "%s/%s.pacct", folder, name);
	f = fopen(path, "rb");
	if (!f)
		err(1, "%s", path);
	snprintf(path, sizeof(path), "%s/%s.dump-acct", folder, name);
	oracle = fopen(path, "rb");
	if (!oracle)
		err(1, "%s", path);
	c.oracle = oracle;
	pacct_stream_init(&s, 0, on_exit_record, on_damage, &c);
	for (; (n = fread(data, 1, sizeof(data), f)) > 0; at += n)
		pacct_stream_feed(&s, at, data, n);
	if (pacct_stream_end(&s) != 0 || !c.records || fgetc(oracle) != EOF)
		errx(1, "%s: %u records, and dump-acct has more", name, c.records);
	printf("%s: %u records, %u differ\n", name, c.records, c.wrong);
	return c.wrong;
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "linux-6.18", "v0", "v2", "v2-be", "v3", "v3-be" };
	unsigned int wrong = 0;

	if (argc != 2)
		errx(2, "usage: test-golden-pacct FOLDER");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		wrong += check_file(argv[1], names[i]);
	return wrong ? 1 : 0;
}
