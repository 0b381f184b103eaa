//go:build linux && verbena_steps

// Victim is the peer that the tests of package shm kill: it sends, reads or is read
// from, until it kills or stops itself at a marked point of a send, or is killed.
//
//	victim send <address> <size> <step> <signal>
//	victim read <address> <way> <remote address> <key> <size>
//	victim serve <address> <size>
//
// It prints its own address, waits for a line, and prints a line for each message
// that it has sent, or read that has ended. A victim that serves sends the address
// and key of ordinary memory, and of memory that is read directly, in messages.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/verbena-mpi/verbena/verbs"
	"github.com/verbena-mpi/verbena/verbs/shm"
)

func main() {
	fmt.Fprintln(os.Stderr, "victim:", run(os.Args[1:])) // it is killed before it returns
	os.Exit(1)
}

// The labels of the connection, this side's first; and how many messages come
// before the one at which the victim stops.
const (
	label, peerLabel = 1, 2
	before           = 20
)

type victim struct {
	cq verbs.CQ
	qp verbs.QP
}

func run(args []string) error {
	address, err := hex.DecodeString(args[1])
	if err != nil {
		return err
	}
	c := shm.Config{MaxPeers: 4, Memory: 1 << 20, AllocMemory: 16 << 20}
	if args[0] == "read" {
		if c.Read, err = shm.ParseWay(args[2]); err != nil {
			return err
		}
	}
	d, err := shm.Open(c)
	if err != nil {
		return err
	}
	var v victim
	if v.cq, err = d.NewCQ(256); err != nil {
		return err
	}
	rq, err := d.NewRQ(verbs.RQConfig{Shared: true, Slots: 4, SlotSize: 256})
	if err != nil {
		return err
	}
	if v.qp, err = d.NewQP(verbs.QPConfig{SendCQ: v.cq, RecvCQ: v.cq, RQ: rq, Inline: 256}); err != nil {
		return err
	}
	if err := v.qp.Connect(address, label, peerLabel); err != nil {
		return err
	}
	fmt.Println(hex.EncodeToString(d.Addr()))
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	switch args[0] {
	case "read":
		return v.read(args[3:])
	case "serve":
		return v.serve(d, int(number(args[2])))
	}
	return v.send(args[2:])
}

func (v *victim) post(wr verbs.SendWR) error {
	for {
		n, err := v.qp.PostSend([]verbs.SendWR{wr})
		if n == 1 {
			return nil
		}
		if !errors.Is(err, verbs.ErrFull) {
			return err
		}
		v.poll()
		runtime.Gosched()
	}
}

func (v *victim) poll() (reads int) {
	var c [16]verbs.Completion
	for _, c := range c[:v.cq.Poll(c[:])] {
		if c.Op == verbs.OpRead {
			reads++
		}
	}
	return reads
}

func (v *victim) send(args []string) error {
	size, step, signal := number(args[0]), number(args[1]), syscall.Signal(number(args[2]))
	for i := range 10_000 {
		if i == before {
			shm.OnStep = func(s int) {
				if s == int(step) {
					// This very thread: it goes no step further.
					runtime.LockOSThread()
					_ = unix.Tgkill(os.Getpid(), unix.Gettid(), signal)
				}
			}
		}
		if i > before {
			time.Sleep(time.Millisecond) // the receiver may fall asleep: one step is at its bell
		}
		msg := make([]byte, size)
		for k := range msg {
			msg[k] = byte(i + k*3)
		}
		binary.LittleEndian.PutUint32(msg, uint32(i))
		if err := v.post(verbs.SendWR{Op: verbs.OpSend, Flags: verbs.Inline, Data: msg}); err != nil {
			return err
		}
		fmt.Println(i)
	}
	return fmt.Errorf("step %d never came", step)
}

func (v *victim) read(args []string) error {
	from := verbs.Remote{Addr: number(args[0]), Key: number(args[1])}
	dst := make([]byte, number(args[2]))
	for i := 0; ; i++ {
		if err := v.post(verbs.SendWR{Op: verbs.OpRead, Flags: verbs.Signaled, Data: dst, Remote: from}); err != nil {
			return err
		}
		for v.poll() == 0 {
			runtime.Gosched()
		}
		fmt.Println(i)
	}
}

func (v *victim) serve(d *shm.Device, size int) error {
	mapped, err := d.Alloc(size)
	if err != nil {
		return err
	}
	for _, mem := range [][]byte{make([]byte, size), mapped} {
		for i := range mem {
			mem[i] = byte(i * 7)
		}
		m, err := d.Register(mem, verbs.AccessRead)
		if err != nil {
			return err
		}
		msg := binary.LittleEndian.AppendUint64(nil, m.Addr())
		msg = binary.LittleEndian.AppendUint64(msg, m.Key())
		if err := v.post(verbs.SendWR{Op: verbs.OpSend, Flags: verbs.Inline, Data: msg}); err != nil {
			return err
		}
	}
	for {
		v.poll()
		runtime.Gosched()
	}
}

func number(s string) uint64 {
	n, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		panic(err)
	}
	return n
}
