package adapters

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"image"
	_ "image/gif" // for isWellFormed
	_ "image/jpeg"
	_ "image/png"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/encoding/unicode"

	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/sessions"
)

// maskedLog is a Log whose secrets are masked: nothing else is rendered for chats.
//
// What's masked in a line depends on its neighbours, and on nothing else: rendered
// again, it shows the same. While a secret may have begun at the log's end, its line
// waits for the next one, at most waitFor.
type maskedLog struct {
	Log
	masker *redact.Masker
}

// MaskedLog returns a log without its secrets, as it's rendered for chats.
func MaskedLog(l Log, m *redact.Masker) Log { return &maskedLog{Log: l, masker: m} }

// waitFor is how long a line waits for the next one in which a secret may go on.
const waitFor = 2 * time.Second

// Read implements Log.
func (l maskedLog) Read(ctx context.Context, id sessions.ID, from int64, limit int) (sessions.Output, error) {
	out, err := l.Log.Read(ctx, id, from, limit)
	if err != nil || len(out.Lines) == 0 {
		return out, err
	}
	window, err := WindowOf(ctx, l.Log, id, out.Lines)
	if err != nil {
		return out, err
	}
	masked := l.masker.Lines(window)
	if len(masked.Masks) == 0 {
		return out, nil
	}
	out.Lines = slices.Clone(out.Lines)
	for i := range out.Lines {
		out.Lines[i].Text = masked.Lines[i]
	}
	return out, nil
}

// Progress implements Log.
func (l maskedLog) Progress(ctx context.Context, id sessions.ID) (LogProgress, error) {
	p, err := l.Log.Progress(ctx, id)
	p.Failed = l.masker.Line(p.Failed)
	return p, err
}

// Turns implements Log.
func (l maskedLog) Turns(ctx context.Context, id sessions.ID, from int64, limit int) ([]sessions.Turn, error) {
	all, err := l.Log.Turns(ctx, id, from, limit)
	for i := range all {
		all[i].Failed = l.masker.Line(all[i].Failed)
	}
	return all, err
}

// lineReader is Log.Read.
type lineReader interface {
	Read(ctx context.Context, id sessions.ID, from int64, limit int) (sessions.Output, error)
}

// WindowOf returns consecutive lines of a log, at least one, with the lines around them
// that decide what's masked in them; with an error, those that could be read.
func WindowOf(ctx context.Context, log lineReader, id sessions.ID, lines []sessions.Line) (redact.LineWindow, error) {
	w := redact.LineWindow{Lines: textsOf(lines), Open: true}
	before, err := linesBefore(ctx, log, id, lines[0].N)
	w.Before = before
	after, readErr := log.Read(ctx, id, lines[len(lines)-1].N+1, redact.After)
	if readErr == nil {
		w.After, w.Open = textsOf(after.Lines), len(after.Lines) < redact.After
	}
	return w, errors.Join(err, readErr)
}

// waitingLine returns the first line that isn't to be shown before the next one is there,
// and until when; 0: none waits.
func (l maskedLog) waitingLine(ctx context.Context, id sessions.ID, head int64, now time.Time) (line int64, until time.Time, err error) {
	out, err := l.Log.Read(ctx, id, max(1, head-redact.After+1), redact.After)
	if err != nil || len(out.Lines) == 0 {
		return 0, until, err
	}
	newest := out.Lines[len(out.Lines)-1]
	if until = newest.At.Add(waitFor); !until.After(now) {
		return 0, until, nil
	}
	before, err := linesBefore(ctx, l.Log, id, out.Lines[0].N)
	if err != nil {
		return 0, until, err
	}
	masked := l.masker.Lines(redact.LineWindow{Before: before, Lines: textsOf(out.Lines), Open: true})
	if masked.Wait == len(out.Lines) {
		return 0, until, nil
	}
	first := out.Lines[masked.Wait]
	until = first.At.Add(waitFor)
	return first.N, until, nil
}

// maskedRows masks rows of a screen that stand below the log's last line.
func (l maskedLog) maskedRows(ctx context.Context, id sessions.ID, head int64, rows []string) ([]string, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	before, err := linesBefore(ctx, l.Log, id, head+1)
	if err != nil {
		return nil, err
	}
	return l.masker.Rows(before, rows), nil
}

