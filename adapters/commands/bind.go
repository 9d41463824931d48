package commands

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/sessions"
)

// runBind has the place mirror a session, or do it in another way.
func runBind(a *Invocation) error {
	words := strings.Fields(a.args)
	if a.Session.ID == "" && len(words) > 0 {
		if s, err := a.runner.Sessions.Get(words[0]); err == nil {
			a.Session, words = s, words[1:]
		}
	}
	how, err := readBind(words, a.Session.ID != "")
	if err != nil {
		return err
	}
	here := a.runner.Hub.BindingsAt(a.Event.Place)
	if a.Session.ID == "" {
		switch {
		case len(here) == 1:
			if a.Session, err = a.runner.Sessions.Get(string(here[0].Session)); err != nil {
				return err
			}
		case len(here) > 1:
			return a.AskWhich("Which session?", a.runner.SessionsAt(a.Event.Place, func(adapters.Binding) bool { return true }), a.bindOffer())
		default:
			return a.askAnySession()
		}
	}
	return a.bindSession(how)
}

// bindOffer is what choosing a session for this command does.
func (a *Invocation) bindOffer() cards.Offer {
	return cards.Offer{Do: "command", Args: "bind " + a.args, Person: a.Event.Person.ID, Single: true, Group: "which " + a.Event.Key}
}

// askAnySession asks which of all sessions.
func (a *Invocation) askAnySession() error {
	living := slices.DeleteFunc(a.runner.Sessions.List(), func(s sessions.Session) bool { return s.State == sessions.StateEnded })
	if len(living) == 0 {
		return errors.New("there's no session; /new begins one")
	}
	return a.AskWhich("Which session should be mirrored here?", living, a.bindOffer())
}

// binding is how somebody wants a binding to be; nil: as it is, or as usual.
type binding struct {
	view          adapters.View // "": as it is
	input, quotes *bool
}

// readBind reads what's written behind the session; named says whether there was one.
func readBind(words []string, named bool) (b binding, err error) {
	for i := 0; i < len(words); i++ {
		word := strings.ToLower(words[i])
		switch word {
		case "input", "quotes":
			if i++; i == len(words) || !slices.Contains([]string{"on", "off"}, strings.ToLower(words[i])) {
				return b, fmt.Errorf("write %s on or %[1]s off", word)
			}
			on := strings.EqualFold(words[i], "on")
			if word == "input" {
				b.input = &on
			} else {
				b.quotes = &on
			}
		default:
			v, err := adapters.ParseView(word)
			if err != nil && i == 0 && !named {
				return b, fmt.Errorf("there's no session %s, and no view of that name; /sessions shows the sessions, the views are stream, final and screen",
					wording.CutEnd(words[i], 60))
			}
			if err != nil {
				return b, fmt.Errorf("write it as /bind SESSION stream input on; the views are stream, final and screen, and %s is none", wording.CutEnd(words[i], 60))
			}
			b.view = v
		}
	}
	return b, nil
}

// bindSession has the place mirror the session. A chat that nobody named becomes known.
func (a *Invocation) bindSession(how binding) error {
	to, view, input := a.Event.Place, adapters.ViewStream, true
	was, ok := a.boundHere()
	if ok {
		// Its target isn't this place if a thread was made for it.
		to, view, input = was.Binding.Target, was.Binding.View, was.Binding.Input
		if how == (binding{}) {
			input = true // who says nothing wants it to work
		}
	}
	if how.view != "" {
		view = how.view
	}
	if how.input != nil {
		input = *how.input
	}
	b, err := a.runner.Hub.BindAs(a.Ctx, a.Session.ID, to, adapters.BindingWish{View: view, Input: input, Quotes: how.quotes})
	if err != nil {
		return err
	}
	if was.Binding.Resting && was.Target.Thread != "" {
		if err := a.runner.Hub.ReopenThread(was.Target); err != nil {
			return err
		}
	}
	if !a.Event.Private && !a.runner.KnowsChat(a.Event.Place) && a.Roles.Has(access.Admin) {
		if err := a.runner.AdoptChat(a.Ctx, a.Event.Place, a.Event.Person.ID); err != nil {
			return err
		}
	}
	text := wording.Bold(a.Session.Name) + " is mirrored here: " + viewText(b.View)
	if shape := a.runner.Hub.Shape(a.Event.Place); a.Event.Place.Thread == "" && shape.OwnThread {
		text = wording.Bold(a.Session.Name) + " gets a " + shape.Threads + " of its own: " + viewText(b.View)
	}
	if b.Input {
		text += " What's written there is typed"
		if b.Quotes {
			text += ", to an agent with what it answers"
		}
		text += "."
	} else {
		text += " What's written there isn't typed."
	}
	return a.ReplaceText(text)
}

