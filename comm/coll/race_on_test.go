//go:build race

package coll_test

const raceOn = true
