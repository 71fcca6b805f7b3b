/* SPDX-License-Identifier: MIT */
/*
 * Is this an accounting record? There is no magic number, so the evidence is weighed. What the kernel cannot write is
 * refused outright (the chance of 64 random bytes to pass is below 2^-40 for v1 to v3); beyond that, points are given
 * for what nearly every record has, so that tables of small numbers and zeros (ELF, wtmp, other systems' accounting)
 * do not pass by accident, while a strange record among good ones still does.
 */
#include "decode/pacct_layout.h"
#include "record/status.h"

enum {
	W_BTIME = 3,	 /* a start time between 1990 and 2050 */
	W_NO_BTIME = -2, /* none */
	W_COMM = 2,	 /* a name of printable ASCII */
	W_SHORT_COMM =
		1,   /* one letter, or bytes beyond ASCII; a control character is worth nothing */
	W_NO_RW = 1, /* ac_rw 0: the kernel never counted it */
	W_TIME =
		1, /* elapsed time is whole ticks (v3), not less than the CPU time (v0), matches (v1, v2) */
	W_RW = -2, /* v3: ac_rw or ac_swaps is not 0; in v0 some writers are older than what was read */
	W_STATUS = -3,	   /* no exit status that wait(2) could tell */
	W_FLAG = -2,	   /* a flag that is not known */
	W_NO_MEM = -2,	   /* no memory and no kernel thread: a phantom, which are rare */
	W_V0_TEXT = -4,	   /* start and CPU times are text */
	W_ID_UNSET = -1,   /* v1, v2: the 16-bit id was left 0 */
	W_ID_DIFFERS = -3, /* v1, v2: the 16-bit id contradicts the 32-bit one */
};

/* Later start times are no sign of a record, but not of junk either. */
#define PLAUSIBLE_UNTIL UINT32_C(2524608000) /* 2050 */

static int weigh_comm(const uint8_t *p, int len)
{
	bool ascii = true;

	for (int i = 0; i < len; i++) {
		if (p[i] < 0x20 || p[i] == 0x7f)
			return 0;
		ascii = ascii && p[i] < 0x7f;
	}
	return len > 1 && ascii ? W_COMM : len ? W_SHORT_COMM : 0;
}

/* -1: refused. */
static int weigh_status(uint32_t status, uint8_t flag, uint16_t mem)
{
	if (status > 0xffff && !status_of_kthread(status, flag, mem))
		return -1;
	return 0;
}

static int weigh_common(uint32_t btime, uint32_t status, uint8_t flag, uint16_t mem)
{
	int weight = mem || flag & PACCT_AFORK ? 0 : W_NO_MEM;

	if (btime >= PACCT_CLOCK_SET && btime < PLAUSIBLE_UNTIL)
		weight += W_BTIME;
	if (btime == 0)
		weight += W_NO_BTIME;
	if (status <= 0xffff && !status_is_plausible(status))
		weight += W_STATUS;
	if (flag & ~PACCT_KNOWN_FLAGS)
		weight += W_FLAG;
	return weight;
}

/* PID_MAX_LIMIT of 64-bit kernels; a parent outside the pid namespace is 0. */
#define PID_LIMIT (UINT32_C(1) << 22)

/* A process may clear its name, but it has memory and had faults: else a crash tore the record and zeroed its rest. */
ALWAYS_INLINE bool blank(uint16_t mem, uint16_t minflt)
{
	return mem == 0 || minflt == 0;
}

/* What no kernel writes as v3. */
ALWAYS_INLINE bool v3_possible(const uint8_t *p, bool big, int comm_len)
{
	uint32_t status = rd32(p + V3_STATUS, big);
	uint16_t mem = load_u16(p + V3_MEM);

	if (p[V3_VERSION] != (big ? 0x83 : 0x03) || comm_len < 0)
		return false;
	if (rd32(p + V3_PID, big) - 1 >= PID_LIMIT || rd32(p + V3_PPID, big) > PID_LIMIT)
		return false;
	if (!etime_float_sane(rd32(p + V3_ETIME, big)))
		return false;
	if (comm_len == 0 && blank(mem, load_u16(p + V3_MINFLT)))
		return false;
	return status <= 0xffff || status_of_kthread(status, p[V3_FLAG], mem);
}

static int weigh_v3(const uint8_t *p, bool big)
{
	int len = comm_length(p + V3_COMM), weight;

	if (!v3_possible(p, big, len))
		return -1;
	weight = weigh_common(rd32(p + V3_BTIME, big), rd32(p + V3_STATUS, big), p[V3_FLAG],
			      load_u16(p + V3_MEM));
	weight += weigh_comm(p + V3_COMM, len);
	weight += load_u16(p + V3_RW) || load_u16(p + V3_SWAPS) ? W_RW : W_NO_RW;
	weight += etime_float_whole(rd32(p + V3_ETIME, big)) ? W_TIME : 0;
	return MAX(weight, 0);
}

