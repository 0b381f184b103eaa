package comm

import (
	"os"
	"runtime/debug"
)

// reportCrashes has the runtime copy the trace of a crash to the launcher's file,
// so that the launcher can say where and why. A program that calls SetCrashOutput
// itself, later, has that; the launcher then reads standard error only.
func reportCrashes(f *os.File) {
	if f == nil {
		return
	}
	_ = debug.SetCrashOutput(f, debug.CrashOptions{})
	_ = f.Close() // the runtime has its own descriptor
}
