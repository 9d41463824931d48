package telegramtest

import (
	"bytes"
	"fmt"
	"image"
	_ "image/gif" // kinds of photos that Telegram takes
	_ "image/jpeg"
	_ "image/png"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"
)

// The limits of files: "Bots can currently send files of any type of up to 50 MB
// in size", photos "at most 10 MB" whose "width and height must not exceed 10000
// in total" with a ratio of at most 20 (core.telegram.org/bots/api#senddocument,
// #sendphoto), and "bots can download files of up to 20MB" (#getfile).
const (
	maxUpload     = 50 << 20
	maxPhoto      = 10 << 20
	maxDownload   = 20 << 20
	maxPhotoSides = 10000
	maxPhotoRatio = 20
)

// FileKind is how a file is shown.
type FileKind string

// The kinds of files.
const (
	Document FileKind = "document"
	Photo    FileKind = "photo"
	Voice    FileKind = "voice"
)

// File is a file in a message.
type File struct {
	ID       string
	Kind     FileKind
	Name     string // of documents
	MIME     string
	Size     int64
	Content  []byte
	Duration time.Duration // of voice notes
	Width    int           // of photos
	Height   int

	path string // below the download address
}

// wireFile is core.telegram.org/bots/api#document, #photosize or #voice.
type wireFile struct {
	FileID       string `json:"file_id"`
	FileUniqueID string `json:"file_unique_id"`
	FileName     string `json:"file_name,omitempty"`
	MIMEType     string `json:"mime_type,omitempty"`
	FileSize     int64  `json:"file_size,omitempty"`
	Width        int    `json:"width,omitempty"`
	Height       int    `json:"height,omitempty"`
	Duration     *int   `json:"duration,omitempty"`
	FilePath     string `json:"file_path,omitempty"`
}

func (f *File) wire() *wireFile {
	w := &wireFile{
		FileID: f.ID, FileUniqueID: "u" + f.ID, FileName: f.Name, MIMEType: f.MIME, FileSize: f.Size,
		Width: f.Width, Height: f.Height,
	}
	switch f.Kind {
	case Document:
	case Photo:
		w.MIMEType = ""
	case Voice:
		seconds := int(f.Duration.Seconds())
		w.Duration = &seconds
	}
	return w
}

// addFile keeps a file under a new id. Its path has nothing of its name but the
// ending, as on Telegram.
func (s *Server) addFile(f File) *File {
	s.lastFileID++
	f.ID = fmt.Sprintf("%c-file-%d", f.Kind[0], s.lastFileID)
	f.path = fmt.Sprintf("%ss/file_%d%s", f.Kind, s.lastFileID, safeExt(f.Name))
	if f.Size == 0 {
		f.Size = int64(len(f.Content))
	}
	s.files[f.ID] = &f
	return &f
}

func safeExt(name string) string {
	ext := path.Ext(name)
	if len(ext) < 2 || strings.IndexFunc(ext[1:], func(r rune) bool { return r > 127 || !isAlnum(byte(r)) }) >= 0 {
		return ""
	}
	return ext
}

func (s *Server) sendDocument(c *call) (any, *refusal) {
	return s.sendFile(c, Document, maxUpload)
}

func (s *Server) sendPhoto(c *call) (any, *refusal) {
	return s.sendFile(c, Photo, maxPhoto)
}

func (s *Server) sendFile(c *call, kind FileKind, limit int) (any, *refusal) {
	f, r := s.captionOf(c)
	if r != nil {
		return nil, r
	}
	file, r := s.fileOf(c, kind, limit)
	if r != nil {
		return nil, r
	}
	return s.post(c, f, file)
}

// fileOf returns the file of a call: an upload, a file that was sent before, or
// attach://NAME for another part of the body.
func (s *Server) fileOf(c *call, kind FileKind, limit int) (*File, *refusal) {
	field := string(kind)
	given := c.text(field)
	if name, ok := strings.CutPrefix(given, "attach://"); ok {
		field, given = name, ""
	}
	up, uploaded := c.files[field]
	switch {
	case given != "":
		return s.sentBefore(given)
	case !uploaded:
		return nil, badRequest("there is no %s in the request", kind)
	case len(up.content) == 0:
		return nil, badRequest("file must be non-empty")
	case len(up.content) > limit && kind == Photo:
		return nil, badRequest("file of size %d bytes is too big for a photo; the maximum size is %d bytes", len(up.content), limit)
	case len(up.content) > limit:
		return nil, errTooLarge
	}
	f := File{Kind: kind, Name: up.name, MIME: mimeOf(up.name), Content: up.content}
	if kind == Photo {
		f.Name = ""
		if r := f.measure(); r != nil {
			return nil, r
		}
	}
	return s.addFile(f), nil
}

func (s *Server) sentBefore(given string) (*File, *refusal) {
	if strings.HasPrefix(given, "http://") || strings.HasPrefix(given, "https://") {
		return nil, badRequest("failed to get HTTP URL content") // the stand-in fetches nothing
	}
	f := s.files[given]
	if f == nil {
		return nil, badRequest("wrong file identifier/HTTP URL specified")
	}
	return f, nil
}

func mimeOf(name string) string {
	kind, _, _ := strings.Cut(mime.TypeByExtension(path.Ext(name)), ";")
	if kind == "" {
		return "application/octet-stream"
	}
	return kind
}

// measure checks that a photo is one.
func (f *File) measure() *refusal {
	config, _, err := image.DecodeConfig(bytes.NewReader(f.Content))
	if err != nil {
		return badRequest("IMAGE_PROCESS_FAILED")
	}
	f.Width, f.Height = config.Width, config.Height
	short, long := min(f.Width, f.Height), max(f.Width, f.Height)
	if short <= 0 || short+long > maxPhotoSides || long > maxPhotoRatio*short {
		return badRequest("PHOTO_INVALID_DIMENSIONS")
	}
	return nil
}

func (s *Server) getFile(c *call) (any, *refusal) {
	if !c.has("file_id") {
		return nil, badRequest("file_id not specified")
	}
	f := s.files[c.text("file_id")]
	switch {
	case f == nil:
		return nil, badRequest("wrong file_id or the file is temporarily unavailable")
	case f.Size > maxDownload:
		return nil, badRequest("file is too big")
	}
	w := f.wire()
	w.FilePath = f.path
	return w, nil
}

// download serves what getFile has named.
func (s *Server) download(w http.ResponseWriter, r *http.Request, name string) {
	f := s.fileAt(name)
	if f == nil || f.Size > maxDownload {
		writeRefusal(w, errNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.Content))
}

func (s *Server) fileAt(name string) *File {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.files {
		if f.path == name {
			return f
		}
	}
	return nil
}
