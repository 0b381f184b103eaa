package main

import (
	"runtime/debug"

	"github.com/verbena-mpi/verbena/internal/knobs"
)

// version is the library's, and the module's as the go command recorded it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return knobs.Version
	}
	return knobs.Version + ", module " + info.Main.Version
}
