//go:build ibv && cgo && linux

package ibv

import (
	"net"
	"net/netip"
	"time"
)

// startExchange listens for the peers' links and starts the device's goroutines.
func (d *device) startExchange() error {
	ip := d.cfg.Listen
	if !ip.IsValid() {
		if ip = d.adapter.addr(); !ip.Is4() {
			ip = netip.IPv6Unspecified()
		}
	}
	lc := net.ListenConfig{KeepAliveConfig: keepAlive}
	var err error
	if d.listen, err = lc.Listen(d.ctx, "tcp", netip.AddrPortFrom(ip, 0).String()); err != nil {
		return err
	}
	if d.async, err = d.newAsync(); err != nil {
		d.listen.Close()
		return err
	}
	d.addr = encodeAddr(d.id, reachable(d.listen.Addr().(*net.TCPAddr).AddrPort()))
	d.work.Go(d.async.run)
	d.work.Go(func() {
		for {
			c, err := d.listen.Accept()
			if err != nil {
				return
			}
			d.work.Go(func() { d.serve(c) })
		}
	})
	return nil
}

// reachable spells out the addresses of a listener on all of them.
func reachable(at netip.AddrPort) (all []netip.AddrPort) {
	if !at.Addr().IsUnspecified() {
		return []netip.AddrPort{at}
	}
	addrs, _ := net.InterfaceAddrs()
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
			ip, _ := netip.AddrFromSlice(n.IP)
			all = append(all, netip.AddrPortFrom(ip.Unmap(), at.Port()))
		}
	}
	return all
}

// stopExchange says goodbye on every link and waits for the device's goroutines.
func (d *device) stopExchange() {
	d.mu.Lock()
	d.ending = true
	var links []*link
	for l := range d.links {
		links = append(links, l)
	}
	d.mu.Unlock()
	d.listen.Close()
	for _, l := range links {
		l.goodbye()
	}
	d.cancel()
	d.async.close()
	done := make(chan struct{})
	go func() { d.work.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(writeTime):
	}
}

func (d *device) dropLink(l *link) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.links, l)
	if d.dialed[l.peer] == l {
		delete(d.dialed, l.peer)
	}
	for k, e := range d.early {
		if e.from == l {
			delete(d.early, k)
		}
	}
}
