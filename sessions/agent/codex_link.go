package agent

import (
	"context"
	"encoding/json"
	"errors"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/transcript"
)

// How often an app server is looked for that isn't there, or can't be used now.
const (
	linkAgain  = time.Second
	linkSeldom = 30 * time.Second
)

// serving says of which conversation of which process an app server may tell; the zero
// value: of none.
type serving struct {
	pid     int
	started time.Time
	thread  string
}

// serves is what an app server may tell of what runs in the session.
func (o *Observer) serves() serving {
	p := o.program
	if p == nil || p.profile.Format() != transcript.Codex || p.process.PID == 0 || p.ending || p.reader == nil || p.reader.Ref().Session == "" {
		return serving{}
	}
	return serving{pid: p.process.PID, started: p.process.Started, thread: p.reader.Ref().Session}
}

// Run keeps connections to the app servers of agents in the sessions, until ctx ends, and
// then all of them have.
func (w *Watchers) Run(ctx context.Context) error {
	type link struct {
		serving
		end context.CancelFunc
	}
	links := map[*Observer]link{}
	var running sync.WaitGroup
	defer running.Wait()
	for {
		wanted := w.servings()
		for o, l := range links {
			if wanted[o] != l.serving {
				l.end()
				delete(links, o)
			}
		}
		for o, s := range wanted {
			if _, has := links[o]; has {
				continue
			}
			of, end := context.WithCancel(ctx)
			links[o] = link{s, end}
			running.Go(func() { o.keepLinked(of, s) })
		}
		select {
		case <-ctx.Done():
			return nil
		case <-w.relink:
		}
	}
}

// servings are the conversations of which app servers may tell, by their observers.
func (w *Watchers) servings() map[*Observer]serving {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[*Observer]serving{}
	for _, o := range w.observers {
		o.known.mu.Lock()
		if o.known.serving != (serving{}) {
			out[o] = o.known.serving
		}
		o.known.mu.Unlock()
	}
	return out
}

// wakeLinks has Run compare its connections with what's wanted.
func (w *Watchers) wakeLinks() {
	select {
	case w.relink <- struct{}{}:
	default: // it will
	}
}

// keepLinked connects to the app server that has a conversation, whenever there's one.
func (o *Observer) keepLinked(ctx context.Context, s serving) {
	log := o.w.opt.Logger.With("session", o.session.ID)
	for wait := linkAgain; ctx.Err() == nil; {
		began := time.Now()
		err := o.linkServer(ctx, s)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, errUntriedServer):
			log.Info("Codex' app server isn't used; its questions are answered by keys", "err", err)
			return
		case time.Since(began) > linkSeldom:
			wait = linkAgain
		}
		log.Debug("Codex' app server", "err", err)
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		wait = min(2*wait, linkSeldom)
	}
}

// containPanic makes a panic an error, and logs it with its stack. It has to be deferred
// itself.
func (o *Observer) containPanic(err *error) {
	if r := recover(); r != nil {
		*err = sessions.PanicError(r)
		o.w.opt.Logger.Error("a connection to an app server panicked; it's begun anew", "session", o.session.ID, "err", *err, "stack", string(debug.Stack()))
	}
}

// linkServer connects to the app server and hears what it asks, until the connection ends or
// the conversation does.
func (o *Observer) linkServer(ctx context.Context, s serving) (err error) {
	defer o.containPanic(&err)
	process, ok := o.w.opt.Processes.Get(s.pid)
	if !ok || !process.Started.Equal(s.started) || process.Environ == nil {
		return errNoThread
	}
	profile := o.w.opt.Profiles.Get(string(transcript.Codex))
	if profile == nil {
		return errNoThread
	}
	server, err := dialCodex(ctx, codexSocket(process.Environ()), profile.MadeFrom())
	if err != nil {
		return err
	}
	defer server.close()
	defer context.AfterFunc(ctx, server.close)()
	if err := server.joinConversation(ctx, s.thread); err != nil {
		return err
	}
	o.w.opt.Logger.Info("Codex' app server tells of a session's questions", "session", o.session.ID)
	l := &codexLink{o: o, server: server, thread: s.thread, asks: map[string]*codexAsk{}}
	defer l.leaveToKeys()
	for {
		m, err := server.nextMessage()
		if err != nil {
			return err
		}
		if over := l.handleMessage(m); over {
			return errNoThread
		}
	}
}

// codexLink hears what an app server asks about one conversation. It's for one goroutine.
type codexLink struct {
	o       *Observer
	server  *codexServer
	thread  string
	asks    map[string]*codexAsk // by the server's id
	changes []codexChange        // of files, that items are about, the oldest first
	waiting sync.WaitGroup
}

// codexAsk is one question of the server's.
type codexAsk struct {
	hook    Hook
	decider *decider
	over    chan struct{} // closed when it's answered, wherever that was
}

// codexChange is what an item is to change: its request doesn't say.
type codexChange struct {
	item    string
	changes json.RawMessage
}

