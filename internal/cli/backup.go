package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/statedir"
	"github.com/panebridge/panebridge/internal/store"
)

func newBackup(p *invocation) *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Back up all that panebridge keeps, while it runs or not",
		Long: `Write a copy of the database, as it is at one moment, into FILE: logs, receipts,
bindings, mail, who may do what, and how far chats are. It's whole or isn't there, this
user's alone to read, and what was forgotten isn't in it; but it has what's forgotten
later, so delete it then. A daemon that runs goes on meanwhile; it may be an older one.

The configuration and its secrets are in files of their own, and aren't in it.
"panebridge restore FILE" puts it back.`,
		Args: takes(1, 1),
		Example: `  panebridge backup /media/usb/panebridge-$(date +%F).backup
  panebridge backup --force ~/panebridge.backup`,
		RunE: func(cmd *cobra.Command, args []string) error {
			path, into, err := p.databaseAndFile(args[0])
			if err != nil {
				return err
			}
			label, err := store.Backup(cmd.Context(), path, into, store.BackupOptions{Version: p.versionText(), Overwrite: force})
			switch {
			case errors.Is(err, store.ErrExists):
				return fmt.Errorf("%w: give another name, or --force", err)
			case errors.Is(err, os.ErrNotExist) && !isThere(path):
				return fmt.Errorf("there's no database in %s: panebridge hasn't run with that state folder", filepath.Dir(path))
			case err != nil:
				return err
			}
			return p.printf("backed up to %s (%s)\n", into, described(label))
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace FILE if it's there, once the backup is whole")
	return cmd
}

func newRestore(p *invocation) *cobra.Command {
	return &cobra.Command{
		Use:   "restore FILE",
		Short: "Go back to a backup",
		Long: `Look whether FILE is a backup that's whole, sound and not of a newer panebridge, and put
it in the place of the database. What was there before is kept beside it, as
panebridge.db-replaced-TIME, for as long as ended sessions are.

While a daemon runs, the backup is laid beside the database, and is put in place when
the daemon is started anew. Until then "rm" of the file that's named takes it back.

What the backup was still to do isn't done again: texts that waited to be typed are
cancelled, what chats wrote until now counts as read, and chats go on with what's
printed from then on. Who was shut out since stays out.`,
		Args:    takes(1, 1),
		Example: "  panebridge restore /media/usb/panebridge-2026-11-30.backup",
		RunE: func(cmd *cobra.Command, args []string) error {
			path, from, err := p.databaseAndFile(args[0])
			if err != nil {
				return err
			}
			return p.restore(cmd.Context(), path, from)
		},
	}
}

// databaseAndFile returns where the database is, and the whole path of a file that was given.
func (p *invocation) databaseAndFile(name string) (path, file string, err error) {
	dir, err := p.stateDir()
	if err != nil {
		return "", "", err
	}
	if name == "-" || name == "" {
		return "", "", usageErrorf("a backup needs a file of its own, since it's checked when it's whole: give a name in place of %q", name)
	}
	file, err = filepath.Abs(name)
	if err != nil {
		return "", "", fmt.Errorf("find %s: %w", name, err)
	}
	return statedir.DatabasePath(dir), file, nil
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// described says what a backup is.
func described(l store.BackupLabel) string {
	text := fmt.Sprintf("%.1f MB, schema %d", float64(l.Bytes)/1e6, l.Schema)
	if l.Version != "" {
		text += ", by panebridge " + l.Version
	}
	if !l.At.IsZero() {
		text += ", of " + l.At.Local().Format(time.DateTime)
	}
	return text
}

// restore lays a backup beside the database, and puts it in place if no daemon has the state folder.
func (p *invocation) restore(ctx context.Context, path, from string) error {
	dir := filepath.Dir(path)
	if err := statedir.Make(dir); err != nil {
		return err
	}
	label, err := store.Stage(ctx, path, from)
	if err != nil {
		return err
	}
	folder, err := statedir.Open(dir)
	if errors.Is(err, statedir.ErrInUse) {
		return p.printf("%s (%s) is whole, and lies beside the database.\nA daemon runs, which goes on with what it has. Start it anew, and the backup is put in place: `panebridge service restart`, or end it and start it as you do.\nTo take it back before: rm %s\n",
			from, described(label), store.StagedName(path))
	}
	if err != nil {
		return err
	}
	defer folder.Close()
	done, err := statedir.FinishRestore(ctx, dir, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	text := fmt.Sprintf("restored %s (%s)\n", from, described(label))
	if done.Kept != "" {
		text += fmt.Sprintf("what was there before is %s\n", done.Kept)
	}
	if done.Blind {
		text += "nobody knows what was said and sent since the backup: who was shut out since may be in again (`panebridge access list`, `page list`), and bots are silent for a minute\n"
	}
	return p.printf("%s", text)
}
