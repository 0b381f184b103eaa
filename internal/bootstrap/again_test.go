package bootstrap

import (
	"errors"
	"strings"
	"testing"
)

// A process that couldn't join a meeting may try again: its place is still in the
// environment.
func TestFromEnvAgain(t *testing.T) {
	for name, value := range map[string]string{
		"VERBENA_RANK": "1", "VERBENA_SIZE": "2", "VERBENA_MEET": "127.0.0.1:1", "VERBENA_SECRET_FILE": t.TempDir() + "/none",
	} {
		t.Setenv(name, value)
	}
	for range 2 {
		if _, err := FromEnv(t.Context()); err == nil || !strings.Contains(err.Error(), "VERBENA_SECRET_FILE") {
			t.Error(err)
		}
	}
	t.Setenv("VERBENA_SECRET_FILE", "")
	if _, err := FromEnv(t.Context()); err == nil || errors.Is(err, errTaken) {
		t.Error(err)
	}
	t.Setenv("VERBENA_ALONE", "1")
	j, err := FromEnv(t.Context())
	if err != nil || j.Size != 1 {
		t.Error(j, err)
	}
}
