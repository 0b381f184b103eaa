// Package verbs is the device model: queue pairs, completion queues, receive
// queues and registered memory, with the vocabulary and the rules of
// InfiniBand verbs. The protocols above it (eager, rendezvous) are written
// against these interfaces alone; the devices below it (verbs/shm, verbs/sim,
// and others) implement them and pass one conformance suite, verbs/verbstest.
//
// # Who owns which memory
//
// Receive memory belongs to the device's receive queue. A receive completion
// lends a view of it: for a message that took a slot, until that slot is
// reposted; for one that arrived without a slot (Completion.Slot is NoSlot),
// until the next Poll of the completion queue that delivered it. The memory of
// a send is the caller's again when its completion was polled or, for an
// inline send, when PostSend returns. The memory of a read is the caller's
// again when its completion was polled, and not before.
//
// # Concurrency
//
// The calls on a device and on everything made from it are serialised by the
// caller (an engine holds one lock around them), with one exception: Pending
// may be called by the one goroutine that polls while others post. Devices may
// run goroutines of their own for connections; these never call out.
package verbs

// Device is one way to reach some peers.
type Device interface {
	// Attr says what the device can do. It doesn't change.
	Attr() Attr

	// Addr is what a peer needs in order to connect to this device: opaque,
	// at most 256 bytes, published by whoever starts the ranks.
	Addr() []byte

	// NewCQ makes a completion queue that holds depth send completions that
	// have not been polled. Receive completions are bounded by the receive
	// queues; a device whose queues hold both makes room in NewRQ and NewQP,
	// which may fail with ErrNoMemory.
	NewCQ(depth int) (CQ, error)

	// NewRQ makes a receive queue with its slots, all of them posted. It lives
	// as long as the device.
	NewRQ(RQConfig) (RQ, error)

	// NewQP makes a queue pair. It is of no use before Connect.
	NewQP(QPConfig) (QP, error)

	// Register makes mem readable by peers, or usable as the local side of a
	// read, until the MR is closed. mem must not lie on a stack. The device
	// does not keep it alive: its owner does, as long as a request or a peer uses it.
	Register(mem []byte, a Access) (MR, error)

	// WakeFDs are descriptors that become readable (level-triggered) when an
	// armed event has happened. They are the device's; callers only wait. They
	// are complete when all CQs have been made. One may be readable without
	// cause (an adapter can't take an arming back); Arm clears it.
	WakeFDs() []int

	// Close ends everything made from the device. Connected peers see an
	// orderly end (StatusPeerClosed), not a death. It may wait, for a second or so,
	// while a peer has no room for what was sent to it; one that takes nothing in
	// that time may see a death.
	Close() error
}

// Allocator is implemented by devices that have memory which peers read
// without help: the fastest source of a read.
type Allocator interface {
	// Alloc returns n zeroed bytes, 64-aligned. They live until Free or the
	// device's Close. Register accepts any part of them.
	Alloc(n int) ([]byte, error)
	// Free gives back what Alloc returned.
	Free(mem []byte) error
}

// Taker is implemented by queue pairs whose device lets the owner of registered
// memory take the right to read back without waiting: by Revoker, which loses
// against Take. Elsewhere the owner waits until the reader says that it is done.
type Taker interface {
	// Take says that what r names is going to be read. If it returns true,
	// Revoke fails from now on, until the registration is closed; if it returns
	// false, the registration has been revoked or closed, or never was.
	Take(r Remote) bool
}

// Revoker is implemented by registrations of such a device.
type Revoker interface {
	// Revoke is Close, unless a peer has taken what it names: then it returns
	// false, and nothing has changed.
	Revoke() bool
}

// Waker is implemented by devices that have no wake descriptors.
type Waker interface {
	// Wake is a channel with room for one, which has something when an armed
	// event has happened. Who receives it polls: it may come without cause.
	Wake() <-chan struct{}
}

// Mortal is implemented by devices that can end as the death of their process
// would, for ranks that fail and leave their process alive.
type Mortal interface {
	// Die breaks all connections: peers see StatusPeerDead. Only Close may
	// follow.
	Die()
}

// Attr are the limits of a device.
type Attr struct {
	Name       string // "shm", "sim", …
	MaxInline  int    // the largest inline size that a queue pair grants, bytes
	InlineRecv int    // messages up to this many bytes consume no slot
	MaxSend    int    // the largest message of an OpSend, bytes (a slot may be smaller)
	MaxRead    int64  // the largest single OpRead, bytes
	// Registration says that Register costs time, so that a cache of
	// registrations is worth having.
	Registration bool
	// SlowLook says that Pending, or a Poll that finds nothing, makes a system call.
	SlowLook bool
}

// Access says what peers may do with registered memory.
type Access uint8

// Rights of registered memory. Local memory of a read needs none of them on
// the software devices and AccessLocal where an adapter writes it.
const (
	AccessLocal Access = 1 << iota // the device may write it (the local side of a read)
	AccessRead                     // peers may read it
)

// MR is registered memory.
type MR interface {
	// Addr and Key are what a peer needs in order to read it (Remote).
	Addr() uint64
	Key() uint64
	// Close takes the right back. When it returns, no peer and no device
	// reads or writes the memory any more by this registration, and later
	// reads fail with StatusRemoteAccess.
	Close() error
}

