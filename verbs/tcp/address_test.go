package tcp

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/verbena-mpi/verbena/verbs"
)

var compareAddrs = cmp.Options{
	cmp.AllowUnexported(deviceAddr{}, place{}),
	cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }),
}

func genPlace(t *rapid.T) place {
	ip := netip.AddrFrom4([4]byte{10, rapid.Byte().Draw(t, "b"), rapid.Byte().Draw(t, "c"), 1})
	if rapid.Bool().Draw(t, "six") {
		ip = netip.AddrFrom16([16]byte{0: 0xfd, 3: rapid.Byte().Draw(t, "d"), 15: 1})
	}
	return place{
		prefix: netip.PrefixFrom(ip, rapid.IntRange(0, ip.BitLen()).Draw(t, "bits")),
		nic:    rapid.Byte().Draw(t, "nic"), last: rapid.Bool().Draw(t, "last"),
	}
}

// An address arrives as it was, or, if it has more places than 256 bytes hold, with
// the first ones.
func TestAddress(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := deviceAddr{
			id: deviceID{1, 2, 15: 3}, host: hostID{4}, port: uint16(rapid.IntRange(1, 65535).Draw(t, "port")),
			at: rapid.SliceOfN(rapid.Custom(genPlace), 0, 60).Draw(t, "at"),
		}
		b := a.encode()
		got, err := parseAddr(b)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) > maxAddr || len(got.at) > maxPlaces || len(a.at) <= 11 && len(got.at) != len(a.at) || len(got.at) < min(len(a.at), 11) {
			t.Fatalf("%d of %d places in %d bytes", len(got.at), len(a.at), len(b))
		}
		i := 0
		for _, p := range got.at { // those that had room, in their order
			k := slices.Index(a.at[i:], p)
			if k < 0 {
				t.Fatalf("%v is not of %v", p, a.at)
			}
			i += k + 1
		}
		a.at, got.at = nil, nil
		if diff := cmp.Diff(a, got, compareAddrs); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
	})
}

// What is no address is an error, and names what is wrong.
func TestAddressErrors(t *testing.T) {
	good := deviceAddr{port: 1, at: []place{{prefix: netip.MustParsePrefix("10.0.0.1/24")}}}
	b := good.encode()
	change := func(at int, to byte) []byte {
		c := bytes.Clone(b)
		c[at] = to
		return c
	}
	for _, c := range []struct {
		name string
		b    []byte
	}{
		{"nothing", nil},
		{"cut", b[:len(b)-1]},
		{"cut in the head", b[:10]},
		{"longer", append(bytes.Clone(b), 0)},
		{"much longer", append(bytes.Clone(b), make([]byte, 1<<20)...)},
		{"another version", change(4, '2')},
		{"port 0", change(29, 0)},
		{"255 places", change(31, 255)},
		{"two places", change(31, 2)},
		{"unknown flags", change(32, 0x80)},
		{"prefix of 33 bits", change(34, 33)},
		{"address 0.0.0.0", append(bytes.Clone(b[:35]), 0, 0, 0, 0)},
		{"a multicast address", change(35, 224)},
		{"a broadcast address", append(bytes.Clone(b[:35]), 255, 255, 255, 255)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if a, err := parseAddr(c.b); !errors.Is(err, verbs.ErrInvalid) {
				t.Errorf("parsed as %+v, %v", a, err)
			}
		})
	}
}

// A peer that lies about where it is costs a bounded number of tries, and never a
// dial to this machine itself.
func FuzzAddress(f *testing.F) {
	for _, m := range []string{bigMachine, "lo 127.0.0.1/8 ::1/128", "eth0 10.0.0.7/24\neth1 fe80::1/64"} {
		_, a, err := chosen(m, "")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(a.encode())
	}
	mine, _, err := chosen(bigMachine, "")
	if err != nil {
		f.Fatal(err)
	}
	own := ownOf(bigMachine)
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := parseAddr(b)
		if err != nil {
			return
		}
		if again := a.encode(); !bytes.Equal(again, b) {
			t.Errorf("%x is encoded as %x", b, again)
		}
		routes := mine.routes(own, hostID{0xee}, &a)
		if len(routes) > maxPlaces {
			t.Errorf("%d routes", len(routes))
		}
		for _, r := range append(routes, mine.rails(own, hostID{0xee}, &a)...) {
			ip := r.to.Addr().WithZone("")
			if a.host != (hostID{0xee}) && (slices.Contains(own, ip) || ip.IsLoopback()) || !r.to.IsValid() || r.to.Port() == 0 {
				t.Errorf("a route to %v", r.to)
			}
			_ = fmt.Sprint(r)
		}
	})
}