// maskedRegion masks a live region that stands below the log's last line. Rows of text that's
// being written aren't part of it from where a secret may have begun.
func (l maskedLog) maskedRegion(ctx context.Context, id sessions.ID, head int64, r region) (_ region, err error) {
	if r.rows, err = l.maskedRows(ctx, id, head, r.rows); err != nil {
		return r, err
	}
	r.status = l.masker.Line(r.status)
	if len(r.writing) == 0 {
		return r, nil
	}
	before, err := linesBefore(ctx, l.Log, id, head+1)
	if err != nil {
		return r, err
	}
	masked := l.masker.Lines(redact.LineWindow{Before: before, Lines: r.writing, Open: true})
	r.writing = trimmedRows(masked.Lines[:masked.Wait])
	return r, nil
}

// holdSecrets holds lines back in which a secret may have begun, unless they've been sent before.
// It's asked for when the situation's progress and document are known.
func (d *Deliverer) holdSecrets(ctx context.Context, s *situation) (err error) {
	if d.mask == nil {
		return nil
	}
	s.session = d.maskedSession(s.session)
	if s.hasEnded() || s.doc.Intent != nil {
		return nil
	}
	line, until, err := d.mask.waitingLine(ctx, s.binding.Session, s.progress.Head, s.now)
	if err == nil && line > 0 && until.After(s.now) {
		s.held, s.until, s.progress.Head = line, until, line-1
	}
	return err
}

// maskedSession is a session as chats may know it: its name has no secret.
func (d *Deliverer) maskedSession(s sessions.Session) sessions.Session {
	if d.mask != nil {
		s.Name = d.mask.masker.Line(s.Name)
	}
	return s
}

// maskedPost is a post without secrets.
func maskedPost(m *redact.Masker, p Post) Post {
	if m == nil {
		return p
	}
	if !p.Shown {
		p.Text, p.Numbered = maskedMarkdown(m, p.Text), maskedMarkdown(m, p.Numbered)
	}
	if p.File != nil {
		file := MaskedFile(m, *p.File)
		p.File = &file
	}
	if p.Picture != nil && p.PictureName != "" {
		p = maskedPicture(m, p)
	}
	if len(p.Menus) > 0 {
		menus := slices.Clone(p.Menus)
		for i := range menus {
			menus[i].Hint, menus[i].Options = m.Line(menus[i].Hint), slices.Clone(menus[i].Options)
			for j, o := range menus[i].Options {
				menus[i].Options[j].Label, menus[i].Options[j].Detail = m.Line(o.Label), m.Line(o.Detail)
			}
		}
		p.Menus = menus
	}
	if len(p.Buttons) > 0 {
		rows := make([][]Button, len(p.Buttons))
		for i, row := range p.Buttons {
			rows[i] = slices.Clone(row)
			for j := range rows[i] {
				rows[i][j].Label = m.Line(rows[i][j].Label)
			}
		}
		p.Buttons = rows
	}
	return p
}

// maskedPicture is a post without the secrets of a picture that is a file, too. What only begins like a picture and
// has texts behind that becomes a file: a platform would show it as one when it refuses the picture.
func maskedPicture(m *redact.Masker, p Post) Post {
	file := MaskedFile(m, File{Name: p.PictureName, Data: p.Picture})
	if p.PictureName = file.Name; !isPacked(p.Picture) {
		p.File, p.Picture = &file, nil
	}
	return p
}

// MaskedFile is a file without secrets.
func MaskedFile(m *redact.Masker, f File) File {
	if m == nil {
		return f
	}
	return File{Name: m.Line(f.Name), Data: maskedData(m, f.Data)}
}

// linesBefore are the lines before line n that decide what's masked from there on.
func linesBefore(ctx context.Context, log lineReader, id sessions.ID, n int64) ([]string, error) {
	from := max(1, n-redact.Before)
	if from >= n {
		return nil, nil
	}
	out, err := log.Read(ctx, id, from, int(n-from))
	lines := out.Lines
	for len(lines) > 0 && lines[len(lines)-1].N >= n { // earlier ones were dropped
		lines = lines[:len(lines)-1]
	}
	return textsOf(lines), err
}

