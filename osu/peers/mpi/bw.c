/* Bandwidth: rank 0 starts a window of sends, waits for all of them and for a
 * one-byte answer, which rank 1 gives when the whole window has arrived. The
 * sends use one buffer, and so do the receives. Printed in 10^6 bytes per
 * second. */
#include "peer.h"

enum { TAG_DATA = 100, TAG_ANSWER = 101 };

static void window(char *buf, int n, int count, MPI_Request *reqs)
{
	char answer = 0;
	int i;

	if (rank == 0) {
		for (i = 0; i < count; i++)
			MPI_Isend(buf, n, MPI_CHAR, 1, TAG_DATA, MPI_COMM_WORLD, &reqs[i]);
		MPI_Waitall(count, reqs, MPI_STATUSES_IGNORE);
		MPI_Recv(&answer, 1, MPI_CHAR, 1, TAG_ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else {
		for (i = 0; i < count; i++)
			MPI_Irecv(buf, n, MPI_CHAR, 0, TAG_DATA, MPI_COMM_WORLD, &reqs[i]);
		MPI_Waitall(count, reqs, MPI_STATUSES_IGNORE);
		MPI_Send(&answer, 1, MPI_CHAR, 0, TAG_ANSWER, MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	struct options o = {
		.min = 1, .max = 4 << 20,
		.iters = 100, .iters_big = 20,
		.warmup = 10, .warmup_big = 2,
		.window = 64, .decimals = 2,
	};
	MPI_Request *reqs;
	char *buf;
	long size;

	start(&o, &argc, &argv);
	buf = buffer(o.max, rank == 0 ? 'a' : 'b');
	reqs = malloc((size_t)o.window * sizeof *reqs);
	if (!reqs)
		die("Out of memory", "requests");
	header("MPI bandwidth", "Bandwidth (MB/s)");

	for (size = o.min; size <= o.max; size *= 2) {
		long iters = size > LARGE ? o.iters_big : o.iters;
		long warmup = size > LARGE ? o.warmup_big : o.warmup;
		double began;
		long i;

		MPI_Barrier(MPI_COMM_WORLD);
		for (i = 0; i < warmup; i++)
			window(buf, (int)size, (int)o.window, reqs);
		began = MPI_Wtime();
		for (i = 0; i < iters; i++)
			window(buf, (int)size, (int)o.window, reqs);
		row(&o, size, (double)size / 1e6 * (double)iters * (double)o.window / (MPI_Wtime() - began));
	}

	free(reqs);
	free(buf);
	MPI_Finalize();
	return 0;
}
