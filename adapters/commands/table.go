package commands

import (
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/intake"
)

// chatCommand is what a person can ask for by a line that begins with "/".
type chatCommand struct {
	intake.CommandInfo
	// role is what a person needs.
	role access.Role
	// private is what they need in a private chat with the bot; "": role.
	private access.Role
	// session says that it's about one session: the one of the place, or the one
	// named first in its arguments.
	session bool
	// bare says that it takes nothing but a session's name.
	bare bool
	// repeat says that it's done again if panebridge stopped while it was: it has the
	// same effect as once, or none but a reply.
	repeat bool
	// run does it. What it returns is told to the person.
	run func(a *Invocation) error
}

// neededRole is the role that a command takes where it was asked for.
func (c chatCommand) neededRole(ev intake.Event) access.Role {
	if ev.Private && c.private != "" {
		return c.private
	}
	return c.role
}

// invoke does it. With more behind a command that takes nothing but a session's name it would be done to
// another one than was meant.
func (c chatCommand) invoke(a *Invocation) error {
	if c.bare && a.args != "" {
		return errUnnamed
	}
	return c.run(a)
}

const (
	paramSession = "session"
	paramAgent   = "agent"
	paramFolder  = "folder"
)

// chatCommands are all there are, in the order in which they're shown.
func chatCommands() []chatCommand {
	session := []intake.Param{{Name: paramSession, Help: "Its name, if it isn't the one of this place", Offers: true}}
	views := []string{"stream", "final", "screen"}
	info := func(name, args, help string, params ...intake.Param) intake.CommandInfo {
		return intake.CommandInfo{Name: name, Args: args, Help: help, Params: params}
	}
	infoOfSession := func(name, args, help string, params ...intake.Param) intake.CommandInfo {
		return info(name, args, help, append(session[:1:1], params...)...)
	}
	return []chatCommand{
		{CommandInfo: info("sessions", "", "All sessions: what needs you, what works, what's done; can be pinned"), role: access.Viewer, repeat: true, run: listSessions},
		{CommandInfo: info(
			"new", "[agent] [resume] [folder]", "Begin a session; without a folder it's asked for",
			intake.Param{Name: paramAgent, Help: "The agent to start; none: the one that was started last", Offers: true},
			intake.Param{Name: paramFolder, Help: "Where it works; none: you're asked", Offers: true},
		), role: access.Operator, run: runNew},
		{CommandInfo: info(
			resumeWord, "[agent] [folder]", "Begin a session that goes on with an earlier conversation",
			intake.Param{Name: paramAgent, Help: "The agent; none: the one of this place's session", Offers: true},
			intake.Param{Name: paramFolder, Help: "Where it works; none: where this place's session does", Offers: true},
		), role: access.Operator, repeat: true, run: resumeSession}, // it only asks
		{CommandInfo: infoOfSession("restart", "[SESSION]", "End the session's program and start it anew, with its conversation"), role: access.Operator, session: true, bare: true, run: askRestart},
		{CommandInfo: infoOfSession(
			"rename", "NAME", "Give the session another name", intake.Param{Name: "name", Help: "What it's to be called", Required: true},
		), role: access.Operator, session: true, repeat: true, run: renameSession},
		{CommandInfo: infoOfSession(
			"screen", "[text]", "The screen as a picture, or as text", intake.Param{Name: "as", Help: "As text, in place of a picture", Choices: []string{"text"}},
		), role: access.Viewer, session: true, repeat: true, run: showScreen},
		{CommandInfo: infoOfSession(
			"keys", "[Up Enter C-c …]", "A keyboard, or press keys by their names", intake.Param{Name: "keys", Help: "Their names: Up Enter C-c; none: a keyboard"},
		), role: access.Operator, session: true, run: runKeys},
		{CommandInfo: infoOfSession("stop", "", "Interrupt what the session is doing"), role: access.Operator, session: true, bare: true, run: runStop},
		{CommandInfo: infoOfSession("esc", "", "Press Escape"), role: access.Operator, session: true, bare: true, run: runEsc},
		{CommandInfo: infoOfSession(
			"history", "[N]", "The last N lines, as a file if they're long", intake.Param{Name: "lines", Help: "How many"},
		), role: access.Viewer, session: true, repeat: true, run: showHistory},
		{CommandInfo: info(
			"search", "TEXT", "Look for words in what this place's session printed, or all have", intake.Param{Name: "text", Help: "What to look for", Required: true},
		), role: access.Viewer, repeat: true, run: searchLog},
		{CommandInfo: infoOfSession(
			"send", "FILE", "Get a file from the session's folder", intake.Param{Name: "file", Help: "Its path in the session's folder", Required: true},
		), role: access.Operator, session: true, repeat: true, run: sendFile},
		{CommandInfo: infoOfSession(
			"diff", "[since COMMIT] [FILE]", "What the session has changed in its repository", intake.Param{Name: "file", Help: "A file or a folder, or the word since and a commit; none: all since it began"},
		), role: access.Viewer, session: true, repeat: true, run: showDiff},
		{CommandInfo: infoOfSession(
			"view", "stream|final|screen", "Show lines as they come, whole turns, or the screen", intake.Param{Name: "view", Help: "What this place shows", Required: true, Choices: views},
		), role: access.Operator, session: true, repeat: true, run: changeView},
		{CommandInfo: infoOfSession(
			"show", "[tools|thinking|prompts|output] [all|brief|none|30]", "How much of the work this place shows: all, a line that counts it, nothing; of long output the ends",
			intake.Param{Name: "what", Help: "Calls of tools, what it thinks, what's written to it elsewhere, long output; none: how it is", Choices: append(workKinds(), output)},
			intake.Param{Name: "extent", Help: "All of it, one line that counts, or none; of output all, or rows of a phone", Choices: append(extents(), lengths()[1:]...)},
		), role: access.Operator, session: true, repeat: true, run: showWork},
		{CommandInfo: infoOfSession(
			"mute", "[SESSION] [1h|22:00-07:00|off]", "Nothing rings here: for a while, or in quiet hours", intake.Param{Name: "when", Help: "For how long or when: 1h, 22:00-07:00, off"},
		), role: access.Operator, private: access.Viewer, repeat: true, run: muteNow},
		{CommandInfo: info(
			"usage", "[SESSION]", "What the agents here have used, and until when they're limited",
			intake.Param{Name: paramSession, Help: "Its name, if it's for one alone", Offers: true},
		), role: access.Viewer, repeat: true, run: showUsage},
		{CommandInfo: infoOfSession(
			"continue", "[SESSION] [off]", "Have the session go on when its agent's limit is over",
			intake.Param{Name: "off", Help: "Have it not go on by itself", Choices: []string{"off"}},
		), role: access.Operator, session: true, repeat: true, run: runContinue},
		{CommandInfo: info("status", "", "What's mirrored here, and how the platform's limits stand"), role: access.Viewer, repeat: true, run: showStatus},
		{CommandInfo: info(
			"bind", "SESSION [stream|final|screen] [input on|off] [quotes on|off]", "Have this place mirror a session",
			intake.Param{Name: paramSession, Help: "Its name", Required: true, Offers: true},
			intake.Param{Name: "view", Help: "What this place shows", Choices: views},
			intake.Param{Name: "input", Help: "Whether what's written here is typed", Choices: []string{"input on", "input off"}},
			intake.Param{Name: "quotes", Help: "Whether an agent is sent what a reply answers, too", Choices: []string{"quotes on", "quotes off"}},
		), role: access.Operator, repeat: true, run: runBind},
		{CommandInfo: infoOfSession("unbind", "[SESSION]", "Have this place mirror a session no longer"), role: access.Operator, session: true, bare: true, run: runUnbind},
		{CommandInfo: infoOfSession("close", "[SESSION]", "End the session; asks first"), role: access.Operator, session: true, bare: true, repeat: true, run: askClose}, // it only asks
		{CommandInfo: infoOfSession("reopen", "[SESSION]", "Let a mirror go on that rests because somebody closed it"), role: access.Operator, repeat: true, run: reopenMirror},
		{CommandInfo: info(
			"mail", "[SESSION or ID, and a text]", "Read what agents wrote to you, answer, or write to one",
			intake.Param{Name: "to", Help: "A session's name, or the id of what you answer"}, intake.Param{Name: "text", Help: "What to say"},
		), role: access.Operator, repeat: true, run: runMail}, // the same key is sent once
		{CommandInfo: info(
			"fleet", "[NAME]", "Which sessions work together, and what they're doing", intake.Param{Name: "name", Help: "One fleet alone"},
		), role: access.Viewer, repeat: true, run: showFleets},
		{CommandInfo: info(
			"pair", "[role]", "Make a code that lets another person in", intake.Param{Name: "code", Help: "The code that you were given; or, to make one, the role it gives"},
		), role: access.Admin, run: runPair},
		{CommandInfo: info(
			"access", "[change] [person] [role]", "Say who may do what, and change it",
			intake.Param{Name: "change", Help: "What to do; nothing: list who may do what", Choices: []string{"grant", "revoke"}},
			intake.Param{Name: "person", Help: "telegram:123 or discord:456"},
			intake.Param{Name: "role", Help: "What to give", Choices: []string{string(access.Viewer), string(access.Operator), string(access.Approver), string(access.Admin)}},
		), role: access.Admin, run: runAccess},
		{CommandInfo: info(
			"devices", "[change] [id]", "Say which browsers may use the page, and change it",
			intake.Param{Name: "change", Help: "What to do; nothing: list them", Choices: []string{"confirm", "revoke"}},
			intake.Param{Name: "id", Help: "The device's id, as the list has it"},
		), role: access.Admin, run: runDevices},
		{CommandInfo: info("help", "", "What you can do here"), role: access.Viewer, repeat: true, run: showHelp},
	}
}

