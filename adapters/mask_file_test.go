package adapters

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/font/gofont/goregular"
	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/internal/redact/redacttest"
)

// packedBegins are how files begin that are no texts.
var packedBegins = []string{
	"BM", "BM\x00\x00", "ID3", "ID3\x04\x00\x00", "%PDF-1.7\n", "%PDF-1.7\n\x00", "\x00\x01\x00\x00", "\x89PNG\r\n\x1a\n\x00", "GIF89a\x00", "PK\x03\x04\x00", "\x1f\x8b\x08\x00", "\xff\xd8\xff\x00", "Rar!\x1a\x07\x00",
	"RIFF\x10\x00\x00\x00WAVE", "RIFF\x10\x00\x00\x00WEBPVP", "OggS\x00", "OTTO\x00", "wOFF\x00", "FORM\x00\x00\x00\x10AIFF", "MThd\x00\x00\x00\x06", "\x1a\x45\xdf\xa3", "\x00\x00\x00\x14ftypmp42\x00\x00\x00\x00mp42\x00",
}

// Whatever a text begins with, and in whichever of the encodings it is, its secrets are masked.
func TestTextsWithPackedBeginningsAreMasked(t *testing.T) {
	m, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := redacttest.Ordinary()
	for i := range 10 * len(packedBegins) {
		g := redacttest.New(uint64(i) + 8e6)
		p := all[i%len(all)].Make(g)
		text := strings.Repeat(g.Noise()+"\n", g.Between(0, 12)) + p.Text + "\n" + strings.Repeat(g.Noise()+"\n", g.Between(0, 12))
		begin := packedBegins[i%len(packedBegins)]
		for name, data := range map[string][]byte{
			"plain": []byte(begin + "\n" + text), "UTF-16 LE": wide(begin+"\n"+text, 0), "UTF-16 BE": wide(begin+"\n"+text, 1),
			"UTF-16 behind": append([]byte(begin+"\n"), wide("\n"+text, 0)...), "with a NUL": []byte(begin + "\n" + text + "\x00"), "UTF-16 alone": wide(text, 0), "UTF-16 in a program": append([]byte("\x7fELF\x02\x01\x01\x00"+strings.Repeat("\x00\x07", 99)), wide("\n"+text, 0)...),
		} {
			out := maskedData(m, data)
			if shown := bytes.ReplaceAll(out, []byte{0}, nil); bytes.Contains(shown, []byte(p.Secret)) {
				t.Errorf("%s behind %q: %q is shown of %q", name, begin, p.Secret, p.Text)
			}
		}
	}
}

// wide is a text in UTF-16, without a mark; shift 1: the high bytes first.
func wide(text string, shift int) []byte {
	out := make([]byte, 0, 2*len(text))
	for _, c := range []byte(text) {
		pair := []byte{c, 0}
		out = append(out, pair[shift], pair[1-shift])
	}
	return out
}

// Real pictures, archives, fonts and documents go out as they are, also small ones and those that
// hold a secret where nobody can read it.
func TestPackedDataIsLeft(t *testing.T) {
	m, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := redacttest.New(9)
	secret := []byte("GITHUB_TOKEN=ghp_" + g.Of(redacttest.Base64, 36) + "\n")
	for _, side := range []int{1, 3, 64} {
		img := image.NewNRGBA(image.Rect(0, 0, side, side))
		for i := range img.Pix {
			img.Pix[i] = uint8(g.IntN(256))
		}
		for i := range min(len(secret), len(img.Pix)) { // pixels that read as text
			img.Pix[i] = secret[i]
		}
		paletted := image.NewPaletted(img.Rect, color.Palette{color.Black, color.White})
		for name, encode := range map[string]func(*bytes.Buffer) error{
			"PNG": func(b *bytes.Buffer) error { return png.Encode(b, img) }, "JPEG": func(b *bytes.Buffer) error { return jpeg.Encode(b, img, nil) },
			"GIF": func(b *bytes.Buffer) error { return gif.Encode(b, paletted, nil) }, "BMP": func(b *bytes.Buffer) error { return bmp.Encode(b, img) },
			"gzip": func(b *bytes.Buffer) error {
				w := gzip.NewWriter(b)
				_, err := w.Write(bytes.Repeat(secret, side))
				return errors.Join(err, w.Close())
			},
			"zip": func(b *bytes.Buffer) error {
				w := zip.NewWriter(b)
				f, err := w.Create("a.txt")
				if err != nil {
					return err
				}
				_, err = f.Write(bytes.Repeat(secret, side))
				return errors.Join(err, w.Close())
			},
			"WAV": func(b *bytes.Buffer) error {
				sound := append([]byte("WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data"), img.Pix...)
				b.WriteString("RIFF")
				if err := binary.Write(b, binary.LittleEndian, uint32(len(sound))); err != nil {
					return err
				}
				_, err := b.Write(sound)
				return err
			},
			"PDF": func(b *bytes.Buffer) error {
				b.WriteString("%PDF-1.7\n1 0 obj\n<</Length 9000>>\nstream\n")
				b.Write(noise(g, 9000))
				_, err := b.WriteString("\nendstream\nendobj\nstartxref\n0\n%%EOF\n")
				return err
			},
			"font": func(b *bytes.Buffer) error { _, err := b.Write(goregular.TTF); return err },
		} {
			var b bytes.Buffer
			if err := encode(&b); err != nil {
				t.Fatal(err)
			}
			if out := maskedData(m, b.Bytes()); !bytes.Equal(out, b.Bytes()) {
				t.Errorf("%s of side %d was changed", name, side)
			}
		}
	}
}

// noise is n bytes drawn at random.
func noise(g redacttest.Garden, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = uint8(g.IntN(256))
	}
	return out
}

// A picture that was somebody's file is masked as one, in each form that its post takes: what only begins like a PNG is a
// file. A real one stays a picture as it is.
func TestPicturesThatAreFilesAreMasked(t *testing.T) {
	m, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var whole bytes.Buffer
	if err := png.Encode(&whole, image.NewNRGBA(image.Rect(0, 0, 20, 20))); err != nil {
		t.Fatal(err)
	}
	shape := Shape{MaxFile: 1 << 20}
	drawtest.Check(t, func(rt *rapid.T) {
		g := redacttest.New(rapid.Uint64().Draw(rt, "seed"))
		all := redacttest.Ordinary()
		planted := all[g.IntN(len(all))].Make(g)
		head := rapid.IntRange(33, whole.Len()-1).Draw(rt, "head") // it has a size at least, and lacks its end
		data := append(bytes.Clone(whole.Bytes()[:head]), "\n"+planted.Text+"\n"...)
		p := maskedPost(m, Post{Text: "x", Picture: data, PictureName: "chart.png", ReplyTo: "1"})
		if p.File == nil || p.Picture != nil || p.File.Name != "chart.png" {
			rt.Errorf("what isn't a picture is one: %d bytes, file %v", len(p.Picture), p.File)
		}
		for ok := true; ok; p, _, ok = p.simpler(shape, false) {
			if p.File != nil && bytes.Contains(p.File.Data, []byte(planted.Secret)) || bytes.Contains(p.Picture, []byte(planted.Secret)) {
				rt.Fatalf("%q is sent of %q", planted.Secret, planted.Text)
			}
		}
	})
	if p := maskedPost(m, Post{Text: "x", Picture: whole.Bytes(), PictureName: "chart.png"}); p.File != nil || !bytes.Equal(p.Picture, whole.Bytes()) {
		t.Error("a picture isn't one any more")
	}
}
