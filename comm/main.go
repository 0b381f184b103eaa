package comm

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// RunFunc is a program: what each rank does. Its context is that of Run.
type RunFunc = func(context.Context, *Comm) error

// Main runs a program as the main function of a process: it finds out which rank
// this is, connects the ranks, calls run, and closes the world. It touches no
// flags. If run returns an error it is printed, the job ends, and the process
// exits with 1 or with what the error's ExitCode method says; an error with an
// empty text is not printed.
func Main(run RunFunc) {
	ctx := context.Background()
	w, err := Init(ctx, Config{})
	if err == nil {
		err = w.run(ctx, run)
	}
	if err == nil {
		return
	}
	// The text first: the launcher ends this process too when it is told.
	if text := err.Error(); text != "" {
		fmt.Fprintln(os.Stderr, text)
	}
	// The world is left as it is. Other goroutines may be in its calls and use
	// its memory, and to its peers this is no good end.
	if w != nil {
		w.profile.stop()
	}
	if w != nil && w.size > 1 {
		w.endJob(err)
	}
	os.Exit(exitCode(err))
}

// Run is Main for programs with a main function of their own: it returns. If run
// returns an error, the job's other ranks are ended through the launcher.
func Run(ctx context.Context, c Config, run RunFunc) error {
	w, err := Init(ctx, c)
	if err != nil {
		return err
	}
	if err := w.run(ctx, run); err != nil {
		w.endJob(err)
		w.abandon()
		return err
	}
	return nil
}

// run runs a program in its world, and closes that unless the program fails.
func (w *World) run(ctx context.Context, run RunFunc) error {
	if err := run(ctx, w.Comm()); err != nil {
		return err
	}
	together, alone := w.close(ctx)
	if ended(together) {
		together = nil
	}
	if err := errors.Join(together, alone); err != nil && !errors.Is(err, ErrClosed) {
		return err
	}
	return nil
}

// endJob has the launcher end the job.
func (w *World) endJob(err error) {
	if ended(err) {
		w.job.Follow(exitCode(err), oneLine(err))
		return
	}
	w.job.Abort(exitCode(err), oneLine(err))
}

// ended says whether an error only says that a rank has ended, which a refused
// connection says too, if the launcher's word comes later. A program that has
// done its work can close its world without that rank; whether its end was a
// failure is the launcher's to say.
func ended(err error) bool {
	var p *PeerError
	return errors.As(err, &p) && (errors.Is(p.Cause, ErrDied) || errors.Is(p.Cause, ErrFinished) ||
		errors.Is(p.Cause, ErrUnreachable) || errors.Is(p.Cause, ErrSilent))
}

// oneLine is the first line of an error's text.
func oneLine(err error) string {
	text := err.Error()
	for i, r := range text {
		if r == '\n' {
			return text[:i]
		}
	}
	return text
}
