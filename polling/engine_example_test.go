package polling_test

import (
	"fmt"
	"time"

	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// A pane is looked at three times while its program prints: each line comes once, and what stands on the
// cursor's row stays live.
func ExampleEngine() {
	engine := polling.NewEngine(polling.PlainProfile{}, nil, true)
	at := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, rows := range [][]string{{"one", "", ""}, {"one", "two", ""}, {"one", "two", "more?"}} {
		cursor := 0
		for i, row := range rows {
			if row != "" {
				cursor = i
			}
		}
		screen := &sessions.Snapshot{
			Width: 20, Height: 3, HistoryLimit: 2000, Rows: rows, Wrapped: make([]bool, 3),
			CursorVisible: true, CursorX: len(rows[cursor]), CursorY: cursor, At: at,
		}
		step, need, err := engine.Apply(screen, nil, 1000, func(int) ([]string, error) { return nil, nil }, at)
		if err != nil || need != nil {
			fmt.Println(need, err)
			return
		}
		fmt.Printf("lines %q, live %q\n", step.Lines, step.Live.Rows)
		engine, at = step.Engine(), at.Add(time.Second) // once the lines are stored
	}
	// Output:
	// lines [], live ["one"]
	// lines ["one"], live ["two"]
	// lines ["two"], live ["more?"]
}
