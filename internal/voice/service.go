package voice

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/panebridge/panebridge/internal/findings"
	"github.com/panebridge/panebridge/internal/regular"
)

// ask has the service transcribe a recording.
func (t *Transcriber) ask(ctx context.Context, recording *os.File) (string, error) {
	key, err := t.readKey()
	if err != nil {
		return "", err
	}
	body, kind, err := t.form(recording)
	if err != nil {
		return "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.opt.URL, body)
	if err != nil {
		return "", errors.New("the service's address isn't one")
	}
	r.Header.Set("Content-Type", kind)
	r.Header.Set("Accept", "application/json")
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	answer, err := t.client.Do(r)
	if err != nil {
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err // without the address, which may have a password in it
		}
		return "", fmt.Errorf("the service isn't reached: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := readBounded(answer.Body)
	if err != nil {
		return "", fmt.Errorf("read the service's answer: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		return "", refusal(answer.StatusCode)
	}
	var said struct {
		Text *string `json:"text"`
	}
	if err := json.Unmarshal(text, &said); err != nil || said.Text == nil {
		return "", errors.New("the service's answer isn't a transcription: check its address")
	}
	return *said.Text, nil
}

// readKey reads the service's key; "": it takes none.
func (t *Transcriber) readKey() (string, error) {
	if t.opt.KeyFile == "" {
		return "", nil
	}
	text, err := regular.Read(t.opt.KeyFile, findings.MaxSecretFile)
	if err != nil {
		return "", errors.New("the service's key can't be read: see voice.key_file")
	}
	return strings.TrimSpace(string(text)), nil
}

// form is a request's body, and its content type.
func (t *Transcriber) form(recording *os.File) (body *bytes.Buffer, kind string, err error) {
	body = &bytes.Buffer{}
	w := multipart.NewWriter(body)
	for _, field := range [][2]string{{"model", t.opt.Model}, {"language", t.opt.Language}, {"response_format", "json"}} {
		if field[1] != "" {
			err = errors.Join(err, w.WriteField(field[0], field[1]))
		}
	}
	part, failed := w.CreateFormFile("file", filepath.Base(recording.Name()))
	if err = errors.Join(err, failed); err != nil {
		return nil, "", err
	}
	n, err := io.Copy(part, io.LimitReader(recording, t.opt.MaxBytes+1))
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("read the recording: %w", err)
	case n > t.opt.MaxBytes:
		return nil, "", ErrTooLarge
	}
	return body, w.FormDataContentType(), w.Close()
}

// refusal says what a status means. What the service writes beside it isn't shown: it may repeat what it was sent.
func refusal(status int) error {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return fmt.Errorf("the service refused the key (%d): see voice.key_file", status)
	case status == http.StatusRequestEntityTooLarge:
		return fmt.Errorf("%w: the service says so (413)", ErrTooLarge)
	case status == http.StatusTooManyRequests:
		return errors.New("the service takes no more for now (429)")
	case status >= http.StatusInternalServerError:
		return fmt.Errorf("the service is in trouble (%d)", status)
	case status >= http.StatusMultipleChoices && status < http.StatusBadRequest:
		return fmt.Errorf("the service is elsewhere (%d), and the recording isn't sent there: see voice.url", status)
	}
	return fmt.Errorf("the service refused it (%d)", status)
}
