package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/verbena-mpi/verbena/internal/knobs"
	"github.com/verbena-mpi/verbena/launcher"
)

// infoCommand is verbrun info. It is no subcommand of cobra's: those would be
// found after flags, too, and info is the name of a program (verbrun -n 1 info).
func infoCommand(args []string) *cobra.Command {
	cmd := &cobra.Command{
		Use:           "verbrun info",
		Short:         "Print the version, the machine and all settings",
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return info(cmd.OutOrStdout(), os.Environ())
		},
	}
	cmd.SetArgs(args)
	cmd.CompletionOptions.DisableDefaultCmd = true
	return cmd
}

func info(w io.Writer, environ []string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "verbena\t%s\n", version())
	fmt.Fprintf(t, "go\t%s, %s/%s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if cores, nodes, err := launcher.AllowedCores(); err != nil {
		fmt.Fprintf(t, "cores\tunknown: %v\n", err)
	} else {
		fmt.Fprintf(t, "cores\t%s allowed; NUMA nodes: %s\n", cores, strings.Join(nodes, " | "))
	}
	fmt.Fprint(t, "\n")
	_ = t.Flush()
	fmt.Fprintf(t, "setting\tvalue\tunit\tdefault\torigin\tmeaning\n")
	env := map[string]string{}
	for _, kv := range environ {
		name, v, _ := strings.Cut(kv, "=")
		env[name] = v
	}
	for _, k := range slices.Concat(knobs.All, knobs.Meeting) {
		value, origin := k.Default, "default"
		if v := env[k.Name]; v != "" {
			value, origin = v, "environment"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", k.Name, orDash(value), orDash(k.Unit), orDash(k.Default), origin, k.Sentence)
	}
	var unknown []string
	for name := range env {
		if knobs.Unknown(name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	for _, name := range unknown {
		fmt.Fprintf(t, "%s\t%s\t-\t-\tenvironment\tNot a setting: nothing reads it.\n", name, orDash(env[name]))
	}
	return t.Flush()
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r == '\v' || r == '\f' {
			return ' ' // these mean something to the table
		}
		return r
	}, s)
}
