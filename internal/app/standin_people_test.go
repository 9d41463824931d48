package app_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/standin"
)

// someWords are answers and texts.
var someWords = []string{"no, the other one", "2", "what is this please 7", "yes yes", "use make instead"}

// answerPrompts answers what a program asks, at random and in random ways, until ctx ends.
func (p *standinPlay) answerPrompts(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case h := <-p.asked:
			p.answerOne(ctx, h)
		}
	}
}

func (p *standinPlay) answerOne(ctx context.Context, h *heardPrompt) {
	wait := time.Duration(p.rand.IntN(1500)) * time.Millisecond
	how := []string{"api", "api", "telegram", "telegram", "discord", "discord", "keyboard", "keyboard", "nobody"}[p.rand.IntN(9)]
	a := &standinAct{how: how}
	ask := h.first
	switch {
	case ask.Text != "" && p.rand.IntN(4) == 0:
		a.text = someWords[p.rand.IntN(len(someWords))]
	case ask.Multi:
		a.labels = []string{}
		for _, o := range ask.Options {
			if p.rand.IntN(2) == 0 {
				a.labels = append(a.labels, o.Label)
			}
		}
	case len(ask.Options) > 0:
		a.labels = []string{ask.Options[p.rand.IntN(len(ask.Options))].Label}
	}
	p.mu.Lock()
	p.acts[ask.ID] = a
	p.mu.Unlock()
	if !rested(ctx, wait) {
		return
	}
	a.pressed = time.Now()
	switch how {
	case "api":
		a.err = p.answerByAPI(ctx, ask, a)
	case "telegram":
		a.err = p.answerOnTelegram(ctx, ask, a)
	case "discord":
		a.err = p.answerOnDiscord(ctx, ask, a)
	case "keyboard":
		p.answerAtKeyboard(ctx, ask)
	}
}

