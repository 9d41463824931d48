package web_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/sessions"
)

// shell is a session with a prompt on its screen.
func (s *site) shell(t *testing.T, name string) sessions.ID {
	t.Helper()
	id := s.daemon.Add(name, "")
	s.daemon.SetScreen(id, sessions.Screen{Width: 40, Height: 3, Rows: []string{"hello", "", "$ "}, CursorX: 2, CursorY: 2, CursorVisible: true})
	return id
}

// awaitKeys waits until so many keys were pressed, or it has taken too long.
func (s *site) awaitKeys(n int) {
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if len(s.daemon.Pressed()) >= n {
			return
		}
	}
}

// Keys come in their order however slow the answers are, none twice, and none of them does anything else in the page.
func TestKeysGoIntoTheScreen(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.shell(t, "one")
	s.daemon.OnKeys(func(sessions.KeyPress) error {
		time.Sleep(time.Duration(rand.IntN(40)) * time.Millisecond)
		return nil
	})
	b := browse(t, 1280, 900)
	b.Do(s.open(), chromedp.WaitVisible("#foot"), chromedp.Click("#tab-screen"))
	b.Until("the screen", inView)
	b.Do(chromedp.Click(".terminal"))
	b.Until("word that one types into it", `document.querySelector('.typing-on').checkVisibility()`)
	b.Shot("typing")
	b.Do(chromedp.KeyEvent("git log; ? / n g i + - j k" + kb.Tab + kb.ArrowUp + kb.PageDown + kb.F5 + kb.Home + kb.Delete + kb.Backspace + kb.Escape + kb.Enter))
	b.Do(chromedp.KeyEvent("c", chromedp.KeyModifiers(chromedp.ModifierCtrl)), chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)), chromedp.KeyEvent("x", chromedp.KeyModifiers(chromedp.ModifierAlt)),
		chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(chromedp.ModifierShift)), chromedp.KeyEvent(kb.ArrowLeft, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	b.Do(browsertest.InsertText("日本é"))
	var want []string
	for _, letter := range "git log; ? / n g i + - j k" {
		want = append(want, strings.ReplaceAll(string(letter), " ", "Space"))
	}
	want = append(want, "Tab", "Up", "PageDown", "F5", "Home", "DC", "BSpace", "Escape", "Enter", "C-c", "C-k", "M-x", "BTab", "C-Left", "日", "本", "é")
	s.awaitKeys(len(want))
	if got := s.daemon.Pressed(); !slices.Equal(got, want) {
		t.Errorf("pressed are %q, want %q", got, want)
	}
	for _, p := range s.daemon.Presses() {
		if p.Seen.IsZero() || time.Since(p.Seen) > time.Minute {
			t.Errorf("%q are pressed at what was seen at %v", p.Keys, p.Seen)
		}
	}
	if browsertest.Eval[bool](b, `document.querySelector('dialog[open]') !== null || document.querySelector('#text').value !== ''`) {
		t.Error("keys that are the session's have done something in the page")
	}

	// What's pasted can be read before it's sent.
	browsertest.Eval[bool](b, `((data) => { data.setData('text/plain', 'rm -rf x\n'); return document.querySelector('#screen-keys').dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })); })(new DataTransfer())`)
	b.Until("the pasted text in the field", `document.querySelector('#text').value === 'rm -rf x\n' && document.activeElement.id === 'text'`)
	b.Do(chromedp.Click("#screen-type"), chromedp.KeyEvent(kb.Escape, chromedp.KeyModifiers(chromedp.ModifierShift)))
	b.Until("nobody typing", `document.querySelector('.typing-off').checkVisibility()`)
	if n := len(s.daemon.Pressed()); n != len(want) {
		t.Errorf("%d keys were pressed by what's none", n-len(want))
	}
}

// composed has an input method compose a text in the focused field, which isn't there yet.
func composed(text string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, input.ImeSetComposition, input.ImeSetCompositionParams{Text: text, SelectionStart: int64(len(text)), SelectionEnd: int64(len(text))})
		return err
	})
}

