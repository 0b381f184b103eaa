package meet

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/verbena-mpi/verbena/internal/secret"
)

// tcp is the way over a network. The secret is what its ranks have in common.
type tcp struct {
	name           string // what the address was given by
	host, port     string
	client, server *tls.Config
	silence        time.Duration
}

// TCP is the way to an address of rank 0's, "host:port". The name is that by which
// the address was given; it stands in errors. A peer whose system is silent for as
// long as silence is gone.
func TCP(name, address string, s secret.Secret, silence time.Duration) (Way, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%s=%s: expected host:port: %w", name, address, err)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return nil, fmt.Errorf("%s=%s: port %q, expected a number from 1 to 65535", name, address, port)
	}
	if host == "" {
		return nil, fmt.Errorf("%s=%s: no host: expected the name or address of rank 0's", name, address)
	}
	if s.None() {
		return nil, secret.ErrNone
	}
	return &tcp{name, host, port, s.TLS(false), s.TLS(true), silence}, nil
}

func (w *tcp) String() string { return w.name + "=" + net.JoinHostPort(w.host, w.port) }

// keepAlive asks a silent peer's system twice. Systems count in seconds.
func (w *tcp) keepAlive() net.KeepAliveConfig {
	third := max(w.silence/3, time.Second)
	return net.KeepAliveConfig{Enable: true, Idle: third, Interval: third, Count: 2}
}

// Listen listens on all addresses, since the name may mean any of them, or one that
// only a translator of addresses knows. Only where it is an address of this host
// alone, the meeting is too.
func (w *tcp) Listen() (net.Listener, error) {
	on := ""
	if a, err := netip.ParseAddr(w.host); err == nil && a.IsLoopback() {
		on = w.host
	}
	lc := net.ListenConfig{KeepAliveConfig: w.keepAlive(), Control: w.userTimeout}
	lc.SetMultipathTCP(false)
	l, err := lc.Listen(context.Background(), "tcp", net.JoinHostPort(on, w.port))
	if err != nil {
		return nil, fmt.Errorf("%w (is there another rank 0 on this host, or another job?)", err)
	}
	return l, nil
}

func (w *tcp) Dial(ctx context.Context) (net.Conn, error) {
	d := net.Dialer{KeepAliveConfig: w.keepAlive(), Control: w.userTimeout}
	d.SetMultipathTCP(false)
	return d.DialContext(ctx, "tcp", net.JoinHostPort(w.host, w.port))
}

func (w *tcp) Secure(c net.Conn, server bool) (net.Conn, error) {
	t := tls.Client(c, w.client)
	if server {
		t = tls.Server(c, w.server)
	}
	err := t.Handshake()
	if errors.Is(err, secret.ErrDiffers) {
		err = fmt.Errorf("%w: %w", ErrStranger, err)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Doubt looks whether the address is this host's.
func (w *tcp) Doubt(ctx context.Context) string {
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", w.host)
	if err != nil {
		return fmt.Sprintf("%s can't be resolved here, where rank 0 is: %v", w.host, err)
	}
	mine, err := net.InterfaceAddrs()
	if err != nil {
		return ""
	}
	var texts []string
	for _, a := range addrs {
		a = a.Unmap().WithZone("")
		if a.IsLoopback() || slices.ContainsFunc(mine, func(m net.Addr) bool {
			p, err := netip.ParsePrefix(m.String())
			return err == nil && p.Addr().Unmap().WithZone("") == a
		}) {
			return ""
		}
		texts = append(texts, a.String())
	}
	return fmt.Sprintf("%s is %s, which is not an address of this host, where rank 0 is", w.host, strings.Join(texts, ", "))
}
