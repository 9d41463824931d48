package telegramtest

import (
	"bytes"
	"encoding/json"
	"strings"
)

// The limits of an inline keyboard. "1-64 bytes"
// (core.telegram.org/bots/api#inlinekeyboardbutton). Telegram doesn't document a
// limit of buttons; more than 100, or 8 in a row, are refused here because
// phones don't show them.
const (
	maxCallbackData = 64
	maxButtons      = 100
	maxRow          = 8
	maxMarkup       = 10 << 10
)

// Button is a button below a message. One of Data, URL and Copy is set.
type Button struct {
	Text string
	Data string // callback_data
	URL  string
	Copy string // what pressing it copies
}

// wireMarkup is core.telegram.org/bots/api#inlinekeyboardmarkup.
type wireMarkup struct {
	InlineKeyboard [][]wireButton `json:"inline_keyboard"`
}

type wireButton struct {
	Text         string  `json:"text"`
	URL          string  `json:"url,omitempty"`
	CallbackData *string `json:"callback_data,omitempty"`
	CopyText     *struct {
		Text string `json:"text"`
	} `json:"copy_text,omitempty"`
}

func wireButtons(rows [][]Button) *wireMarkup {
	if len(rows) == 0 {
		return nil
	}
	w := &wireMarkup{}
	for _, row := range rows {
		wired := make([]wireButton, 0, len(row))
		for _, b := range row {
			wired = append(wired, b.wire())
		}
		w.InlineKeyboard = append(w.InlineKeyboard, wired)
	}
	return w
}

func (b Button) wire() wireButton {
	w := wireButton{Text: b.Text, URL: b.URL}
	if b.Data != "" {
		w.CallbackData = &b.Data
	}
	if b.Copy != "" {
		w.CopyText = &struct {
			Text string `json:"text"`
		}{b.Copy}
	}
	return w
}

// buttonsOf reads reply_markup. Other keyboards than inline ones are read and
// leave no trace: this project has no use for them.
func buttonsOf(c *call) ([][]Button, *refusal) {
	raw := c.text("reply_markup")
	if raw == "" {
		return nil, nil
	}
	if !json.Valid([]byte(raw)) {
		return nil, badRequest("can't parse reply keyboard markup JSON object")
	}
	if !bytes.HasPrefix(bytes.TrimSpace([]byte(raw)), []byte("{")) {
		return nil, badRequest("object expected as reply markup")
	}
	var markup wireMarkup
	if err := json.Unmarshal([]byte(raw), &markup); err != nil {
		return nil, badRequest(`field "inline_keyboard" of the InlineKeyboardMarkup must be an Array of Arrays`)
	}
	return readButtons(markup)
}

func readButtons(markup wireMarkup) ([][]Button, *refusal) {
	var rows [][]Button
	count, size := 0, 0
	for _, wired := range markup.InlineKeyboard {
		var row []Button
		for _, w := range wired {
			b, r := readButton(w)
			if r != nil {
				return nil, r
			}
			row = append(row, b)
			count, size = count+1, size+len(b.Text)+len(b.Data)+len(b.URL)
		}
		if len(row) > maxRow {
			return nil, badRequest("reply markup is too long")
		}
		if len(row) > 0 {
			rows = append(rows, row)
		}
	}
	if count > maxButtons || size > maxMarkup {
		return nil, badRequest("reply markup is too long")
	}
	return rows, nil
}

// readButton takes the first kind that's there, as Telegram does; an empty
// copy_text beside it is what a client sends that can't leave it out.
func readButton(w wireButton) (Button, *refusal) {
	b := Button{Text: w.Text}
	switch {
	case strings.TrimSpace(w.Text) == "":
		return b, badRequest("inline keyboard button text must be non-empty")
	case w.URL != "":
		url, why := checkLink(w.URL)
		if why != "" {
			return b, badRequest("inline keyboard button URL '%s' is invalid: %s", w.URL, why)
		}
		b.URL = url
	case w.CallbackData != nil:
		if b.Data = *w.CallbackData; b.Data == "" || len(b.Data) > maxCallbackData {
			return b, badRequest("BUTTON_DATA_INVALID")
		}
	case w.CopyText != nil && w.CopyText.Text != "":
		if b.Copy = w.CopyText.Text; len([]rune(b.Copy)) > 256 {
			return b, badRequest("BUTTON_COPY_TEXT_INVALID")
		}
	default:
		return b, badRequest("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
	}
	return b, nil
}
