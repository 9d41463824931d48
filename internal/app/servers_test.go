package app_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"go.yaml.in/yaml/v4"

	"github.com/panebridge/panebridge/internal/browsertest"
)

// pageManual is docs/page.md. What it shows is what's tested.
func pageManual(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "page.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// shown is the first block of a language that a section of docs/page.md shows.
func shown(t *testing.T, section, language string) string {
	t.Helper()
	_, rest, found := strings.Cut(pageManual(t), "\n## "+section+"\n")
	rest, _, _ = strings.Cut(rest, "\n## ")
	_, block, has := strings.Cut(rest, "```"+language+"\n")
	block, _, ends := strings.Cut(block, "```")
	if !found || !has || !ends {
		t.Fatalf("docs/page.md has no %s below %q", language, section)
	}
	return block
}

// fill puts values in the place of what docs/page.md shows, each of which must be there.
func fill(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("docs/page.md doesn't show %q any more:\n%s", pairs[i], text)
		}
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// webSettings are the settings of the page in a configuration.
func webSettings(t *testing.T, text string) map[string]any {
	t.Helper()
	var all struct {
		Adapters struct {
			Web map[string]any `yaml:"web"`
		} `yaml:"adapters"`
	}
	if err := yaml.Unmarshal([]byte(text), &all); err != nil {
		t.Fatal(err)
	}
	return all.Adapters.Web
}

// certificate is a certificate, which vouches for itself, and its key, as files.
type certificate struct {
	cert, key string // paths
	leaf      *x509.Certificate
}

// newCertificate makes one for names, good from now on for so long, before which it was good for an hour.
func newCertificate(t *testing.T, dir, name string, life time.Duration, names ...string) *certificate {
	t.Helper()
	c := &certificate{cert: filepath.Join(dir, name+".pem"), key: filepath.Join(dir, name+".key")}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, DNSNames: names, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		NotBefore: time.Now().Add(min(0, life) - time.Hour), NotAfter: time.Now().Add(life),
	}, &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: name}}, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err == nil {
		c.leaf, err = x509.ParseCertificate(der)
	}
	for path, block := range map[string]*pem.Block{c.cert: {Type: "CERTIFICATE", Bytes: der}, c.key: {Type: "PRIVATE KEY", Bytes: secret}} {
		err = errors.Join(err, os.WriteFile(path, pem.EncodeToMemory(block), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// trusted is a browser that takes the certificate for good, and finds a name at this machine.
func (c *certificate) trusted(t *testing.T, name string) *browser {
	t.Helper()
	key := sha256.Sum256(c.leaf.RawSubjectPublicKeyInfo)
	return &browser{browsertest.New(t, 1280, 900,
		chromedp.Flag("ignore-certificate-errors-spki-list", base64.StdEncoding.EncodeToString(key[:])),
		chromedp.Flag("host-resolver-rules", "MAP "+name+" 127.0.0.1"))}
}

// service finds a program of a package that scripts/install.sh installs.
func service(t *testing.T, name string) string {
	t.Helper()
	for _, file := range []string{name, "/usr/sbin/" + name} {
		if path, err := exec.LookPath(file); err == nil {
			return path
		}
	}
	t.Fatalf("%s isn't installed; run scripts/install.sh test", name)
	return ""
}

// server is a program that listens, and is started and ended by its test.
type server struct {
	*testing.T

	address string // it listens on
	command []string
	log     string // path
	process *exec.Cmd
}

// start starts it, and returns when it listens.
func (s *server) start() {
	s.Helper()
	said, err := os.OpenFile(s.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		s.Fatal(err)
	}
	defer said.Close()
	s.process = exec.Command(s.command[0], s.command[1:]...)
	s.process.Stdout, s.process.Stderr = said, said
	s.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.process.Start(); err != nil {
		s.Fatal(err)
	}
	ended := make(chan error, 1)
	process := s.process
	go func() { ended <- process.Wait() }()
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		var d net.Dialer
		if c, err := d.DialContext(s.Context(), "tcp", s.address); err == nil {
			_ = c.Close()
			return
		}
		select {
		case err := <-ended:
			text, _ := os.ReadFile(s.log)
			s.Fatalf("%s has ended with %v:\n%s", s.command[0], err, text)
		default:
		}
		if time.Now().After(end) {
			s.Fatalf("%s doesn't listen", s.command[0])
		}
	}
}

// stop ends it and all that it has started. It returns when nothing listens any more.
func (s *server) stop() {
	if s.process == nil {
		return
	}
	_ = syscall.Kill(-s.process.Process.Pid, syscall.SIGKILL)
	s.process = nil
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		c, err := net.DialTimeout("tcp", s.address, time.Second)
		if err != nil {
			return
		}
		_ = c.Close()
	}
}

// newNginx starts an nginx with a server as docs/page.md shows it, on an address. Its workers
// are another user's if other is true, which takes root.
func newNginx(t *testing.T, address, page string, other bool, c *certificate) *server {
	t.Helper()
	return newNginxOf(t, address, nginxServer(t, address, page, c), other)
}

// nginxServer is the server that docs/page.md shows, on an address.
func nginxServer(t *testing.T, address, page string, c *certificate) string {
	t.Helper()
	return fill(t, shown(t, "Caddy, nginx", "nginx"), "listen 443 ssl", "listen "+address+" ssl",
		"/etc/nginx/pane.pem", c.cert, "/etc/nginx/pane.key", c.key, "127.0.0.1:7333", page)
}

// newNginxOf starts an nginx with a server.
func newNginxOf(t *testing.T, address, text string, other bool) *server {
	t.Helper()
	dir := shortTemp(t)
	if err := os.Chmod(dir, 0o711); err != nil { // another user's workers keep bodies there
		t.Fatal(err)
	}
	whose := ""
	if os.Geteuid() == 0 {
		name, group := "root", "root"
		if other {
			name, group = nobody(t)
		}
		whose = fmt.Sprintf("user %s %s;", name, group)
	}
	temps := ""
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		temps += fmt.Sprintf("%s_temp_path %s/%s;\n", kind, dir, kind)
	}
	conf := filepath.Join(dir, "nginx.conf")
	text = fmt.Sprintf("daemon off;\nworker_processes 1;\npid %s/pid;\n%s\nevents {}\nhttp {\naccess_log off;\n%s%s}\n", dir, whose, temps, text)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "log")
	s := &server{T: t, address: address, log: log, command: []string{service(t, "nginx"), "-e", log, "-c", conf}}
	t.Cleanup(s.stop)
	s.start()
	return s
}