func textsOf(lines []sessions.Line) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l.Text
	}
	return out
}

// maskedData is a file's content without secrets. A database, a program or a log with a NUL in it
// has texts, too. Pictures, sound, fonts and archives are packed, so that nothing can be read in
// them; to change them would break them. UTF-16 becomes UTF-8 if there's a secret in it.
func maskedData(m *redact.Masker, data []byte) []byte {
	if isPacked(data) {
		return data
	}
	if order, ok := orderOfUTF16(data); ok {
		text, err := unicode.UTF16(order, unicode.UseBOM).NewDecoder().Bytes(data)
		if out := m.Text(text); err == nil && !bytes.Equal(out, text) {
			return out
		}
	}
	return m.Text(maskedWide(m, data))
}

// orderOfUTF16 tells whether data is UTF-16, by its mark or since every other byte of the most of it
// is a NUL, and in which order its bytes are.
func orderOfUTF16(data []byte) (order unicode.Endianness, ok bool) {
	if bytes.HasPrefix(data, []byte{0xFF, 0xFE}) {
		return unicode.LittleEndian, true
	}
	if bytes.HasPrefix(data, []byte{0xFE, 0xFF}) {
		return unicode.BigEndian, true
	}
	var nuls [2]int
	for i, c := range data {
		if c == 0 {
			nuls[i%2]++
		}
	}
	half := len(data) / 2
	if 2*nuls[1] > half && 8*nuls[0] < half {
		return unicode.LittleEndian, true
	}
	return unicode.BigEndian, 2*nuls[0] > half && 8*nuls[1] < half
}

// maskedWide masks what's written with a NUL beside each character in data of another kind, as
// programs and databases have it.
func maskedWide(m *redact.Masker, data []byte) []byte {
	var bare []byte
	var at []int
	for i, c := range data {
		if isPadding(data, i) {
			continue
		}
		bare, at = append(bare, c), append(at, i)
	}
	if len(bare) == len(data) {
		return data
	}
	return maskedAt(m, data, bare, append(at, len(data)))
}

// maskedAt masks in data what's found in bare, which has some of its bytes. at says where each of
// these, and the end, stand in data.
func maskedAt(m *redact.Masker, data, bare []byte, at []int) []byte {
	var out []byte
	from, line, start := 0, 0, 0
	for _, k := range m.Find(bare) {
		for ; line < k.Line; line++ {
			start += bytes.IndexByte(bare[start:], '\n') + 1
		}
		out = append(append(out, data[from:at[start+k.From]]...), k.Text()...)
		from = at[start+k.To]
	}
	return append(out, data[from:]...)
}

// isPadding says that a byte is a NUL of a text in which each character has one.
func isPadding(data []byte, i int) bool {
	if data[i] != 0 {
		return false
	}
	before := i >= 2 && data[i-2] == 0 && isTextByte(data[i-1])
	return before || i+2 < len(data) && data[i+2] == 0 && isTextByte(data[i+1])
}

// isTextByte says that a byte is a character of ASCII that texts have.
func isTextByte(c byte) bool { return c >= ' ' && c <= '~' || c == '\n' || c == '\r' || c == '\t' }

// isPacked says that nothing can be read in data as it is: it begins like a picture, sound, a font or
// an archive, and is that: nearly nothing in it reads as text, or its parts are where that format has
// them. A text can begin with BM, ID3 or PK, too.
func isPacked(data []byte) bool {
	kind := http.DetectContentType(data)
	group, _, _ := strings.Cut(kind, "/")
	if !slices.Contains([]string{"image", "audio", "video", "font"}, group) &&
		!slices.Contains([]string{"application/zip", "application/x-gzip", "application/x-rar-compressed", "application/pdf", "application/ogg", "application/vnd.ms-fontobject"}, kind) {
		return false
	}
	const most = 10 // in percent, of text in what's packed
	return len(data) > 512 && 100*textIn(data) < most*len(data) || isWellFormed(kind, data)
}

