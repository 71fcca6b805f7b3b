/* SPDX-License-Identifier: MIT */
/* decode/procevents.h: every kind, the sizes of old and new kernels, and messages that lie. */
#include "unit/test.h"

#include <errno.h>
#include <string.h>

#include "base/util.h"
#include "decode/procevents.h"

/* A datagram under construction; numbers in host byte order, as the kernel sends them. */
struct message {
	unsigned char bytes[512];
	size_t len;
};

static void put_u16(struct message *m, uint16_t v)
{
	memcpy(m->bytes + m->len, &v, sizeof(v));
	m->len += sizeof(v);
}

static void put_u32(struct message *m, uint32_t v)
{
	memcpy(m->bytes + m->len, &v, sizeof(v));
	m->len += sizeof(v);
}

static void put_u64(struct message *m, uint64_t v)
{
	memcpy(m->bytes + m->len, &v, sizeof(v));
	m->len += sizeof(v);
}

/* Appends one message with `words` in the union, cut or zero-filled to `size` bytes of it. */
static void add(struct message *m, uint32_t what, const uint32_t *words, size_t n, size_t size)
{
	size_t total = 16 + 20 + 16 + size;

	put_u32(m, (uint32_t)total); /* nlmsghdr */
	put_u16(m, 3);		     /* NLMSG_DONE */
	put_u16(m, 0);
	put_u32(m, 77);
	put_u32(m, 0);
	put_u32(m, 1); /* cn_msg: CN_IDX_PROC, CN_VAL_PROC, seq, ack, len, flags */
	put_u32(m, 1);
	put_u32(m, 77);
	put_u32(m, 0);
	put_u16(m, (uint16_t)(16 + size));
	put_u16(m, 0);
	put_u32(m, what); /* proc_event */
	put_u32(m, 1);
	put_u64(m, UINT64_C(123456789012345));
	for (size_t i = 0; i < size / 4; i++)
		put_u32(m, i < n ? words[i] : 0);
}

static int decode_one(uint32_t what, const uint32_t *words, size_t n, size_t size,
		      struct proc_event_info *e)
{
	struct message m = { 0 };
	size_t used;
	int r;

	add(&m, what, words, n, size);
	memset(e, 0xee, sizeof(*e));
	r = procevents_decode(m.bytes, m.len, e, &used);
	assert_int_equal(used, m.len);
	return r;
}

static void test_fork(void **state)
{
	static const uint32_t words[] = { 101, 100, 4242, 4242 };
	struct proc_event_info e;

	(void)state;
	assert_int_equal(decode_one(0x1, words, 4, 24, &e), 1);
	assert_int_equal(e.kind, PROC_KIND_FORK);
	assert_int_equal(e.parent_pid, 101);
	assert_int_equal(e.parent_tgid, 100);
	assert_int_equal(e.pid, 4242);
	assert_int_equal(e.tgid, 4242);
	assert_int_equal(e.cpu, 1);
	assert_int_equal(e.seq, 77);
	assert_int_equal(e.timestamp_ns, UINT64_C(123456789012345));
	assert_int_equal(decode_one(0x1, words, 3, 12, &e), -EBADMSG);
}

static void test_exec_sid_ids(void **state)
{
	static const uint32_t words[] = { 7, 6, 1000, 1001 };
	struct proc_event_info e;

	(void)state;
	assert_int_equal(decode_one(0x2, words, 2, 24, &e), 1);
	assert_int_equal(e.kind, PROC_KIND_EXEC);
	assert_int_equal(e.pid, 7);
	assert_int_equal(e.tgid, 6);
	assert_int_equal(e.parent_pid, 0);
	assert_int_equal(decode_one(0x80, words, 2, 8, &e), 1);
	assert_int_equal(e.kind, PROC_KIND_SID);
	assert_int_equal(decode_one(0x4, words, 4, 24, &e), 1);
	assert_int_equal(e.kind, PROC_KIND_UID);
	assert_int_equal(e.u.id.real, 1000);
	assert_int_equal(e.u.id.effective, 1001);
	assert_int_equal(decode_one(0x40, words, 4, 24, &e), 1);
	assert_int_equal(e.kind, PROC_KIND_GID);
	assert_int_equal(decode_one(0x100, words, 4, 24, &e), 1);
	assert_int_equal(e.kind, PROC_KIND_PTRACE);
	assert_int_equal(e.u.ptrace.tracer_pid, 1000);
	assert_int_equal(e.u.ptrace.tracer_tgid, 1001);
}

static void test_comm(void **state)
{
	uint32_t words[6] = { 7, 7 };
	struct proc_event_info e;

	(void)state;
	memcpy(words + 2, "a\n\xff) 34567890123",
	       16); /* no NUL: the kernel sends one, but who knows */
	assert_int_equal(decode_one(0x200, words, 6, 24, &e), 1);
	assert_int_equal(e.kind, PROC_KIND_COMM);
	assert_memory_equal(e.u.comm, "a\n\xff) 3456789012\0", 16);
	assert_int_equal(decode_one(0x200, words, 5, 20, &e), -EBADMSG);
}

