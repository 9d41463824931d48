package tmux_test

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"

	"github.com/panebridge/panebridge/sessions/tmux"
)

// Clients of daemons that were killed, also of one that had this one's process id, are ended
// by the next; those of others stay, and so does the server.
func TestTheNextStartEndsOrphanedClients(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("a process's environment can't be read here")
	}
	s := startServer(t)
	server := s.tmux("display-message", "-p", "#{pid}")
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	exited := map[string]chan struct{}{}
	for name, daemon := range map[string]string{
		"of a killed one":                  strconv.Itoa(gone.Process.Pid),
		"of one that had this one's id":    strconv.Itoa(os.Getpid()),
		"of another that lives":            strconv.Itoa(os.Getppid()),
		"of one that doesn't say whose":    "",
		"of one that says it in odd words": "me",
	} {
		// A shell between makes it somebody else's child.
		c := exec.Command("sh", "-c", `tmux "$@"; exit`, "sh", "-u", "-S", s.socket, "-N", "-C", "new-session", "-A", "-E", "-s", tmux.HiddenSession, "-f", "no-output,ignore-size", "cat", "-")
		c.Env = os.Environ()
		if daemon != "" {
			c.Env = append(c.Env, "PANEBRIDGE_CLIENT_OF="+daemon)
		}
		in, err := c.StdinPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() { _ = c.Wait(); close(done) }()
		t.Cleanup(func() { _ = in.Close(); <-done })
		exited[name] = done
	}
	s.await("all of them", func() bool {
		return s.tmux("display-message", "-p", "-t", "="+tmux.HiddenSession+":", "#{session_attached}") == "6"
	})
	s.connectTo(s.socket)
	for _, name := range []string{"of a killed one", "of one that had this one's id"} {
		<-exited[name]
		delete(exited, name)
	}
	s.await("the rest", func() bool {
		return s.tmux("display-message", "-p", "-t", "="+tmux.HiddenSession+":", "#{session_attached}") == "5" // the test's two among them
	})
	for name, done := range exited {
		select {
		case <-done:
			t.Errorf("a client %s was ended", name)
		default:
		}
	}
	if now := s.tmux("display-message", "-p", "#{pid}"); now != server {
		t.Error("the server went with them")
	}
}
