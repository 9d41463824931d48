package app_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/sessions"
)

// liveInput is a text that was given to the agent.
type liveInput struct {
	order   order
	moment  askMoment
	via     string // "api", "telegram", "discord"
	style   string
	text    string
	at      time.Time
	receipt sessions.Receipt // by "api"
	message string           // by chats: its id
	told    string           // and what its writer was told in words
	got     int              // how often the model got it
	cleared bool             // it was taken out of the box again
}

func (in *liveInput) String() string {
	return fmt.Sprintf("%s (%s, by %s, while %s): %s", in.order, in.style, in.via, in.moment, in.state())
}

// special says that the program may do something else with it than ask the model.
func (in *liveInput) special() bool { return in.style == "slash" || in.style == "hash" }

// over says that nothing is to be waited for.
func (in *liveInput) over() bool {
	if in.via == "api" {
		return in.receipt.Final() && (!in.receipt.Submitted() || in.got > 0 || in.special())
	}
	return in.got > 0 || in.failed()
}

func (in *liveInput) failed() bool {
	if in.via == "api" {
		return in.receipt.State == sessions.ReceiptFailed && in.receipt.Reason != ""
	}
	return strings.Contains(in.told, "Not typed") || strings.Contains(in.told, "ailed") || strings.Contains(in.told, "Enter")
}

func (in *liveInput) state() string {
	if in.via == "api" {
		return fmt.Sprintf("%s %q, %d times at the model", in.receipt.State, in.receipt.Reason, in.got)
	}
	return fmt.Sprintf("%q, %d times at the model", in.told, in.got)
}

// input gives the agent a text of a random kind in a random way.
func (k *promptRig) input(at askMoment, o order) {
	k.Helper()
	style := []string{"plain", "plain", "plain", "lines", "long", "at", "file", "hash", "slash"}[k.random.IntN(9)]
	if o.kind != "say" && (style == "slash" || style == "hash") {
		style = "lines"
	}
	in := &liveInput{order: o, moment: at, style: style, via: []string{"api", "telegram", "discord"}[k.random.IntN(3)]}
	if in.special() {
		in.via = "api" // whose receipt says how far it got
	}
	k.give(in)
}

// plain gives the agent a text of one line.
func (k *promptRig) plain(at askMoment, o order) {
	k.Helper()
	k.give(&liveInput{order: o, moment: at, style: "plain", via: "api"})
}

func (in *liveInput) write() {
	o := in.order.String()
	switch in.style {
	case "lines":
		in.text = "Here is more than a line.\n\n  - one\n  - two\nPlease " + o + " now.\nThat is all."
	case "long":
		in.text = strings.Repeat("This line is one of many that say nothing.\n", 25) + "Please " + o + "."
	case "at":
		in.text = "@README.md is to be read, then " + o
	case "file":
		in.text = "Look at @README.md and " + o
	case "hash":
		in.text = "#1 of my wishes is " + o
	case "slash":
		in.text = "/nosuch thing " + o
	default:
		in.text = "Please " + o + " for me"
	}
}

func (k *promptRig) give(in *liveInput) {
	k.Helper()
	in.write()
	in.at = time.Now()
	if in.via == "telegram" && len(k.telegram.Topics(k.forum)) == 0 || in.via == "discord" && len(k.discord.Threads(k.channel)) == 0 {
		in.via = "api" // the place isn't made yet
	}
	text, err := in.text, error(nil)
	if strings.HasPrefix(text, "/") {
		text = "/" + text // else it's a command for panebridge
	}
	switch in.via {
	case "api":
		in.receipt, err = k.api.Input(k.Context(), string(k.id), in.text, true)
	case "telegram":
		var n int
		n, err = k.ann.Say(k.telegram.Topics(k.forum)[0].Place, text)
		in.message = fmt.Sprint(n)
	case "discord":
		in.message, err = k.bob.Say(k.discord.Threads(k.channel)[0].ID, text)
	}
	k.must(err)
	k.inputs = append(k.inputs, in)
	k.Logf("%s input %s", in.at.Format(clock), in)
}

// refresh looks how far a text has got.
func (k *promptRig) refresh(in *liveInput) {
	in.got = k.run.Model.Ordered(in.order.tag)
	switch in.via {
	case "api":
		if !in.receipt.Final() {
			if r, err := k.api.Receipt(k.Context(), in.receipt.ID); err == nil {
				in.receipt = r
			}
		}
	case "telegram":
		for _, m := range k.telegramAll() {
			if fmt.Sprint(m.ReplyTo) == in.message && m.From.IsBot {
				in.told = m.Text
			}
		}
	case "discord":
		for _, t := range k.discord.Threads(k.channel) {
			for _, m := range k.discord.Messages(t.ID) {
				if m.ReplyTo == in.message {
					in.told = m.Content
				}
			}
		}
	}
}

func (k *promptRig) telegramAll() []telegramtest.Message {
	var out []telegramtest.Message
	for _, t := range k.telegram.Topics(k.forum) {
		out = append(out, k.telegram.See(t.Place)...)
	}
	return out
}

// clear does what a person does who's told that a text stands in the box and wasn't
// submitted: it takes it away.
func (k *promptRig) clear() {
	k.Helper()
	for _, in := range k.inputs {
		if k.refresh(in); in.cleared || in.got > 0 || !in.failed() || !strings.Contains(in.state(), "box") {
			continue
		}
		in.cleared = true
		k.Logf("%s is taken out of the box", in)
		k.must(k.run.Keys(k.Context(), "C-c"))
	}
}
