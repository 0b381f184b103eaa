//go:build !unix

package secret

import "io/fs"

// exposed: modes say nothing here.
func exposed(fs.FileInfo) string { return "" }
