/* One-way latency: two ranks pass a message to and fro; half of the mean time
 * of a round trip is printed, in microseconds. One pair of clock readings
 * stands around the whole timed loop. */
#include "peer.h"

enum { TAG = 1 };

static void round_trip(char *send, char *recv, int n)
{
	if (rank == 0) {
		MPI_Send(send, n, MPI_CHAR, 1, TAG, MPI_COMM_WORLD);
		MPI_Recv(recv, n, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else {
		MPI_Recv(recv, n, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(send, n, MPI_CHAR, 0, TAG, MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	struct options o = {
		.min = 1, .max = 4 << 20,
		.iters = 10000, .iters_big = 1000,
		.warmup = 100, .warmup_big = 10,
		.decimals = 2,
	};
	char *send, *recv;
	long size;

	start(&o, &argc, &argv);
	send = buffer(o.max, 'a');
	recv = buffer(o.max, 'b');
	header("MPI latency, one way", "Avg Latency(us)");

	for (size = o.min; size <= o.max; size *= 2) {
		long iters = size > LARGE ? o.iters_big : o.iters;
		long warmup = size > LARGE ? o.warmup_big : o.warmup;
		double began;
		long i;

		MPI_Barrier(MPI_COMM_WORLD);
		for (i = 0; i < warmup; i++)
			round_trip(send, recv, (int)size);
		began = MPI_Wtime();
		for (i = 0; i < iters; i++)
			round_trip(send, recv, (int)size);
		row(&o, size, (MPI_Wtime() - began) * 1e6 / (2.0 * (double)iters));
	}

	free(send);
	free(recv);
	MPI_Finalize();
	return 0;
}
