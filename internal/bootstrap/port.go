package bootstrap

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/verbena-mpi/verbena/internal/pmi"
)

// dial is the way in of mpiexec.hydra -pmi-port: there is no descriptor, and
// rank and size come over the connection.
func (p *place) dial(ctx context.Context) (*Job, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", p.port)
	if err != nil {
		return nil, fmt.Errorf("bootstrap: PMI_PORT=%s: %w", p.port, err)
	}
	rank, size, err := pmi.InitAck(ctx, conn, p.id)
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("bootstrap: PMI_PORT=%s, PMI_ID=%s: %w", p.port, p.id, err)
	}
	_ = conn.SetDeadline(time.Time{})
	return join(ctx, rank, size, conn)
}
