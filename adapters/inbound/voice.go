package inbound

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
// command: where it could be read as one, or would answer a program, its speaker is asked. Where there's no text the session is
// given the file.
func (in *Inbound) typeVoice(ctx context.Context, ev intake.Event, s intake.Said, to sessions.Session) (commands.EventResult, error) {
	w, err := in.opt.Store.Deferred(ctx, spokenKey(ev))
	switch {
	case err == nil: // the event comes again: another transcription may say something else than what was shown
		return in.askSpoken(ctx, ev, w, in.whyAsk(w.Said.Text, to))
	case !errors.Is(err, sessions.ErrUnknown):
		return commands.EventResult{}, fmt.Errorf("look for what was spoken: %w", err)
	}
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
		in.Log.Info("a voice note isn't transcribed", "session", to.ID, "target", ev.Place.String(), "err", in.Masked(err.Error()))
		in.ReplyText(ev, "voice", qos.Interactive, "Not transcribed: "+wording.Plain(in.Masked(err.Error()))+". The session is given the recording.")
		return in.typeAnswer(ctx, ev, s, withPaths(s.Text, paths), to)
	}
	text := strings.TrimSpace(s.Text + " " + said)
	if why := in.whyAsk(text, to); in.opt.Voice.Confirm || why != "" {
		w = cards.NewDeferredText(ev, intake.Said{Text: text, ReplyTo: s.ReplyTo, Quoted: s.Quoted})
		w.Key, w.EditKey, w.Session = spokenKey(ev), ev.Key, to.ID // a text that waits for something else may have the event's own
		if err := in.opt.Store.PutDeferred(ctx, w); err != nil {
			return commands.EventResult{}, fmt.Errorf("keep what was spoken: %w", err)
		}
		d, err := in.askSpoken(ctx, ev, w, why)
		if err == nil {
			in.removeRecording(paths[0])
		}
		return d, err
	}
	d, err := in.typeAnswer(ctx, ev, s, text, to)
	if d.Outcome == "" {
		return d, err
	}
	if r, failed := in.opt.Sessions.Receipt(ctx, d.Outcome); failed == nil {
		text = r.Text // of an event that comes again it's what was typed the first time
	}
	in.ReplyPost(ev, "voice", qos.Interactive, in.spokenPost(ev.Place, text, ""))
	in.removeRecording(paths[0])
	return d, err
}

// spokenKey is the key under which what was spoken waits for its button.
func spokenKey(ev intake.Event) string { return "spoken " + ev.Key }

// askSpoken shows what was spoken, and asks whether to type it; why says what it would do, as a sentence, "": be read.
func (in *Inbound) askSpoken(ctx context.Context, ev intake.Event, w cards.DeferredText, why string) (commands.EventResult, error) {
	o := cards.Offer{Do: "type-spoken", Session: w.Session, Args: w.Key, Role: access.Operator, Person: ev.Person.ID, Single: true, Group: w.Key}
	send, err := in.MakeOffer(ctx, ev.Place, "Type it", o)
	if err != nil {
		return commands.EventResult{}, err
	}
	o.Do = "drop-spoken"
	drop, err := in.MakeOffer(ctx, ev.Place, "Don't", o)
	if err != nil {
		return commands.EventResult{}, err
	}
	p := in.spokenPost(ev.Place, w.Said.Text, why)
	p.Buttons = [][]adapters.Button{{send, drop}}
	in.ReplyPost(ev, "voice", qos.Interactive, p)
	return commands.EventResult{Session: w.Session, Outcome: "asked"}, nil
}

// spokenPost shows what was spoken, all of it: where a message can't, in a file. why stands below it.
func (in *Inbound) spokenPost(at adapters.Target, text, why string) adapters.Post {
	text, shape := in.Masked(text), in.opt.Hub.Shape(at)
	if why != "" {
		why = "\n\n" + wording.Plain(why)
	}
	if whole := spokenMark + wording.Plain(text) + why; shape.Len(whole) <= shape.MaxLen || len(text) > shape.MaxFile {
		return adapters.Post{Text: whole}
	}
	return adapters.Post{Text: spokenMark + "What was spoken is in the file." + why, File: &adapters.File{Name: "spoken.txt", Data: []byte(text + "\n")}}
}

// spokenMark begins what shows a text that was spoken.
const spokenMark = "🎤 "

// whyAsk says what a spoken text would do but be read, as a sentence; "": nothing is known.
func (in *Inbound) whyAsk(text string, to sessions.Session) string {
	switch {
	case in.AsksForLine(to.ID):
		return "The program in this session asks for a line, and this would answer it."
	case isShell(to):
		return "A shell would run this as a command."
	case strings.ContainsAny(text[:1], "/!#@:&>$\\"):
		return "It begins with a sign that agents read as a command."
	case slices.Contains(commandWords, strings.ToLower(strings.TrimRight(text, ".!,? "))):
		return "Agents read this word as a command."
	}
	return ""
}

// commandWords are what agents read as commands without a sign before it, if nothing else is said: Claude Code and opencode end.
var commandWords = []string{"exit", "quit"} //nolint:gochecknoglobals // a constant table

// isShell reports whether a session has no agent, as far as is known.
func isShell(s sessions.Session) bool {
	agent := s.Source.Program
	if agent == "" {
		agent = s.Agent
	}
	return agent == "" || agent == "shell"
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
	d, err := in.typeAnswer(a.Ctx, w.Event(), w.Said, w.Said.Text, a.Session)
	if d.Outcome == "" {
		return err
	}
	return errors.Join(err, in.opt.Store.DropDeferred(a.Ctx, w.Key), a.ReplaceText(in.spokenPost(a.Event.Place, w.Said.Text, "").Text))
}

// dropSpoken forgets what was spoken.
func (in *Inbound) dropSpoken(a *commands.Invocation) error {
	if err := in.opt.Store.DropDeferred(a.Ctx, a.Offered.Args); err != nil {
		return err
	}
	return a.ReplaceText("Not typed.")
}
