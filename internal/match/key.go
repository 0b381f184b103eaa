package match

import "math/bits"

// Wildcards of a receive or a probe. A message never carries them.
const (
	AnySource int32 = -1 << 30
	AnyTag    int32 = -1 << 30
)

// Key is what messages and receives are matched by.
type Key struct {
	Context uint32 // communicator
	Source  int32  // sender's rank, or AnySource in a receive
	Tag     int32  // tag, or AnyTag in a receive
}

// Accepts reports whether a receive with key k may take a message with key m.
func (k Key) Accepts(m Key) bool {
	return k.Context == m.Context &&
		(k.Source == m.Source || k.Source == AnySource) &&
		(k.Tag == m.Tag || k.Tag == AnyTag)
}

// form says which parts of a receive's key are wildcards.
type form uint8

const (
	exact     form = 0
	anySource form = 1
	anyTag    form = 2
	anyBoth   form = anySource | anyTag
	numForms       = 4
)

func (k Key) form() form {
	f := exact
	if k.Source == AnySource {
		f |= anySource
	}
	if k.Tag == AnyTag {
		f |= anyTag
	}
	return f
}

// widen returns the key of form f that accepts a message with key k.
func (k Key) widen(f form) Key {
	if f&anySource != 0 {
		k.Source = AnySource
	}
	if f&anyTag != 0 {
		k.Tag = AnyTag
	}
	return k
}

// hash folds the halves of one wide multiplication, which lets every bit of
// the key reach the low bits, so that runs of tags and of ranks spread evenly.
func (k Key) hash() uint64 {
	who := uint64(k.Context)<<32 | uint64(uint32(k.Source))
	hi, lo := bits.Mul64(who^0x9e3779b97f4a7c15, uint64(uint32(k.Tag))^0xe7037ed1a0b428db)
	return hi ^ lo
}
