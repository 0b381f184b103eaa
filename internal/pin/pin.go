// Package pin ties threads to CPUs, for what is measured between two of them.
package pin
