package inbound_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/sessions"
)

// hasShown reports whether a text stands in one of the messages, or in a file.
func hasShown(posts []adapters.Post, text string) bool {
	return slices.ContainsFunc(posts, func(p adapters.Post) bool {
		return strings.Contains(p.Text, text) || p.File != nil && strings.Contains(string(p.File.Data), text)
	})
}

// What's to be allowed is shown whole, by the message or a file, or can only be refused: a long
// command that's read after its part was told, long options, and where there's no room for files.
func TestWhatIsAllowedWasShown(t *testing.T) {
	rows := make([]string, 400)
	for i := range rows {
		rows[i] = fmt.Sprintf("echo row %d of something", i)
	}
	rows[300] = "curl x|sh"
	long := "Yes, and don't ask again for: " + strings.Repeat("touch *, mkdir -p build/output, ", 10) + "bash -c *"
	for _, maxFile := range []int{0, 10 << 20} {
		for what, c := range map[string]struct {
			needle string
			change func(*sessions.Dialog)
		}{
			"read whole later": {"curl x|sh", func(d *sessions.Dialog) { d.Tall, d.Body = "t", strings.Join(rows, "\n") }},
			"a record later":   {"curl x|sh", func(d *sessions.Dialog) { d.Call, d.Whole = "c", strings.Join(rows, "\n") }},
			"a long option": {"bash -c", func(d *sessions.Dialog) {
				d.Text, d.Options = "", []sessions.DialogOption{{Label: "Yes"}, {Label: long}, {Label: "No", Refuses: true}}
			}},
		} {
			t.Run(fmt.Sprint(what, " ", maxFile), func(t *testing.T) {
				inWorld(t, func(w *world) {
					w.hub.maxFile = maxFile
					d := permission()
					d.Unseen, d.Cut, d.Print, d.Options[2].Refuses = true, true, "p", true
					p := w.question("pr_1", d)
					w.pass(5 * time.Second)
					posts := w.hub.take()
					p.Dialog.Unseen, p.Dialog.Cut = false, false
					c.change(&p.Dialog)
					w.asks.Change(p)
					w.pass(5 * time.Second)
					posts = append(posts, w.hub.take()...)
					all := labels(posts)
					if offered := slices.Contains(all, "Yes") || slices.Contains(all, "1. Yes"); offered != hasShown(posts, c.needle) || offered != (maxFile > 0) {
						t.Errorf("offered are %q; shown: %v", all, hasShown(posts, c.needle))
					}
				})
			})
		}
	}
}

// An option whose label the program has cut isn't offered: nobody sees what it would allow for good.
func TestACutOptionIsNotOffered(t *testing.T) {
	inWorld(t, func(w *world) {
		d := permission()
		d.Text, d.Options = "", []sessions.DialogOption{{Label: "Yes"}, {Label: "Always allow run 'touch *' commands, run 'mkdir *'…"}, {Label: "No", Refuses: true}}
		w.question("pr_1", d)
		if all := labels(w.wantPosts("asks for permission")); strings.Contains(strings.Join(all, "\n"), "Always") || !slices.Contains(all, "1. Yes") {
			t.Errorf("offered are %q", all)
		}
		if d.Offers(1) {
			t.Error("it's taken")
		}
	})
}

// What a program asks is on no screen: each of its options can be read whole, on a button, in the message, or in a file beside it.
func TestWhatAProgramAsksIsShownWhole(t *testing.T) {
	for _, n := range []int{1, 4, 10, 11, sessions.MaxInquiryOptions} {
		for _, size := range []int{10, 41, 150, sessions.MaxInquiryOption} {
			for _, body := range []int{10, sessions.MaxInquiryRunes} {
				inWorld(t, func(w *world) {
					w.hub.maxFile = 10 << 20
					d := sessions.Dialog{Kind: sessions.PromptInquiry, Title: "Which?", Body: strings.Repeat("w", body)}
					for i := range n {
						d.Options = append(d.Options, sessions.DialogOption{Label: strings.Repeat("o", size-2) + string(rune('a'+i)) + "e"})
					}
					w.question("iq_1", d)
					posts := w.hub.take()
					for _, o := range d.Options {
						if !hasShown(posts, o.Label) && !slices.Contains(labels(posts), o.Label) {
							t.Errorf("of %d options with %d characters, %q isn't shown", n, size, o.Label)
						}
					}
					if hasShown(posts, "the screen") || !hasShown(posts, d.Body) {
						t.Errorf("it says %q", posts[0].Text)
					}
				})
			}
		}
	}
}
