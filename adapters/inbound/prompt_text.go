package inbound

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/sessions"
)

const (
	maxButton   = 40  // characters of a button that are shown everywhere
	maxQuestion = 300 // runes of a question
	maxOption   = 250 // runes of an option in a text
	maxDetail   = 150 // runes of what's explained below it
	spareUnits  = 60  // of a message: for marks and masks
)

// asks says what sort of question it is.
func asks(k sessions.PromptKind) string {
	switch k {
	case sessions.PromptPermission:
		return "asks for permission"
	case sessions.PromptChoice:
		return "asks you to choose"
	case sessions.PromptMulti:
		return "asks you to choose any number"
	case sessions.PromptText:
		return "asks for a text"
	case sessions.PromptPlan:
		return "asks whether its plan is right"
	case sessions.PromptSetup:
		return "asks about its own setup"
	case sessions.PromptUnread:
		return "needs you"
	case sessions.PromptLine:
		return "asks for a line"
	case sessions.PromptCall:
		return "has a program that asks for something"
	default:
		return "asks"
	}
}

// Why a question has fewer buttons than options.
const (
	disputedNote = "⚠ What its dialog shows isn’t in the agent’s own record of the call. Both are below. Only what refuses can be chosen here; look at it in the session."
	unseenNote   = "⚠ Not all of what it’s about can be seen, so only what refuses can be chosen here. Look at it in the session."
)

// How a program's question for a line is answered.
const (
	lineNote   = "What’s written to the session is typed there."
	hiddenNote = "It doesn’t show what’s typed: a password, perhaps, which is better typed in the session, since a chat keeps what’s written. What’s written to the session here is typed there."
)

// promptText is what the message of a question says, in Markdown, cut to fit. lead
// stands at its top; "": nothing does. byNumber says that it has no buttons: people answer it
// with numbers.
func promptText(name string, p sessions.Prompt, checked []int, shape adapters.Shape, lead string, byNumber bool) string {
	head := fmt.Sprintf("**%s %s**", wording.Plain(name), asks(p.Dialog.Kind))
	if lead != "" {
		head = lead + "\n\n" + head
	}
	if p.Dialog.Kind == sessions.PromptUnread && byNumber && !p.Final() {
		return strings.Join([]string{unreadText(head, p), keyList(p.Dialog), numbersNote(p.Dialog)}, "\n\n")
	}
	if p.Dialog.Kind == sessions.PromptUnread {
		return unreadText(head, p)
	}
	if p.Dialog.Title != "" {
		head += "\n\n" + wording.Plain(wording.CutEnd(p.Dialog.Title, maxQuestion))
	}
	switch {
	case p.Final():
	case p.Dialog.Kind == sessions.PromptLine && p.Dialog.Hidden:
		head += "\n\n" + hiddenNote
	case p.Dialog.Kind == sessions.PromptLine:
		head += "\n\n" + lineNote
	case p.Dialog.Disputed:
		head += "\n\n" + disputedNote
	case p.Dialog.Unseen:
		head += "\n\n" + unseenNote
	}
	var foot string
	switch {
	case p.Final():
		foot = wording.Plain(became(p))
	case numbered(p.Dialog), byNumber && len(p.Dialog.Options) > 0:
		foot = optionList(p.Dialog, checked, func(s string) bool { return shape.Len(s) <= shape.MaxLen/2 })
	}
	if note := numbersNote(p.Dialog); byNumber && !p.Final() && note != "" {
		foot += "\n\n" + note
	}
	room := shape.MaxLen - shape.Len(head) - shape.Len(foot) - spareUnits
	parts := []string{head}
	if body := fitting(p.Dialog, shape.Len, room); body != "" {
		parts = append(parts, body)
	}
	if foot != "" {
		parts = append(parts, foot)
	}
	return strings.Join(parts, "\n\n")
}

// unreadText is what stands below the picture of a screen.
func unreadText(head string, p sessions.Prompt) string {
	switch {
	case p.Final():
		return head + "\n\n" + wording.Plain(became(p))
	case len(p.Dialog.Options) == 0:
		return head + ": its screen asks for something that's typed there only, a key or a code perhaps. Answer it in the session."
	case p.Dialog.Title != "":
		head += ": " + wording.Plain(wording.CutEnd(p.Dialog.Title, maxQuestion))
	default:
		head += ": its screen looks like a question."
	}
	return head + "\n\npanebridge doesn't know this dialog. Each button presses its key, while this very screen stands."
}