// handleMessage works in a message; over says that the conversation is.
func (l *codexLink) handleMessage(m serverMessage) (over bool) {
	var about struct {
		Thread  string          `json:"threadId"`
		Request json.RawMessage `json:"requestId"`
		Item    struct {
			ID      string          `json:"id"`
			Type    string          `json:"type"`
			Changes json.RawMessage `json:"changes"`
		} `json:"item"`
	}
	if m.Method == "" || json.Unmarshal(m.Params, &about) != nil || about.Thread != l.thread {
		return false
	}
	switch {
	case len(m.ID) > 0:
		l.addQuestion(m)
	case m.Method == "serverRequest/resolved":
		l.resolved(string(about.Request))
	case m.Method == "item/started" && about.Item.Type == "fileChange":
		if l.changes = append(l.changes, codexChange{about.Item.ID, about.Item.Changes}); len(l.changes) > maxCalls {
			l.changes = l.changes[1:]
		}
	case m.Method == "item/completed":
		l.changes = slices.DeleteFunc(l.changes, func(c codexChange) bool { return c.item == about.Item.ID })
	}
	return m.Method == "thread/closed"
}

// addQuestion takes in a question: as the record of its call, and as one that can be answered
// without a key.
func (l *codexLink) addQuestion(m serverMessage) {
	id := string(m.ID)
	h, answer := l.readRequest(m)
	if answer == nil || l.asks[id] != nil || len(l.asks) >= maxCalls {
		return
	}
	h.Agent, h.Signal, h.Conversation, h.At = string(transcript.Codex), Asking, l.thread, time.Now()
	h.bindInput(nil)
	about := letters(h.Text)
	a := &codexAsk{hook: h, over: make(chan struct{})}
	a.decider = &decider{about: about[:min(len(about), maxAsked)], told: make(chan Told, 1), served: true}
	l.asks[id] = a
	l.o.addServed(id, a)
	l.waiting.Go(func() {
		select {
		case <-a.over:
		case told := <-a.decider.told:
			if l.tellAnswer(m.ID, answer, told) != nil {
				l.server.close() // whoever reads from it hears of that
			}
		}
	})
	l.o.w.opt.LookNow(l.o.session.ID)
}

// tellAnswer tells the server what was answered, if it takes that.
func (l *codexLink) tellAnswer(id json.RawMessage, answer func(Told) any, told Told) (err error) {
	defer l.o.containPanic(&err)
	result := answer(told)
	if result == nil {
		return nil
	}
	return l.server.answerCall(id, result)
}

// resolved forgets a question that was answered, wherever that was.
func (l *codexLink) resolved(id string) {
	a := l.asks[id]
	if a == nil {
		return
	}
	delete(l.asks, id)
	l.o.dropServed(id, a, true)
	close(a.over)
	l.o.w.opt.LookNow(l.o.session.ID)
}

// leaveToKeys leaves what's still asked to the keys.
func (l *codexLink) leaveToKeys() {
	for id, a := range l.asks {
		l.o.dropServed(id, a, false)
		close(a.over)
	}
	l.waiting.Wait()
}

// addServed keeps a question's call, and who can tell its answer.
func (o *Observer) addServed(id string, a *codexAsk) {
	o.known.mu.Lock()
	defer o.known.mu.Unlock()
	d := a.decider
	if a.hook.Tool == codexQuestion {
		// Without questions that can be told apart nothing is told, to it or to another.
		d.input, d.call, d.several = a.hook.Input, sumOf(a.hook), questionsOf(a.hook.Input, 1)
	} else if d.call = o.known.calls.addServed(a.hook, id); d.call == "" {
		return
	}
	o.known.deciders = append(o.known.deciders, d)
}

// dropServed forgets who can tell the answer of a question; answered says that it was, so that
// its call waits no longer.
func (o *Observer) dropServed(id string, a *codexAsk, answered bool) {
	o.known.mu.Lock()
	defer o.known.mu.Unlock()
	o.known.calls.dropServed(id, answered)
	o.known.deciders = slices.DeleteFunc(o.known.deciders, func(other *decider) bool { return other == a.decider })
}

// readRequest reads what the server asks as a hook tells it, and how what's decided is said; nil:
// it's nothing that can be answered so.
func (l *codexLink) readRequest(m serverMessage) (h Hook, answer func(Told) any) {
	switch m.Method {
	case "item/commandExecution/requestApproval":
		return commandRequest(m.Params)
	case "item/fileChange/requestApproval":
		var r struct {
			Item   string `json:"itemId"`
			Reason string `json:"reason"`
		}
		if json.Unmarshal(m.Params, &r) != nil {
			return h, nil
		}
		i := slices.IndexFunc(l.changes, func(c codexChange) bool { return c.item == r.Item })
		if i < 0 { // it was told before this connection was
			return h, nil
		}
		return Hook{Tool: codexPatch, Input: l.changes[i].changes}, decision(nil)
	case "item/tool/requestUserInput":
		return questionRequest(m.Params)
	case "mcpServer/elicitation/request":
		return elicitationRequest(m.Params)
	}
	return h, nil
}

// codexPatch is the tool by which Codex changes files, as its hooks call it.
const codexPatch = "apply_patch"

