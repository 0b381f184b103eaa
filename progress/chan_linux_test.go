package progress

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/verbena-mpi/verbena/verbs"
)

// An engine that sleeps on channels keeps the promises of one that sleeps on
// descriptors.
func TestOnChannels(t *testing.T) {
	onChannels = true
	defer func() { onChannels = false }()
	for _, c := range []struct {
		name string
		test func(*testing.T)
	}{
		{"SleepWakes", TestSleepWakes},
		{"Kicks", TestKicks},
		{"SleepArmsSends", TestSleepArmsSends},
		{"SleepsWhileFull", TestSleepsWhileFull},
		{"ArmAgain", TestArmAgain},
		{"Context", TestContext},
		{"ContextEndedButDone", TestContextEndedButDone},
		{"HandOver", TestHandOver},
		{"HandOverToDone", TestHandOverToDone},
		{"HandOverToCancelled", TestHandOverToCancelled},
		{"HandOverOrder", TestHandOverOrder},
		{"DriverServesOthers", TestDriverServesOthers},
		{"WaitForMany", TestWaitForMany},
		{"Background", TestBackground},
		{"BackgroundGivesWay", TestBackgroundGivesWay},
		{"BackgroundKicked", TestBackgroundKicked},
		{"BackgroundClose", TestBackgroundClose},
		{"Close", TestClose},
		{"CloseBesideWaits", TestCloseBesideWaits},
		{"Quiet", TestQuiet},
	} {
		t.Run(c.name, c.test)
	}
}

// Where time stands still until everybody sleeps, the driver sleeps: it doesn't
// spin until a moment that never comes.
func TestChannelsInBubble(t *testing.T) {
	onChannels = true
	defer func() { onChannels = false }()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Config{Background: true})
		for range 3 {
			g := b.wait(context.Background(), 1, 1)
			synctest.Wait()
			if g.returned() || !b.asleep {
				t.Fatalf("returned: %v, asleep: %v", g.returned(), b.asleep)
			}
			time.Sleep(time.Hour)
			b.cq.push(completion(1))
			synctest.Wait()
			if !g.returned() || g.err != nil {
				t.Fatalf("returned: %v, %v", g.returned(), g.err)
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		start := time.Now()
		if g := b.wait(ctx, 2, 1); true {
			<-g.done
			if !errors.Is(g.err, context.DeadlineExceeded) || time.Since(start) != time.Minute {
				t.Errorf("%v after %v", g.err, time.Since(start))
			}
		}
		if b.count.Sleeps > 20 {
			t.Errorf("%d sleeps", b.count.Sleeps)
		}
		b.Close()
	})
}

// An event that the background goroutine takes from the channel when it has lost
// its arming, and the driver sleeps, reaches the driver.
func TestChannelsStolenWake(t *testing.T) {
	onChannels = true
	defer func() { onChannels = false }()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Config{Background: true})
		time.Sleep(time.Second) // until it sleeps
		b.Lock()
		if !b.backgroundArmed() {
			t.Fatal("the background is not armed")
		}
		b.back.armed = false // as disarmBackground, of which it hears after the event
		b.armAll(verbs.None)
		b.Unlock()
		g := b.wait(context.Background(), 1, 1)
		synctest.Wait()
		if !b.asleep {
			t.Fatal("the driver doesn't sleep")
		}
		b.cq.push(completion(1)) // for the background, which has waited for longer
		synctest.Wait()
		if !g.returned() {
			t.Error("the driver sleeps on")
			b.Lock()
			b.kick()
			b.Unlock()
		}
		<-g.done
		b.Close()
	})
}

// Such an engine takes one device, which has a channel.
func TestChannelsDevice(t *testing.T) {
	e, err := New(Config{Channels: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := e.AddDevice(struct{ verbs.Device }{}); err == nil {
		t.Error("a device without a channel was taken")
	}
	d := &fakeDevice{wake: make(chan struct{}, 1)}
	if err := e.AddDevice(d); err != nil {
		t.Error(err)
	}
	if err := e.AddDevice(d); err == nil {
		t.Error("a second device was taken")
	}
}

// A device that comes when the background goroutine sleeps already wakes it from now
// on, like one that was there before.
func TestDeviceComesLater(t *testing.T) {
	onChannels = true
	defer func() { onChannels = false }()
	synctest.Test(t, func(t *testing.T) {
		e, err := New(Config{Background: true, Channels: true})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		time.Sleep(2 * backgroundTick)
		synctest.Wait()
		e.Lock()
		armed := e.back.armed
		e.Unlock()
		if !armed {
			t.Fatal("the background goroutine doesn't sleep")
		}
		dev := newFakeDevice(t)
		cq := dev.newCQ()
		got := 0
		e.Lock()
		e.AddRecv(cq, false, func(*verbs.Completion) { got++ })
		e.Unlock()
		if err := e.AddDevice(dev); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		cq.push(verbs.Completion{Op: verbs.OpRecv, Flags: verbs.FlagSolicited})
		synctest.Wait()
		e.Lock()
		defer e.Unlock()
		if got != 1 {
			t.Errorf("%d completions were taken, want 1", got)
		}
	})
}
