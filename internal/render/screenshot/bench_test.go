package screenshot

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strings"
	"testing"

	"github.com/go-fonts/dejavu/dejavusansmono"
	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"github.com/panebridge/panebridge/internal/render/sgr"
	"github.com/panebridge/panebridge/sessions"
)

// full is a screen of 120 by 40 without an empty cell: colours, boxes, and some
// Chinese.
func full() sessions.Screen {
	s := sessions.Screen{Width: 120, Height: 40, CursorVisible: true}
	for y := range s.Height {
		var b strings.Builder
		for x := range 20 {
			fmt.Fprintf(&b, "\x1b[%dm%04x\x1b[0m│ ", 31+(x+y)%6, x*y*7)
		}
		s.Rows = append(s.Rows, b.String())
	}
	s.Rows[20] = strings.Repeat("中文终端", 15)
	return s
}

func BenchmarkScreenshot(b *testing.B) {
	r := newRenderer(b)
	s := full()
	b.Run("120x40", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := r.PNG(s); err != nil {
				b.Fatal(err)
			}
		}
	})
	// The straightforward way: x/image's drawer for each cell, on an image without a
	// palette, encoded as png.Encode does.
	b.Run("120x40, baseline", func(b *testing.B) {
		f, err := opentype.Parse(dejavusansmono.TTF)
		if err != nil {
			b.Fatal(err)
		}
		face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: fontSize, DPI: 72})
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if err := png.Encode(new(bytes.Buffer), straightforward(face, s)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func straightforward(face font.Face, s sessions.Screen) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, s.Width*cellWidth+2*margin, s.Height*cellHeight+2*margin))
	draw.Draw(img, img.Bounds(), image.Black, image.Point{}, draw.Src)
	for y, row := range s.Rows {
		x := 0
		for _, run := range sgr.Parse(row) {
			red, green, blue := run.Style.FG.RGB()
			d := font.Drawer{Dst: img, Src: image.NewUniform(color.RGBA{red, green, blue, 255}), Face: face}
			for _, r := range run.Text {
				d.Dot = fixed.P(margin+x*cellWidth, margin+y*cellHeight+baseline)
				d.DrawString(string(r))
				x++
			}
		}
	}
	return img
}
