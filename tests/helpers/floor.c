/* SPDX-License-Identifier: MIT */
/*
 * floor: the least that a taskstats collector can do, as the benchmark's measure. It drains the
 * messages in batches, looks at the type and at one flag of each, counts, and does nothing else.
 *
 *	floor [--latency FILE] [--rcvbuf BYTES]
 *
 * Prints {"ready":true} once it listens. At SIGTERM or SIGINT it drains once more and prints
 * {"messages":M,"exits":E,"lost":D,"cpu_us":C,"wakes":W}: M task records, E of them the end of a
 * process (AGROUP, kernels of taskstats version 12 and later), D from SO_MEMINFO, C its own CPU
 * since it was ready, W returns of poll.
 * --latency FILE: 16 bytes a message, host byte order: u32 pid of the task, u32 1 if the end of a
 * process, i64 CLOCK_REALTIME in ns when its batch was read.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/sock_diag.h>
#include <linux/taskstats.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>

#include "base/util.h"

#define MAX_SOCKETS 256
#define BATCH 64
#define MESSAGE 2048
#define FLAG_AGROUP 0x20
/*
 * nlmsghdr 16, genlmsghdr 4, attribute 4, pid attribute 8, attribute 4; ac_flag is at 8 in the
 * struct
 */
#define PID_AT 28
#define STATS_AT 36
#define BATCH_SLEEP_NS (5 * NS_PER_MSEC)

struct entry {
	uint32_t pid, group_end;
	int64_t real_ns;
};

static struct {
	struct nl_sock *sock[MAX_SOCKETS];
	struct pollfd poll[MAX_SOCKETS];
	unsigned int n;
	int family;
	uint64_t messages, exits, wakes;
	FILE *log;
} f;

static char buffers[BATCH][MESSAGE];
static struct iovec iov[BATCH];
static struct mmsghdr batch[BATCH];
static volatile sig_atomic_t stop;

static void on_stop(int sig)
{
	(void)sig;
	stop = 1;
}

static int64_t now_ns(int clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NS_PER_SEC + ts.tv_nsec;
}

static int64_t cpu_us(void)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	return (int64_t)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000000 + ru.ru_utime.tv_usec +
	       ru.ru_stime.tv_usec;
}

/*
 * One socket for one CPU: registered, acknowledged, with a receive buffer that holds 25,000 exits.
 */
static int open_socket(unsigned int cpu, int rcvbuf)
{
	struct nl_sock *sk = nl_socket_alloc();
	struct nl_msg *msg = nlmsg_alloc();
	int one = 1, fd, r;
	char mask[16];

	snprintf(mask, sizeof(mask), "%u", cpu);
	r = sk && msg ? genl_connect(sk) : -NLE_NOMEM;
	if (r < 0)
		return r;
	fd = nl_socket_get_fd(sk);
	setsockopt(fd, SOL_NETLINK, NETLINK_NO_ENOBUFS, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &rcvbuf, sizeof(rcvbuf));
	f.family = genl_ctrl_resolve(sk, TASKSTATS_GENL_NAME);
	if (f.family < 0)
		return f.family;
	genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, f.family, 0, 0, TASKSTATS_CMD_GET,
		    TASKSTATS_GENL_VERSION);
	nla_put_string(msg, TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, mask);
	r = nl_send_auto(sk, msg);
	nlmsg_free(msg);
	/*
	 * an exit may come before the acknowledgement: the library skips what is no ACK here, so it
	 * is not counted
	 */
	nl_socket_disable_seq_check(sk);
	if (r >= 0)
		r = nl_wait_for_ack(sk);
	if (r < 0)
		return r;
	f.sock[f.n] = sk;
	f.poll[f.n++] = (struct pollfd){ .fd = fd, .events = POLLIN };
	return 0;
}

static void count(const char *msg, unsigned int len, int64_t now)
{
	bool end;

	if (len < STATS_AT + 9 || load_u16(msg + 4) != f.family)
		return;
	end = msg[STATS_AT + 8] & FLAG_AGROUP;
	f.messages++;
	f.exits += end;
	if (f.log) {
		struct entry e = { load_u32(msg + PID_AT), end, now };

		fwrite(&e, sizeof(e), 1, f.log);
	}
}

