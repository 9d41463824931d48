package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// trip is a way through the program, in legs: within a leg each function calls the next, and a
// leg hands over to the next by a channel, a queue or the database.
type trip struct {
	name string
	legs []leg
}

// leg is functions in the order in which they're passed; those between are found.
type leg []string

// trips are the ways that docs/architecture.md shows.
func trips() []trip {
	return []trip{
		{"A line, from a pane to Telegram", []leg{
			{"(*polling.serverWatch).run", "(*sessions/tmux.Client).Glances", "(*sessions/tmux.serverConn).enqueue"},
			{"(*polling.serverWatch).lookAtPanes", "(*polling.OutputPoller).wakeUp"},
			{"(*polling.OutputPoller).run", "(*polling.OutputPoller).loop", "(*sessions/tmux.Client).Snapshot"},
			{"(*polling.OutputPoller).loop", "(polling.Engine).Apply"},
			{"(*polling.OutputPoller).loop", "(*polling.OutputPoller).process", "(*polling.OutputPoller).commit", "(*internal/store.Store).Append"},
			{"(*polling.OutputPoller).commit", "(*sessions.Manager).Output", "(*sessions.Feed).PublishOutput"},
			{"(*adapters.Hub).HandleOutput", "(*qos.OutputQoSScheduler).Want", "(*qos.letterbox).putLetter"},
			{"(*qos.OutputQoSScheduler).Run", "(*qos.OutputQoSScheduler).readLetters", "(*qos.SlotEngine).takeNews"},
			{"(*qos.OutputQoSScheduler).loop", "(*qos.SlotEngine).Advance", "(*qos.SlotEngine).choose"},
			{"(*qos.SlotEngine).grantNext", "(*qos.LocalBudget).AskSlot"},
			{"(*qos.OutputQoSScheduler).loop", "(*qos.OutputQoSScheduler).makeCall", "(*adapters.Deliverer).deliverDocument", "(*internal/store.Store).Read"},
			{"(*adapters.Deliverer).deliverDocument", "(*adapters/telegram.Adapter).Call", "(*adapters/telegram.Adapter).sendMessage"},
			{"(*adapters/telegram.libraryCall).Do", "(*adapters/exchange.Exchange).Do"},
		}},
		{"A message, from Telegram to a pane", []leg{
			{"(*adapters/telegram.Poller).Run", "(*adapters/telegram.client).callMethod"},
			{"(*adapters/telegram.Poller).Run", "(*adapters/intake.Queue).Keep", "(internal/store.journal).Keep"},
			{"(*adapters/intake.Queue).Run", "(*adapters/intake.Queue).judgeUpdate", "(adapters/telegram.Decoder).Decode"},
			{"(*adapters/intake.Queue).judgeUpdate", "(*adapters/inbound.Inbound).Handle", "(*adapters/access.Guard).Admit"},
			{"(*adapters/inbound.Inbound).Handle", "(*adapters/inbound.Inbound).typeText", "(*sessions.Manager).Input", "(*sessions.Manager).startTypist"},
			{"(*sessions.Manager).startTypist", "(*sessions.Manager).typeInput", "(*sessions.Manager).typeInput$1", "(*sessions/typing.Hand).TypeText", "(*sessions/typing.typist).pasteText", "sessions/typing.runSteps", "(*sessions/tmux.Client).Paste"},
			{"(*sessions/typing.personText).typeInTurn", "sessions/typing.runSteps", "(*sessions/tmux.Client).Press"},
		}},
		{"A button, from Telegram to a key", []leg{
			{"(*adapters/telegram.Poller).Run", "(*adapters/telegram.client).callMethod"},
			{"(*adapters/telegram.Poller).Run", "(*adapters/intake.Queue).Keep", "(internal/store.journal).Keep"},
			{"(*adapters/intake.Queue).Run", "(*adapters/intake.Queue).judgeUpdate", "(adapters/telegram.Decoder).Decode"},
			{"(*adapters/intake.Queue).judgeUpdate", "(*adapters/inbound.Inbound).Handle", "(*adapters/access.Guard).Admit"},
			{"(*adapters/inbound.Inbound).Handle", "(*adapters/commands.Runner).PressButton"},
			{"(*adapters/commands.Runner).PressButton", "adapters/commands.answerOption", "(*sessions.Manager).Answer", "(*sessions.Manager).giveAnswer", "(*sessions/typing.Hand).GiveAnswer", "sessions/typing.runSteps", "(*sessions/tmux.Client).Press"},
		}},
	}
}

// list writes the trips as docs/architecture.md has them, and each function that's passed to passed.
func list(g *graph, passed io.Writer) (string, error) {
	var b strings.Builder
	for _, t := range trips() {
		files, err := t.files(g, passed)
		if err != nil {
			return "", fmt.Errorf("%s: %w", t.name, err)
		}
		fmt.Fprintf(&b, "- %s, %d files: `%s`\n", t.name, len(files), strings.Join(files, "`, `"))
	}
	return b.String(), nil
}

// files are those that a trip passes through, in the order in which it comes to them.
func (t trip) files(g *graph, passed io.Writer) ([]string, error) {
	var files []string
	for _, l := range t.legs {
		for i := range l[:len(l)-1] {
			path, err := g.path(l[i], l[i+1])
			if err != nil {
				return nil, err
			}
			for _, f := range path {
				file := g.fileOf(f)
				if file == "" {
					continue // a method as a value: the compiler's
				}
				if _, err := fmt.Fprintln(passed, file, nameOf(f)); err != nil {
					return nil, err
				}
				if !slices.Contains(files, file) {
					files = append(files, file)
				}
			}
		}
	}
	return files, nil
}
