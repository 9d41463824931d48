package discordtest

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
)

// maxBody is the most that a request may have; above it Discord's front answers
// 413 without looking.
const maxBody = 25 << 20

// upload is a file of a multipart body.
type upload struct {
	name, kind string
	content    []byte
}

// readBody reads JSON, or a form with JSON in "payload_json" and files beside it
// (docs.discord.com/developers/reference#uploading-files).
func (c *call) readBody(r *http.Request) {
	body := http.MaxBytesReader(nil, r.Body, maxBody)
	kind, attributes, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err == nil && kind == "multipart/form-data" {
		err = c.readForm(multipart.NewReader(body, attributes["boundary"]))
	} else {
		c.body, err = io.ReadAll(body)
		if err == nil && len(c.body) > 0 && kind != "application/json" {
			c.bad = refuse(http.StatusBadRequest, 50035, "Invalid Form Body")
		}
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		c.bad = errTooLarge
	} else if err != nil {
		c.bad = invalid("body", "can't read it: %v", err)
	}
}

func (c *call) readForm(form *multipart.Reader) error {
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return err
		}
		number, isFile := strings.CutPrefix(part.FormName(), "files[")
		number, ends := strings.CutSuffix(number, "]")
		switch {
		case part.FormName() == "payload_json":
			c.body = content
		case isFile && ends || strings.HasPrefix(part.FormName(), "file"):
			c.files[number] = upload{part.FileName(), part.Header.Get("Content-Type"), content}
		}
	}
}

// decode reads the JSON body; no body is an empty object.
func (c *call) decode(into any) *refusal {
	if len(c.body) == 0 {
		return nil
	}
	err := json.Unmarshal(c.body, into)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return invalid(wrong.Field, "not a %s", wrong.Type)
	}
	if err != nil {
		return errJSON
	}
	return nil
}
