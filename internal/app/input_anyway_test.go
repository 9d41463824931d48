package app_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/sessions"
)

// In a shell a dialog's words hold nothing: a shell that has the foreground asks nothing.
func TestQuotedWordsHoldNothingInAShell(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	for _, shell := range []string{"bash", "sh"} {
		if _, err := d.api.NewSession(d.ctx(), api.Create{Name: shell, Command: []string{shell}}); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"echo 'Do you want to proceed?'; echo 100% {#,x}", "echo one"} {
			r, err := d.api.Input(d.ctx(), shell, text, true)
			if err != nil {
				t.Fatal(err)
			}
			if r := d.final(r); !r.Submitted() {
				t.Errorf("in %s %q is %s: %s", shell, text, r.State, r.Reason)
			}
		}
	}
}

// In a program of which nothing is known, and in which a dialog's words stand, a text is
// sent when somebody says so who has looked at the screen, and on no other screen.
func TestInputIsSentThoughADialogIsQuoted(t *testing.T) {
	slow(t)
	for _, shell := range []string{"cat"} {
		t.Run(shell, func(t *testing.T) {
			d := newDaemon(t)
			s, err := d.api.NewSession(d.ctx(), api.Create{Name: "quoted", Command: []string{shell}})
			if err != nil {
				t.Fatal(err)
			}
			input := func(text string) sessions.Receipt {
				t.Helper()
				r, err := d.api.Input(d.ctx(), "quoted", text, true)
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
			if r := d.final(input("echo 'Do you want to proceed?'; echo 100% {#,x}")); !r.Submitted() {
				t.Fatalf("%s: %s", r.State, r.Reason)
			}
			offered := func(r sessions.Receipt, not string) sessions.Receipt {
				t.Helper()
				d.await("offer to send it anyway", func() bool {
					all, err := d.api.Waiting(d.ctx(), "quoted")
					i := slices.IndexFunc(all, func(one sessions.Receipt) bool { return one.ID == r.ID })
					if err != nil || i < 0 {
						t.Fatalf("%+v, %v", all, err)
					}
					r = all[i]
					return r.Quoted != "" && r.Quoted != not
				})
				return r
			}
			first := offered(input("echo one"), "")
			if now, err := d.api.Session(d.ctx(), "quoted"); err != nil || shell != "cat" && now.State == sessions.StateWaiting {
				t.Errorf("the shell is %+v, %v", now, err)
			}
			if err := d.api.Keys(d.ctx(), "quoted", "Enter"); err != nil {
				t.Fatal(err)
			}
			var refused *api.Error
			d.await("another screen", func() bool {
				r, err := d.api.Receipt(d.ctx(), first.ID)
				return err == nil && r.Quoted != first.Quoted
			})
			if _, err := d.api.SendAnyway(d.ctx(), first.ID, first.Quoted); !errors.As(err, &refused) || refused.Status != http.StatusConflict {
				t.Errorf("on another screen: %v", err)
			}
			first = offered(first, first.Quoted)
			if r, err := d.api.SendAnyway(d.ctx(), first.ID, first.Quoted); err != nil || r.Anyway != "cli" {
				t.Fatalf("%+v, %v", r, err)
			}
			if r := d.final(first); !r.Submitted() || r.Anyway != "cli" {
				t.Fatalf("%+v", r)
			}
			// The words are still there, and the next has them itself.
			second := offered(input("echo 'do you want to proceed' twice"), "")
			if _, err := d.api.SendAnyway(d.ctx(), second.ID, second.Quoted); err != nil {
				t.Fatal(err)
			}
			if r := d.final(second); !r.Submitted() {
				t.Fatalf("%+v", r)
			}
			d.await("what was sent", func() bool {
				out := "\n" + strings.Join(d.lines(s.ID), "\n") + "\n"
				if shell == "cat" {
					return strings.Contains(out, "\necho 'do you want to proceed' twice\n")
				}
				return strings.Contains(out, "\none\n") && strings.Contains(out, "\ndo you want to proceed twice\n")
			})
		})
	}
}

// A text that's let through to what a shell runs, and those behind it, are that program's for as long as it runs: what's
// written afterwards is for the shell again.
func TestWhatIsLetThroughIsForOneRun(t *testing.T) {
	slow(t)
	d := newDaemon(t)
	s, err := d.api.NewSession(d.ctx(), api.Create{Name: "shell", Command: []string{"bash", "--norc"}})
	if err != nil {
		t.Fatal(err)
	}
	input := func(text string) sessions.Receipt {
		t.Helper()
		r, err := d.api.Input(d.ctx(), "shell", text, true)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := d.final(input("sh -c 'read -r x; echo got $x; read -r x; echo then $x'")); !r.Submitted() {
		t.Fatalf("%s: %s", r.State, r.Reason)
	}
	first := input("one")
	d.await("offer to type it all the same", func() bool {
		first, err = d.api.Receipt(d.ctx(), first.ID)
		return err == nil && first.Quoted != "" && first.Front == "sh"
	})
	if _, err := d.api.SendAnyway(d.ctx(), first.ID, first.Quoted); err != nil {
		t.Fatal(err)
	}
	d.await("it's read", func() bool { return slices.Contains(d.lines(s.ID), "got one") })
	if r := d.final(input("two")); !r.Submitted() {
		t.Fatalf("another for it is %s: %s", r.State, r.Reason)
	}
	d.await("it's read", func() bool { return slices.Contains(d.lines(s.ID), "then two") })
	for _, text := range []string{"echo three-$((1+2))", "echo four-$((2+2))"} {
		if r := d.final(input(text)); !r.Submitted() {
			t.Fatalf("%q, for the shell, is %s: %s", text, r.State, r.Reason)
		}
	}
	d.await("the shell ran them", func() bool {
		all := d.lines(s.ID)
		return slices.Contains(all, "three-3") && slices.Contains(all, "four-4")
	})
}
