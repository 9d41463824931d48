package commands

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/wording"
)

func runAccess(a *Invocation) error {
	words := strings.Fields(a.args)
	switch {
	case len(words) == 0:
		return a.replyText(accessText(a.runner.ListAccess(), time.Now()))
	case words[0] == "grant" && len(words) == 3:
		if err := a.runner.GiveRole(a.Ctx, words[1], access.Role(strings.ToLower(words[2])), a.Event.Person.ID); err != nil {
			return err
		}
		return a.replyText(wording.Plain(words[1] + " may do what the role " + strings.ToLower(words[2]) + " says."))
	case words[0] == "revoke" && len(words) == 2:
		rest, err := a.runner.RevokeRoles(a.Ctx, words[1], "", a.Event.Person.ID)
		if err != nil {
			return err
		}
		return a.replyText(wording.Plain(RevokedText(words[1], rest)))
	}
	return errors.New("write /access, /access grant PERSON ROLE, or /access revoke PERSON; a person is telegram:123 or discord:456")
}

// RevokedText returns what came of taking back a person's access; rest is what the configuration gives them.
func RevokedText(person string, rest access.Roles) string {
	if len(rest) == 0 {
		return person + " has no access any more."
	}
	var left []string
	for r := range rest {
		left = append(left, string(r))
	}
	slices.Sort(left)
	return "What " + person + " was given is taken back. The configuration still gives them " + strings.Join(left, ", ") + ": take them out of access: there."
}

// maxAccessRows bounds what's listed in a chat: `panebridge access list` has all.
const maxAccessRows = 30

// accessText lists who may do what, in Markdown.
func accessText(all []access.ListedGrant, now time.Time) string {
	var b strings.Builder
	for i, l := range all {
		if i == maxAccessRows {
			fmt.Fprintf(&b, "and %d more: `panebridge access list` has all\n", len(all)-i)
			break
		}
		who := l.Person
		if l.Name != "" {
			who += " (" + l.Name + ")"
		}
		fmt.Fprintf(&b, "%s: **%s**, %s\n", wording.Plain(who), l.Role, wording.Plain(givenText(l, now)))
	}
	if b.Len() == 0 {
		return "Nobody has access."
	}
	return b.String()
}

// givenText returns where somebody's role comes from, and how it stands.
func givenText(l access.ListedGrant, now time.Time) string {
	if l.Config {
		return "by the configuration"
	}
	text := "by " + l.By + ", " + wording.Age(now.Sub(l.At)) + " ago"
	if l.Chat.Chat != "" {
		text += ", in " + l.Chat.String()
	}
	if l.Used.IsZero() {
		text += ", never used"
	} else {
		text += ", used " + wording.Age(now.Sub(l.Used)) + " ago"
	}
	if l.Void != "" {
		text += "; VOID: " + l.Void
	}
	return text
}

// runPair makes a code from a chat. Codes that are used are seen before any
// command: see access.Guard.Admit.
func runPair(a *Invocation) error {
	if !a.Event.Private {
		return a.replyText("A code lets whoever reads it in: ask for one in a private chat with the bot, or with `panebridge pair` in a terminal.")
	}
	if access.ReadCode(a.Event) != "" {
		return a.replyText("That code isn't valid, or not any more.")
	}
	role, err := access.ParseRole(strings.ToLower(a.args))
	if err != nil {
		return err
	}
	code, _, err := a.runner.MakePairingCode(a.Ctx, role, a.Event.Person.ID)
	if err != nil {
		return err
	}
	return a.post(adapters.Post{Shown: true, Text: "Within ten minutes, once: whoever writes `/pair " + code + "` to the bot becomes " + string(role) + "."})
}
