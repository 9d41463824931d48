package cards

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/qos"
)

// How often a person is told in words in a place why no session takes what they write. People talk
// to each other, too.
const (
	untakenEvery       = 5 * time.Minute
	untakenSharedEvery = time.Minute // they may well talk to another's session
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
	texts uint64                           // that were told of; in a chat they come in order, also within one second
	words map[string]*untakenWords         // that wait to be posted, by place, person and reason
	signs map[adapters.Target]int          // that wait to be posted, by chat
	plain map[adapters.Target]signRefusals // of signs, by chat
}

// untakenWords tell a person of some texts.
type untakenWords struct {
	key    string // of the post
	texts  int
	newest uint64 // of them, in the order in which they were written
	last   string // its message
}

func newUntaken() *untaken {
	return &untaken{
		told: intake.NewSeldom(untakenEvery), toldShared: intake.NewSeldom(untakenSharedEvery),
		words: map[string]*untakenWords{}, signs: map[adapters.Target]int{}, plain: map[adapters.Target]signRefusals{},
	}
}

// ReplyUntaken tells a person that no session takes a text of theirs, and why: in words, or by a sign if they
// were told lately. shared says that others read what the bot gets, so that the text may be for a session of
// theirs.
func (k *Clerk) ReplyUntaken(ev intake.Event, why string, shared bool) {
	u, chat, now := k.untaken, ev.Place.WholeChat(), time.Now()
	topic := ev.Place.String() + " " + ev.Person.ID + " " + why
	told := u.told
	if shared || ev.Common {
		told = u.toldShared
	}
	words := told.Due(topic, now)
	u.mu.Lock()
	u.texts++
	n := u.texts
	words = words || ev.Message == "" || u.words[topic] != nil || u.signs[chat] >= maxSigns || u.plain[chat].areEnough(now)
	if !words {
		u.signs[chat]++
	}
	u.mu.Unlock()
	if words {
		k.replyUntaken(ev, n, topic, why, nil)
		return
	}
	sign := adapters.Post{To: ev.Place, Key: "untaken " + ev.Key, Class: qos.Interactive, ReplyTo: ev.Message, Reaction: untakenSign}
	kept := k.replies.keepReply(ev, &sign, why)
	sign.Again = false // it's there once, however often it's put there
	sign.Sent = func(_ string, err error) {
		if u.confirmSign(chat, err); err != nil {
			k.replyUntaken(ev, n, topic, why, kept)
			return
		}
		k.replies.noteSeen(kept, nil)
	}
	if err := k.Hub.Post(sign); err != nil {
		sign.Sent("", err)
	}
}

// confirmSign takes in what came of a sign.
func (u *untaken) confirmSign(chat adapters.Target, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.signs[chat]--; u.signs[chat] <= 0 {
		delete(u.signs, chat)
	}
	if err == nil {
		delete(u.plain, chat)
		return
	}
	u.plain[chat] = signRefusals{u.plain[chat].times + 1, time.Now()}
}

// ReplyCommon answers an event that other users of the same bot answer alike: the platform takes one of the
// answers.
func (k *Clerk) ReplyCommon(ev intake.Event, text string) {
	key := "common " + ev.Key
	err := k.PostReply(ev, adapters.Post{
		To: ev.Place, Key: key, Class: qos.Interactive, ReplyTo: ev.Message, Text: text, Nonce: commonNonce(ev, key),
	})
	if err != nil {
		k.Log.Warn("somebody couldn't be answered", "key", ev.Key, "target", ev.Place.String(), "err", err)
	}
}

// commonNonce is the nonce of an answer that others give alike: the platform takes the first. "":
// nobody else does.
func commonNonce(ev intake.Event, key string) string {
	if !ev.Common {
		return ""
	}
	return DigestOf(key)
}

// replyUntaken says it in words of the n-th text that's told of. While those wait, they take in what else
// the person writes. sign is the answer that they take the place of; nil: none.
func (k *Clerk) replyUntaken(ev intake.Event, n uint64, topic, why string, sign *keptReply) {
	u := k.untaken
	u.mu.Lock()
	w := u.words[topic]
	if w == nil {
		w = &untakenWords{key: "untaken " + ev.Key + " in words"}
		u.words[topic] = w
	}
	w.texts++
	if n > w.newest { // a sign on one before may be refused only now
		w.newest, w.last = n, ev.Message
	}
	texts, last := w.texts, w.last
	u.mu.Unlock()
	post := adapters.Post{
		To: ev.Place, Elsewhere: k.ChatBeside(ev.Place), Key: w.key, Class: qos.Interactive, ReplyTo: last, Text: why,
		Nonce: commonNonce(ev, w.key),
	}
	if texts > 1 {
		post.Text = fmt.Sprintf("None of your last %d texts was typed. %s", texts, why)
	}
	kept := sign
	if kept == nil {
		kept = k.replies.keepReply(ev, &post, "")
	} else {
		k.replies.moveReply(kept, replySlot{post.To, post.Key})
	}
	over := func(err error) {
		u.mu.Lock()
		defer u.mu.Unlock()
		if !errors.Is(err, adapters.ErrReplaced) && u.words[topic] == w && w.texts == texts {
			delete(u.words, topic)
		}
	}
	post.Sent = func(_ string, err error) {
		k.replies.noteSeen(kept, err)
		over(err)
	}
	if err := k.Hub.Post(post); err != nil {
		k.replies.noteUnqueued(kept, err)
		over(err)
		k.Log.Warn("somebody couldn't be answered", "key", ev.Key, "target", ev.Place.String(), "err", err)
	}
}
