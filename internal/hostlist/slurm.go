package hostlist

import (
	"fmt"
	"strconv"
	"strings"
)

// Slurm returns the hosts of the Slurm allocation that the environment describes, with
// their slots, or none if there is no allocation. Slots are the tasks that the user asked
// for on each node. Where there are no such numbers they are the node's processors by
// those of a task: so in a step of one task, as an interactive shell is, where the number
// of tasks is the step's. Inside a step of several tasks there are no hosts: each task
// would be told to use all of them.
func Slurm(getenv func(string) string) ([]Host, error) {
	text := getenv("SLURM_JOB_NODELIST")
	if getenv("SLURM_JOB_ID") == "" || text == "" {
		return nil, nil
	}
	if n, err := strconv.Atoi(getenv("SLURM_STEP_NUM_TASKS")); err == nil && n > 1 {
		return nil, nil
	}
	names, err := ParseNodes("SLURM_JOB_NODELIST", text)
	if err != nil {
		return nil, err
	}
	slots, err := slurmSlots(getenv, len(names))
	if err != nil {
		return nil, err
	}
	hosts := make([]Host, len(names))
	for i, name := range names {
		hosts[i] = Host{Name: name, Slots: slots[i], File: "SLURM_JOB_NODELIST"}
	}
	return hosts, nil
}

func slurmSlots(getenv func(string) string, nodes int) ([]int, error) {
	const tasks, cpus, each = "SLURM_TASKS_PER_NODE", "SLURM_JOB_CPUS_PER_NODE", "SLURM_CPUS_PER_TASK"
	name := tasks
	if getenv(tasks) == "" || getenv("SLURM_STEP_ID") != "" && getenv(cpus) != "" {
		name = cpus
	}
	if getenv(name) == "" {
		return nil, &Error{File: tasks, Want: "a number of tasks for each node, as 2(x3),1: it isn't set"}
	}
	slots, err := ParseCounts(name, getenv(name))
	if err != nil {
		return nil, err
	}
	if len(slots) < nodes {
		return nil, &Error{File: name, Text: getenv(name), Want: fmt.Sprintf("numbers for %d nodes: found %d", nodes, len(slots))}
	}
	if name == cpus {
		if n, err := strconv.Atoi(getenv(each)); err == nil && n > 1 {
			for i := range slots {
				slots[i] = max(slots[i]/n, 1)
			}
		}
	}
	return slots[:nodes], nil
}

// ParseCounts reads Slurm's short form of a list of numbers: 2(x3),1 is 2,2,2,1. The name
// is the variable's, for messages.
func ParseCounts(name, text string) ([]int, error) {
	var counts []int
	column := 1
	for item := range strings.SplitSeq(text, ",") {
		value, times, repeated := strings.Cut(item, "(x")
		n, err := number(word{value, column}, "a number of tasks", MaxSlots)
		repeat := 1
		if err == nil && repeated {
			w := word{times, column + len([]rune(value)) + 2}
			digits, closed := strings.CutSuffix(times, ")")
			if !closed {
				err = &Error{Column: w.column, Text: times, Want: "a number and ) after (x"}
			} else {
				w.text = digits
				repeat, err = number(w, "a number of nodes", MaxHosts)
			}
		}
		if err == nil && len(counts)+repeat > MaxHosts {
			err = &Error{Column: column, Text: item, Want: fmt.Sprintf("at most %d nodes", MaxHosts)}
		}
		if err != nil {
			err.File = name
			return nil, err
		}
		for range repeat {
			counts = append(counts, n)
		}
		column += len([]rune(item)) + 1
	}
	return counts, nil
}
