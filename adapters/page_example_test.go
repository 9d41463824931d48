package adapters_test

import (
	"fmt"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/sessions"
)

// What a message shows is a page; a platform formats it in its own way, and without any it's plain text.
func ExamplePlainText() {
	fmt.Println(adapters.PlainText(adapters.Page{
		Cut: true, Dropped: 12,
		Pieces: []adapters.Piece{{Line: sessions.Line{N: 13, Text: "ok  store"}, To: 9}, {Line: sessions.Line{N: 14, Text: "ok  web"}, To: 7}},
		Live:   []string{"compiling adapters"},
	}))
	// Output:
	// [at least 12 lines are missing: dropped from the log before it could be sent]
	// ok  store
	// ok  web
	// compiling adapters
}

func ExampleParseTarget() {
	for _, text := range []string{"telegram:-1001234567890", "telegram:-1001234567890/7", "telegram"} {
		to, err := adapters.ParseTarget(text)
		fmt.Printf("%s: chat %q, thread %q, %v\n", text, to.Chat, to.Thread, err)
	}
	// Output:
	// telegram:-1001234567890: chat "-1001234567890", thread "", <nil>
	// telegram:-1001234567890/7: chat "-1001234567890", thread "7", <nil>
	// telegram: chat "", thread "", read target "telegram": write adapter:chat or adapter:chat/thread, as in telegram:-1001234567890/7
}