// boundHere is the session's binding that was asked for in this place, or that's here
// now.
func (a *Invocation) boundHere() (adapters.BindingStatus, bool) {
	for _, st := range a.runner.Hub.Status(a.Session.ID) {
		if !st.Binding.Unbound && (st.Binding.Target == a.Event.Place || st.Target == a.Event.Place) {
			return st, true
		}
	}
	return adapters.BindingStatus{}, false
}

// viewText is what a view shows, as a sentence's end.
func viewText(v adapters.View) string {
	switch v {
	case adapters.ViewFinal:
		return "each turn when it has ended."
	case adapters.ViewScreen:
		return "the screen, in one message."
	case adapters.ViewStream:
	}
	return "lines as they come."
}

// runUnbind takes that back.
func runUnbind(a *Invocation) error {
	b, err := a.bindingHere()
	if err != nil {
		return err
	}
	if err := a.runner.Hub.Unbind(a.Ctx, b.ID); err != nil {
		return err
	}
	return a.ReplaceText(wording.Bold(a.Session.Name) + " isn't mirrored here any more; it goes on. /bind takes it up again.")
}

// bindingHere is the binding of the session and this place.
func (a *Invocation) bindingHere() (adapters.Binding, error) {
	for _, b := range a.runner.Hub.BindingsAt(a.Event.Place) {
		if b.Session == a.Session.ID {
			return b, nil
		}
	}
	return adapters.Binding{}, fmt.Errorf("this place doesn't mirror %s; /bind changes that", a.Session.Name)
}

// changeView says what of a session the place shows.
func changeView(a *Invocation) error {
	v, err := adapters.ParseView(strings.ToLower(a.args))
	if err != nil || a.args == "" {
		return errors.New("write /view stream (lines as they come), /view final (each turn when it has ended) or /view screen (the screen, in one message)")
	}
	b, err := a.bindingHere()
	if err != nil {
		return err
	}
	if b.Resting {
		return errors.New("this place rests because somebody closed it; write /reopen first")
	}
	if _, err := a.runner.Hub.Bind(a.Ctx, b.Session, b.Target, v, b.Input); err != nil {
		return err
	}
	return a.ReplaceText("Of " + wording.Bold(a.Session.Name) + " this place shows " + viewText(v))
}

// reopenMirror lets a mirror go on whose thread was closed.
func reopenMirror(a *Invocation) error {
	if a.Session.ID == "" && a.args != "" {
		s, err := a.runner.Sessions.Get(a.args)
		if err != nil {
			return errUnnamed
		}
		a.Session = s
	}
	rest := a.restingBindings()
	switch {
	case len(rest) == 0 && a.Session.ID != "":
		return fmt.Errorf("nothing of %s rests in this chat", a.Session.Name)
	case len(rest) == 0:
		return errors.New("nothing rests here")
	case len(rest) > 1 && a.Session.ID == "":
		return a.askWhichRests(rest)
	}
	for _, st := range rest {
		if st.Target.Thread != "" {
			if err := a.runner.Hub.ReopenThread(st.Target); err != nil {
				return err
			}
		}
		if err := a.runner.Hub.SetResting(a.Ctx, st.Binding.ID, false); err != nil {
			return err
		}
	}
	s, err := a.runner.Sessions.Get(string(rest[0].Binding.Session))
	if err != nil {
		return err
	}
	return a.ReplaceText(wording.Bold(s.Name) + " goes on where it was.")
}

// restingBindings are the bindings that rest: in this thread, or, asked for outside of one, in
// this chat; of a session that was named, anywhere in this chat.
func (a *Invocation) restingBindings() []adapters.BindingStatus {
	var out []adapters.BindingStatus
	place := a.Event.Place
	for _, st := range a.runner.Hub.Status(a.Session.ID) {
		if !st.Binding.Resting || st.Binding.Unbound || st.Target.WholeChat() != place.WholeChat() {
			continue
		}
		if place.Thread != "" && a.Session.ID == "" && st.Target != place {
			continue
		}
		if s, err := a.runner.Sessions.Get(string(st.Binding.Session)); err == nil && s.State != sessions.StateEnded {
			out = append(out, st)
		}
	}
	return out
}

func (a *Invocation) askWhichRests(rest []adapters.BindingStatus) error {
	var of []sessions.Session
	for _, st := range rest {
		s, err := a.runner.Sessions.Get(string(st.Binding.Session))
		if err != nil {
			return err
		}
		of = append(of, s)
	}
	return a.AskWhich("Which should go on?", of, cards.Offer{
		Do: "command", Args: "reopen ", Person: a.Event.Person.ID, Single: true, Group: "which " + a.Event.Key,
	})
}