// QPConfig describes a queue pair.
type QPConfig struct {
	SendCQ CQ
	RecvCQ CQ
	RQ     RQ
	Depth  int // sends and reads in flight; 0 means 64
	Inline int // bytes asked for; QP.Inline is what was granted
}

// QP is a reliable, ordered, connected queue pair.
type QP interface {
	// Num identifies the queue pair on its device, and in completions.
	Num() uint32

	// Inline is the inline size that was granted: it may be more or less
	// than was asked.
	Inline() int

	// Connect names the other end: the peer device's address, this end's
	// label and the other end's. The other side calls Connect with the
	// labels exchanged, before or after. Connect does not block: the first
	// PostSend (even of no requests) starts the connection, sends wait in
	// the queue or at the caller (ErrFull) until it stands, and a failure
	// arrives as an OpClosed completion on the receive CQ: with StatusRefused
	// where nobody answers within the device's time limit. Before that a
	// queue pair doesn't learn that its peer has gone.
	Connect(peer []byte, local, remote uint32) error

	// PostSend takes wrs in order and returns how many it took. With ErrFull
	// wrs[n:] were not taken, not even in part; room is announced by the
	// event of an armed send CQ, or, where a wake finds nothing, by asking
	// again. The slice wrs is not kept; the memory that it names is, as said in
	// the package comment. Requests complete in the order in which they were
	// posted. One that is not signaled keeps its place in the queue until the
	// completion of a later one was polled: signal at least one in a queue's
	// depth. Where Attr.Registration is set, Data of a read and
	// of a send that is not inline must lie in memory that was registered.
	PostSend(wrs []SendWR) (n int, err error)

	// Abort asks that a posted read end early. Its completion follows, with
	// StatusAborted or, if it was too late, StatusOK.
	Abort(id uint64)

	// Close takes the queue pair down. What is posted is flushed; no OpClosed
	// need follow, and a message that has not been polled is lost.
	Close() error
}

// SendWR is a request to a send queue. The message of an OpSend is Hdr
// followed by Data. For OpRead, Data is the local memory to fill, and Remote
// where its bytes come from. A read that the peer's memory refuses puts both ends
// in the error state on some devices, and only fails on others.
type SendWR struct {
	ID     uint64
	Op     Op
	Flags  Flags
	Imm    uint32
	Hdr    []byte
	Data   []byte
	Remote Remote
}

// Remote is memory that a peer registered.
type Remote struct {
	Addr uint64
	Key  uint64
}

// CQ is a completion queue.
type CQ interface {
	// Poll fills c from the front and returns how many completions it gave.
	// It moves the device along (it serves peers' reads, for one).
	Poll(c []Completion) int

	// Pending says whether Poll may find something. It is cheap, unless
	// Attr.SlowLook says otherwise, and never says no for long when there is
	// something.
	Pending() bool

	// Arm asks for a wake-up (see Device.WakeFDs) at the next event of the
	// given kind; None disarms. Again means that something came before the
	// arming was visible: poll once more, no wake-up is promised for it.
	Arm(Event) (again bool)

	Close() error
}

// Event is what a completion queue wakes its owner for.
type Event uint8

// Kinds of events. On a send CQ, Any includes room after ErrFull.
const (
	None      Event = iota
	Solicited       // solicited messages, errors, ends of reads, peers that need this device to move
	Any             // any completion
)

// RQConfig describes a receive queue.
type RQConfig struct {
	Shared   bool // used by many queue pairs, or by one
	Slots    int
	SlotSize int // bytes: the largest message
	Low      int // an OpLow completion when fewer slots are posted; 0: never
}

// RQ is a receive queue: slots of memory that arriving messages take.
type RQ interface {
	// Repost gives slots back. Their views end.
	Repost([]Slot)
	// Posted is how many slots are free for messages to come, at most.
	Posted() int
}

// Slot names a slot of a receive queue.
type Slot int32

// NoSlot stands for a message that consumed none.
const NoSlot Slot = -1

// Completion reports the end of a request, the arrival of a message, or a
// change of a queue pair.
type Completion struct {
	ID     uint64 // SendWR.ID; zero for receives
	QP     uint32 // QP.Num
	Imm    uint32
	Len    uint32 // bytes of a received message
	Slot   Slot   // NoSlot on all but messages that took one
	Op     Op
	Status Status
	Flags  Flags
	Data   []byte // header and payload of a received message, contiguous, 8-aligned
}

// Reader is implemented by queue pairs that can say how their reads travel.
type Reader interface {
	// Reading says what is known now; nothing before there is a connection.
	Reading() (r Reading, connected bool)
}

// Reading is how a queue pair's reads travel.
type Reading struct {
	// SingleCopy: the peer's memory can be read without a copy in between, whatever
	// memory it is.
	SingleCopy bool
	// Way is that of large reads at present, in the device's words; "auto" if it is
	// still being found out.
	Way string
}

// Explainer is implemented by queue pairs that can say more of a StatusRefused.
type Explainer interface {
	// Why is the reason, or nil. The status has been polled.
	Why() error
}

// Counted is implemented by devices that count what they do.
type Counted interface {
	// Counters calls yield for each counter by name.
	Counters(yield func(name string, value uint64) bool)
}
