package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Dialogs of all agents, as they stand on their screens, are known for any program.
func TestGenericKnowsAllDialogs(t *testing.T) {
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	generic := set.Generic()
	for _, row := range []string{
		"Do you want to proceed?", " Do you want to create notes.md?", "Do you want to make this edit to a.go?", "Do you want to overwrite a.go?",
		"  Would you like to run the following command?", "Would you like to make the following edits?", "│ Allow execution of [Shell]?",
		"Apply this change?", "  ┃  △ Permission required", "Enter to select · ↑/↓ to navigate", "| enter to submit answer |", "Esc to cancel · Tab to amend",
		"Make auto mode your default permission mode?", "Do you trust the files in this folder?", "› 1. Trust and continue", "1. Review hooks", "Press enter to confirm or esc to cancel", "│ ↑/↓: Navigate | Enter: Select | Esc: Cancel", "↑↓ select  enter submit  esc dismiss",
	} {
		if generic.Dialog([]string{"", row}) == "" {
			t.Errorf("%q isn't recognised", row)
		}
	}
	if got := generic.Dialog([]string{"I'll proceed.", "What do you want?"}); got != "" {
		t.Errorf("%q is found where no dialog is", got)
	}
	for _, phrase := range generic.DialogPhrases() {
		if !phraseForm.MatchString(phrase) {
			t.Errorf("%q can't be searched for by tmux", phrase)
		}
	}
}

// The end of the demo agent's dialogs is known by itself: all else of them may have left
// a low pane.
func TestTheDemosDialogsAreKnownByTheirEnd(t *testing.T) {
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"demo-permission.txt", "demo-choice.txt"} {
		text, err := os.ReadFile(filepath.Join("testdata", "dialogs", name))
		if err != nil {
			t.Fatal(err)
		}
		rows := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
		if end := rows[len(rows)-1]; set.Generic().Dialog([]string{end}) == "" {
			t.Errorf("%s: %q isn't recognised", name, end)
		}
	}
}

// The index against a search for each phrase, which is its baseline.
func BenchmarkDialog(b *testing.B) {
	set, err := LoadSet()
	if err != nil {
		b.Fatal(err)
	}
	p := set.Generic()
	rows := make([]string, 40)
	for i := range rows {
		rows[i] = strings.Repeat("The quick brown fox prints a line of output ", 3)[:120]
	}
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
			p.Dialog(rows)
		}
	})
	b.Run("searches", func(b *testing.B) {
		for b.Loop() {
			for _, row := range rows {
				low := strings.ToLower(row)
				for _, phrase := range p.DialogPhrases() {
					if strings.Contains(low, phrase) {
						b.Fatal("found")
					}
				}
			}
		}
	})
}

// What a look at one screen costs a judge.
func BenchmarkLook(b *testing.B) {
	set, err := LoadSet()
	if err != nil {
		b.Fatal(err)
	}
	p := set.Get("claude")
	s := snapshot(strings.Repeat("  This is a line of an answer that was written before, of some length.\n", 32) + claudeWorking)
	for b.Loop() {
		p.findSign(p.layout(s, false))
	}
}
