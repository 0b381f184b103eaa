package comm

import (
	"bytes"
	"errors"
	"fmt"
)

// check is the oracle. A message is known by its communicator, its source, and by its
// place among those of them and, where the receives name tags, of its tag. The
// receives are in the order in which they were posted: of those that name the same,
// the earlier gets the earlier message of each source.
func (p *party) check(all []*expected) error {
	type stream struct{ on, source, tag int }
	key := func(on, source, tag int) stream {
		if p.naming == nameTags {
			return stream{on, source, tag}
		}
		return stream{on, source, 0}
	}
	left := map[stream][]mail{}
	for _, m := range p.to[p.me] {
		k := key(m.on, m.from, m.tag)
		left[k] = append(left[k], m)
	}
	for _, x := range all {
		if x.err != nil && !errors.Is(x.err, ErrTruncated) {
			return fmt.Errorf("%v: %w", x, x.err)
		}
		k := key(x.on, p.rankOn(x.on, x.status.Source), x.status.Tag)
		if len(left[k]) == 0 {
			return fmt.Errorf("%v: there is no such message left", x)
		}
		m := left[k][0]
		left[k] = left[k][1:]
		if err := x.got(m, p.rankOn(m.on, m.from)); err != nil {
			return fmt.Errorf("%v, of %+v: %w", x, m, err)
		}
	}
	for k, l := range left {
		if len(l) > 0 {
			return fmt.Errorf("%d messages of %+v were not received", len(l), k)
		}
	}
	return nil
}

func (x *expected) String() string {
	return fmt.Sprintf("receive %d (%s, communicator %d, source %d, tag %d) got %+v", x.posted, x.call, x.on, x.source, x.tag, x.status)
}

// got checks that a receive has got a message of a rank of its communicator.
func (x *expected) got(m mail, source int) error {
	if x.source != AnySource && x.source != source || x.tag != AnyTag && x.tag != m.tag {
		return errors.New("it was for another one")
	}
	if want := (Status{Source: source, Tag: m.tag, Bytes: int64(m.size)}); x.status != want {
		return fmt.Errorf("the status should be %+v", want)
	}
	if truncated := len(x.buf) < m.size; truncated != (x.err != nil) {
		return fmt.Errorf("into %d bytes: error %w", len(x.buf), x.err)
	}
	want := bytes.Repeat([]byte{0xee}, len(x.all))
	copy(want[margin:margin+len(x.buf)], m.content())
	if !bytes.Equal(x.all, want) {
		return fmt.Errorf("into %d bytes: wrong content, or written outside", len(x.buf))
	}
	return nil
}
