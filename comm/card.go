package comm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/verbena-mpi/verbena/eager"
	"github.com/verbena-mpi/verbena/internal/bootstrap"
	"github.com/verbena-mpi/verbena/internal/secret"
	"github.com/verbena-mpi/verbena/verbs"
)

// card is what each rank publishes of itself. From all cards each rank knows which
// ranks share a machine, and so whether there is more to publish.
type card struct {
	Version  string
	Protocol int
	Host     string
	Machine  []byte // the same exactly for ranks that can share memory
	Types    bool   // messages say of what element type they are
	Devices  string // as they are set
	TLS      bool   // between hosts

	// Secret is the job's, from rank 0: ranks of different machines prove to each other
	// that they have it. Whoever reads this card is of the job.
	Secret string `json:",omitempty"`

	Addr    []byte // of the device for ranks of this machine, if it is in use
	Credits int    // messages that each peer may send this rank to begin with, if all are reached so
}

// netCard is what ranks publish besides if not all are on one machine.
type netCard struct {
	Addr    []byte // of the device for ranks of other machines
	Credits int    // for each peer that is reached so
	Near    int    // and for each that is on this machine
}

// near says whether two ranks reach each other over the device for ranks of one machine.
func (c *card) near(o *card) bool {
	return len(c.Addr) > 0 && len(o.Addr) > 0 && bytes.Equal(c.Machine, o.Machine)
}

// mostCredits bounds what a rank may be believed to allow.
const mostCredits = 1 << 20

// card is this rank's own, with its device for ranks of this machine or nil.
func (w *World) card(near verbs.Device) card {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	c := card{
		Version: Version, Protocol: eager.Version, Host: host, Machine: w.machine(),
		Types: w.types.checked, Devices: w.settings.Devices.value.text, TLS: w.settings.TLS.value,
		Credits: w.credits(w.size - 1),
	}
	if near != nil {
		c.Addr = near.Addr()
	}
	if w.rank == 0 && w.settings.Devices.value.far() != nil {
		c.Secret = secret.New().Text()
	}
	return c
}

// machine is the same for two ranks exactly when they can share memory, or, where ranks
// are goroutines, when they are said to.
func (w *World) machine() []byte {
	m := machine()
	if l := w.job.Local(); l != nil && l.Hosts != nil {
		m = fmt.Appendf(m, "/%d", l.Hosts[w.rank])
	}
	return m
}

// exchange publishes a card, and returns everybody's.
func exchange[T any](ctx context.Context, j *bootstrap.Job, key string, mine T) ([]T, error) {
	b, err := json.Marshal(mine)
	if err != nil {
		return nil, err
	}
	texts, err := j.Exchange(ctx, key, b)
	if err != nil {
		return nil, err
	}
	all := make([]T, len(texts))
	for r, text := range texts {
		if all[r], err = readCard[T](r, text); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// readCard reads what a rank has published. It is still to be checked.
func readCard[T any](rank int, text []byte) (c T, err error) {
	if err = json.Unmarshal(text, &c); err != nil {
		err = fmt.Errorf("rank %d published what can't be read: %w", rank, err)
	}
	return c, err
}

// check says what doesn't go together of this rank's card and another one's.
func (c card) check(rank int, o card, other int) error {
	differ := func(err error, mine, theirs any) error {
		return fmt.Errorf("%w: rank %d on %s: %v; rank %d on %s: %v", err, other, o.Host, theirs, rank, c.Host, mine)
	}
	switch {
	case c.Version != o.Version || c.Protocol != o.Protocol:
		return fmt.Errorf("%w: rank %d on %s: verbena %s, protocol %d; rank %d: %s, protocol %d: rebuild",
			ErrVersion, other, o.Host, o.Version, o.Protocol, rank, c.Version, c.Protocol)
	case c.Types != o.Types:
		return differ(errTypesDiffer, c.Types, o.Types)
	case c.Devices != o.Devices:
		return differ(errDevicesDiffer, c.Devices, o.Devices)
	case c.TLS != o.TLS:
		return differ(errTLSDiffers, c.TLS, o.TLS)
	}
	return checkCredits(other, o.Credits)
}

// check says what can't be of a rank's.
func (n netCard) check(rank int) error {
	return errors.Join(checkCredits(rank, n.Credits), checkCredits(rank, n.Near))
}

func checkCredits(rank, n int) error {
	if n < 1 || n > mostCredits {
		return fmt.Errorf("rank %d published %d credits, which can't be", rank, n)
	}
	return nil
}

var (
	errTypesDiffer   = errors.New("Config.CheckTypes, or VERBENA_CHECK_TYPES, is not the same in all ranks")
	errDevicesDiffer = errors.New("Config.Devices, or VERBENA_DEVICES, is not the same in all ranks")
	errTLSDiffers    = errors.New("Config.TLS, or VERBENA_TLS, is not the same in all ranks")
	errNoDevice      = errors.New("no device reaches it")
)
