package tcp

import (
	"crypto/tls"
	"fmt"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/verbena-mpi/verbena/internal/secret"
	"github.com/verbena-mpi/verbena/verbs"
)

// Name is this device's, in Attr and in the settings.
const Name = "tcp"

// Config describes a device. It needs a secret; all else may be zero.
type Config struct {
	// Secret is the job's. Who doesn't have it isn't talked to.
	Secret secret.Secret
	// Net says which interfaces and addresses serve, as "eth0,10.0.0.0/8,^docker0"
	// does. Each item is the name of an interface, in which *, ? and [] stand for
	// more than one, an address, or a prefix. What an item with a ^ names is left
	// out; if there are items without one, only what they name serves, and what
	// is named first is tried first. "" stands for all that are up.
	Net string
	// TLS encrypts the connections, for what it costs: one core encrypts 2 to
	// 5 GB/s. All ranks of a job need the same.
	TLS bool
	// Timeout is how long a peer may be silent when it should answer: then it
	// counts as dead. The addresses of a peer share it when it is dialed. 0 means
	// 10 s. An idle connection is tested in whole seconds.
	Timeout time.Duration
	// Congestion is the algorithm of each socket, as TCP_CONGESTION takes it. ""
	// stands for the system's.
	Congestion string
	// Log takes what isn't an error of a call. nil: nobody does.
	Log *logrus.Logger

	nics   func() ([]nic, error) // for tests: the interfaces of another machine
	limits limits                // for strangers; zero: the default
	client *tls.Config           // with TLS
	server *tls.Config
}

const (
	defaultTimeout = 10 * time.Second
	minTimeout     = 10 * time.Millisecond
	maxTimeout     = 24 * time.Hour
)

func (c Config) withDefaults() (Config, error) {
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.Timeout < minTimeout || c.Timeout > maxTimeout {
		return c, fmt.Errorf("%w: tcp: Timeout %v is not in %v..%v", verbs.ErrInvalid, c.Timeout, minTimeout, maxTimeout)
	}
	if c.Secret.None() {
		return c, fmt.Errorf("%w: tcp: %w", verbs.ErrInvalid, secret.ErrNone)
	}
	if c.TLS && c.client == nil {
		c.client, c.server = c.Secret.TLS(false), c.Secret.TLS(true)
		c.client.DynamicRecordSizingDisabled = true
		c.server.DynamicRecordSizingDisabled = true
	}
	if c.limits == (limits{}) {
		c.limits = defaultLimits
	}
	if c.nics == nil {
		c.nics = systemNICs
	}
	return c, nil
}
