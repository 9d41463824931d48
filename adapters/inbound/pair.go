package inbound

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

const (
	// codeLetters has no two that look alike: 30^8 codes are 6.5·10^11.
	codeLetters = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
	codeLen     = 8
	codeFor     = 10 * time.Minute
	maxCodes    = 20 // that wait to be used at a time

	// Wrong codes that are looked at in codeFor. With all of the codes there can be,
	// a guess hits once in 3·10^7 such times; and 200 people must guess to keep
	// others from being let in.
	triesPerPerson = 5
	triesOverall   = 1000
)

// Code is a pairing code that was given out.
type Code struct {
	Hash    string // codeHash of it
	Role    Role
	By      string // who made it: "cli", "telegram:123"
	Expires time.Time
}

// CodeUse is who uses a code. It gives the person the code's role, and makes Chat
// known unless it's empty.
type CodeUse struct {
	Key    string // of the event
	Person intake.Person
	Chat   adapters.Target
	At     time.Time
}

// Grant is what using a code gives.
func (u CodeUse) Grant(c Code) Grant {
	g := Grant{Person: u.Person.ID, Name: u.Person.Name, Role: c.Role, By: c.By, At: u.At, Chat: u.Chat}
	if u.Chat != (adapters.Target{}) {
		g.Checked = u.At // who writes there is in there
	}
	return g
}

// Pair makes a code that lets a person in who writes "/pair CODE" to the bot, once,
// within the time that's returned; written in a group, the group too. by says who
// made it.
func (in *Inbound) Pair(ctx context.Context, role Role, by string) (code string, expires time.Time, err error) {
	if role, err = ParseRole(string(role)); err != nil {
		return "", time.Time{}, fmt.Errorf("make a pairing code: %w: %w", sessions.ErrInvalid, err)
	}
	code, expires = newCode(), time.Now().Add(codeFor)
	if in.opt.Paired != nil {
		in.opt.Paired(code)
	}
	err = in.opt.Store.PutCode(ctx, Code{Hash: codeHash(code), Role: role, By: by, Expires: expires}, maxCodes)
	if err != nil {
		return "", time.Time{}, fmt.Errorf("make a pairing code: %w", err)
	}
	in.log.Info("a pairing code was made", "role", role, "by", by, "expires", expires)
	return code, expires, nil
}

func newCode() string {
	code := make([]byte, 0, codeLen)
	var b [1]byte
	for len(code) < codeLen {
		_, _ = rand.Read(b[:])                    // documented never to fail
		if int(b[0]) < 256-256%len(codeLetters) { // all letters equally often
			code = append(code, codeLetters[int(b[0])%len(codeLetters)])
		}
	}
	return string(code)
}

// codeHash is how a code is kept. It's a plain hash: a code lives for ten minutes
// in a file that only its owner reads.
func codeHash(code string) string {
	sum := sha256.Sum256([]byte("panebridge pairing code " + code))
	return hex.EncodeToString(sum[:])
}

// readCode finds a code in "/pair CODE", written in any case, with spaces or dashes;
// "": there's none.
func readCode(ev intake.Event) string {
	said, ok := ev.Action.(intake.Said)
	if !ok {
		return ""
	}
	name, args, ok := readCommand(said.Text)
	if !ok || name != "pair" || len(args) > 4*codeLen {
		return ""
	}
	code := strings.NewReplacer(" ", "", "-", "").Replace(strings.ToUpper(args))
	if len(code) != codeLen || strings.Trim(code, codeLetters) != "" {
		return ""
	}
	return code
}

// tryCode lets a person in who writes a pairing code. It returns false if there's
// none in the event, or a wrong one: what happens then isn't told from what else a
// stranger may write.
func (in *Inbound) tryCode(ctx context.Context, ev intake.Event) (bool, error) {
	code := readCode(ev)
	if code == "" || ev.Person.ID == "" {
		return false, nil
	}
	now := time.Now()
	if now.Sub(ev.At) > codeFor || !in.access.tries.may(ev.Person.ID, now) {
		return false, nil
	}
	use := CodeUse{Key: ev.Key, Person: ev.Person, At: now}
	if !ev.Private {
		use.Chat = chatOf(ev.Place)
	}
	c, err := in.opt.Store.UseCode(ctx, codeHash(code), use)
	if errors.Is(err, sessions.ErrUnknown) {
		in.access.tries.failed(ev.Person.ID)
		if in.access.strange.logged.due(ev.Person.ID+" code", now) {
			in.log.Warn("a wrong pairing code", "person", ev.Person.ID, "target", ev.Place.String())
		}
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("use a pairing code: %w", err)
	}
	in.access.mu.Lock()
	in.access.put(use.Grant(c))
	if use.Chat != (adapters.Target{}) {
		in.access.chats[use.Chat] = true
	}
	in.access.mu.Unlock()
	if ev.Private {
		in.privateOf(ctx, ev)
		if err := in.opt.Hub.ChatBack(ctx, ev.Place.Adapter, ev.Place.Chat); err != nil {
			in.log.Warn("bindings of a private chat couldn't be tried again", "target", ev.Place.String(), "err", err)
		}
	}
	in.log.Info("a person was let in by a pairing code", "person", ev.Person.ID, "target", ev.Place.String(), "role", c.Role, "by", c.By)
	text := "You're in, as " + string(c.Role) + ". /help shows what you can do."
	if use.Chat != (adapters.Target{}) {
		text = "You're in, as " + string(c.Role) + ", and this chat is known now. /help shows what you can do."
	}
	return true, in.record(ctx, ev, Entry{Kind: "pair", What: string(c.Role), Outcome: "done"}, func() {
		in.say(ev, "paired", qos.Interactive, text)
	})
}

// tries counts wrong codes in windows of codeFor.
type tries struct {
	mu       sync.Mutex
	begin    time.Time
	overall  int
	byPerson map[string]int // at most triesOverall
}

// may says whether another code of a person is looked at.
func (t *tries) may(person string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Sub(t.begin) >= codeFor {
		t.begin, t.overall, t.byPerson = now, 0, map[string]int{}
	}
	return t.overall < triesOverall && t.byPerson[person] < triesPerPerson
}

func (t *tries) failed(person string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.overall++
	t.byPerson[person]++
}

// pairCommand makes a code from a chat. Codes that are used are seen before any
// command: see tryCode.
func pairCommand() command {
	return command{
		CommandInfo: intake.CommandInfo{Name: "pair", Args: "[role]", Help: "Make a code that lets another person in"},
		role:        Admin,
		run: func(a *ask) error {
			if !a.event.Private {
				return a.reply("A code lets whoever reads it in: ask for one in a private chat with the bot, or with `panebridge pair` in a terminal.")
			}
			if readCode(a.event) != "" {
				return a.reply("That code isn't valid, or not any more.")
			}
			role, err := ParseRole(strings.ToLower(a.args))
			if err != nil {
				return err
			}
			code, _, err := a.in.Pair(a.ctx, role, a.event.Person.ID)
			if err != nil {
				return err
			}
			return a.post(adapters.Post{Shown: true, Text: "Within ten minutes, once: whoever writes `/pair " + code + "` to the bot becomes " + string(role) + "."})
		},
	}
}