/* ac_comm of v0 to v2 has 17 bytes, and the last is always NUL. */
static int old_comm_length(const uint8_t *comm)
{
	return comm[TAIL_COMM_SIZE - 1] ? -1 : comm_length(comm);
}

/* The two elapsed times of v1 and v2 are roundings of one number. */
static bool etimes_agree(uint16_t comp, uint32_t comp2)
{
	uint64_t a = comp_value(comp), b = comp2_value(comp2);

	if (comp2 == 0) /* not filled; then the short one counts */
		return true;
	if (b >= UINT32_MAX - comp2_step(comp2)) /* the short one was cut at 32 bits, or wrapped */
		return true;
	return (a > b ? a - b : b - a) <= comp_step(comp) + comp2_step(comp2);
}

static int weigh_id(uint16_t id16, uint32_t id)
{
	if (id16 == (uint16_t)id || (id > 0xffff && id16 == 0xfffe)) /* fs_high2lowuid() */
		return 0;
	return id16 ? W_ID_DIFFERS : W_ID_UNSET;
}

static int weigh_ids(const uint8_t *p, const uint8_t *q, bool big)
{
	return weigh_id(rd16(p + OLD_UID16, big), rd32(q + TAIL_UID, big)) +
	       weigh_id(rd16(p + OLD_GID16, big), rd32(q + TAIL_GID, big));
}

/* v1 and v2 */
static int weigh_wide(const uint8_t *p, enum pacct_format f)
{
	const uint8_t *q = old_tail(p, f);
	bool big = format_big(f);
	uint32_t status = rd32(q + TAIL_STATUS, big);
	uint32_t comp2 = (uint32_t)q[TAIL_ETIME_HI] << 16 | rd16(q + TAIL_ETIME_LO, big);
	uint16_t ahz = rd16(p + OLD_AHZ, big), mem = rd16(p + OLD_MEM, big);
	int len = old_comm_length(q + TAIL_COMM), weight;

	if (p[V3_VERSION] != format_byte(f) || len < 0 ||
	    (len == 0 &&
	     (blank(mem, load_u16(p + OLD_MINFLT)) || (load_u16(p + OLD_ETIME) && !comp2))))
		return -1;
	if (f >= PACCT_V2_LE && (ahz < 24 || ahz > 10000))
		return -1;
	if (comp2_value(comp2) >> 41 || !etimes_agree(rd16(p + OLD_ETIME, big), comp2))
		return -1;
	if (weigh_status(status, p[V3_FLAG], mem) < 0)
		return -1;
	weight = weigh_common(rd32(p + OLD_BTIME, big), status, p[V3_FLAG], mem);
	weight += weigh_comm(q + TAIL_COMM, len) + weigh_ids(p, q, big) + W_TIME;
	weight += load_u16(p + OLD_RW) || load_u16(p + OLD_SWAPS) ? 0 : W_NO_RW;
	return MAX(weight, 0);
}

/* The 10 bytes behind the name of a v0 record: 0, or 2 bytes 0 and Red Hat's 32-bit ids. */
static bool v0_padding_possible(const uint8_t *p, const uint8_t *q, enum pacct_format f)
{
	bool big = format_big(f);

	if (q[TAIL_PAD] || load_u16(q + TAIL_PAD + 1))
		return false;
	if (!load_u64(q + TAIL_UID))
		return true;
	return f != PACCT_V0_M68K && weigh_ids(p, q, big) == 0;
}

/* Strings padded with zeros, as compilers lay them out, look like a name in a v0 record; then its numbers are text too. */
static int weigh_v0_text(const uint8_t *p)
{
	for (size_t i = OLD_BTIME; i < OLD_ETIME; i++)
		if (p[i] < 0x20 || p[i] >= 0x7f)
			return 0;
	return W_V0_TEXT;
}

