//go:build !linux

package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/verbena-mpi/verbena/internal/bootstrap"
)

func connect(context.Context, *bootstrap.Job, string) (conn, error) {
	return nil, fmt.Errorf("bare sockets on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

func ownCPU() int { return -1 }
