package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/sessions"
)

// command is what a person can ask for by a line that begins with "/".
type command struct {
	intake.CommandInfo
	// role is what a person needs.
	role access.Role
	// private is what they need in a private chat with the bot; "": role.
	private access.Role
	// session says that it's about one session: the one of the place, or the one
	// named first in its arguments.
	session bool
	// repeat says that it's done again if panebridge stopped while it was: it has the
	// same effect as once, or none but a reply.
	repeat bool
	// run does it. What it returns is told to the person.
	run func(a *Ask) error
}

// needs is the role that a command takes where it was asked for.
func (c command) needs(ev intake.Event) access.Role {
	if ev.Private && c.private != "" {
		return c.private
	}
	return c.role
}

// commands are all there are, in the order in which they're shown.
func commands() []command {
	return []command{
		sessionsCommand(), newCommand(), resumeCommand(), restartCommand(), screenCommand(), keysCommand(), stopCommand(), escCommand(), historyCommand(), searchCommand(),
		sendCommand(), viewCommand(), muteCommand(), statusCommand(), bindCommand(), unbindCommand(), closeCommand(), reopenCommand(),
		mailCommand(), fleetCommand(), pairCommand(), accessCommand(), helpCommand(),
	}
}

// buttons are the handlers of offers, by offer.Do.
func buttons() map[string]button {
	return map[string]button{
		"command":       {run: runChosen},
		"take-back":     {run: takeBack, repeat: true},
		"send-anyway":   {run: sendAnyway},
		"revive":        {run: reviveAgent},
		"sessions":      {run: listSessions, repeat: true},
		"folder":        {run: browseFolders, repeat: true},
		"begin":         {run: beginChosen},
		"restart":       {run: restartConfirmed},
		"conversations": {run: conversationsOf, repeat: true},
		"leave":         {run: leaveRunning, repeat: true},
		"key":           {run: pressKey},
		"rows":          {run: showRows, repeat: true},
		"screen":        {run: showScreen, repeat: true},
		"close":         {run: closeConfirmed},
		"keep":          {run: keepOpen, repeat: true},
		"mail-reply":    {run: replyPressed, repeat: true},
		"mail-done":     {run: donePressed, repeat: true},
		"answer":        {run: answerOption},
		"answer-chosen": {run: answerChosen},
		"toggle":        {run: toggleOption},
		"choose":        {run: chooseOptions, repeat: true},
		"send-chosen":   {run: sendChosen},
		"write-answer":  {run: writeAnswer, repeat: true},
		"write-cancel":  {run: cancelWriting, repeat: true},
	}
}

// Commands are all commands as platforms show them.
func Commands() []intake.CommandInfo {
	var out []intake.CommandInfo
	for _, c := range commands() {
		info := c.CommandInfo
		info.Params = paramsOf(c.Name)
		out = append(out, info)
	}
	return out
}

// Concerns reports whether a command's arguments name one of the sessions there are here.
func (r *Runner) Concerns(ev intake.Event) bool {
	said, _ := ev.Action.(intake.Said)
	_, args, _ := intake.ReadCommand(said.Text)
	return slices.ContainsFunc(strings.Fields(args), func(word string) bool {
		_, err := r.Sessions.Get(word)
		return err == nil
	})
}

// RunCommand handles a line that begins with "/", of a known person.
func (r *Runner) RunCommand(ctx context.Context, ev intake.Event, name, args string, roles access.Roles, again bool) (Result, error) {
	a := &Ask{runner: r, Ctx: ctx, Event: ev, Roles: roles, args: args, Again: again}
	c, ok := r.commands[name]
	switch {
	case !ok:
		return Refused("unknown command"), a.reply("There's no command /" + wording.Plain(name) + ". /help shows those there are; to pass it on to the session, write //" + wording.Plain(name) + ".")
	case !roles.Has(c.needs(ev)):
		return Result{What: name, Outcome: "role"}, a.reply("/" + wording.Plain(name) + " takes the role " + string(c.needs(ev)) + ".")
	case again && !c.repeat:
		return Result{What: name, Outcome: "unsure"}, a.reply("panebridge stopped while it did this. Look whether it's done before you send it again.")
	}
	if c.session {
		if err := a.chooseSession(); err != nil {
			return Result{What: name, Outcome: "no session"}, r.askWhichSession(a, name, err)
		}
	}
	d := Result{What: name, Session: a.Session.ID, Outcome: "done"}
	if err := c.run(a); err != nil {
		d.Outcome = "failed"
		r.Log.Info("a command failed", "command", name, "target", ev.Place.String(), "err", err)
		return d, a.reply(wording.Plain(wording.Sentence(err.Error())))
	}
	return d, nil
}

var (
	errNoSession       = errors.New("this place mirrors no session; name one, as /sessions shows them")
	errSeveralSessions = errors.New("this place mirrors several sessions")
)

// chooseSession finds the session that a command is about, and takes its name from the
// arguments.
func (a *Ask) chooseSession() error {
	word, rest, _ := strings.Cut(a.args, " ")
	if word != "" {
		if s, err := a.runner.Sessions.Get(word); err == nil {
			a.Session, a.args = s, strings.TrimSpace(rest)
			return nil
		}
	}
	bound := a.runner.SessionsAt(a.Event.Place, func(b adapters.Binding) bool { return !b.Unbound })
	switch len(bound) {
	case 0:
		return errNoSession
	case 1:
		a.Session = bound[0]
		return nil
	default:
		return errSeveralSessions
	}
}

// askWhichSession says why there's no session, or asks which.
func (r *Runner) askWhichSession(a *Ask, name string, why error) error {
	if !errors.Is(why, errSeveralSessions) {
		return a.reply(wording.Plain(wording.Sentence(why.Error())))
	}
	err := a.AskWhich("Which session?", r.SessionsAt(a.Event.Place, func(b adapters.Binding) bool { return !b.Unbound }), cards.Offer{
		Do: "command", Args: name + " " + a.args, Person: a.Event.Person.ID, Single: true, Group: "which " + a.Event.Key,
	})
	if err != nil {
		return a.reply(wording.Plain(wording.Sentence(err.Error())))
	}
	return nil
}

// AskWhich asks for one of several sessions, by a button each.
func (a *Ask) AskWhich(question string, of []sessions.Session, o cards.Offer) error {
	const most = 24
	if len(of) > most {
		question += fmt.Sprintf(" These are the first %d of %d.", most, len(of))
	}
	var rows [][]adapters.Button
	for i, s := range of {
		if i == most {
			break
		}
		o.Session = s.ID
		b, err := a.makeOffer(s.Name, o)
		if err != nil {
			return err
		}
		rows = append(rows, []adapters.Button{b})
	}
	return a.reply(question, rows...)
}

// runChosen runs a command for the session that was chosen.
func runChosen(a *Ask) error {
	name, args, _ := strings.Cut(a.Offered.Args, " ")
	c, ok := a.runner.commands[name]
	if !ok {
		return fmt.Errorf("%w command /%s", sessions.ErrUnknown, name)
	}
	if need := c.needs(a.Event); !a.Roles.Has(need) {
		return fmt.Errorf("/%s takes the role %s", name, need)
	}
	a.args = strings.TrimSpace(args)
	return c.run(a)
}
