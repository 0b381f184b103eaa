package ibv

import (
	"net/netip"
	"testing"
)

func TestWire(t *testing.T) {
	f := frame{kind: accept, status: 3, from: 1, to: 1 << 31, params: params{qpn: 17, psn: 1<<24 - 1, lid: 9, mtu: 5, reads: 16, slot: 1 << 31, gid: [16]byte{15: 1}}}
	var b [frameLen]byte
	f.encode(&b)
	if g, err := decodeFrame(&b); err != nil || g != f {
		t.Errorf("%+v, %v", g, err)
	}
	at := []netip.AddrPort{netip.MustParseAddrPort("10.0.0.1:4000"), netip.MustParseAddrPort("[fd00::1]:4001")}
	id, got, err := decodeAddr(encodeAddr(deviceID{1, 2}, at))
	if err != nil || id != (deviceID{1, 2}) || len(got) != 2 || got[0] != at[0] || got[1] != at[1] {
		t.Errorf("%v %v %v", id, got, err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(make([]byte, frameLen))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _, _ = decodeAddr(b)
		if len(b) < frameLen {
			return
		}
		if g, err := decodeFrame((*[frameLen]byte)(b)); err == nil {
			var c [frameLen]byte
			g.encode(&c)
			if h, err := decodeFrame(&c); err != nil || h != g {
				t.Fatalf("%+v became %+v, %v", g, h, err)
			}
		}
	})
}
