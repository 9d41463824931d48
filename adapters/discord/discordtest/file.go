package discordtest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxFiles is how many files a message has at most.
const maxFiles = 10

// linkLives is for how long the address of an attachment is good
// (docs.discord.com/developers/reference#signed-attachment-cdn-urls).
const linkLives = 24 * time.Hour

// File is an attachment.
type File struct {
	ID, Name, MIME, Description string
	Content                     []byte
	path                        string
}

// attachmentForm names a file of the form by its number, or an attachment that a
// message has already by its id.
type attachmentForm struct {
	ID          json.RawMessage `json:"id"`
	Name        string          `json:"filename"`
	Description string          `json:"description"`
}

// fillFiles adds the files of a call to a message. For an edit, attachments that
// the form names stay; a form without them leaves all.
func (s *Server) fillFiles(c *call, m *Message, in *channel, forms *[]attachmentForm) *refusal {
	kept := slices.Clone(m.Files)
	if forms != nil {
		kept = slices.DeleteFunc(kept, func(f File) bool {
			return !slices.ContainsFunc(*forms, func(a attachmentForm) bool { return strings.Trim(string(a.ID), `"`) == f.ID })
		})
	}
	for _, number := range slices.Sorted(func(yield func(string) bool) {
		for number := range c.files {
			if !yield(number) {
				return
			}
		}
	}) {
		f, r := s.newFile(c, in, number, forms)
		if r != nil {
			return r
		}
		kept = append(kept, f)
	}
	if len(kept) > maxFiles {
		return invalid("attachments", "Must be %d or fewer in length.", maxFiles)
	}
	m.Files = kept
	return nil
}

func (s *Server) newFile(c *call, in *channel, number string, forms *[]attachmentForm) (File, *refusal) {
	up := c.files[number]
	if len(up.content) > s.opts.Limits.FileBytes {
		return File{}, errTooLarge
	}
	if r := in.demand(AttachFiles); r != nil {
		return File{}, r
	}
	name, description := up.name, ""
	if forms != nil {
		for _, a := range *forms {
			if strings.Trim(string(a.ID), `"`) == number {
				description = a.Description
				if a.Name != "" {
					name = a.Name
				}
			}
		}
	}
	f := s.addFile(in, name, up.content)
	f.Description = description
	return f, nil
}

// addFile stores a file under a name that Discord would give it.
func (s *Server) addFile(in *channel, name string, content []byte) File {
	f := File{ID: s.clock.next(), Name: safeName(name), Content: content}
	f.MIME = mime.TypeByExtension(path.Ext(f.Name))
	f.path = fmt.Sprintf("/attachments/%s/%s/%s", in.id, f.ID, f.Name)
	s.files[f.path] = &f
	return f
}

// safeName leaves of a name what Discord leaves: letters, digits, dots, dashes and
// underscores; the rest becomes underscores.
func safeName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-', r == '_':
			return r
		}
		return '_'
	}, path.Base(strings.ReplaceAll(name, `\`, "/")))
	if name = strings.TrimLeft(name, "."); name == "" {
		return "unknown"
	}
	return name
}

// wireFile is docs.discord.com/developers/resources/message#attachment-object.
type wireFile struct {
	ID          string `json:"id"`
	Filename    string `json:"filename"`
	Description string `json:"description,omitempty"`
	ContentType string `json:"content_type,omitempty"`
	Size        int    `json:"size"`
	URL         string `json:"url"`
	ProxyURL    string `json:"proxy_url"`
}

func (s *Server) wireFile(f File) wireFile {
	until := strconv.FormatInt(now().Add(linkLives).Unix(), 16)
	url := "http://" + s.host + f.path + "?ex=" + until + "&hm=" + signature(f.path, until)
	return wireFile{
		ID: f.ID, Filename: f.Name, Description: f.Description, ContentType: f.MIME, Size: len(f.Content), URL: url, ProxyURL: url,
	}
}

func signature(path, until string) string {
	sum := sha256.Sum256([]byte(path + "?" + until))
	return hex.EncodeToString(sum[:])
}

// download answers the address of an attachment, which needs no token and is good
// for a day.
func (s *Server) download(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	f := s.files[r.URL.Path]
	s.mu.Unlock()
	q := r.URL.Query()
	until, err := strconv.ParseInt(q.Get("ex"), 16, 64)
	if f == nil || err != nil || now().Unix() > until || q.Get("hm") != signature(r.URL.Path, q.Get("ex")) {
		http.Error(w, "This content is no longer available.", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", f.MIME)
	w.Header().Set("Content-Length", strconv.Itoa(len(f.Content)))
	_, _ = w.Write(f.Content) // a client that's gone is none of the stand-in's business
}