/* Kernels before 4.18 end at the signal, or fill up with zeros; there is no parent then. */
static void test_exit(void **state)
{
	static const uint32_t words[] = { 43, 42, 0x8b, UINT32_MAX, 9, 8 };
	struct proc_event_info e;

	(void)state;
	assert_int_equal(decode_one(0x80000000, words, 6, 24, &e), 1);
	assert_int_equal(e.kind, PROC_KIND_EXIT);
	assert_int_equal(e.pid, 43);
	assert_int_equal(e.tgid, 42);
	assert_int_equal(e.u.exit.code, 0x8b);
	assert_int_equal(e.u.exit.signal, -1);
	assert_int_equal(e.parent_pid, 9);
	assert_int_equal(e.parent_tgid, 8);
	assert_int_equal(decode_one(0x80000000, words, 4, 16, &e), 1);
	assert_int_equal(e.u.exit.code, 0x8b);
	assert_int_equal(e.parent_pid, 0);
	assert_int_equal(decode_one(0x80000000, words, 3, 12, &e), -EBADMSG);
}

static void test_coredump(void **state)
{
	static const uint32_t words[] = { 43, 42, 9, 8 };
	struct proc_event_info e;

	(void)state;
	assert_int_equal(decode_one(0x40000000, words, 4, 24, &e), 1);
	assert_int_equal(e.kind, PROC_KIND_COREDUMP);
	assert_int_equal(e.parent_tgid, 8);
	assert_int_equal(decode_one(0x40000000, words, 2, 8, &e), 1);
	assert_int_equal(e.parent_tgid, 0);
}

static void test_ack(void **state)
{
	static const uint32_t words[] = { 1 };
	struct proc_event_info e;

	(void)state;
	assert_int_equal(decode_one(0x0, words, 1, 24, &e), 1);
	assert_int_equal(e.kind, PROC_KIND_ACK);
	assert_int_equal(e.u.error, 1);
}

static void test_unknown_is_left_out(void **state)
{
	static const uint32_t words[] = { 7, 7 };
	struct proc_event_info e;

	(void)state;
	assert_int_equal(decode_one(0x400, words, 2, 24, &e), 0);
	assert_int_equal(decode_one(0x400, words, 2, 0, &e), 0);
	assert_int_equal(decode_one(0x3, words, 2, 24, &e), 0);
	/* pid 0 is nobody */
	assert_int_equal(decode_one(0x2, (const uint32_t[]){ 0, 7 }, 2, 24, &e), -EBADMSG);
	assert_int_equal(decode_one(0x2, (const uint32_t[]){ 7, (uint32_t)-7 }, 2, 24, &e),
			 -EBADMSG);
}

static void test_several_in_a_datagram(void **state)
{
	struct message m = { 0 };
	struct proc_event_info e;
	size_t used, at = 0;

	(void)state;
	add(&m, 0x1, (const uint32_t[]){ 1, 1, 5, 5 }, 4, 24);
	add(&m, 0x4000, (const uint32_t[]){ 5, 5 }, 2, 24);
	add(&m, 0x2, (const uint32_t[]){ 5, 5 }, 2, 24);
	assert_int_equal(procevents_decode(m.bytes, m.len, &e, &used), 1);
	assert_int_equal(e.kind, PROC_KIND_FORK);
	at += used;
	assert_int_equal(procevents_decode(m.bytes + at, m.len - at, &e, &used), 0);
	at += used;
	assert_int_equal(procevents_decode(m.bytes + at, m.len - at, &e, &used), 1);
	assert_int_equal(e.kind, PROC_KIND_EXEC);
	assert_int_equal(at + used, m.len);
}

/* Every cut is refused, wherever it is, and nothing behind the end is touched (run under ASan). */
static void test_cut(void **state)
{
	struct message m = { 0 };
	struct proc_event_info e;
	size_t used;

	(void)state;
	add(&m, 0x80000000, (const uint32_t[]){ 5, 5, 0, 17, 1, 1 }, 6, 24);
	for (size_t len = 0; len < m.len; len++) {
		unsigned char *copy = malloc(len + !len);

		assert_non_null(copy);
		memcpy(copy, m.bytes, len);
		assert_int_equal(procevents_decode(copy, len, &e, &used), -EBADMSG);
		assert_int_equal(used, len);
		free(copy);
	}
}

static void test_lies(void **state)
{
	struct message m = { 0 };
	struct proc_event_info e;
	uint16_t v16;
	uint32_t v32;
	size_t used;

	(void)state;
	add(&m, 0x2, (const uint32_t[]){ 5, 5 }, 2, 24);
	v16 = 41; /* cn_msg.len: one byte more than there is */
	memcpy(m.bytes + 32, &v16, 2);
	assert_int_equal(procevents_decode(m.bytes, m.len, &e, &used), -EBADMSG);
	v16 = 15; /* shorter than the head of an event */
	memcpy(m.bytes + 32, &v16, 2);
	assert_int_equal(procevents_decode(m.bytes, m.len, &e, &used), -EBADMSG);
	v16 = 40;
	memcpy(m.bytes + 32, &v16, 2);
	v32 = 9; /* another connector */
	memcpy(m.bytes + 16, &v32, 4);
	assert_int_equal(procevents_decode(m.bytes, m.len, &e, &used), 0);
	v16 = 2; /* NLMSG_ERROR */
	memcpy(m.bytes + 4, &v16, 2);
	assert_int_equal(procevents_decode(m.bytes, m.len, &e, &used), 0);
	v32 = 8; /* nlmsg_len below its header */
	memcpy(m.bytes, &v32, 4);
	assert_int_equal(procevents_decode(m.bytes, m.len, &e, &used), -EBADMSG);
	assert_int_equal(used, m.len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_exec_sid_ids),
		cmocka_unit_test(test_comm),
		cmocka_unit_test(test_exit),
		cmocka_unit_test(test_coredump),
		cmocka_unit_test(test_ack),
		cmocka_unit_test(test_unknown_is_left_out),
		cmocka_unit_test(test_several_in_a_datagram),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_lies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
