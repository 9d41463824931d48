package cli

import (
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/lmittmann/tint"
	"github.com/mattn/go-isatty"
)

// newLogger returns the daemon's logger: text for people, in colour on a
// terminal, or JSON. The format is that of the configuration's log.format.
func newLogger(w io.Writer, format string, level slog.Leveler, colour bool) *slog.Logger {
	if format == "json" || format == "auto" && !isTerminal(w) {
		return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level}))
	}
	return slog.New(tint.NewTextHandler(w, &tint.Options{
		Level: level, TimeFormat: time.TimeOnly, NoColor: !colour || !isTerminal(w),
	}))
}

// colour reports whether colour is welcome: see no-color.org.
func (p *program) colour() bool {
	value, _ := p.env("NO_COLOR")
	return value == ""
}

func isTerminalFile(f *os.File) bool { return isatty.IsTerminal(f.Fd()) }
