//go:build !linux

package main

func withParent(func()) {}
