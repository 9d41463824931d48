package commands

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/sessions"
)

// shortHelp are the commands that the help shows at first: what people use all day, so that it fits on a phone's screen.
var shortHelp = []string{"sessions", "new", "screen", "stop", "history", "search", "send", "mute"} //nolint:gochecknoglobals // a constant table

// helpFor is how long the help's button works.
const helpFor = 7 * 24 * time.Hour

// showHelp says what a person can do in this place, in a screen. A button has all commands.
func showHelp(a *Invocation) error {
	all := a.makeOffer("All commands", cards.Offer{Do: "all-commands", Person: a.Event.Person.ID, Expires: time.Now().Add(helpFor)})
	here := a.runner.SessionsAt(a.Event.Place, func(b adapters.Binding) bool { return !b.Unbound })
	text := a.describePlace(here) + "\n\n" + a.listCommands(false, func(c chatCommand) bool {
		return slices.Contains(shortHelp, c.Name) && (!c.session || len(here) > 0)
	})
	return a.replyText(strings.TrimSpace(text), []adapters.Button{all})
}

// showAllCommands lists all that a person can ask for.
func showAllCommands(a *Invocation) error {
	others := false
	text := a.listCommands(true, func(chatCommand) bool { return true }) + "\n"
	for _, c := range chatCommands() {
		others = others || !a.Roles.Has(c.neededRole(a.Event))
	}
	text += "Where a place mirrors several sessions, or none, write the session's name behind the command. //x passes /x on. What a session's program asks here is answered by its buttons, or by a reply to it; what it shows stands here."
	if others {
		text += "\n\nThere are other commands, for other roles."
	}
	return a.ReplaceText(text)
}

// describePlace says what becomes of what a person writes here.
func (a *Invocation) describePlace(here []sessions.Session) string {
	switch {
	case !a.Roles.Has(access.Operator):
		return "You may look here. What you write isn't typed: that takes the role operator."
	case len(here) == 0:
		return "No session is mirrored here."
	case len(here) > 1:
		return fmt.Sprintf("%d sessions are mirrored here: what you write is typed into the one that you answer, or you're asked.", len(here))
	}
	return "What you write here is typed into " + wording.Bold(here[0].Name) + ". 👍 on it: submitted; 👌: answered; 🤔: typed, but nobody saw it taken."
}

// listCommands lists those that the person may ask for and want chooses, a row each; whole says that what can stand behind them is
// shown, too.
func (a *Invocation) listCommands(whole bool, want func(chatCommand) bool) string {
	var b strings.Builder
	for _, c := range chatCommands() {
		if !a.Roles.Has(c.neededRole(a.Event)) || !want(c) {
			continue
		}
		fmt.Fprintf(&b, "/%s", c.Name)
		if whole && c.Args != "" {
			fmt.Fprintf(&b, " %s", wording.Plain(c.Args))
		}
		fmt.Fprintf(&b, ": %s\n", wording.Plain(c.Help))
	}
	return b.String()
}
