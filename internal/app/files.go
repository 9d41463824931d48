package app

import (
	"context"
	"math"
	"path/filepath"
	"slices"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/internal/showing"
	"github.com/panebridge/panebridge/sessions"
)

func (d *daemon) sentFiles() commands.SentFiles {
	return commands.SentFiles{StateDir: d.opt.StateDir, ShownPath: d.masker.Line}
}

// exhibits are what programs show, as the API has it.
type exhibits struct {
	*showing.Showcase
	d *daemon
}

// Read implements api.Exhibits.
func (x exhibits) Read(s sessions.Session, path string) (f sessions.ExhibitFile, err error) {
	f.Path, f.Outside, f.Data, err = x.d.sentFiles().ReadAnywhere(s, path, math.MaxInt)
	return f, err
}

// Content implements api.Exhibits.
func (x exhibits) Content(ctx context.Context, e sessions.Exhibit) (name string, data []byte, err error) {
	data, err = x.ExhibitData(ctx, e.ID)
	f := adapters.MaskedFile(x.d.masker, adapters.File{Name: e.Name, Data: data})
	return f.Name, f.Data, err
}

// reaches reports whether anybody can see what a session asks: a chat shows it, questions are shown to somebody who
// watches all, or there's the page.
func (d *daemon) reaches(id sessions.ID) bool {
	c := d.currentConfig()
	return c.Adapters.Web.Enabled || c.Prompts.EscalateTo != "" ||
		slices.ContainsFunc(d.hub.Status(id), func(b adapters.BindingStatus) bool { return b.Binding.Active() })
}

// readFile reads a file of a session's folder for the page: what /send would send to a chat, without secrets as there.
func (d *daemon) readFile(s sessions.Session, path string) (name string, data []byte, err error) {
	path, data, err = d.sentFiles().ReadFile(s, path, math.MaxInt)
	if err != nil {
		return "", nil, err
	}
	masked := adapters.MaskedFile(d.masker, adapters.File{Name: filepath.Base(path), Data: data})
	return masked.Name, masked.Data, nil
}
