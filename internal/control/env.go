package control

import (
	"fmt"
	"strconv"
	"strings"
)

// Env is the variable that names a rank's descriptors and its job.
const Env = "VERBENA_CONTROL"

// Place is what the variable says.
type Place struct {
	Conn  int    // the descriptor of the connection
	Crash int    // of the file for last words
	Job   string // the job's name, as PMI tells it
}

func (p Place) String() string { return fmt.Sprintf("%d,%d,%s", p.Conn, p.Crash, p.Job) }

// ParsePlace reads the variable's value.
func ParsePlace(s string) (Place, error) {
	f := strings.SplitN(s, ",", 3)
	if len(f) == 3 {
		conn, err1 := strconv.Atoi(f[0])
		crash, err2 := strconv.Atoi(f[1])
		if err1 == nil && err2 == nil && conn > 2 && crash > 2 && conn != crash && f[2] != "" {
			return Place{conn, crash, f[2]}, nil
		}
	}
	return Place{}, fmt.Errorf("control: %s=%q doesn't name two descriptors and a job", Env, s)
}