static int weigh_v0(const uint8_t *p, enum pacct_format f)
{
	const uint8_t *q = old_tail(p, f);
	bool big = format_big(f);
	uint32_t status = rd32(q + TAIL_STATUS, big), btime = rd32(p + OLD_BTIME, big);
	uint64_t cpu = comp_value(rd16(p + OLD_UTIME, big)) + comp_value(rd16(p + OLD_STIME, big));
	uint16_t etime = rd16(p + OLD_ETIME, big);
	int len, weight;

	/* prctl() could not clear a name before 2.6.9. Seconds were signed, and 0 is what unused memory looks like. */
	if (p[V3_VERSION] || !q[TAIL_COMM] || btime == 0 || btime > INT32_MAX)
		return -1;
	if (!status_is_plausible(status) || (f != PACCT_V0_M68K && load_u16(p + OLD_AHZ)))
		return -1;
	len = old_comm_length(q + TAIL_COMM);
	if (len < 0 || !v0_padding_possible(p, q, f))
		return -1;
	weight = weigh_common(btime, status, p[V3_FLAG], load_u16(p + OLD_MEM)) +
		 weigh_comm(q + TAIL_COMM, len);
	weight += (load_u16(p + OLD_RW) ? 0 : W_NO_RW) + weigh_v0_text(p);
	weight += cpu <= comp_value(etime) + comp_step(etime) + 100 ? W_TIME : 0;
	return MAX(weight, 0);
}

int pacct_weigh(const uint8_t *p, enum pacct_format format)
{
	if (format <= PACCT_NONE || format >= PACCT_FORMATS)
		return -1;
	if (format >= PACCT_V3_LE)
		return weigh_v3(p, format == PACCT_V3_BE);
	return format >= PACCT_V1_LE ? weigh_wide(p, format) : weigh_v0(p, format);
}

/* Consoles, serial lines, old and new pseudo terminals. */
static bool tty_common(uint16_t tty)
{
	return tty == 0 || (tty >> 8 >= 3 && tty >> 8 <= 5) || (tty >> 8 >= 136 && tty >> 8 <= 143);
}

/*
 * How likely the byte order is, for v0, which does not tell it: numbers are mostly small, so fields read in the right
 * order have a zero in front, and comp_t exponents near 0.
 */
static int order_votes(const uint8_t *p, bool big)
{
	static const uint8_t fields[] = { OLD_UID16, OLD_GID16,	 OLD_UTIME,  OLD_STIME, OLD_ETIME,
					  OLD_MEM,   OLD_MINFLT, OLD_MAJFLT, OLD_SWAPS };
	int votes = 0;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		uint8_t high = p[fields[i] + !big], low = p[fields[i] + big];

		votes += !high - !low;
		votes -= fields[i] >= OLD_UTIME ? 2 * (high >> 5) : 0;
	}
	return votes + 6 * tty_common(rd16(p + OLD_TTY, big));
}

/* v0 does not say its byte order nor its size: try each. What the record in front was counts for a little. */
static enum pacct_format recognise_v0(const uint8_t *p, size_t len, enum pacct_format before,
				      int *weight)
{
	enum pacct_format best = PACCT_NONE;
	int best_rank = 0;

	*weight = -1;
	for (enum pacct_format f = PACCT_V0_LE; f <= PACCT_V0_M68K; f++) {
		int w = len >= pacct_size(f) ? pacct_weigh(p, f) : -1, rank;

		if (w < 0)
			continue;
		rank = w * 512 + order_votes(p, format_big(f)) + 12 * (f == before);
		if (best && rank <= best_rank)
			continue;
		best = f;
		best_rank = rank;
		*weight = w;
	}
	return best;
}

enum pacct_format pacct_recognise(const uint8_t *p, size_t len, enum pacct_format before,
				  int *weight)
{
	enum pacct_format f;

	*weight = -1;
	if (len < PACCT_MIN_SIZE || (p[1] & 0x7f) > 3 || p[1] == 0x80)
		return PACCT_NONE;
	if (p[1] == 0)
		return recognise_v0(p, len, before, weight);
	f = PACCT_V1_LE + 2 * ((p[1] & 3) - 1) + (p[1] >> 7);
	if (len >= pacct_size(f))
		*weight = pacct_weigh(p, f);
	return *weight < 0 ? PACCT_NONE : f;
}

ALWAYS_INLINE bool v3_continues(const uint8_t *p, bool big, bool old_clock)
{
	int len = comm_length(p + V3_COMM);
	uint32_t status = rd32(p + V3_STATUS, big);

	return v3_possible(p, big, len) && len > 0 && !load_u16(p + V3_RW) &&
	       !load_u16(p + V3_SWAPS) &&
	       (old_clock || rd32(p + V3_BTIME, big) >= PACCT_CLOCK_SET) &&
	       (status_is_plausible(status) || status > 0xffff);
}

bool pacct_continues(const uint8_t *p, enum pacct_format format, bool old_clock)
{
	bool big = format_big(format);

	if (format == PACCT_V3_LE)
		return v3_continues(p, false, old_clock);
	if (format == PACCT_V3_BE)
		return v3_continues(p, true, old_clock);
	/* v0 may change its byte order from one record to the next without a sign. */
	return format >= PACCT_V1_LE && pacct_weigh(p, format) >= PACCT_SURE &&
	       (old_clock || rd32(p + OLD_BTIME, big) >= PACCT_CLOCK_SET);
}
