package hosttest

import "testing"

// Each way serves one host, too.
func TestOneHost(t *testing.T) {
	for _, w := range ways {
		if w.slow && !*long {
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			b := lab(t, 1, w.needs...)
			programs[0].check(t, w.start(t, b, shape{1, 2}, nil, programs[0].name))
		})
	}
}
