package agent

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// forgedPlans has hooks tell of the plan that a dialog shows, in full or its end, of others
// and of some that there aren't: what can be approved is the plan that's asked about.
func forgedPlans(t *testing.T, from [][]string, runs int) {
	t.Helper()
	o, p := newReader(t, "claude")
	counts := map[string]int{}
	hook := func(plan []string) Hook {
		input, err := json.Marshal(map[string]string{"plan": strings.Join(plan, "\n"), "planFilePath": "/home/x/.claude/plans/a-plan.md"})
		if err != nil {
			t.Fatal(err)
		}
		return Hook{Agent: "claude", Signal: Asking, Tool: claudePlan, Input: input}
	}
	bare := func(plan string) string { c := call{plan: true, marked: true}; return c.letters(plan) }
	for range runs {
		drawtest.Check(t, func(rt *rapid.T) {
			plan := someRows(rt, from, 1, rapid.SampledFrom([]int{2, 8, 80}).Draw(rt, "most"), "plan")
			width := rapid.SampledFrom([]int{60, 100, 140}).Draw(rt, "width")
			rule, dots := strings.Repeat("─", width), strings.Repeat("╌", width)
			rows := slices.Concat([]string{"● I have a plan.", "", rule, " Ready to code?", "", " Here is Claude's plan:", dots}, indented(plan, " ", " ", width), []string{
				dots, "", rule, " Claude has written up a plan and is ready to execute. Would you like to proceed?", "",
				" ❯ 1. Yes, and use auto mode", "   2. Yes, manually approve edits", "   3. Tell Claude what to change", "      shift+tab to approve with this feedback",
			})
			foot := []string{"", " ctrl+g to edit in Vim · ~/.claude/plans/a-plan.md"}
			height := rapid.SampledFrom([]int{16, 30, 600}).Draw(rt, "height")
			cut := len(rows)+2-height > 2
			if cut {
				foot[0] = " ↑ 17 more lines"
			}
			rows = append(rows, foot...)
			rows = rows[max(0, len(rows)-height):]
			screen := &sessions.Snapshot{Width: width, Height: len(rows), Rows: rows}
			left := func() {
				counts["left to its keys"]++
				if u := p.Unread(screen, true); u != nil {
					checkHeadless(rt, u, rows)
				}
			}
			d := p.Prompt(screen, nil)
			if d == nil {
				left()
				return
			}
			if cut && !d.Unseen {
				rt.Fatalf("a part is hidden, and that isn't said:\n%s\n%s", strings.Join(rows, "\n"), shown(d))
			}
			unseen := d.Unseen // whoever can call hooks can forge what can't be seen, where its own record isn't there
			var tell []Hook
			own := rapid.IntRange(0, 4).Draw(rt, "its own record") > 0
			if own {
				tell = slices.Repeat([]Hook{hook(plan)}, rapid.IntRange(1, 2).Draw(rt, "times"))
			}
			for range rapid.IntRange(0, 2).Draw(rt, "others") {
				other := someRows(rt, from, 0, 4, "forged")
				tell = append(tell, hook([][]string{other, slices.Concat(other, plan), slices.Concat(plan, other), plan[:len(plan)/2]}[rapid.IntRange(0, 3).Draw(rt, "how")]))
			}
			o.known.calls = nil
			for _, h := range rapid.Permutation(tell).Draw(rt, "order") {
				o.known.calls.noteHook(h)
			}
			late := o.recorded(d)
			said := bare(strings.Join(plan, "\n"))
			switch {
			case late == nil:
				left()
			case late.Call == "" && len(tell) == 1 && own && len(said) > leastDrawn:
				counts["not recognised"]++
			case late.Call == "":
				counts["as drawn"]++
			case own && !strings.HasPrefix(bare(late.Whole), said):
				rt.Fatalf("the plan is\n%s\nbut this is shown by its record:\n%s", strings.Join(plan, "\n"), late.Whole)
			case !unseen && bare(strings.TrimSuffix(late.Whole, "\nplanFilePath: /home/x/.claude/plans/a-plan.md")) != said:
				rt.Fatalf("drawn is\n%s\nbut this is shown by a record:\n%s", strings.Join(rows, "\n"), late.Whole)
			default:
				counts["recorded"]++
			}
			if late != nil && late.Call == "" && cut && !late.Unseen {
				rt.Fatalf("all can be seen of\n%s\nwithout a record", shown(late))
			}
		})
	}
	t.Logf("%v", counts)
	if counts["recorded"]+10 < 5*counts["not recognised"] { // 10: few are drawn with -short
		t.Errorf("the plans' own records: %v", counts)
	}
}