// nobody is a user who has nothing, with their group.
func nobody(t *testing.T) (name, group string) {
	t.Helper()
	u, err := user.Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	g, err := user.LookupGroupId(u.Gid)
	if err != nil {
		t.Fatal(err)
	}
	return u.Username, g.Name
}

// newTunnel starts a tunnel that begins at an address near by, by a command such as "ssh -N -L
// 9000:127.0.0.1:7333 devbox", through an sshd of its own.
func newTunnel(t *testing.T, near string, command []string) *server {
	t.Helper()
	if len(command) < 3 || command[0] != "ssh" || command[len(command)-1] != "devbox" {
		t.Fatalf("docs/page.md shows %q", command)
	}
	dir := shortTemp(t)
	key := func(name string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s; run scripts/install.sh test", err, out)
		}
		return path
	}
	host, person, address := key("host"), key("person"), freeAddress(t)
	at, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	needsRunSSHD(t)
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	served := write("sshd_config", fmt.Sprintf("ListenAddress %s\nHostKey %s\nAuthorizedKeysFile %s.pub\nPidFile none\nStrictModes no\nUsePAM %s\n"+
		"PermitRootLogin prohibit-password\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n", address, host, person, yesOrNo(isLocked(me.Username))))
	asked := write("ssh_config", fmt.Sprintf("Host devbox\nHostName %s\nPort %s\nUser %s\nIdentityFile %s\nIdentitiesOnly yes\nIdentityAgent none\nBatchMode yes\n"+
		"StrictHostKeyChecking no\nUserKnownHostsFile %s\nExitOnForwardFailure yes\n", at, port, me.Username, person, filepath.Join(dir, "known_hosts")))
	sshd := &server{T: t, address: address, log: filepath.Join(dir, "sshd.log"), command: []string{service(t, "sshd"), "-D", "-e", "-f", served}}
	t.Cleanup(sshd.stop)
	sshd.start()
	tunnel := &server{T: t, address: near, log: filepath.Join(dir, "ssh.log"), command: append([]string{"ssh", "-F", asked}, command[1:]...)}
	t.Cleanup(tunnel.stop)
	t.Cleanup(func() {
		if t.Failed() {
			text, _ := os.ReadFile(sshd.log)
			t.Logf("sshd said:\n%s", text)
		}
	})
	tunnel.start()
	return tunnel
}

// needsRunSSHD makes the folder that an sshd of root wants, which a system makes when it starts its own.
func needsRunSSHD(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	switch err := os.Mkdir("/run/sshd", 0o755); {
	case err == nil:
		t.Cleanup(func() { _ = os.Remove("/run/sshd") })
	case !errors.Is(err, os.ErrExist):
		t.Fatal(err)
	}
}

// isLocked reports whether a user has no password that anything could be. Without PAM an sshd
// doesn't let them in by their key either.
func isLocked(name string) bool {
	text, err := os.ReadFile("/etc/shadow")
	return err == nil && strings.Contains("\n"+string(text), "\n"+name+":!")
}

func yesOrNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}
