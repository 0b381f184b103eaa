/* What the two MPI programs of this folder share: options, buffers, sizes and
 * output. They do what osu/latency and osu/bw do, with the same defaults, so
 * that an MPI implementation can be measured beside this library. */
#ifndef PEER_H
#define PEER_H

#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGE = 8192 }; /* above this many bytes fewer iterations are enough */

struct options {
	long min, max;          /* message sizes, in bytes */
	long iters, iters_big;  /* timed iterations up to LARGE, and above */
	long warmup, warmup_big;
	long window;
	long limit;             /* seconds after which the program ends itself; 0: never */
	long decimals;          /* of the table's figures */
};

static int rank;

static void die(const char *what, const char *value)
{
	if (rank == 0)
		fprintf(stderr, "%s [%s]\n", what, value);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static long number(const char *s, char **end, long least)
{
	long n;

	errno = 0;
	n = strtol(s, end, 10);
	if (errno || *end == s || n < least)
		die("Invalid number", s);
	return n;
}

static long whole(const char *s, long least)
{
	char *end;
	long n = number(s, &end, least);

	if (*end)
		die("Invalid number", s);
	return n;
}

/* sizes reads [MIN:]MAX, where MAX may be left out after the colon. */
static void sizes(struct options *o, const char *s)
{
	char *end;
	long n = number(s, &end, 1);

	if (*end == ':') {
		o->min = n;
		if (end[1])
			o->max = whole(end + 1, n);
	} else if (*end == '\0') {
		o->max = n;
	} else {
		die("Invalid message sizes", s);
	}
}

static void parse(struct options *o, int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "m:i:x:W:T:d:")) != -1) {
		switch (c) {
		case 'm': sizes(o, optarg); break;
		case 'i': o->iters = o->iters_big = whole(optarg, 1); break;
		case 'x': o->warmup = o->warmup_big = whole(optarg, 0); break;
		case 'W': o->window = whole(optarg, 1); break;
		case 'T': o->limit = whole(optarg, 0); break;
		case 'd': o->decimals = whole(optarg, 0); break;
		default: die("Usage", "-m [MIN:]MAX -i N -x N -W N -T SECONDS -d DECIMALS");
		}
	}
	if (o->min > o->max)
		die("Invalid message sizes", "the minimum is above the maximum");
}

/* start sets MPI up, reads the options and checks that there are two ranks. */
static void start(struct options *o, int *argc, char ***argv)
{
	int size;

	MPI_Init(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	parse(o, *argc, *argv);
	if (o->limit)
		alarm((unsigned)o->limit); /* no orphan outlives its launcher for long */
	if (size != 2) {
		if (rank == 0)
			fprintf(stderr, "This test requires exactly two processes\n");
		MPI_Finalize();
		exit(1);
	}
}

/* own_cpu is the CPU that this rank is pinned to, or -1. */
static int own_cpu(void)
{
	cpu_set_t set;
	int cpu;

	if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) != 1)
		return -1;
	for (cpu = 0; !CPU_ISSET(cpu, &set); cpu++)
		;
	return cpu;
}

/* header prints what precedes the table, with the pinning as a comment, so
 * that a comparison can check that both sides were pinned alike. */
static void header(const char *title, const char *column)
{
	int cpu = own_cpu(), cpus[2];

	MPI_Gather(&cpu, 1, MPI_INT, cpus, 1, MPI_INT, 0, MPI_COMM_WORLD);
	if (rank != 0)
		return;
	printf("\n# %s\n# CPUs: %d %d\n# Datatype: MPI_CHAR.\n", title, cpus[0], cpus[1]);
	printf("%-10s%18s\n", "# Size", column);
	fflush(stdout);
}

static void row(const struct options *o, long size, double value)
{
	if (rank != 0)
		return;
	printf("%-10ld%18.*f\n", size, (int)o->decimals, value);
	fflush(stdout);
}

/* buffer returns page-aligned memory of n bytes that has been touched. */
static char *buffer(long n, int fill)
{
	void *p = NULL;

	if (posix_memalign(&p, (size_t)sysconf(_SC_PAGESIZE), (size_t)n) != 0)
		die("Out of memory", "buffer");
	memset(p, fill, (size_t)n);
	return p;
}

#endif
