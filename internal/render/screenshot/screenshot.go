package screenshot

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"time"

	"github.com/go-fonts/dejavu/dejavusansmono"
	"github.com/go-fonts/dejavu/dejavusansmonobold"
	"golang.org/x/image/font/sfnt"

	"github.com/panebridge/panebridge/sessions"
)

// The most that's drawn. Telegram takes photos whose sides add up to 10,000 pixels
// (core.telegram.org/bots/api#sendphoto), and nobody reads more on a phone. The largest
// screen with a colour of its own in each cell takes about 80 MB while it's drawn, and
// 1.3 MB as a file.
const (
	MaxColumns = 300
	MaxRows    = 200
)

// At most so many pictures are drawn at once, and one waits for so long until it's its turn: a screen that's usual
// takes 20 ms.
const (
	atOnce      = 2
	waitForTurn = 10 * time.Second
)

// ErrBusy means that too many pictures are being drawn.
var ErrBusy = fmt.Errorf("%w: %d pictures are being drawn, and there's no memory for more; ask again in a moment", sessions.ErrUnavailable, atOnce)

// Renderer draws screens, some at once. It's safe for concurrent use.
type Renderer struct {
	regular, bold *sfnt.Font
	drawing       chan struct{} // one for each that's being drawn
}

// New returns a Renderer.
func New() (*Renderer, error) {
	regular, err := sfnt.Parse(dejavusansmono.TTF)
	if err != nil {
		return nil, fmt.Errorf("parse font DejaVu Sans Mono: %w", err)
	}
	bold, err := sfnt.Parse(dejavusansmonobold.TTF)
	if err != nil {
		return nil, fmt.Errorf("parse font DejaVu Sans Mono Bold: %w", err)
	}
	return &Renderer{regular, bold, make(chan struct{}, atOnce)}, nil
}

// PNG draws a screen. Of one with more than MaxColumns or MaxRows it draws the left
// columns and the last rows, and says that it's cut. ErrBusy if it's not its turn within 10 s.
func (r *Renderer) PNG(s sessions.Screen) (data []byte, cut bool, err error) {
	select {
	case r.drawing <- struct{}{}:
		defer func() { <-r.drawing }()
	case <-time.After(waitForTurn):
		return nil, false, ErrBusy
	}
	img, cut := r.Image(s)
	var b bytes.Buffer
	// The fastest of compressions makes a file of a third more, which is nothing
	// beside what an upload costs anyway.
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := encoder.Encode(&b, img); err != nil {
		return nil, cut, fmt.Errorf("encode screenshot: %w", err)
	}
	return b.Bytes(), cut, nil
}

// Image draws a screen as PNG does.
func (r *Renderer) Image(s sessions.Screen) (img image.Image, cut bool) {
	g, cut := newGrid(s)
	return newDrawing(r, g).draw(), cut
}
