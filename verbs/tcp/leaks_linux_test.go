package tcp

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/verbena-mpi/verbena/internal/secret"
)

// After all tests no goroutine and no descriptor of a device may be left.
func TestMain(m *testing.M) {
	c, err := newContacts(Config{Secret: secret.New()}, accepts, func(link) {})
	if err != nil {
		panic(err)
	}
	c.close() // the runtime's poller has its descriptors from now on
	before := len(descriptors())
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if after := descriptors(); code == 0 && len(after) != before {
			fmt.Fprintf(os.Stderr, "%d descriptors are left, there were %d:\n%s\n", len(after), before, strings.Join(after, "\n"))
			code = 1
		}
		os.Exit(code)
	}))
}

// descriptors are those of kinds that devices open.
func descriptors() (list []string) {
	const dir = "/proc/self/fd/"
	names, err := os.ReadDir(dir)
	if err != nil {
		panic(err)
	}
	for _, e := range names {
		to, err := os.Readlink(dir + e.Name())
		if err != nil {
			continue // the directory's own
		}
		for _, kind := range []string{"socket:", "anon_inode:[event"} {
			if strings.HasPrefix(to, kind) {
				list = append(list, e.Name()+" "+to)
			}
		}
	}
	return list
}
