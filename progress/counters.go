package progress

// Counters count what the engine did.
type Counters struct {
	RecvPolls        uint64 // polls of receive queues
	SkippedPolls     uint64 // polls left out because the queue was quiet
	SendPolls        uint64 // polls of send queues
	Parks            uint64 // waits of goroutines while another drove
	HandOvers        uint64 // times that the driver's role was handed on
	Sleeps           uint64 // times that the driver slept
	Wakes            uint64
	BackgroundSleeps uint64
}

// Counters returns a copy. The lock is held.
func (e *Engine) Counters() Counters { return e.count }