// What an input method composes, as phones' keyboards do with each word, is pressed when it's done, in front of the key that ends it.
func TestComposedTextGoesIntoTheScreen(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.shell(t, "one")
	b := browse(t, 390, 844)
	b.Do(s.open(), browsertest.Phone(3), chromedp.WaitVisible("#foot"), chromedp.Click("#tab-screen"))
	b.Until("the screen", inView)
	b.Do(chromedp.Click("#screen-type"))
	var want []string
	for _, c := range []struct {
		what    string
		actions []chromedp.Action[chromedp.Void]
		want    []string
	}{
		{"a word and a space", []chromedp.Action[chromedp.Void]{composed("l"), composed("ls"), browsertest.InsertText("ls"), browsertest.InsertText(" ")}, []string{"l", "s", "Space"}},
		{"a word that's put right", []chromedp.Action[chromedp.Void]{composed("lx"), browsertest.InsertText("ls ")}, []string{"l", "s", "Space"}},
		{"nothing in the end", []chromedp.Action[chromedp.Void]{composed("a"), composed(""), chromedp.KeyEvent(kb.Backspace)}, []string{"BSpace"}},
		{"Enter", []chromedp.Action[chromedp.Void]{composed("xy"), browsertest.Enter()}, []string{"x", "y", "Enter"}},
		{"an arrow", []chromedp.Action[chromedp.Void]{composed("q"), chromedp.KeyEvent(kb.ArrowUp)}, []string{"q", "Up"}},
		{"Ctrl", []chromedp.Action[chromedp.Void]{composed("z"), chromedp.KeyEvent("c", chromedp.KeyModifiers(chromedp.ModifierCtrl))}, []string{"z", "C-c"}},
		{"another word behind that", []chromedp.Action[chromedp.Void]{composed("日"), browsertest.InsertText("日本")}, []string{"日", "本"}},
	} {
		b.Do(c.actions...)
		want = append(want, c.want...)
		s.awaitKeys(len(want))
		if got := s.daemon.Pressed(); !slices.Equal(got, want) {
			t.Fatalf("%s: pressed are %q, want %q", c.what, got, want)
		}
		if left := browsertest.Eval[string](b, `document.querySelector('#screen-keys').value`); left != "" || !browsertest.Eval[bool](b, `document.activeElement.id === 'screen-keys'`) {
			t.Fatalf("%s: %q is left in the field", c.what, left)
		}
	}

	// A line break that no key says.
	browsertest.Eval[bool](b, `document.execCommand('insertLineBreak') || true`)
	s.awaitKeys(len(want) + 1)
	if got := s.daemon.Pressed(); got[len(got)-1] != "Enter" {
		t.Errorf("pressed are %q", got)
	}
}

// A key that's refused is said to be, and so is what was typed behind it: it was meant for another screen.
func TestWhatIsTypedBehindARefusedKeyIsNotPressed(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.shell(t, "one")
	refuse := make(chan struct{})
	s.daemon.OnKeys(func(p sessions.KeyPress) error {
		if p.Keys[0] != "a" {
			return nil
		}
		<-refuse
		return sessions.ErrNewDialog
	})
	b := browse(t, 1280, 900)
	b.Ignore("status of 409")
	b.Do(s.open(), chromedp.WaitVisible("#foot"), chromedp.Click("#tab-screen"))
	b.Until("the screen", inView)
	b.Do(chromedp.Click("#screen-type"), chromedp.KeyEvent("abc"))
	s.awaitKeys(1)
	close(refuse)
	b.Until("word of the refusal", `/^Not pressed: .*\(2\) wasn’t pressed/.test(document.querySelector('#toast').textContent)`)
	b.Do(chromedp.KeyEvent("d"))
	s.awaitKeys(2)
	if got := s.daemon.Pressed(); !slices.Equal(got, []string{"a", "d"}) {
		t.Errorf("pressed are %q, want a and d", got)
	}
}

