package cards

import (
	"testing"
	"unicode/utf8"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/sessions"
)

// What the message of a question says is a function of the question and of what messages at its place
// can hold.
func TestWhatAQuestionSays(t *testing.T) {
	t.Parallel()
	shape := adapters.Shape{MaxLen: 4000, Len: utf8.RuneCountInString}
	options := []sessions.DialogOption{{Label: "Yes"}, {Label: "No", Refuses: true}}
	ask := sessions.Prompt{State: sessions.PromptOpen, Dialog: sessions.Dialog{Kind: sessions.PromptPermission, Title: "Run it?", Body: "rm x", Options: options}}
	answered := ask
	answered.State, answered.Answer = sessions.PromptAnswered, &sessions.Answer{Name: "Ada", Options: []int{1}}
	for name, c := range map[string]struct {
		prompt   sessions.Prompt
		lead     string
		byNumber bool
		want     string
	}{
		"open":       {ask, "", false, "**demo asks for permission**\n\nRun it?\n\n```\nrm x\n```"},
		"with lead":  {ask, "Nobody has answered.", false, "Nobody has answered.\n\n**demo asks for permission**\n\nRun it?\n\n```\nrm x\n```"},
		"by numbers": {ask, "", true, "**demo asks for permission**\n\nRun it?\n\n```\nrm x\n```\n\n1. Yes\n2. No\n\nReply to this message with a number to answer, as in “#1”."},
		"answered":   {answered, "", false, "**demo asks for permission**\n\nRun it?\n\n```\nrm x\n```\n\nAnswered by Ada: No\\."},
	} {
		if got := questionText("demo", c.prompt, nil, shape, c.lead, c.byNumber); got != c.want {
			t.Errorf("%s:\ngot  %q\nwant %q", name, got, c.want)
		}
	}
}
