package testbed

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// sshConfig is the configuration of the machine's ssh command in each host. So
// plain "ssh h1" works there for whoever calls it.
const sshConfig = `Host *
IdentityFile /etc/ssh/key
IdentitiesOnly yes
UserKnownHostsFile /dev/null
GlobalKnownHostsFile /etc/ssh/known_hosts
StrictHostKeyChecking yes
BatchMode yes
ConnectTimeout 5
LogLevel ERROR
User root
`

// SSH starts a server on each host, and gives each a /etc/ssh of its own, with
// which "ssh h1 command" works from everywhere to everywhere. As in most places,
// neither environment nor folder go along.
func (b *Bed) SSH() {
	b.t.Helper()
	Need(b.t, "sshd")
	daemon := b.program("sshd")
	if err := os.Mkdir(b.path("ssh"), 0o755); err != nil {
		b.t.Fatal(err)
	}
	b.keygen("ssh/key")
	b.keygen("ssh/host_key")
	public, err := os.ReadFile(b.path("ssh/host_key.pub"))
	if err != nil {
		b.t.Fatal(err)
	}
	var known strings.Builder
	for i := range b.hosts {
		fmt.Fprintf(&known, "%s,%[1]s-6,%v,%v %s", Name(i), b.Addr(i), b.Addr6(i), public)
	}
	b.write("ssh/known_hosts", known.String())
	b.write("ssh/ssh_config", sshConfig)
	b.write("ssh/sshd_config", "HostKey /etc/ssh/host_key\nAuthorizedKeysFile /etc/ssh/key.pub\nStrictModes no\n"+
		"UsePAM no\nPasswordAuthentication no\nUseDNS no\nPidFile none\nMaxStartups 100\n")
	for i, h := range b.hosts {
		b.do(h, fmt.Sprintf("mkdir -p /run/sshd && mount --bind %s /etc/ssh && %s -f /etc/ssh/sshd_config -E %s",
			quote(b.path("ssh")), daemon, quote(b.path(Name(i)+".sshd.log"))))
	}
	for i := range b.hosts {
		b.answers(i, 22)
	}
}

// keygen makes a pair of keys.
func (b *Bed) keygen(name string) {
	b.t.Helper()
	ctx, cancel := within(limit)
	defer cancel()
	out, err := exec.CommandContext(ctx, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "testbed", "-f", b.path(name)).CombinedOutput()
	if err != nil {
		b.t.Fatalf("testbed: ssh-keygen: %v: %s", err, out)
	}
}
