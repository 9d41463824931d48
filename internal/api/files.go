package api

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"

	"github.com/panebridge/panebridge/sessions"
)

// maxPartBytes bounds a part of a file: it's signed and read as a whole, and proxies take bodies of some MB.
const maxPartBytes = 2 << 20

// FilePart is a part of a file that's sent to a session.
type FilePart struct {
	Session sessions.Session
	Key     string // of who sends it and of the upload
	Name    string // as the sender has it
	Size    int64  // of the whole file, in bytes
	Offset  int64  // where in the file the part begins
	Bytes   []byte
}

// TakeFilePart saves a part of a file where the session's agent can read it. Parts come in their order; one that's
// there already changes nothing. With the last it returns the file's path as it's typed; "" before. It does disk I/O and
// is called by many requests at once. Errors wrap those of package sessions.
type TakeFilePart func(p FilePart) (path string, err error)

// FileTaken is the answer of POST /api/v1/sessions/{id}/files.
type FileTaken struct {
	Received int64  `json:"received"`       // bytes of the file that are there
	Path     string `json:"path,omitempty"` // of the whole file, as it's typed; "": some is missing
}

// uploadNames are what a sender may call an upload of theirs.
var uploadNames = regexp.MustCompile(`^[A-Za-z0-9_-]{8,64}$`)

// takeFile serves POST /api/v1/sessions/{id}/files: a part of a file as it is, with the queries name, size, offset and
// upload, a random word that all parts of one file have.
func (a *api) takeFile(w http.ResponseWriter, r *http.Request) error {
	if a.opts.Files == nil {
		return &Error{Status: http.StatusNotFound, Code: codeNotFound, Message: "files aren't taken here"}
	}
	if ct, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || ct != "application/octet-stream" {
		return &Error{Status: http.StatusUnsupportedMediaType, Code: codeMediaType, Message: "the Content-Type must be application/octet-stream"}
	}
	size, sizeErr := queryInt(r, "size", 0)
	offset, err := queryInt(r, "offset", 0)
	if err := errors.Join(sizeErr, err); err != nil {
		return badRequest(err.Error())
	}
	upload := r.URL.Query().Get("upload")
	if !uploadNames.MatchString(upload) {
		return badRequest(`"upload" is a word of 8 to 64 letters and digits, another for each file`)
	}
	s, err := a.session(r)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxPartBytes))
	if err != nil {
		return bodyError(err)
	}
	author, _ := a.authorOf(r)
	path, err := a.opts.Files(FilePart{
		Session: s, Key: fmt.Sprintf("%s %s %s", author, browserOf(r.Context()).ID, upload), Name: r.URL.Query().Get("name"),
		Size: size, Offset: offset, Bytes: body,
	})
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, FileTaken{Received: offset + int64(len(body)), Path: path})
	return nil
}

// ReadFile returns a file of a session's folder by its path, without secrets, and its name. It reads the file, and is
// called by many requests at once. The error is a sentence for people.
type ReadFile func(s sessions.Session, path string) (name string, data []byte, err error)

// giveFile serves GET /api/v1/sessions/{id}/files with the query path: a file as it is, but for its secrets.
func (a *api) giveFile(w http.ResponseWriter, r *http.Request) error {
	if a.opts.ReadFile == nil {
		return &Error{Status: http.StatusNotFound, Code: codeNotFound, Message: "files aren't given here"}
	}
	path := r.URL.Query().Get("path")
	if path == "" {
		return badRequest(`"path" is the path of a file in the session's folder`)
	}
	s, err := a.session(r)
	if err != nil {
		return err
	}
	name, data, err := a.opts.ReadFile(s, path)
	if err != nil {
		return &Error{Status: http.StatusUnprocessableEntity, Code: "invalid", Message: a.shownText(err.Error())}
	}
	writeAttachment(w, name, data)
	return nil
}