// numbered says that the options stand in the text: a button can't hold all of them.
func numbered(d sessions.Dialog) bool {
	return slices.ContainsFunc(d.Options, func(o sessions.DialogOption) bool {
		return utf8.RuneCountInString(wording.OneLine(o.Label)) > maxButton || o.Detail != ""
	})
}

// optionList is the options as a list, as many as fit.
func optionList(d sessions.Dialog, checked []int, fits func(string) bool) string {
	var rows []string
	for i, o := range d.Options {
		row := fmt.Sprintf("%d. %s", i+1, wording.Plain(wording.CutEnd(wording.OneLine(o.Label), maxOption)))
		if slices.Contains(checked, i) {
			row += " ✓"
		}
		if o.Detail != "" {
			row += " — " + wording.Plain(wording.CutEnd(wording.OneLine(o.Detail), maxDetail))
		}
		if !fits(strings.Join(append(rows, row), "\n")) {
			rows = append(rows, fmt.Sprintf("and %d more, on the screen", len(d.Options)-i))
			break
		}
		rows = append(rows, row)
	}
	return strings.Join(rows, "\n")
}

// fitting is what a question is about, as code of at most so many units: its beginning,
// with "…" for what there's no room for. "": there's nothing, or no room at all.
func fitting(d sessions.Dialog, length func(string) int, room int) string {
	body := strings.Trim(d.About(), "\n")
	if strings.TrimSpace(body) == "" {
		return ""
	}
	if d.Cut && d.Whole == "" {
		body = "…\n" + body
	}
	if whole := wording.Code(body); length(whole) <= room {
		return whole
	}
	runes := []rune(body)
	low, high := 0, len(runes) // so many runes fit; so many and one more don't
	for low < high {
		mid := (low + high + 1) / 2
		if length(wording.Code(string(runes[:mid])+"\n…")) <= room {
			low = mid
		} else {
			high = mid - 1
		}
	}
	cut := string(runes[:low])
	if i := strings.LastIndexByte(cut, '\n'); i > len(cut)/2 {
		cut = cut[:i]
	}
	if strings.Trim(cut, "…\n ") == "" {
		return ""
	}
	return wording.Code(cut + "\n…")
}

// buttonLabel is how an option is shown on a button.
func buttonLabel(d sessions.Dialog, i int, checked []int) string {
	label := optionLabel(d, i, maxButton)
	if slices.Contains(checked, i) {
		label = "✓ " + label
	}
	return wording.CutEnd(label, maxButton)
}

// optionLabel is what an option is called, in so many characters at most.
func optionLabel(d sessions.Dialog, i, most int) string {
	label := wording.OneLine(d.Options[i].Label)
	switch {
	case numbered(d):
		label = fmt.Sprintf("%d. %s", i+1, label)
	case label == "":
		label = fmt.Sprintf("Option %d", i+1)
	}
	return wording.CutEnd(label, most)
}

// chosen is what an answer says, as people read it.
func chosen(d sessions.Dialog, a sessions.Answer) string {
	if a.Text != "" {
		return "“" + wording.CutEnd(wording.OneLine(a.Text), maxOption) + "”"
	}
	var labels []string
	for _, i := range a.Options {
		if i < 0 || i >= len(d.Options) {
			labels = append(labels, fmt.Sprintf("option %d", i+1))
			continue
		}
		labels = append(labels, wording.CutEnd(wording.OneLine(d.Options[i].Label), maxOption))
	}
	if len(labels) == 0 {
		return "none of them"
	}
	return strings.Join(labels, ", ")
}

// whoAnswered is what the person of an answer is called.
func whoAnswered(a sessions.Answer) string {
	if a.Name != "" {
		return a.Name
	}
	return a.Author
}

// became says what became of a question, as a sentence.
func became(p sessions.Prompt) string {
	switch {
	case p.State == sessions.PromptAnswered && p.Answer != nil:
		if p.Dialog.Kind == sessions.PromptUnread {
			return whoAnswered(*p.Answer) + " pressed " + chosen(p.Dialog, *p.Answer) + "."
		}
		return "Answered by " + whoAnswered(*p.Answer) + ": " + wording.FullStop(chosen(p.Dialog, *p.Answer))
	case p.Reason != "":
		return wording.Sentence(p.Reason)
	case p.State == sessions.PromptAnswered:
		return "It was answered."
	case p.State == sessions.PromptClosed:
		return "The question is closed."
	case p.State == sessions.PromptAnswering && p.Answer != nil:
		return whoAnswered(*p.Answer) + " is answering: " + wording.FullStop(chosen(p.Dialog, *p.Answer))
	default:
		return "The question is open."
	}
}
