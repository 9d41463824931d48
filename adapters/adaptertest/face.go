package adaptertest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptrace"
	"strings"
)

// Connected tells whoever traces a request that there's a connection, as a face of a real
// platform's API must unless a Conn had none.
func Connected(ctx context.Context) {
	if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{})
	}
}

// Respond answers a request with JSON.
func Respond(r *http.Request, status int, body any) *http.Response {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return RespondRaw(r, status, string(text))
}

// RespondRaw answers a request with a text, as somebody between may.
func RespondRaw(r *http.Request, status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}
}

// Field is a field of a form.
type Field struct {
	Name    string
	File    string // its name; "": it's no file
	Content []byte
}

// ReadForm reads the fields of a form with files in it, which the boundary parts.
func ReadForm(r *http.Request, boundary string) ([]Field, error) {
	parts := multipart.NewReader(r.Body, boundary)
	var out []Field
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return nil, err
		}
		out = append(out, Field{part.FormName(), part.FileName(), content})
	}
}