// Who may only look isn't offered to type, and sees frames all the same.
func TestAViewerTypesNothingIntoTheScreen(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.shell(t, "one")
	b := browse(t, 390, 844)
	s.letsIn(t, b, "Phone", access.Viewer)
	b.Do(chromedp.Click(".card-link"), chromedp.Click("#tab-screen"))
	b.Until("the screen", inView)
	if browsertest.Eval[bool](b, `document.querySelector('#screen-type').checkVisibility()`) {
		t.Error("a viewer is offered to type")
	}
	b.Do(chromedp.Click(".terminal"), chromedp.KeyEvent("x"))
	if got := s.daemon.Pressed(); len(got) != 0 {
		t.Errorf("pressed are %q", got)
	}
}

// Keys have the names that tmux knows, whatever the keyboard's layout.
func TestKeysAreNamedAsTmuxNamesThem(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := browse(t, 800, 600)
	b.Do(s.enter(), chromedp.WaitVisible("#no-sessions"))
	for _, k := range []struct{ what, event, want string }{
		{"Ctrl on a Cyrillic layout", `{ key: 'с', code: 'KeyC', ctrlKey: true }`, "C-c"},
		{"Alt on a Greek layout", `{ key: 'χ', code: 'KeyX', altKey: true }`, "M-x"},
		{"Alt and Shift", `{ key: 'F', code: 'KeyF', altKey: true, shiftKey: true }`, "M-F"},
		{"AltGr on Windows", `{ key: '@', code: 'KeyQ', ctrlKey: true, altKey: true }`, "@"},
		{"Ctrl and Alt", `{ key: 'x', code: 'KeyX', ctrlKey: true, altKey: true }`, "C-M-x"},
		{"Alt and a bracket", `{ key: '[', code: 'BracketLeft', altKey: true }`, "M-["},
		{"Ctrl and what tmux doesn't know", `{ key: ';', code: 'Semicolon', ctrlKey: true }`, ""},
		{"Ctrl, Shift and a sign", `{ key: '_', code: 'Minus', ctrlKey: true, shiftKey: true }`, "C-_"},
		{"what copies", `{ key: 'C', code: 'KeyC', ctrlKey: true, shiftKey: true }`, ""},
		{"what pastes", `{ key: 'Insert', code: 'Insert', shiftKey: true }`, ""},
		{"Ctrl and Backspace", `{ key: 'Backspace', code: 'Backspace', ctrlKey: true }`, "BSpace"},
		{"Shift and Enter", `{ key: 'Enter', code: 'Enter', shiftKey: true }`, "Enter"},
		{"Ctrl, Shift and an arrow", `{ key: 'ArrowUp', code: 'ArrowUp', ctrlKey: true, shiftKey: true }`, "C-S-Up"},
		{"the system's", `{ key: 'c', code: 'KeyC', metaKey: true }`, ""},
	} {
		browsertest.Eval[bool](b, `(window.named = undefined, import('/sources/keyboard.js').then((m) => { window.named = m.keyOf(new KeyboardEvent('keydown', `+k.event+`)); }), true)`)
		b.Until("the name", `window.named !== undefined`)
		if got := browsertest.Eval[string](b, `window.named`); got != k.want {
			t.Errorf("%s: %q, want %q", k.what, got, k.want)
		}
	}
}

// Keys that are typed as the session is left are pressed in it, and none before there's a frame.
func TestKeysAreNotLostAsTheSessionIsLeft(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.shell(t, "one")
	s.shell(t, "two")
	s.daemon.OnKeys(func(sessions.KeyPress) error { time.Sleep(100 * time.Millisecond); return nil })
	b := browse(t, 1280, 900)
	b.Do(s.open(), chromedp.WaitVisible("#foot"), chromedp.Click("#tab-screen"))
	b.Until("the screen", inView)
	b.Do(chromedp.Click("#screen-type"), chromedp.KeyEvent("abcdef"), chromedp.Click("#back"))
	s.awaitKeys(6)
	if got := strings.Join(s.daemon.Pressed(), ""); got != "abcdef" {
		t.Errorf("pressed are %q", got)
	}
	for _, p := range s.daemon.Presses() {
		if p.Seen.IsZero() {
			t.Errorf("%q are pressed at no frame", p.Keys)
		}
	}
}
