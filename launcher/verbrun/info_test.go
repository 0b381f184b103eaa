package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/verbena-mpi/verbena/internal/knobs"
)

// Each setting has a row: value, unit, default, origin.
func TestInfo(t *testing.T) {
	var b bytes.Buffer
	env := []string{"VERBENA_SLOTS=7", "VERBENA_RECV=", "VERBENA_FOO=x\ty", "VERBENA_PORT=1", "PATH=/bin"}
	if err := info(&b, env); err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for line := range strings.Lines(b.String()) {
		if f := strings.Fields(line); len(f) > 0 {
			rows[f[0]] = f
		}
	}
	if v := rows["verbena"]; len(v) < 2 || !strings.HasPrefix(v[1], knobs.Version) {
		t.Errorf("version: %v", v)
	}
	for _, k := range slices.Concat(knobs.All, knobs.Meeting) {
		want := []string{orDash(k.Default), orDash(k.Unit), orDash(k.Default), "default"}
		if k.Name == "VERBENA_SLOTS" {
			want = []string{"7", "slots", k.Default, "environment"}
		}
		if got := rows[k.Name]; len(got) < 6 || strings.Join(got[1:5], " ") != strings.Join(want, " ") {
			t.Errorf("%s: %v, expected %v", k.Name, got, want)
		}
	}
	if got := strings.Join(rows["VERBENA_FOO"], " "); got != "VERBENA_FOO x y - - environment Not a setting: nothing reads it." {
		t.Errorf("%q", got)
	}
	if rows["VERBENA_PORT"] != nil || rows["PATH"] != nil {
		t.Error("lists what is no setting")
	}
}
