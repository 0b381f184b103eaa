// Package comm is message passing between the ranks of a job, in the manner of
// MPI: the one package that a program imports.
//
// A program hands its work to [Main], and is started by verbrun:
//
//	func main() {
//		comm.Main(func(ctx context.Context, c *comm.Comm) error {
//			if c.Rank() == 0 {
//				return comm.Send(ctx, c, []float64{1, 2, 3}, 1, 7)
//			}
//			buf := make([]float64, 3)
//			_, err := comm.Recv(ctx, c, buf, 0, 7)
//			return err
//		})
//	}
//
//	$ verbrun -n 2 ./program
//
// # What is where
//
// Starting: [Main], [Run], [Init], [Config].
//
// Communicators: [Comm]; all of its ranks again [Comm.Dup], parts of them [Comm.Split],
// those of one host [Comm.SplitShared], those of a [Group] [Comm.Create]; [Comm.Compare];
// [Comm.Failed]; [Comm.Free]. On a grid: [Comm.Cart], [Cart] with Shift for neighbours,
// [DimsCreate].
//
// Blocking: [Send], [Recv]; of single values [SendOne], [RecvOne]; of any length
// [RecvAppend]; both ways at once [Sendrecv], [SendrecvReplace]; all together
// [Comm.Barrier], and the collectives in package comm/coll.
//
// Modes of a send, as an option of any of them: [Sync], which waits for the match,
// [Buffered], which waits for nothing ([World.Flush] does), and [ReadyMode]; see [Mode]
// for MPI's names.
//
// Layouts of a buffer, as an option of any call that has one: [Strided] for a column,
// [Subarray] for a part of an array, [Indexed], [IndexedBlocks]; see [Layout].
//
// Nonblocking: [Isend], [Irecv], and [Request] with Wait and Test. Several
// requests: [WaitAll], [WaitAllInto], [WaitAny], [WaitSome], [TestAll], [TestAny],
// [TestSome], and [Completed], which ranges over them as they complete.
//
// Again and again: [SendInit], [RecvInit], whose [Persistent] is started by Start, or
// several by [StartAll]. In parts, which goroutines make ready one by one: [PsendInit],
// [PrecvInit], and [Partitioned].
//
// Looking first: [Comm.Probe], [Comm.Iprobe]; [Comm.Mprobe] and [Comm.Improbe],
// whose [Message] is received by [RecvMessage].
//
// Memory: [Alloc], [Free]. What came: [Status], [Count]. What went wrong: [Error],
// [PeerError].
//
// # Messages
//
// A message is a slice of any type without pointers. A receive says how much it
// has room for; the message may be shorter. Messages of one rank that match the
// same receive arrive in the order in which they were sent. Receives are matched
// in the order in which they were posted.
//
// Whether the two sides mean the same element type is not looked at, unless
// [Config.CheckTypes] says so: then a receive of another type than the message's fails.
//
// Calls may be made from any number of goroutines. Blocking calls take a context;
// one that ends is looked at while waiting only.
//
// # When something goes wrong
//
// A call that only a rank that has ended could answer fails with a [PeerError],
// after all that the rank had sent: [ErrFinished] or [ErrDied]. A receive from any
// source fails once for each death, and can be called again.
//
// Under verbrun a rank that crashes ends the job, with one trace and a line that
// says where; ranks that are blocked can be asked where, and a deadlock is found.
// docs/DEBUGGING.md has all of it.
package comm
