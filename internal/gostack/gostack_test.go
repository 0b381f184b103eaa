package gostack

import (
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const nilCrash = `panic: runtime error: invalid memory address or nil pointer dereference
[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x4a2b3c]

goroutine 1 [running]:
panic({0x4b2a60?, 0x55d3a0?})
	/usr/local/go/src/runtime/panic.go:787 +0x132 fp=0xc000 sp=0xc001 pc=0x43
main.(*table[...]).lookup(0x0, {0xc000012345, 0x2})
	/home/u/job/table.go:12 +0x1d
main.main()
	/home/u/job/main.go:33 +0x25

goroutine 9 [chan receive, 2 minutes]:
main.wait(...)
	/home/u/job/main.go:40
created by main.main in goroutine 1
	/home/u/job/main.go:30 +0x12
exit status 2
`

func TestParse(t *testing.T) {
	want := []Goroutine{
		{ID: 1, State: "running", Frames: []Frame{
			{"panic", "{0x4b2a60?, 0x55d3a0?}", "/usr/local/go/src/runtime/panic.go", 787},
			{"main.(*table[...]).lookup", "0x0, {0xc000012345, 0x2}", "/home/u/job/table.go", 12},
			{"main.main", "", "/home/u/job/main.go", 33},
		}},
		{ID: 9, State: "chan receive", Creator: "main.main", Frames: []Frame{
			{"main.wait", "...", "/home/u/job/main.go", 40},
		}},
	}
	if d := cmp.Diff(want, Parse(nilCrash)); d != "" {
		t.Error(d)
	}
}

func TestReadCrash(t *testing.T) {
	const tail = "\n\ngoroutine 7 [running]:\ninternal/runtime/maps.fatal(...)\n\t/go/src/x.go:3 +0x1\nmain.f()\n\t/j/a.go:9 +0x1\n"
	for _, c := range []struct {
		text string
		want Crash
		ok   bool
	}{
		{nilCrash, Crash{"panic: runtime error: invalid memory address or nil pointer dereference", "/home/u/job/table.go:12"}, true},
		{"fatal error: concurrent map writes" + tail, Crash{"fatal error: concurrent map writes", "/j/a.go:9"}, true},
		{"runtime: goroutine stack exceeds 1-byte limit\nfatal error: stack overflow" + tail, Crash{"fatal error: stack overflow", "/j/a.go:9"}, true},
		{"fatal error: no goroutines (main called runtime.Goexit) - deadlock!\n", Crash{"fatal error: no goroutines (main called runtime.Goexit) - deadlock!", ""}, true},
		{tail, Crash{"", "/j/a.go:9"}, true},
		{"SIGQUIT: quit\nPC=0x1" + tail, Crash{}, false},
		{"panic: just a word\n", Crash{Why: "panic: just a word"}, false},
		{"", Crash{}, false},
	} {
		got, ok := ReadCrash(c.text)
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%q: %+v, %v", c.text, got, ok)
		}
	}
}

// What this runtime really writes.
func TestOwnStacks(t *testing.T) {
	var mu sync.Mutex
	mu.Lock()
	started := make(chan bool)
	done := make(chan bool)
	go func() {
		close(started)
		mu.Lock() // waits
		close(done)
	}()
	<-started
	buf := make([]byte, 1<<20)
	end := time.Now().Add(10 * time.Second)
	for found := false; !found; {
		if time.Now().After(end) {
			t.Fatalf("the goroutine that waits isn't there:\n%s", buf[:runtime.Stack(buf, true)])
		}
		for _, g := range Parse(string(buf[:runtime.Stack(buf, true)])) {
			for _, f := range g.Frames {
				if f.InPackage("github.com/verbena-mpi/verbena/internal/gostack") && g.State == "sync.Mutex.Lock" {
					found = strings.HasSuffix(f.File, "gostack_test.go") && f.Line > 0 && g.Creator != ""
				}
			}
		}
		runtime.Gosched()
	}
	mu.Unlock()
	<-done
}

func FuzzParse(f *testing.F) {
	f.Add(nilCrash)
	f.Add("goroutine 1 [x]:\nf(\n\t:\n)(\n\ta:1")
	f.Fuzz(func(t *testing.T, text string) {
		for _, g := range Parse(text) {
			for _, fr := range g.Frames {
				if fr.Func == "" {
					t.Errorf("a frame without a function: %+v", fr)
				}
			}
		}
		_, _ = ReadCrash(text)
	})
}
