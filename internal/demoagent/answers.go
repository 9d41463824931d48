package demoagent

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	longLines = 2000
	// Enough to see history roll over; more would only keep the pane busy.
	maxCount = 100_000
)

const helpText = `I answer from a script and run nothing. Here's what I know:

- **help**: this list
- **count N**: N numbered lines
- **long**: 2,000 numbered lines
- **ask**: I ask for permission, as agents do
- **choose**: I ask which of several it shall be
- **limit N**: as if the account had used all that it may, for N seconds
- anything else: you get it back, with a table and some code
`

// answer says what the text asks for.
func (a *agent) answer(ctx context.Context, text string) error {
	command, argument, _ := strings.Cut(strings.ToLower(text), " ")
	switch {
	case command == "help" && argument == "":
		return a.say(ctx, helpText)
	case command == "long" && argument == "":
		return a.count(ctx, longLines)
	case command == "count":
		n, err := strconv.Atoi(strings.TrimSpace(argument))
		if err != nil || n < 1 || n > maxCount {
			return a.say(ctx, fmt.Sprintf("I count from 1 to at most %d: count 20\n", maxCount))
		}
		return a.count(ctx, n)
	case command == "limit":
		n, err := strconv.Atoi(strings.TrimSpace(argument))
		if err != nil || n < 1 || n > maxLimit {
			return a.say(ctx, fmt.Sprintf("I'm limited for 1 to at most %d seconds: limit 60\n", maxLimit))
		}
		return a.limit(n)
	case command == "ask" && argument == "":
		return a.permission(ctx)
	case command == "choose" && argument == "":
		return a.colour(ctx)
	}
	return a.free(ctx, text)
}

// maxLimit is for how long a limit holds at most, in seconds: a day.
const maxLimit = 24 * 60 * 60

// limit says that the account has used all that it may, as agents do.
func (a *agent) limit(seconds int) error {
	text := fmt.Sprintf("You've hit your limit. Try again in %s.", plural(seconds, "second"))
	return errors.Join(a.print(eraseLine+"✗ "+text+"\n\n"), a.log.add(record{Kind: kindFailed, Text: text}))
}

// askEvery is after how many texts without a meaning here the agent asks something, so
// that nobody has to know how to have it ask.
const askEvery = 3

// free answers what has no meaning here: with the text itself, and now and then with a
// question behind it: for permission and for a choice by turns.
func (a *agent) free(ctx context.Context, text string) error {
	if err := a.say(ctx, "I'll look at what you wrote first."); err != nil {
		return err
	}
	if err := a.call(ctx, "Count", "your text", words(len(strings.Fields(text)))); err != nil {
		return err
	}
	if err := a.say(ctx, echo(text)); err != nil {
		return err
	}
	a.texts++
	switch a.texts % (2 * askEvery) {
	case askEvery:
		return a.permission(ctx)
	case 0:
		return a.colour(ctx)
	}
	return nil
}

func words(n int) string { return plural(n, "word") }

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// blockLines is how long blocks of `count` and `long` are: each comes when it's complete.
const blockLines = 500

func (a *agent) count(ctx context.Context, n int) error {
	for first := 1; first <= n; first += blockLines {
		var b strings.Builder
		for i := first; i <= min(n, first+blockLines-1); i++ {
			fmt.Fprintf(&b, "line %d of %d\n", i, n)
		}
		if err := a.sayAt(ctx, b.String(), a.opts.BulkEvery); err != nil {
			return err
		}
	}
	return nil
}

// echo is an answer with what makes answers hard to carry: a table, code, wide and composed
// characters.
func echo(text string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "You wrote: %s\n\n| what | how many |\n|---|---:|\n", text)
	for _, row := range []struct {
		name string
		n    int
	}{
		{"words", len(strings.Fields(text))},
		{"characters", utf8.RuneCountInString(text)},
		{"bytes", len(text)},
	} {
		fmt.Fprintf(&b, "| %s | %d |\n", row.name, row.n)
	}
	fmt.Fprintf(&b, "\nIn Go that's **one line**:\n\n```go\nfmt.Println(%s)\n```\n\n", strconv.Quote(firstRunes(text, 40)))
	b.WriteString("Unicode: Grüße · naïve · 日本語 · 한국어 · ✓ ✗ → ½ · 🎉\n")
	return b.String()
}

// firstRunes returns at most the first n runes of s.
func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
