/* SPDX-License-Identifier: MIT */
/*
 * mkexit: dies in a named way and prints what wait4(2) told. The truth of the live tests.
 *
 *	mkexit CASE... [options]	one JSON object per ended process on stdout
 *	mkexit all			every case of --list
 *	mkexit random --count 3000 --seed 7 --max-threads 8 --parallel 4
 *
 * Exit status: 0 done, 1 a case could not be set up or had to be killed, 2 usage.
 */
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "helpers/mkexit.h"

enum {
	OPT_LIST = 256,
	OPT_COUNT,
	OPT_SEED,
	OPT_THREADS,
	OPT_MAX_THREADS,
	OPT_PARALLEL,
	OPT_TIMEOUT,
	OPT_CPU,
	OPT_CPU_MS,
	OPT_READ,
	OPT_WRITE,
	OPT_FAULTS,
	OPT_SLEEPS,
	OPT_YIELDS
};

static const struct option long_options[] = {
	{ "list", no_argument, NULL, OPT_LIST },
	{ "count", required_argument, NULL, OPT_COUNT },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "threads", required_argument, NULL, OPT_THREADS },
	{ "max-threads", required_argument, NULL, OPT_MAX_THREADS },
	{ "parallel", required_argument, NULL, OPT_PARALLEL },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "cpu", required_argument, NULL, OPT_CPU },
	{ "cpu-ms", required_argument, NULL, OPT_CPU_MS },
	{ "read-kib", required_argument, NULL, OPT_READ },
	{ "write-kib", required_argument, NULL, OPT_WRITE },
	{ "fault-pages", required_argument, NULL, OPT_FAULTS },
	{ "sleeps", required_argument, NULL, OPT_SLEEPS },
	{ "yields", required_argument, NULL, OPT_YIELDS },
	{ NULL },
};

static void usage(void)
{
	fputs("usage: mkexit CASE... [--count N] [--seed S] [--threads T] [--max-threads T]\n"
	      "              [--parallel P] [--timeout S] [--cpu C] [--cpu-ms N] [--read-kib N]\n"
	      "              [--write-kib N] [--fault-pages N] [--sleeps N] [--yields N]\n"
	      "       mkexit --list\n"
	      "Cases: those of --list, exit-0 to exit-255, signal-1 to signal-64, all.\n",
	      stderr);
}

static unsigned int to_number(const char *text, unsigned int min, unsigned int max)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);

	if (!*text || *end || n < min || n > max) {
		fprintf(stderr, "mkexit: %s: not a number from %u to %u\n", text, min, max);
		exit(2);
	}
	return (unsigned int)n;
}

static int set_option(struct mk_options *o, int option, const char *arg)
{
	switch (option) {
	case OPT_LIST:
		case_list();
		exit(0);
	case OPT_COUNT:
		o->count = to_number(arg, 1, 100000000);
		return 0;
	case OPT_SEED:
		o->seed = to_number(arg, 0, UINT32_MAX);
		return 0;
	case OPT_THREADS:
		o->threads = to_number(arg, 2, MK_MAX_THREADS);
		return 0;
	case OPT_MAX_THREADS:
		o->max_threads = to_number(arg, 2, MK_MAX_THREADS);
		return 0;
	case OPT_PARALLEL:
		o->parallel = to_number(arg, 1, MK_MAX_PARALLEL);
		return 0;
	case OPT_TIMEOUT:
		o->timeout_s = to_number(arg, 1, 3600);
		return 0;
	case OPT_CPU:
		o->cpu = (int)to_number(arg, 0, CPU_SETSIZE - 1);
		return 0;
	case OPT_CPU_MS:
		o->cpu_ms = to_number(arg, 0, 60000);
		return 0;
	case OPT_READ:
		o->read_kib = to_number(arg, 0, 1 << 30);
		return 0;
	case OPT_WRITE:
		o->write_kib = to_number(arg, 0, 1 << 30);
		return 0;
	case OPT_FAULTS:
		o->fault_pages = to_number(arg, 0, 1 << 30);
		return 0;
	case OPT_SLEEPS:
		o->sleeps = to_number(arg, 0, 1 << 30);
		return 0;
	case OPT_YIELDS:
		o->yields = to_number(arg, 0, 1 << 30);
		return 0;
	default:
		return -EINVAL;
	}
}

static int run_name(const struct mk_options *o, const char *name)
{
	/* Kept for the whole run: children of several cases may be alive at once. */
	struct mk_case *c = malloc(sizeof(*c));
	int r;

	r = c ? case_find(name, c) : -ENOMEM;
	if (!r)
		r = run_case(o, c, name);
	if (r < 0)
		fprintf(stderr, "mkexit: %s: %s\n", name,
			r == -ENOENT ? "no such case, see --list" : strerror(-r));
	return r;
}

static int run_all(const struct mk_options *o)
{
	size_t i;
	int r = 0;

	for (i = 0; i < mk_n_cases && !r; i++)
		if (!(mk_cases[i].flags & CASE_HIDDEN))
			r = run_case(o, &mk_cases[i], mk_cases[i].name);
	return r;
}

int main(int argc, char **argv)
{
	struct mk_options o = {
		.count = 1,
		.seed = 1,
		.threads = 4,
		.max_threads = 8,
		.parallel = 1,
		.timeout_s = 10,
		.cpu = -1,
		.cpu_ms = 200,
		.read_kib = 4096,
		.write_kib = 1024,
		.fault_pages = 2000,
		.sleeps = 200,
		.yields = 200,
	};
	int opt, r = 0;

	if (argc == 5 && !strcmp(argv[1], "--end"))
		mk_end_after_exec(argv[2], argv[3], argv[4]);
	while ((opt = getopt_long(argc, argv, "", long_options, NULL)) >= 0) {
		if (set_option(&o, opt, optarg) < 0) {
			usage();
			return 2;
		}
	}
	if (optind == argc) {
		usage();
		return 2;
	}
	r = run_init(&o);
	if (r < 0) {
		fprintf(stderr, "mkexit: %s\n", strerror(-r));
		return 1;
	}
	for (; optind < argc && !r; optind++)
		r = strcmp(argv[optind], "all") ? run_name(&o, argv[optind]) : run_all(&o);
	return run_finish(&o) || r ? 1 : 0;
}
