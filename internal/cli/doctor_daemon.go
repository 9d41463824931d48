package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/statedir"
)

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
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, page.URL+"api/v1/page/start", http.NoBody)
	if err != nil {
		return ""
	}
	resp, err := http.DefaultClient.Do(r)
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
