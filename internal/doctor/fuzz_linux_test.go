package doctor

import (
	"strings"
	"testing"
)

// Whatever a host says as its helper, it is read or refused.
func FuzzHello(f *testing.F) {
	for _, s := range []string{
		helperWord + `{"Version":"1","Port":7,"Networks":[{"Name":"eth0","Addr":"10.0.0.1/24"}]}` + "\n",
		"hi\n$ " + helperWord + "{}\n", helperWord + `{"Networks":[{}]}` + "\n", "\x00\n\n" + helperWord,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var h hello
		if newReader(strings.NewReader(text)).hear(helperWord, &h) != nil || h.check() != nil {
			return
		}
		o := &visit{hello: h}
		for _, a := range (&visit{}).dialable(o) {
			if !strings.Contains(a, ":") {
				t.Fatal(a)
			}
		}
		judge([]*visit{o, {hello: h}}, "1")
	})
}
