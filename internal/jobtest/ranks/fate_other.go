//go:build !linux

package main

import (
	"context"
	"errors"

	"github.com/verbena-mpi/verbena/comm"
)

func fate(context.Context, *comm.Comm, []string) error { return errors.ErrUnsupported }