// commandRequest reads the question whether a command may be run.
func commandRequest(params json.RawMessage) (h Hook, answer func(Told) any) {
	var r struct {
		Kind    string `json:"kind"`
		Reason  string `json:"reason"`
		Command string `json:"command"`
		Cwd     string `json:"cwd"`
		Actions []struct {
			Type    string `json:"type"`
			Command string `json:"command"`
		} `json:"commandActions"`
		Can []json.RawMessage `json:"availableDecisions"`
	}
	if json.Unmarshal(params, &r) != nil || r.Kind != "" && r.Kind != "command" {
		return h, nil
	}
	command := ""
	switch words, ok := shellWords(r.Command); {
	case len(r.Actions) == 1 && r.Actions[0].Type == "unknown":
		command = r.Actions[0].Command
	case ok && len(words) == 3 && (words[1] == "-lc" || words[1] == "-c"): // its parts are told apart, where they're known
		command = words[2]
	default:
		return h, nil
	}
	input := map[string]string{"command": command}
	if r.Reason != "" {
		input["description"] = r.Reason
	}
	text, err := json.Marshal(input)
	if command == "" || err != nil {
		return h, nil
	}
	return Hook{Tool: "Bash", Text: shorten(command), Input: text, Cwd: absolutePath(r.Cwd)}, decision(r.Can)
}

// decision says how a server is told of a decision that it can take; can are those, nil: it
// doesn't say.
func decision(can []json.RawMessage) func(Told) any {
	takes := func(word string) bool {
		return can == nil || slices.ContainsFunc(can, func(d json.RawMessage) bool { return string(d) == `"`+word+`"` })
	}
	return func(t Told) any {
		word := ""
		switch {
		case t.Decision == Allow:
			word = "accept"
		case t.Decision == Deny && t.Interrupt:
			word = "cancel"
		}
		if word == "" || !takes(word) {
			return nil
		}
		return map[string]string{"decision": word}
	}
}

// codexNone is the choice that Codex adds to those of a question, and what it says beside it.
// A text of one's own is told as a note to it.
const (
	codexNone     = "None of the above"
	codexNoneSays = "Optionally, add details in notes (tab)"
	codexNote     = "user_note: "
)

// questionRequest reads a call's questions which of some choices is right.
func questionRequest(params json.RawMessage) (h Hook, answer func(Told) any) {
	type option struct {
		Label       string `json:"label"`
		Description string `json:"description"`
	}
	type question struct {
		ID       string   `json:"id"`
		Question string   `json:"question"`
		Header   string   `json:"header"`
		Secret   bool     `json:"isSecret"`
		Other    bool     `json:"isOther"`
		Options  []option `json:"options"`
		Custom   bool     `json:"custom"` // see oneQuestion
	}
	var r struct {
		Questions []question `json:"questions"`
	}
	if json.Unmarshal(params, &r) != nil || len(r.Questions) == 0 {
		return h, nil
	}
	ids := map[string]bool{}
	for i, q := range r.Questions {
		if q.Secret || q.ID == "" || ids[q.ID] || len(q.Options) == 0 {
			return h, nil
		}
		if ids[q.ID] = true; q.Other {
			q.Options = append(q.Options, option{codexNone, codexNoneSays})
		}
		q.Custom = q.Other
		r.Questions[i] = q
	}
	input, err := json.Marshal(r)
	if err != nil {
		return h, nil
	}
	return Hook{Tool: codexQuestion, Text: shorten(r.Questions[0].Question), Input: input}, func(t Told) any {
		if t.Decision != Allow || len(t.Answers) != len(r.Questions) {
			return nil
		}
		type given struct {
			Answers []string `json:"answers"`
		}
		answers := map[string]given{}
		for i, q := range r.Questions {
			for _, said := range t.Answers[i] {
				to := answers[q.ID]
				if !slices.ContainsFunc(q.Options, func(o option) bool { return o.Label == said }) {
					to.Answers, said = append(to.Answers, codexNone), codexNote+said
				}
				to.Answers = append(to.Answers, said)
				answers[q.ID] = to
			}
		}
		return map[string]any{"answers": answers}
	}
}

// shellWords are the words of a command line as a shell quotes them; false: it's something
// that no quoting makes.
func shellWords(line string) (words []string, ok bool) {
	var word strings.Builder
	in := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case ' ':
			if in {
				words, in = append(words, word.String()), false
				word.Reset()
			}
			continue
		case '\'':
			end := strings.IndexByte(line[i+1:], '\'')
			if end < 0 {
				return nil, false
			}
			word.WriteString(line[i+1 : i+1+end])
			i += end + 1
		case '"':
			for i++; ; i++ {
				if i >= len(line) {
					return nil, false
				}
				if line[i] == '"' {
					break
				}
				if line[i] == '\\' && i+1 < len(line) && strings.IndexByte("$`\"\\\n", line[i+1]) >= 0 {
					i++
				}
				word.WriteByte(line[i])
			}
		case '\\':
			if i++; i == len(line) {
				return nil, false
			}
			word.WriteByte(line[i])
		default:
			word.WriteByte(c)
		}
		in = true
	}
	if in {
		words = append(words, word.String())
	}
	return words, true
}
