//go:build !unix

package bootstrap

import (
	"context"
	"fmt"
)

func (p *place) join(ctx context.Context) (*Job, error) {
	if p.fd < 0 {
		return p.dial(ctx)
	}
	return nil, fmt.Errorf("bootstrap: rank %d: PMI_FD=%d: inherited sockets are not supported on this system", p.rank, p.fd)
}
