package tcp

import "testing"

func TestNetworks(t *testing.T) {
	all, err := Networks("127.0.0.0/8")
	if err != nil || len(all) == 0 || !all[0].Addr.Addr().IsLoopback() || all[0].Name == "" {
		t.Errorf("%v, %v", all, err)
	}
	if _, err := Networks("no-such-nic"); err == nil {
		t.Error("an interface that isn't there")
	}
}
