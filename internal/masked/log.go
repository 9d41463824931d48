package masked

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/panebridge/panebridge/internal/redact"
)

// NewHandler returns a handler that masks what masker knows, and hands records on to next.
func NewHandler(next slog.Handler, masker *redact.Masker) slog.Handler {
	return maskedHandler{next, masker}
}

// maskedHandler masks the daemon's secrets in what it logs, whoever wrote them there: an
// error of a library may have an address with its password.
type maskedHandler struct {
	slog.Handler
	masker *redact.Masker
}

// Handle implements [slog.Handler].
func (h maskedHandler) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time, r.Level, h.masker.Line(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(h.mask(a))
		return true
	})
	return h.Handler.Handle(ctx, out)
}

// WithAttrs implements [slog.Handler].
func (h maskedHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	masked := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		masked[i] = h.mask(a)
	}
	return maskedHandler{h.Handler.WithAttrs(masked), h.masker}
}

// WithGroup implements [slog.Handler].
func (h maskedHandler) WithGroup(name string) slog.Handler {
	return maskedHandler{h.Handler.WithGroup(name), h.masker}
}

func (h maskedHandler) mask(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString:
		return slog.String(a.Key, h.masker.Line(v.String()))
	case slog.KindGroup:
		members := make([]any, 0, len(v.Group()))
		for _, m := range v.Group() {
			members = append(members, h.mask(m))
		}
		return slog.Group(a.Key, members...)
	case slog.KindAny:
		text := fmt.Sprint(v.Any())
		if masked := h.masker.Line(text); masked != text {
			return slog.String(a.Key, masked)
		}
	default: // numbers and times
	}
	return slog.Attr{Key: a.Key, Value: v}
}
