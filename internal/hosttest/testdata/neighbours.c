/* Each rank says on which host it is, and how many share it: for that MPICH has
 * only its launcher's word. Then all ranks add up their numbers, with a message
 * from each to each, within hosts and between them. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { length = 1 << 16 };

int main(int argc, char **argv)
{
	int rank, size, near, len, sum = 0;
	char name[MPI_MAX_PROCESSOR_NAME];
	MPI_Comm host;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
	MPI_Comm_size(host, &near);
	MPI_Get_processor_name(name, &len);
	int *out = calloc(length, sizeof *out), *in = calloc(length, sizeof *in);
	for (int step = 0; step < size; step++) {
		int to = (rank + step) % size, from = (rank + size - step) % size;
		out[0] = out[length - 1] = rank;
		MPI_Sendrecv(out, length, MPI_INT, to, 1, in, length, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (in[0] != from || in[length - 1] != from)
			MPI_Abort(MPI_COMM_WORLD, 5);
		sum += in[0];
	}
	MPI_Barrier(MPI_COMM_WORLD);
	printf("rank %d on %s with %d: %d\n", rank, name, near, sum);
	fflush(stdout);
	/* Whoever is still inside MPI when a peer goes says so on stdout, so rank 0 aborts
	 * when it is told that all have printed, and the others wait for their end. */
	while (rank != 0)
		pause();
	while (getchar() != EOF)
		;
	MPI_Abort(MPI_COMM_WORLD, 7);
}
