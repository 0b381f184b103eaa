package tcp

import "sync"

// Reaches says whether addr is the address of a tcp device, and one that a device
// here could dial: on this host, or with an address of a kind that this machine has,
// too. What is between the two, nobody knows before.
func Reaches(addr []byte) bool {
	a, err := parseAddr(addr)
	return err == nil && (a.host == thisHost() || ourFamilies().meet(&a))
}

// families are those in which a machine has more than loopback.
type families struct{ four, six bool }

// ourFamilies doesn't change while the process lives: who has a thousand peers asks a
// thousand times.
var ourFamilies = sync.OnceValue(func() families {
	nics, err := systemNICs()
	if err != nil {
		return families{true, true} // a dial will tell
	}
	return familiesOf(nics)
})

func familiesOf(nics []nic) (f families) {
	for i := range nics {
		for _, p := range nics[i].at {
			if ip := p.Addr(); nics[i].up && !ip.IsLoopback() {
				f.four, f.six = f.four || ip.Is4(), f.six || ip.Is6()
			}
		}
	}
	return f
}

func (f families) meet(a *deviceAddr) bool {
	for _, p := range a.at {
		if ip := p.prefix.Addr(); !ip.IsLoopback() && (ip.Is4() && f.four || ip.Is6() && f.six) {
			return true
		}
	}
	return false
}