// Commands returns all commands as platforms show them.
func Commands() []intake.CommandInfo {
	var out []intake.CommandInfo
	for _, c := range chatCommands() {
		out = append(out, c.CommandInfo)
	}
	return out
}

// buttonHandler is what pressing one does.
type buttonHandler struct {
	// run does it. What it returns is told to the person.
	run func(a *Invocation) error
	// repeat says that it's done again if panebridge stopped while it was: it has the
	// same effect as once.
	repeat bool
}

// buttons are the handlers of offers, by offer.Do.
func buttons() map[string]buttonHandler {
	return map[string]buttonHandler{
		"command":       {run: runChosen},
		"all-commands":  {run: showAllCommands, repeat: true},
		"go-on":         {run: goOn, repeat: true},
		"go-on-not":     {run: goOnNot, repeat: true},
		"take-back":     {run: takeBack, repeat: true},
		"send-anyway":   {run: sendAnyway},
		"revive":        {run: reviveAgent},
		"sessions":      {run: listSessions, repeat: true},
		"folder":        {run: browseFolders, repeat: true},
		"begin":         {run: beginChosen},
		"restart":       {run: restartSession},
		"conversations": {run: conversationsOf, repeat: true},
		"leave":         {run: keepOpen, repeat: true},
		"search":        {run: searchPressed, repeat: true},
		"around":        {run: showAround, repeat: true},
		"key":           {run: pressKey},
		"rows":          {run: showRows, repeat: true},
		"screen":        {run: showScreen, repeat: true},
		"show":          {run: showWork, repeat: true},
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
