package testbed

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"sync"
	"time"
)

// shell is a process in namespaces of its own, which runs what it is told. In a
// host it is the first process: it adopts and reaps what others leave behind, and
// when it ends everything there does.
type shell struct {
	name string
	cmd  *exec.Cmd

	mu   sync.Mutex
	in   io.WriteCloser
	out  *bufio.Reader
	dead bool
}

// loop reads scripts that end with a zero byte, and answers with what they print
// and their status between zero bytes.
const loop = `while IFS= read -r -d '' script; do eval "$script" </dev/null 2>&1; printf '\0%d\0' $?; done`

// newShell starts a shell in a net namespace of its own; as a host it has
// uts, ipc, pid and mount namespaces, too.
func newShell(name string, host bool) (*shell, error) {
	s := &shell{name: name, cmd: exec.Command("bash", "-c", loop, "testbed-"+name)}
	s.cmd.SysProcAttr = isolated(host)
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewReader(out)
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("namespaces for %s: %w", name, err)
	}
	return s, nil
}

// run runs a script and returns what it printed. A script that takes too long is
// the end of the shell.
func (s *shell) run(ctx context.Context, script string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead {
		return "", fmt.Errorf("%s is dead", s.name)
	}
	stop := context.AfterFunc(ctx, func() { _ = s.cmd.Process.Kill() })
	defer stop()
	text, status, err := s.exchange(script)
	switch {
	case ctx.Err() != nil:
		s.dead = true
		return "", fmt.Errorf("%s: %w: no end of\n%s", s.name, context.Cause(ctx), script)
	case err != nil:
		s.dead = true
		return "", fmt.Errorf("%s has ended (%w) before the end of\n%s", s.name, err, script)
	case status != 0:
		return "", fmt.Errorf("%s: status %d: %s\nof\n%s", s.name, status, text, script)
	}
	return string(text), nil
}

func (s *shell) exchange(script string) (text []byte, status int, err error) {
	if _, err := io.WriteString(s.in, script+"\x00"); err != nil {
		return nil, 0, err
	}
	if text, err = s.out.ReadBytes(0); err != nil {
		return nil, 0, err
	}
	digits, err := s.out.ReadBytes(0)
	if err != nil {
		return nil, 0, err
	}
	status, err = strconv.Atoi(string(bytes.TrimRight(digits, "\x00")))
	return bytes.TrimRight(text, "\x00"), status, err
}

// kill kills the shell and all that runs in its pid namespace, and returns when
// they are dead. Its number stays its own until end.
func (s *shell) kill() {
	_ = s.cmd.Process.Kill()
	died(s.cmd.Process.Pid)
}

// end ends the shell, with all that runs in its pid namespace, and waits for it:
// the kernel reaps the first process of a namespace last.
func (s *shell) end() {
	_ = s.in.Close()
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// start starts a shell and has it run its first script.
func (b *Bed) start(name string, host bool, script string) *shell {
	b.t.Helper()
	s, err := newShell(name, host)
	if err != nil {
		b.t.Fatalf("testbed: %v", err)
	}
	ctx, cancel := within(limit)
	defer cancel()
	if _, err := s.run(ctx, script); err != nil {
		s.end()
		b.t.Fatalf("testbed: %v", err)
	}
	return s
}

// do runs a script, which must succeed.
func (b *Bed) do(s *shell, script string) string {
	b.t.Helper()
	ctx, cancel := within(limit)
	defer cancel()
	text, err := s.run(ctx, script)
	if err != nil {
		b.t.Fatalf("testbed: %v", err)
	}
	return text
}

func within(d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(context.Background(), d, fmt.Errorf("not done after %v", d))
}
