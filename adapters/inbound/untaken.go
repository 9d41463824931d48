package inbound

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/qos"
)

// How often a person is told in words in a place: why no session takes what they write, and that
// it takes a role to. People talk to each other, too.
const (
	untakenEvery       = 5 * time.Minute
	untakenSharedEvery = time.Minute // they may well talk to another's session
	roleHintEvery      = time.Hour
)

// untakenSign stands on a text that no session takes, where its writer was told why lately.
const untakenSign = "🤷"

// maxSigns bounds the signs that wait in a chat. What comes then is told in words, many texts at
// a time.
const maxSigns = 10

// untaken tells people of each text that no session takes: in words, or by a sign. It's safe for
// concurrent use.
type untaken struct {
	told, toldShared *intake.Seldom

	mu    sync.Mutex
	words map[string]*untakenWords     // that wait to be posted, by place, person and reason
	signs map[adapters.Target]int      // that wait to be posted, by chat
	plain map[adapters.Target]refusals // of signs, by chat
}

// untakenWords tell a person of some texts.
type untakenWords struct {
	key    string // of the post
	texts  int
	newest intake.Event // of them
}

func newUntaken() *untaken {
	return &untaken{
		told: intake.NewSeldom(untakenEvery), toldShared: intake.NewSeldom(untakenSharedEvery),
		words: map[string]*untakenWords{}, signs: map[adapters.Target]int{}, plain: map[adapters.Target]refusals{},
	}
}

// tellRole tells a person that they may not type, unless they were told lately.
func (in *Inbound) tellRole(ev intake.Event) {
	if in.roleHints.Due(ev.Place.String()+" "+ev.Person.ID, time.Now()) {
		in.say(ev, "hint", qos.Interactive, "You may look here, but not type: that takes the role operator.")
	}
}

// tellUntaken tells a person that no session takes a text of theirs, and why.
func (in *Inbound) tellUntaken(ev intake.Event, why string) {
	u, chat, now := in.untaken, ev.Place.WholeChat(), time.Now()
	topic := ev.Place.String() + " " + ev.Person.ID + " " + why
	told := u.told
	if in.sharer(ev.Place.Adapter) != "" || ev.Common {
		told = u.toldShared
	}
	words := told.Due(topic, now)
	u.mu.Lock()
	words = words || ev.Message == "" || u.words[topic] != nil || u.signs[chat] >= maxSigns || u.plain[chat].enough(now)
	if !words {
		u.signs[chat]++
	}
	u.mu.Unlock()
	if words {
		in.sayUntaken(ev, topic, why, nil)
		return
	}
	sign := adapters.Post{To: ev.Place, Key: "untaken " + ev.Key, Class: qos.Interactive, ReplyTo: ev.Message, Reaction: untakenSign}
	kept := in.replies.keep(ev, &sign, why)
	sign.Again = false // it's there once, however often it's put there
	sign.Sent = func(_ string, err error) {
		if u.signed(chat, err); err != nil {
			in.sayUntaken(ev, topic, why, kept)
			return
		}
		in.replies.settled(kept, nil)
	}
	if err := in.opt.Hub.Post(sign); err != nil {
		sign.Sent("", err)
	}
}

// signed takes in what came of a sign.
func (u *untaken) signed(chat adapters.Target, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.signs[chat]--; u.signs[chat] <= 0 {
		delete(u.signs, chat)
	}
	if err == nil {
		delete(u.plain, chat)
		return
	}
	u.plain[chat] = refusals{u.plain[chat].times + 1, time.Now()}
}

// sayCommon answers what others got, too, who use the same bot, with what each of them says.
func (in *Inbound) sayCommon(ev intake.Event, text string) {
	key := "common " + ev.Key
	err := in.replies.postReply(ev, adapters.Post{
		To: ev.Place, Key: key, Class: qos.Interactive, ReplyTo: ev.Message, Text: text, Nonce: commonNonce(ev, key),
	})
	if err != nil {
		in.log.Warn("somebody couldn't be answered", "key", ev.Key, "target", ev.Place.String(), "err", err)
	}
}

// commonNonce is the nonce of an answer that others give alike: the platform takes the first. "":
// nobody else does.
func commonNonce(ev intake.Event, key string) string {
	if !ev.Common {
		return ""
	}
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:8])
}

// sayUntaken says it in words. While those wait, they take in what else the person writes. sign is the
// answer that they take the place of; nil: none.
func (in *Inbound) sayUntaken(ev intake.Event, topic, why string, sign *keptReply) {
	u := in.untaken
	u.mu.Lock()
	w := u.words[topic]
	if w == nil {
		w = &untakenWords{key: "untaken " + ev.Key + " in words"}
		u.words[topic] = w
	}
	w.texts++
	if !ev.At.Before(w.newest.At) { // a sign on one before may be refused only now
		w.newest = ev
	}
	texts, last := w.texts, w.newest.Message
	u.mu.Unlock()
	post := adapters.Post{
		To: ev.Place, Elsewhere: in.beside(ev.Place), Key: w.key, Class: qos.Interactive, ReplyTo: last, Text: why,
		Nonce: commonNonce(ev, w.key),
	}
	if texts > 1 {
		post.Text = fmt.Sprintf("None of your last %d texts was typed. %s", texts, why)
	}
	kept := sign
	if kept == nil {
		kept = in.replies.keep(ev, &post, "")
	} else {
		in.replies.move(kept, replySlot{post.To, post.Key})
	}
	over := func(err error) {
		u.mu.Lock()
		defer u.mu.Unlock()
		if !errors.Is(err, adapters.ErrReplaced) && u.words[topic] == w && w.texts == texts {
			delete(u.words, topic)
		}
	}
	post.Sent = func(_ string, err error) {
		in.replies.settled(kept, err)
		over(err)
	}
	if err := in.opt.Hub.Post(post); err != nil {
		in.replies.neverQueued(kept, err)
		over(err)
		in.log.Warn("somebody couldn't be answered", "key", ev.Key, "target", ev.Place.String(), "err", err)
	}
}
