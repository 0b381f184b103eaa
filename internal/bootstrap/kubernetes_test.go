//go:build unix

package bootstrap

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"golang.org/x/sync/errgroup"

	"github.com/verbena-mpi/verbena/internal/knobs"
)

// manifest is what a Job and its Service must have for ranks to meet.
type manifest struct {
	Kind     string
	Metadata struct{ Name string }
	Spec     struct {
		ClusterIP                string `yaml:"clusterIP"`
		PublishNotReadyAddresses bool   `yaml:"publishNotReadyAddresses"`
		Selector                 map[string]string
		CompletionMode           string `yaml:"completionMode"`
		Completions, Parallelism int
		BackoffLimit             *int `yaml:"backoffLimit"`
		Template                 struct {
			Metadata struct{ Labels map[string]string }
			Spec     podSpec
		}
	}
}

type podSpec struct {
	RestartPolicy   string `yaml:"restartPolicy"`
	Subdomain       string
	SecurityContext struct {
		RunAsUser int `yaml:"runAsUser"`
		FsGroup   int `yaml:"fsGroup"`
	} `yaml:"securityContext"`
	Containers []struct {
		Command []string
		Env     []struct{ Name, Value string }
		Ports   []struct {
			ContainerPort int `yaml:"containerPort"`
		}
		Resources    struct{ Requests, Limits map[string]string }
		VolumeMounts []struct {
			Name      string
			MountPath string `yaml:"mountPath"`
		} `yaml:"volumeMounts"`
	}
	Volumes []struct {
		Name   string
		Secret struct {
			SecretName  string      `yaml:"secretName"`
			DefaultMode os.FileMode `yaml:"defaultMode"`
		}
	}
}

// readManifests reads the example.
func readManifests(t *testing.T) (service, job manifest) {
	t.Helper()
	b, err := os.ReadFile("../../examples/kubernetes/job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]manifest{}
	for d := yaml.NewDecoder(bytes.NewReader(b)); ; {
		var m manifest
		err := d.Decode(&m)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		found[m.Kind] = m
	}
	if len(found) != 2 || found["Service"].Kind == "" || found["Job"].Kind == "" {
		t.Fatalf("expected a Service and a Job, found %v", found)
	}
	return found["Service"], found["Job"]
}

// The parts of the example refer to each other, and say what a rank reads.
func TestKubernetesManifest(t *testing.T) {
	service, job := readManifests(t)
	pod := job.Spec.Template.Spec
	if len(pod.Containers) != 1 || len(pod.Volumes) != 1 || len(pod.Containers[0].Ports) != 1 || len(pod.Containers[0].VolumeMounts) != 1 {
		t.Fatalf("%+v", pod)
	}
	c, env := pod.Containers[0], map[string]string{}
	known := map[string]bool{}
	for _, k := range knobs.Meeting {
		known[k.Name] = true
	}
	for _, e := range c.Env {
		if env[e.Name] = e.Value; !known[e.Name] {
			t.Errorf("nothing reads %s", e.Name)
		}
	}
	host, port, err := net.SplitHostPort(env["VERBENA_MEET"])
	if err != nil {
		t.Fatal(err)
	}
	// Pod 0's name is the job's with the index, within the service of its subdomain.
	if want := job.Metadata.Name + "-0." + service.Metadata.Name; host != want || pod.Subdomain != service.Metadata.Name {
		t.Errorf("VERBENA_MEET is at %s and the subdomain %s, expected %s", host, pod.Subdomain, want)
	}
	for label, value := range service.Spec.Selector {
		if job.Spec.Template.Metadata.Labels[label] != value {
			t.Errorf("the service selects %s=%s, which pods don't have", label, value)
		}
	}
	for what, ok := range map[string]bool{
		"a headless service":                  service.Spec.ClusterIP == "None" && service.Spec.PublishNotReadyAddresses && len(service.Spec.Selector) > 0,
		"an indexed job":                      job.Spec.CompletionMode == "Indexed",
		"all pods at once":                    job.Spec.Completions == job.Spec.Parallelism && job.Spec.Completions > 1,
		"as many ranks":                       env["VERBENA_SIZE"] == strconv.Itoa(job.Spec.Completions),
		"no second try":                       pod.RestartPolicy == "Never" && job.Spec.BackoffLimit != nil && *job.Spec.BackoffLimit == 0,
		"the port":                            strconv.Itoa(c.Ports[0].ContainerPort) == port,
		"the secret's mount":                  path.Dir(env["VERBENA_SECRET_FILE"]) == c.VolumeMounts[0].MountPath && c.VolumeMounts[0].Name == pod.Volumes[0].Name && pod.Volumes[0].Secret.SecretName != "",
		"resources":                           len(c.Resources.Requests) == 2 && fmt.Sprint(c.Resources.Requests) == fmt.Sprint(c.Resources.Limits),
		"a command":                           len(c.Command) == 1,
		"a user whose group has the secret":   pod.SecurityContext.RunAsUser > 0 && pod.SecurityContext.FsGroup > 0,
		"a secret for the user's group alone": pod.Volumes[0].Secret.DefaultMode&^0o440 == 0 && pod.Volumes[0].Secret.DefaultMode != 0,
	} {
		if !ok {
			t.Errorf("expected %s", what)
		}
	}
	image, err := os.ReadFile("../../examples/kubernetes/Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("ENTRYPOINT [%q]", c.Command[0]); !strings.Contains(string(image), want) {
		t.Errorf("the image hasn't %s", want)
	}
}

// Processes with the example's environment are a job. The name of pod 0 is replaced,
// as the cluster's name server would do it, and the secret is where it was mounted.
func TestKubernetesRanks(t *testing.T) {
	_, job := readManifests(t)
	pod := job.Spec.Template.Spec
	size := job.Spec.Completions
	p := newParty(t, size)
	// As it is mounted: a link to a link to a file.
	dir := t.TempDir()
	for _, err := range []error{
		os.Mkdir(filepath.Join(dir, "..2026"), 0o755),
		os.WriteFile(filepath.Join(dir, "..2026", "secret"), []byte(strings.Repeat("s", 32)), 0o600),
		os.Chmod(filepath.Join(dir, "..2026", "secret"), pod.Volumes[0].Secret.DefaultMode&0o400), // it is ours, not the superuser's for our group
		os.Symlink("..2026", filepath.Join(dir, "..data")),
		os.Symlink("..data/secret", filepath.Join(dir, "secret")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var g errgroup.Group
	for i := range size {
		g.Go(func() error {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), "BOOTSTRAP_TEST_RANK=exchange", fmt.Sprint("JOB_COMPLETION_INDEX=", i))
			for _, e := range pod.Containers[0].Env {
				switch e.Name {
				case "VERBENA_MEET":
					e.Value = p.address
				case "VERBENA_SECRET_FILE":
					e.Value = filepath.Join(dir, path.Base(e.Value))
				}
				cmd.Env = append(cmd.Env, e.Name+"="+e.Value)
			}
			out, err := cmd.CombinedOutput()
			if want := fmt.Sprintf("%d of %d agrees\n", i, size); err != nil || string(out) != want {
				return fmt.Errorf("pod %d: %q, %w; expected %q", i, out, err, want)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
}
