package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/internal/statedir"
	"github.com/panebridge/panebridge/internal/store"
)

// mailbox is what the agents' commands work on: the database, which they write themselves, so that
// they work with the daemon stopped.
type mailbox struct {
	*program
	store *store.Inbox
	dir   string // state folder
	all   inbox.Parties
}

// withMailbox opens the database for a command and closes it after.
func (p *program) withMailbox(do func(ctx context.Context, m *mailbox, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return p.openMailbox(cmd.Context(), func(m *mailbox) error { return do(cmd.Context(), m, args) })
	}
}

func (p *program) openMailbox(ctx context.Context, do func(m *mailbox) error) (err error) {
	dir, err := p.stateDir()
	if err != nil {
		return err
	}
	if err := statedir.Make(dir); err != nil {
		return err
	}
	db, err := store.OpenInbox(ctx, statedir.DatabasePath(dir))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	all, err := db.Parties(ctx)
	if err != nil {
		return err
	}
	return do(&mailbox{program: p, store: db, dir: dir, all: all})
}

// whoFlag is who a command is called by, if that's said.
type whoFlag struct{ given string }

// add adds the flag under both of its names.
func (w *whoFlag) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&w.given, "from", "", "who you are: `SESSION` or person:NAME (else the session of the pane this is called in)")
	flags.StringVar(&w.given, "id", "", "the same as --from")
	_ = flags.MarkHidden("id") // fails only for a flag that isn't there
}

// who finds out who calls.
func (m *mailbox) who(w whoFlag) (inbox.Address, error) {
	var at inbox.Place
	at.Session, _ = m.env("PANEBRIDGE_SESSION")
	at.Pane, _ = m.env("TMUX_PANE")
	tmux, _ := m.env("TMUX") // SOCKET,PID,SESSION; the socket's path may have commas
	if fields := strings.Split(tmux, ","); len(fields) >= 3 {
		at.Server, _ = strconv.Atoi(fields[len(fields)-2])
	}
	who, err := m.all.Who(w.given, at)
	if errors.Is(err, inbox.ErrNobody) {
		err = &exitError{exitUsage, err}
	}
	return who, err
}

// speaker is who, for a command that reads or writes their mail, which takes somebody's
// word if it's called in the pane of another session.
func (m *mailbox) speaker(ctx context.Context, w whoFlag) (inbox.Address, error) {
	who, err := m.who(w)
	if err != nil {
		return who, err
	}
	return who, m.allowed(ctx, func(ctx context.Context, c *client.Client) error { return c.AllowMailbox(ctx, who) })
}

// allowTime is how long the daemon takes at most to say that nobody's word is needed.
const allowTime = 5 * time.Second

// allowed asks the daemon whether this program may do what the daemon itself has no part
// in. Where none answers it may: the store is its user's, as these commands are.
func (m *mailbox) allowed(ctx context.Context, ask func(ctx context.Context, c *client.Client) error) error {
	c := client.New(statedir.SocketPath(m.dir))
	defer c.Close()
	call, cancel := m.callContext(ctx, c, allowTime)
	defer cancel()
	if err := ask(call, c); client.Inside(err) {
		return calling(err)
	}
	return ctx.Err()
}

// box is mail that's announced by the daemon, or by this program while that's stopped.
func (m *mailbox) box() inbox.Box { return inbox.Box{Store: m.store, Announce: m.announcer()} }

// bells wake listeners.
func (m *mailbox) bells() inbox.Bells {
	return inbox.Bells{Folder: filepath.Join(m.dir, inbox.BellFolder)}
}

// maxText is how long the text of a preview gets. A configuration that can't be read is no
// reason not to tell somebody of a message.
func (m *mailbox) maxText() int {
	cfg, err := m.loadPublic()
	if err != nil {
		return inbox.DefaultMaxTextRunes
	}
	return cfg.Mail.MaxTextLen
}

// message returns the text of a message: of the flag, or all of standard input.
func (p *program) message(given bool, text string) (string, error) {
	if given {
		return text, nil
	}
	if isTerminal(p.stdio.In) {
		p.notef("Write the text; Ctrl-D on a line of its own ends it.")
	}
	all, err := io.ReadAll(io.LimitReader(p.stdio.In, inbox.MaxTextBytes+2))
	if err != nil {
		return "", fmt.Errorf("read the text from standard input: %w", err)
	}
	return strings.TrimSuffix(string(all), "\n"), nil
}

// moment is a time as these commands print it.
func moment(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05")
}