/* Empties one socket; returns how many messages that were. */
static unsigned int drain_socket(int fd)
{
	unsigned int total = 0;
	int64_t now = 0;
	int i, n;

	do {
		n = recvmmsg(fd, batch, BATCH, MSG_DONTWAIT, NULL);
		if (n > 0 && f.log)
			now = now_ns(CLOCK_REALTIME);
		for (i = 0; i < n; i++)
			count(buffers[i], batch[i].msg_len, now);
		total += n > 0 ? (unsigned int)n : 0;
	} while (n == BATCH);
	return total;
}

static unsigned int drain(bool only_ready)
{
	unsigned int i, total = 0;

	for (i = 0; i < f.n; i++)
		if (!only_ready || f.poll[i].revents)
			total += drain_socket(f.poll[i].fd);
	return total;
}

/* Few exits: woken for each. Returns when four wakes fell within 5 ms, or at the end. */
static void woken_each_time(const sigset_t *mask)
{
	int64_t wake[4] = { 0 }, now;
	unsigned int at;

	for (at = 0; !stop; at = (at + 1) % 4) {
		if (ppoll(f.poll, f.n, NULL, mask) <= 0)
			continue;
		f.wakes++;
		drain(true);
		now = now_ns(CLOCK_MONOTONIC);
		if (now - wake[at] < BATCH_SLEEP_NS)
			return;
		wake[(at + 3) % 4] = now;
	}
}

/*
 * Many exits: sleeps and drains for as long as that brings four or more. The signals come in the
 * sleep.
 */
static void asleep(const sigset_t *mask)
{
	const struct timespec nap = { .tv_nsec = BATCH_SLEEP_NS };

	do {
		ppoll(NULL, 0, &nap, mask);
		f.wakes++;
	} while (!stop && drain(false) >= 4);
}

static uint64_t drops(void)
{
	uint32_t info[SK_MEMINFO_VARS];
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < f.n; i++) {
		socklen_t len = sizeof(info);

		if (!getsockopt(f.poll[i].fd, SOL_SOCKET, SO_MEMINFO, info, &len) &&
		    len > SK_MEMINFO_DROPS * sizeof(info[0]))
			sum += info[SK_MEMINFO_DROPS];
	}
	return sum;
}

static int open_all(int rcvbuf)
{
	long i, cpus = sysconf(_SC_NPROCESSORS_CONF);
	int r = 0;

	for (i = 0; i < cpus && i < MAX_SOCKETS && !r; i++)
		r = open_socket((unsigned int)i, rcvbuf);
	return r;
}

static void prepare(sigset_t *old)
{
	struct sigaction sa = { .sa_handler = on_stop };
	sigset_t block;
	unsigned int i;

	for (i = 0; i < BATCH; i++) {
		iov[i] = (struct iovec){ buffers[i], MESSAGE };
		batch[i].msg_hdr.msg_iov = &iov[i];
		batch[i].msg_hdr.msg_iovlen = 1;
	}
	/*
	 * delivered only while we sleep, so that none is missed between a look at `stop` and the
	 * sleep
	 */
	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigaddset(&block, SIGTERM);
	sigprocmask(SIG_BLOCK, &block, old);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "latency", required_argument, NULL, 'l' },
						 { "rcvbuf", required_argument, NULL, 'r' },
						 { NULL } };
	int c, r, rcvbuf = 32 << 20;
	sigset_t mask;
	int64_t cpu;

	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (c == 'r')
			rcvbuf = atoi(optarg);
		else if (c != 'l' || !(f.log = fopen(optarg, "we")))
			return 2;
	}
	prepare(&mask);
	r = open_all(rcvbuf);
	if (r < 0) {
		fprintf(stderr, "floor: %s\n", nl_geterror(r));
		return 1;
	}
	puts("{\"ready\":true}");
	fflush(stdout);
	cpu = cpu_us();
	while (!stop) {
		woken_each_time(&mask);
		if (!stop)
			asleep(&mask);
	}
	drain(false);
	cpu = cpu_us() - cpu;
	printf("{\"messages\":%" PRIu64 ",\"exits\":%" PRIu64 ",\"lost\":%" PRIu64
	       ",\"cpu_us\":%" PRId64 ",\"wakes\":%" PRIu64 "}\n",
	       f.messages, f.exits, drops(), cpu, f.wakes);
	return f.log && fclose(f.log) ? 1 : 0;
}
