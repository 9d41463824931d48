package adapters

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"image"
	_ "image/gif" // for wellFormed
	_ "image/jpeg"
	_ "image/png"
	"io"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/text/encoding/unicode"

	"github.com/panebridge/panebridge/internal/redact"
)

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
	at = append(at, len(data))
	var out []byte
	from, line, start := 0, 0, 0
	for _, k := range m.Find(bare) {
		for ; line < k.Line; line++ {
			start += bytes.IndexByte(bare[start:], '\n') + 1
		}
		out = append(append(out, data[from:at[start+k.From]]...), k.Text()...)
		from = at[start+k.To]
	}
	if from == 0 {
		return data
	}
	return append(out, data[from:]...)
}

// isPadding says that a byte is a NUL of a text in which each character has one.
func isPadding(data []byte, i int) bool {
	if data[i] != 0 {
		return false
	}
	before := i >= 2 && data[i-2] == 0 && isText(data[i-1])
	return before || i+2 < len(data) && data[i+2] == 0 && isText(data[i+1])
}

// isText says that a byte is a character of ASCII that texts have.
func isText(c byte) bool { return c >= ' ' && c <= '~' || c == '\n' || c == '\r' || c == '\t' }

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
		case isText(c):
			run, chars = run+1, chars+1
			continue
		case c == 0 && i > 0 && isText(data[i-1]), c >= 0x80 && i > 0 && (data[i-1] >= 0xC2 || data[i-1]&0xC0 == 0x80):
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
