package inbound

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// Transcription says how voice notes become text.
type Transcription struct {
	// Transcribe returns what's said in a recording, on one line, within some minutes. The error says to people why there's
	// no text.
	Transcribe func(ctx context.Context, path string) (string, error)
	Confirm    bool // ask before each text is typed
}

// isVoice reports whether a message is a voice note that's to become text.
func (in *Inbound) isVoice(s intake.Said) bool {
	return in.opt.Voice.Transcribe != nil && len(s.Files) == 1 && s.Files[0].Kind == intake.FileVoice
}

// typeVoice has what's said in a voice note typed, behind the message's text, and shows it. What was spoken is text, and no
// command: where it could be read as one its speaker is asked. Where there's no text the session is given the file.
func (in *Inbound) typeVoice(ctx context.Context, ev intake.Event, s intake.Said, to sessions.Session) (commands.EventResult, error) {
	paths, problem, err := in.saveFiles(ctx, ev, s.Files, to)
	if err != nil {
		return commands.EventResult{}, err
	}
	if problem != "" {
		return in.refuseFiles(ev, to, problem), nil
	}
	said, err := in.opt.Voice.Transcribe(ctx, paths[0])
	if ctx.Err() != nil {
		return commands.EventResult{}, fmt.Errorf("transcribe a voice note: %w", err)
	}
	if err != nil {
		in.Log.Info("a voice note isn't transcribed", "session", to.ID, "target", ev.Place.String(), "err", err)
		in.ReplyText(ev, "voice", qos.Interactive, "Not transcribed: "+wording.Plain(err.Error())+". The session is given the recording.")
		return in.typeInput(ctx, ev, withPaths(s.Text, paths), to)
	}
	text := strings.TrimSpace(s.Text + " " + said)
	shown := "🎤 " + wording.Plain(in.Masked(text))
	if !in.opt.Voice.Confirm && !isCommandLike(text, to) {
		in.ReplyText(ev, "voice", qos.Interactive, shown)
		d, err := in.typeInput(ctx, ev, text, to)
		if err == nil && d.Outcome != "" {
			in.removeRecording(paths[0])
		}
		return d, err
	}
	w := cards.NewDeferredText(ev, intake.Said{Text: text})
	w.Session = to.ID
	if err := in.opt.Store.PutDeferred(ctx, w); err != nil {
		return commands.EventResult{}, fmt.Errorf("keep what was spoken: %w", err)
	}
	o := cards.Offer{Do: "type-spoken", Session: to.ID, Args: w.Key, Role: access.Operator, Person: ev.Person.ID, Single: true, Group: "spoken " + ev.Key}
	send, err := in.MakeOffer(ctx, ev.Place, "Type it", o)
	if err != nil {
		return commands.EventResult{}, err
	}
	o.Do = "drop-spoken"
	drop, err := in.MakeOffer(ctx, ev.Place, "Don't", o)
	if err != nil {
		return commands.EventResult{}, err
	}
	in.ReplyText(ev, "voice", qos.Interactive, shown, []adapters.Button{send, drop})
	in.removeRecording(paths[0])
	return commands.EventResult{Session: to.ID, Outcome: "asked"}, nil
}

// isCommandLike reports whether a program would do more with a text than read it: a shell with any, an agent with one that
// begins with a sign of its own.
func isCommandLike(text string, to sessions.Session) bool {
	agent := to.Source.Program
	if agent == "" {
		agent = to.Agent
	}
	return agent == "" || agent == "shell" || strings.ContainsAny(text[:1], "/!#@:&>$\\")
}

// removeRecording removes a voice note that has become text.
func (in *Inbound) removeRecording(path string) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		in.Log.Warn("a recording stays", "file", filepath.Base(path), "err", err)
	}
}

// typeSpoken types what was spoken, as it was shown.
func (in *Inbound) typeSpoken(a *commands.Invocation) error {
	w, found, err := in.offeredText(a, "It was typed or dropped already.")
	if !found {
		return err
	}
	d, err := in.typeInput(a.Ctx, w.Event(), w.Said.Text, a.Session)
	if d.Outcome == "" {
		return err
	}
	return errors.Join(err, in.opt.Store.DropDeferred(a.Ctx, w.Key), a.ReplaceText("🎤 "+wording.Plain(in.Masked(w.Said.Text))))
}

// dropSpoken forgets what was spoken.
func (in *Inbound) dropSpoken(a *commands.Invocation) error {
	if err := in.opt.Store.DropDeferred(a.Ctx, a.Offered.Args); err != nil {
		return err
	}
	return a.ReplaceText("Not typed.")
}