func rested(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

func (p *standinPlay) answerByAPI(ctx context.Context, ask api.Prompt, a *standinAct) error {
	req := api.AnswerRequest{Text: a.text}
	switch {
	case a.text != "":
	case ask.Multi:
		req.Options = []api.PromptChoice{}
		for _, l := range a.labels {
			req.Options = append(req.Options, api.PromptChoice{N: numberOf(ask, l)})
		}
	default:
		req.Option = &api.PromptChoice{N: numberOf(ask, a.labels[0])}
	}
	_, err := p.rig.api.Answer(ctx, ask.ID, req)
	return err
}

func numberOf(ask api.Prompt, label string) int {
	return 1 + slices.IndexFunc(ask.Options, func(o api.PromptOption) bool { return o.Label == label })
}

// shownButton finds the button of an option: buttons begin with its number, or are its
// label.
func shownButton(ask api.Prompt, label string, buttons []string) string {
	n := numberOf(ask, label)
	for _, b := range buttons {
		plain := strings.TrimPrefix(b, "✓ ")
		if plain == label || strings.HasPrefix(plain, fmt.Sprint(n, ". ")) {
			return b
		}
	}
	return ""
}

// answerInChat presses what's to be pressed below a message. find returns the message,
// and the labels of its buttons by rows.
func answerInChat(ctx context.Context, ask api.Prompt, a *standinAct, find func() (string, []string), press func(message, button string) error, reply func(message, text string) error) error {
	message, buttons := "", []string(nil)
	if !within(ctx, 3*time.Second, func() bool { message, buttons = find(); return message != "" }) {
		return fmt.Errorf("no message shows it")
	}
	if a.text != "" {
		return reply(message, a.text)
	}
	for _, l := range a.labels {
		b := shownButton(ask, l, buttons)
		if b == "" {
			return fmt.Errorf("no button %q among %q", l, buttons)
		}
		if err := press(message, b); err != nil {
			return err
		}
		if !ask.Multi {
			return nil
		}
		if !within(ctx, 3*time.Second, func() bool {
			message, buttons = find()
			return message == "" || strings.HasPrefix(shownButton(ask, l, buttons), "✓")
		}) || message == "" {
			return fmt.Errorf("%q doesn't get checked", l)
		}
	}
	return press(message, "Send")
}

func within(ctx context.Context, d time.Duration, ok func() bool) bool {
	for end := time.Now().Add(d); time.Now().Before(end); {
		if ok() {
			return true
		}
		if !rested(ctx, 20*time.Millisecond) {
			return false
		}
	}
	return false
}

func (p *standinPlay) answerOnTelegram(ctx context.Context, ask api.Prompt, a *standinAct) error {
	find := func() (string, []string) {
		for _, m := range slices.Backward(p.rig.telegram.Messages(p.rig.forum)) {
			if m.From.IsBot && len(m.Buttons) > 0 && m.There() && shows(m.Text, ask) {
				var all []string
				for _, b := range slices.Concat(m.Buttons...) {
					all = append(all, b.Text)
				}
				return strconv.Itoa(m.ID), all
			}
		}
		return "", nil
	}
	press := func(message, button string) error {
		n, _ := strconv.Atoi(message)
		id, err := p.rig.onTele.Press(p.rig.forum, n, button)
		if err != nil {
			return err
		}
		within(ctx, 15*time.Second, func() bool {
			x, _ := p.rig.telegram.Press(id)
			a.told = x.Text
			return !x.Answered.IsZero()
		})
		return nil
	}
	reply := func(message, text string) error {
		n, _ := strconv.Atoi(message)
		m, _ := p.rig.telegram.Message(p.rig.forum, n)
		_, err := p.rig.onTele.Reply(m.Place, n, text)
		return err
	}
	return answerInChat(ctx, ask, a, find, press, reply)
}

func (p *standinPlay) answerOnDiscord(ctx context.Context, ask api.Prompt, a *standinAct) error {
	thread := p.thread()
	var menu *discordtest.Component
	find := func() (string, []string) {
		menu = nil
		if thread == "" {
			thread = p.thread()
			return "", nil
		}
		for _, m := range slices.Backward(p.rig.discord.Messages(thread)) {
			if m.Author.Bot && len(m.Rows) > 0 && m.There() && shows(m.Content, ask) {
				var all []string
				for _, c := range slices.Concat(m.Rows...) {
					if c.Select {
						menu = &c
						continue
					}
					all = append(all, c.Label)
				}
				return m.ID, all
			}
		}
		return "", nil
	}
	press := func(message, button string) error {
		_, err := p.rig.onDisc.Press(message, button)
		return err
	}
	reply := func(message, text string) error {
		_, err := p.rig.onDisc.Reply(thread, message, text)
		return err
	}
	message := ""
	within(ctx, 3*time.Second, func() bool { message, _ = find(); return message != "" })
	if menu == nil || a.text != "" {
		return answerInChat(ctx, ask, a, find, press, reply)
	}
	var values []string
	for _, l := range a.labels {
		values = append(values, menu.Options[numberOf(ask, l)-1].Value)
	}
	if _, err := p.rig.onDisc.Select(message, menu.CustomID, values...); err != nil || !ask.Multi {
		return err
	}
	if !within(ctx, 3*time.Second, func() bool { message, _ = find(); return menu == nil || chosen(*menu) == len(values) }) || menu == nil {
		return fmt.Errorf("%q don't get chosen", a.labels)
	}
	return press(message, "Send")
}

// chosen counts what's chosen of a menu.
func chosen(menu discordtest.Component) (n int) {
	for _, o := range menu.Options {
		if o.Default {
			n++
		}
	}
	return n
}

// shows says that a message is about a question. That a review is about too, but it has a
// title of its own.
func shows(text string, ask api.Prompt) bool {
	if standin.Tag(text) != tagOf(ask) {
		return false
	}
	review := false
	for line := range strings.Lines(text) {
		review = review || flat(line) == "Review" || flat(line) == "Reviewyouranswers"
	}
	return review == strings.HasPrefix(ask.Title, "Review") && strings.Contains(flat(text), flat(ask.Title))
}

// flat are a text's letters and digits.
func flat(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
}

// tagOf is the tag of the dialog that a prompt is about.
func tagOf(ask api.Prompt) string {
	return standin.Tag(ask.Title + "\n" + ask.Body)
}

// answerAtKeyboard presses a few keys at the pane, as they come to mind.
func (p *standinPlay) answerAtKeyboard(ctx context.Context, ask api.Prompt) {
	keys := []string{"Down", "Enter"}
	switch p.rand.IntN(4) {
	case 0:
		keys = []string{"Escape"}
	case 1:
		keys = []string{strconv.Itoa(1 + p.rand.IntN(max(1, len(ask.Options)))), "Enter"}
	case 2:
		keys = []string{"Right", "Down", "Up", "Enter"}
	}
	for _, k := range keys {
		if now, err := p.rig.api.Session(ctx, string(p.session.ID)); err != nil || now.Prompt != ask.ID {
			return // it was answered
		}
		p.keyboard(k)
		if !rested(ctx, time.Duration(p.rand.IntN(300))*time.Millisecond) {
			return
		}
	}
}

// thread is that of the session on Discord; "": there's none yet.
func (p *standinPlay) thread() string {
	for _, one := range p.rig.discord.Threads(p.rig.channel) {
		if one.Name == p.session.Name {
			return one.ID
		}
	}
	return ""
}

func (p *standinPlay) topic() (telegramtest.Place, bool) {
	for _, one := range p.rig.telegram.Topics(p.rig.forum) {
		if one.Name == p.session.Name {
			return one.Place, true
		}
	}
	return telegramtest.Place{}, false
}

// sendInputs sends texts at random moments until ctx ends.
func (p *standinPlay) sendInputs(ctx context.Context, n int) {
	for i := range n {
		if !rested(ctx, time.Duration(p.rand.IntN(5000))*time.Millisecond) {
			return
		}
		p.sendOne(ctx, i)
	}
}

func (p *standinPlay) sendOne(ctx context.Context, i int) {
	in := &askedInput{at: time.Now(), text: p.text(i), from: []string{"api", "telegram", "discord"}[p.rand.IntN(3)]}
	if i == 0 && p.rand.IntN(2) == 0 {
		in.from = "api" // there are no threads yet
	}
	if strings.HasPrefix(in.text, "/") || strings.HasPrefix(in.text, "@") || len(in.text) > 1500 {
		in.from = "api" // in chats these are commands, people, files
	}
	switch in.from {
	case "telegram":
		at, there := p.topic()
		if !there {
			return
		}
		var id int
		id, in.err = p.rig.onTele.Say(at, in.text)
		in.message = strconv.Itoa(id)
	case "discord":
		at := p.thread()
		if at == "" {
			return
		}
		in.message, in.err = p.rig.onDisc.Say(at, in.text)
	default:
		in.receipt, in.err = p.rig.api.Input(ctx, string(p.session.ID), in.text, true)
	}
	p.mu.Lock()
	p.inputs = append(p.inputs, in)
	p.mu.Unlock()
}

// text is one that nobody else sends.
func (p *standinPlay) text(i int) string {
	tag := fmt.Sprintf("i%dq%dz", p.play.Seed%100000, i)
	some := someWords[p.rand.IntN(len(someWords))] + " " + tag
	switch p.rand.IntN(12) {
	case 0:
		return "/nosuch " + some
	case 1:
		return []string{"!", "#"}[p.rand.IntN(2)] + some
	case 2:
		return some + " and look at @notes-" + tag
	case 3:
		return some + " in @README of it"
	case 4, 5:
		return some + "\nand then\n2\n" + some + "\nyes"
	case 6:
		return strings.Repeat("a line of a log that's long "+tag+"\n", 60) + "its end"
	case 7:
		return some + strings.Repeat(" word", 100)
	case 8:
		return "Do you want to proceed? " + some
	default:
		return some
	}
}

// tidyUp clears an input box in which something has long stood that nobody sends: what a
// program refused, or a person's key that came too late for a dialog.
func (p *standinPlay) tidyUp(ctx context.Context) {
	done := 0
	for rested(ctx, time.Second) {
		all := p.journal()
		if n := len(all); n > 0 && n > done && all[n-1].Kind == standin.Left {
			done = n
			p.keyboard("C-u")
		}
	}
}
