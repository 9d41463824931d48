package cli

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/statedir"
	"github.com/panebridge/panebridge/internal/store"
)

// Less free space than this is worth a word, and than this is too little: a log
// of 200,000 lines has about 20 MB.
const (
	lowBytes  = 500 << 20
	fullBytes = 20 << 20
)

// examineStateDir looks at the state folder, or, where it isn't there yet, at
// the folder it would be made in.
func examineStateDir(dir string) []finding {
	const name = "state folder"
	there, exists, err := existing(dir)
	if err != nil {
		return []finding{{name, verdictBroken, err.Error(), "Give another folder with --state-dir or PANEBRIDGE_STATE_DIR."}}
	}
	if exists {
		if err := statedir.Check(there); err != nil {
			return []finding{{name, verdictBroken, err.Error(), "`panebridge run` refuses it until that's so."}}
		}
	}
	if err := tryWriting(there); err != nil {
		return []finding{{name, verdictBroken, fmt.Sprintf("%s can't be written to: %v", there, err), "Make it this user's (chown), or give another with --state-dir or PANEBRIDGE_STATE_DIR."}}
	}
	all := []finding{{Check: name, State: verdictOK, Detail: dir + " can be written to"}}
	if !exists {
		all[0].Detail = dir + " isn't there yet, and can be made"
	} else if open(there) {
		all[0] = finding{name, verdictWarning, "other users can look into " + dir, "chmod 700 " + dir}
	}
	return append(all, examineDisk(there))
}

// existing returns the folder, or the nearest above it that exists.
func existing(dir string) (there string, exists bool, err error) {
	for there = dir; ; there = filepath.Dir(there) {
		info, err := os.Stat(there)
		switch {
		case err == nil && !info.IsDir():
			return there, false, fmt.Errorf("%s is a file, not a folder", there)
		case err == nil:
			return there, there == dir, nil
		case !errors.Is(err, fs.ErrNotExist):
			return there, false, fmt.Errorf("look at the state folder: %w", err)
		case there == filepath.Dir(there):
			return there, false, fmt.Errorf("look at the state folder: %w", err)
		}
	}
}

// tryWriting makes a file and removes it: rights alone don't tell of a file
// system that's mounted read-only or full.
func tryWriting(dir string) error {
	f, err := os.CreateTemp(dir, ".panebridge-doctor-*")
	if err != nil {
		return err
	}
	_, err = f.WriteString("x")
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

func open(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.Mode().Perm()&0o077 != 0
}

func examineDisk(dir string) finding {
	const name = "disk"
	freeBytes, err := store.Room(dir)
	if err != nil {
		return finding{name, verdictWarning, fmt.Sprintf("how full it is can't be told: %v", err), "Look with `df`."}
	}
	f := finding{Check: name, State: verdictOK, Detail: fmt.Sprintf("%d MB free", freeBytes>>20)}
	switch {
	case freeBytes < fullBytes:
		f.State, f.Fix = verdictBroken, "Make room on the disk of "+dir+": without it output isn't stored."
	case freeBytes < lowBytes:
		f.State, f.Fix = verdictWarning, "Make room on the disk of "+dir+", or lower sessions.log_max_lines."
	}
	return f
}

// askTimeout is how long a check waits for an answer.
const askTimeout = 5 * time.Second

// examineDaemon looks whether the daemon runs, and how it says it is.
func examineDaemon(ctx context.Context, dir string) (running bool, all []finding) {
	const name = "daemon"
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	c := client.New(statedir.SocketPath(dir))
	defer c.Close()
	health, err := c.Health(ctx)
	switch {
	case errors.Is(err, client.ErrNotRunning):
		return false, []finding{{name, verdictWarning, "it isn't running", "`panebridge run` starts it."}}
	case err != nil:
		return true, []finding{{name, verdictBroken, "it doesn't answer: " + err.Error(), "Look into its log, and start it anew."}}
	}
	all = []finding{{Check: name, State: verdictOK, Detail: "it's running"}}
	for _, part := range health.Parts {
		f := finding{Check: name + ", " + part.Name, State: verdictOK, Detail: part.Detail}
		if part.State != api.HealthOK {
			f.State, f.Fix = verdictBroken, "Put right what it says; the daemon's log says more."
		}
		if part.State == api.HealthDegraded {
			f.State = verdictWarning
		}
		if f.Detail == "" {
			f.Detail = string(part.State)
		}
		all = append(all, f)
	}
	if list, err := c.Quiet().Access(ctx); err == nil { // else there are no chats, or it isn't for whoever runs this
		all = append(all, examineMembers(list, time.Now())...)
	}
	return true, all
}

// unseenFor is longer than the daemon takes to look again who's in a group.
const unseenFor = time.Hour

// examineMembers looks whose access goes by a group of which nobody can tell who's in it.
func examineMembers(list []api.AccessEntry, now time.Time) (all []finding) {
	for _, e := range list {
		if e.Chat == "" || e.Void != "" || now.Sub(e.Checked) < unseenFor {
			continue
		}
		all = append(all, finding{
			"access", verdictWarning, fmt.Sprintf("nobody can tell whether %s is still in %s, which made them %s; last seen there %s", e.Person, e.Chat, e.Role, moment(e.Checked)),
			"Make the bot an administrator of the group, or give the role by name: `panebridge access grant`. Else it ends after access.pairing_ttl.",
		})
	}
	return all
}

// examinePort looks whether the page's port is free or ours.
func examinePort(ctx context.Context, cfg *config.Config, dir string, running bool) finding {
	const name = "page"
	web := cfg.Adapters.Web
	if !web.Enabled {
		return finding{Check: name, State: verdictOK, Detail: "it's off (adapters.web.enabled)"}
	}
	if running {
		if address := served(ctx, dir); address != "" {
			return finding{Check: name, State: verdictOK, Detail: "served on " + address}
		}
		return finding{name, verdictWarning, "the daemon doesn't serve it as the configuration says", "Start the daemon anew."}
	}
	if free(ctx, web.Listen) {
		return finding{Check: name, State: verdictOK, Detail: web.Listen + " is free"}
	}
	return finding{
		name, verdictBroken, web.Listen + " is taken by another program, or can't be listened on",
		"End that program (`ss -ltnp` lists those that listen), or set adapters.web.listen to another port.",
	}
}

// free reports whether an address can be listened on.
func free(ctx context.Context, address string) bool {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return false
	}
	_ = l.Close()
	return true
}

// served returns where the daemon of a state folder serves the page; "" when it doesn't,
// or something else answers there.
func served(ctx context.Context, dir string) string {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	c := client.New(statedir.SocketPath(dir))
	defer c.Close()
	page, err := c.Page(ctx)
	if err != nil || page.URL == "" {
		return ""
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(page.URL, "/")+api.StartPath, http.NoBody)
	if err != nil {
		return ""
	}
	// Its certificate is for its public name; that it's ours the start shows.
	here := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}} //nolint:gosec // as above
	resp, err := here.Do(r)
	if err != nil {
		return ""
	}
	defer func() { _ = resp.Body.Close() }()
	var now api.SigningStart
	if json.NewDecoder(resp.Body).Decode(&now) != nil || now.Start != page.Start {
		return ""
	}
	return page.URL
}