// textIn is how many bytes of data are of texts of at least 8 characters, with or without NULs
// between them. Of data drawn at random it's one in 200.
func textIn(data []byte) (n int) {
	const least = 8
	run, chars := 0, 0
	for i, c := range data {
		switch {
		case isTextByte(c):
			run, chars = run+1, chars+1
			continue
		case c == 0 && i > 0 && isTextByte(data[i-1]), c >= 0x80 && i > 0 && (data[i-1] >= 0xC2 || data[i-1]&0xC0 == 0x80):
			run++
			continue
		}
		if chars >= least {
			n += run
		}
		run, chars = 0, 0
	}
	if chars >= least {
		n += run
	}
	return n
}

// maxUnpacked and maxPixels are how many bytes of an archive, and pixels of a picture, are unpacked to
// see whether it's one.
const maxUnpacked, maxPixels = 64 << 20, 16 << 20

// isWellFormed says that data has the parts of its format from its beginning to its end.
func isWellFormed(kind string, data []byte) bool {
	switch kind {
	case "image/png", "image/jpeg", "image/gif":
		head, _, err := image.DecodeConfig(bytes.NewReader(data))
		if err != nil || head.Width*head.Height > maxPixels {
			return false
		}
		_, _, err = image.Decode(bytes.NewReader(data))
		return err == nil
	case "image/bmp":
		return isBitmap(data)
	case "image/webp", "audio/wave", "video/avi":
		return len(data) > 12 && int64(binary.LittleEndian.Uint32(data[4:]))+8 == int64(len(data)+len(data)%2)
	case "audio/aiff":
		return len(data) > 12 && int64(binary.BigEndian.Uint32(data[4:]))+8 == int64(len(data)+len(data)%2)
	case "font/ttf", "font/otf":
		return isFont(data)
	case "application/zip":
		r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		return err == nil && len(r.File) > 0
	case "application/x-gzip":
		r, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return false
		}
		_, err = io.CopyN(io.Discard, r, maxUnpacked)
		return err == nil || errors.Is(err, io.EOF)
	}
	return false
}

// isBitmap says that the sizes in a bitmap's head are those of the file (BITMAPFILEHEADER and
// BITMAPINFOHEADER of Windows).
func isBitmap(data []byte) bool {
	if len(data) < 54 || int64(binary.LittleEndian.Uint32(data[2:])) != int64(len(data)) {
		return false
	}
	pixels := binary.LittleEndian.Uint32(data[10:])
	width, height := int64(int32(binary.LittleEndian.Uint32(data[18:]))), int64(int32(binary.LittleEndian.Uint32(data[22:])))
	row := (width*int64(binary.LittleEndian.Uint16(data[28:])) + 31) / 32 * 4
	return width > 0 && height != 0 && int64(pixels)+row*max(height, -height) <= int64(len(data))
}

// isFont says that the tables which a font's head names are within the file (OpenType, "Table
// directory").
func isFont(data []byte) bool {
	const head, entry = 12, 16
	n := int(binary.BigEndian.Uint16(data[4:]))
	if n == 0 || len(data) < head+entry*n {
		return false
	}
	for i := range n {
		e := data[head+entry*i:]
		if int64(binary.BigEndian.Uint32(e[8:]))+int64(binary.BigEndian.Uint32(e[12:])) > int64(len(data)) {
			return false
		}
	}
	return true
}

// maskedMarkdown is a Markdown text without secrets, also those in which characters are
// escaped: "ghp\_x7Kq…" is shown without its backslash.
func maskedMarkdown(m *redact.Masker, text string) string {
	if bare, at := unescaped(text); len(bare) < len(text) {
		text = string(maskedAt(m, []byte(text), bare, at))
	}
	return m.Line(text)
}

// unescaped is a text without the backslashes that escape its characters, and where each of
// its bytes, and its end, stand in the text.
func unescaped(text string) (bare []byte, at []int) {
	for i := 0; i < len(text); i++ {
		at = append(at, i)
		if text[i] == '\\' && i+1 < len(text) && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", text[i+1]) >= 0 {
			i++
		}
		bare = append(bare, text[i])
	}
	return bare, append(at, len(text))
}
