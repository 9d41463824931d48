package access

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
	x := Grant{Person: u.Person.ID, Name: u.Person.Name, Role: c.Role, By: c.By, At: u.At, Chat: u.Chat}
	if u.Chat != (adapters.Target{}) {
		x.Checked = u.At // who writes there is in there
	}
	return x
}

// Pair makes a code that lets a person in who writes "/pair CODE" to the bot, once,
// within the time that's returned; written in a group, the group too. by says who
// made it.
func (g *Guard) Pair(ctx context.Context, role Role, by string) (code string, expires time.Time, err error) {
	if role, err = ParseRole(string(role)); err != nil {
		return "", time.Time{}, fmt.Errorf("make a pairing code: %w: %w", sessions.ErrInvalid, err)
	}
	code, expires = newCode(), time.Now().Add(codeFor)
	if g.opt.Paired != nil {
		g.opt.Paired(code)
	}
	err = g.opt.Store.PutCode(ctx, Code{Hash: codeHash(code), Role: role, By: by, Expires: expires}, maxCodes)
	if err != nil {
		return "", time.Time{}, fmt.Errorf("make a pairing code: %w", err)
	}
	g.log.Info("a pairing code was made", "role", role, "by", by, "expires", expires)
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

// ReadCode finds a code in "/pair CODE", written in any case, with spaces or dashes;
// "": there's none.
func ReadCode(ev intake.Event) string {
	said, ok := ev.Action.(intake.Said)
	if !ok {
		return ""
	}
	name, args, ok := intake.ReadCommand(said.Text)
	if !ok || name != "pair" || len(args) > 4*codeLen {
		return ""
	}
	code := strings.NewReplacer(" ", "", "-", "").Replace(strings.ToUpper(args))
	if len(code) != codeLen || strings.Trim(code, codeLetters) != "" {
		return ""
	}
	return code
}

// useCode lets a person in who writes a pairing code. Admission.Paired is false if there's
// none in the event, or a wrong one: what happens then isn't told from what else a
// stranger may write.
func (g *Guard) useCode(ctx context.Context, ev intake.Event) (Admission, error) {
	code := ReadCode(ev)
	if code == "" || ev.Person.ID == "" {
		return Admission{}, nil
	}
	now := time.Now()
	if now.Sub(ev.At) > codeFor || !g.guesses.allows(ev.Person.ID, now) {
		return Admission{}, nil
	}
	use := CodeUse{Key: ev.Key, Person: ev.Person, At: now}
	if !ev.Private {
		use.Chat = ev.Place.WholeChat()
	}
	c, err := g.opt.Store.UseCode(ctx, codeHash(code), use)
	if errors.Is(err, sessions.ErrUnknown) {
		g.guesses.noteWrong(ev.Person.ID)
		if g.strange.logged.Due(ev.Person.ID+" code", now) {
			g.log.Warn("a wrong pairing code", "person", ev.Person.ID, "target", ev.Place.String())
		}
		return Admission{}, nil
	}
	if err != nil {
		return Admission{}, fmt.Errorf("use a pairing code: %w", err)
	}
	g.mu.Lock()
	g.put(use.Grant(c))
	if use.Chat != (adapters.Target{}) {
		g.chats[use.Chat] = true
	}
	g.mu.Unlock()
	if ev.Private {
		g.notePrivateChat(ctx, ev)
		if err := g.opt.Hub.ChatBack(ctx, ev.Place.Adapter, ev.Place.Chat); err != nil {
			g.log.Warn("bindings of a private chat couldn't be tried again", "target", ev.Place.String(), "err", err)
		}
	}
	g.log.Info("a person was let in by a pairing code", "person", ev.Person.ID, "target", ev.Place.String(), "role", c.Role, "by", c.By)
	text := "You're in, as " + string(c.Role) + ". /help shows what you can do."
	if use.Chat != (adapters.Target{}) {
		text = "You're in, as " + string(c.Role) + ", and this chat is known now. /help shows what you can do."
	}
	return Admission{Paired: true, Role: c.Role, Welcome: text}, nil
}

// guesses counts wrong codes in windows of codeFor.
type guesses struct {
	mu       sync.Mutex
	begin    time.Time
	overall  int
	byPerson map[string]int // at most triesOverall
}

// allows says whether another code of a person is looked at.
func (t *guesses) allows(person string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Sub(t.begin) >= codeFor {
		t.begin, t.overall, t.byPerson = now, 0, map[string]int{}
	}
	return t.overall < triesOverall && t.byPerson[person] < triesPerPerson
}

// noteWrong counts a wrong code.
func (t *guesses) noteWrong(person string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.overall++
	t.byPerson[person]++
}
