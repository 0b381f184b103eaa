// Package commtest runs programs for package comm in a go test: n ranks as
// goroutines of the test (Run), as n processes (Processes), or both, over each
// device in turn (Everywhere). A rank is a function with the shape that comm.Main
// takes, so a program is tested as it is:
//
//	func TestRing(t *testing.T) {
//		commtest.Run(t, 4, run) // main is: comm.Main(run)
//	}
//
// # How ranks end
//
// A rank may call the test's methods. If it returns an error, panics, or calls
// t.FailNow (t.Fatal does), runtime.Goexit or World.Abort, it dies: the calls of the
// other ranks that wait for it fail with a *comm.PeerError, a little later their
// context ends, and the test fails. The rank that died first is named first, with
// its error or its stack; those that failed for its sake get a line each. A panic in
// another goroutine than the rank's own ends the test binary, as ever in Go.
//
// A test doesn't hang. It has a limit of a minute (see Limit), and ends in time
// before the one of go test. When it is over, who waits for whom is printed, with
// the source lines, and the ranks' contexts end.
//
// t.Skip in a rank ends the test as skipped.
//
// # Goroutines
//
// Ranks that are goroutines share the process: its environment, its working
// directory, its global variables. A program that keeps something in a global
// variable needs Processes. The race detector sees what ranks share.
//
// Run works inside testing/synctest: in a bubble the ranks talk over a device that
// waits on channels, time stands still while any of them can run, and a deadlock is
// found at once, since then only the limit is left to wait for:
//
//	func TestPatience(t *testing.T) {
//		synctest.Test(t, func(t *testing.T) {
//			commtest.Run(t, 2, func(ctx context.Context, c *comm.Comm) error {
//				if c.Rank() == 1 {
//					time.Sleep(time.Minute) // takes no time
//					return comm.SendOne(ctx, c, 1, 0, 0)
//				}
//				_, _, err := comm.RecvOne[int](ctx, c, 1, 0)
//				return err
//			})
//		})
//	}
//
// # Processes
//
// Processes executes the test binary again, once per rank, for the very test that
// calls it. In such a process the test function runs from its beginning to that call
// of Processes; other calls of this package return at once and do nothing. Then the
// process is a rank, and after it the test ends there. So what a test does before
// the call is done n+1 times, and variables that a rank sets are its own.
//
// # Checks
//
// Besides what a program's own settings say, everything that comm can check is
// checked: a receive of another element type than its message's fails
// (Config.CheckTypes). Messages are 64 bytes longer for it.
package commtest
