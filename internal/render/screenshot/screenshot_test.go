package screenshot

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/sessions"
)

func newRenderer(tb testing.TB) *Renderer {
	tb.Helper()
	r, err := New()
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// shot draws rows and reads the file back.
func shot(t *testing.T, s sessions.Screen) image.Image {
	t.Helper()
	data, _, err := newRenderer(t).PNG(s)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func rows(r ...string) sessions.Screen {
	return sessions.Screen{Width: 20, Height: len(r), Rows: r}
}

func at(img image.Image, x, y int) rgb {
	c := color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)
	return rgb{c.R, c.G, c.B}
}

// count counts the pixels of a colour in a cell.
func count(img image.Image, column, row int, v rgb) int {
	n := 0
	for y := range cellHeight {
		for x := range cellWidth {
			if at(img, margin+column*cellWidth+x, margin+row*cellHeight+y) == v {
				n++
			}
		}
	}
	return n
}

const whole = cellWidth * cellHeight

func TestColours(t *testing.T) {
	for _, tc := range []struct {
		name, row string
		fg, bg    rgb
	}{
		{"default", "█ ", defaultFG, defaultBG},
		{"basic", "\x1b[31;42m█ ", rgb{0xf0, 0x71, 0x6f}, rgb{0x7f, 0xc7, 0x7a}},
		{"bright", "\x1b[97;100m█ ", rgb{0xff, 0xff, 0xff}, rgb{0x70, 0x78, 0x87}},
		{"256", "\x1b[38;5;196;48;5;232m█ ", rgb{255, 0, 0}, rgb{8, 8, 8}},
		{"true", "\x1b[38;2;1;2;3;48;2;4;5;6m█ ", rgb{1, 2, 3}, rgb{4, 5, 6}},
		{"reverse", "\x1b[7;31m█ ", defaultBG, rgb{0xf0, 0x71, 0x6f}},
		{"hidden", "\x1b[8;31m█ ", defaultBG, defaultBG},
		{"dim", "\x1b[2m█ ", mix(defaultFG, defaultBG, 2, 5), defaultBG},
		{"reset", "\x1b[31m\x1b[0m█ ", defaultFG, defaultBG},
	} {
		t.Run(tc.name, func(t *testing.T) {
			img := shot(t, rows(tc.row))
			if got := at(img, margin, margin); got != tc.fg {
				t.Errorf("the block is %v, want %v", got, tc.fg)
			}
			if got := at(img, margin+cellWidth, margin); got != tc.bg {
				t.Errorf("the blank is %v, want %v", got, tc.bg)
			}
		})
	}
}

// ink counts the pixels of a cell that aren't the background's.
func ink(img image.Image, column, row int) int {
	return whole - count(img, column, row, defaultBG)
}

func TestAttributes(t *testing.T) {
	img := shot(t, rows("x", "\x1b[1mx", "\x1b[3ml", "l", "\x1b[4m ", "\x1b[9m "))
	if ink(img, 0, 1) <= ink(img, 0, 0) {
		t.Error("bold isn't bolder")
	}
	same := true
	for y := range cellHeight {
		for x := range cellWidth {
			same = same && at(img, margin+x, margin+2*cellHeight+y) == at(img, margin+x, margin+3*cellHeight+y)
		}
	}
	if same {
		t.Error("italic is like upright")
	}
	for row := 4; row < 6; row++ {
		if n := count(img, 0, row, defaultFG); n != cellWidth {
			t.Errorf("row %d has a line of %d pixels, want %d", row, n, cellWidth)
		}
	}
}

// Lines of boxes go from edge to edge, and those of neighbours meet.
func TestBoxesJoin(t *testing.T) {
	const up, right, down, left = 0, 1, 2, 3
	edges := func(r rune) (out [4][]int) {
		m, ok := box(r, cellWidth, cellHeight)
		if !ok {
			t.Fatalf("%c isn't drawn", r)
		}
		for x := range cellWidth {
			if m.at(x, 0) > 0 {
				out[up] = append(out[up], x)
			}
			if m.at(x, cellHeight-1) > 0 {
				out[down] = append(out[down], x)
			}
		}
		for y := range cellHeight {
			if m.at(0, y) > 0 {
				out[left] = append(out[left], y)
			}
			if m.at(cellWidth-1, y) > 0 {
				out[right] = append(out[right], y)
			}
		}
		return out
	}
	vertical := map[byte][]int{'0': nil, '1': edges('│')[up], '2': edges('┃')[up], '3': edges('║')[up]}
	horizontal := map[byte][]int{'0': nil, '1': edges('─')[left], '2': edges('━')[left], '3': edges('═')[left]}
	if len(vertical['1']) != 1 || len(vertical['2']) != 3 || len(vertical['3']) != 2 || len(horizontal['3']) != 2 {
		t.Fatalf("lines have edges of %v and %v", vertical, horizontal)
	}
	for r := rune(firstBox); r <= lastBox; r++ {
		a := arms[5*(r-firstBox):]
		if r >= '╭' && r <= '╳' || strings.ContainsRune("┄┅┆┇┈┉┊┋╌╍╎╏", r) {
			continue
		}
		got := edges(r)
		for i, want := range [4][]int{up: vertical[a[0]], right: horizontal[a[1]], down: vertical[a[2]], left: horizontal[a[3]]} {
			if !slices.Equal(got[i], want) {
				t.Errorf("%c meets its neighbour %d at %v, want %v", r, i, got[i], want)
			}
		}
	}
	for r, want := range map[rune][2]int{'╭': {right, down}, '╮': {down, left}, '╯': {up, left}, '╰': {up, right}} {
		got := edges(r)
		for i := range 4 {
			if inPair := i == want[0] || i == want[1]; inPair != (len(got[i]) > 0) {
				t.Errorf("%c has edges %v", r, got)
			}
		}
	}
}

func TestBlocksAndBraille(t *testing.T) {
	for r, want := range map[rune]int{
		'█': whole, '▀': cellWidth * 9, '▄': cellWidth * 9, '▌': 5 * cellHeight, '▐': 5 * cellHeight,
		'▁': 2 * cellWidth, '▏': cellHeight, '▖': 4 * 9, '▟': whole - 4*9, '⠀': 0, '⠁': 4, '⣿': 32,
	} {
		m, ok := block(r, cellWidth, cellHeight)
		n := 0
		for _, v := range m.v {
			if v == levels {
				n++
			}
		}
		if !ok || n != want {
			t.Errorf("%c covers %d pixels, want %d", r, n, want)
		}
	}
	light, _ := block('░', cellWidth, cellHeight)
	dark, _ := block('▓', cellWidth, cellHeight)
	if light.at(0, 0) != levels/4 || dark.at(0, 0) != 3*levels/4 {
		t.Errorf("shades are %d and %d", light.at(0, 0), dark.at(0, 0))
	}
}

// Every character leaves something to see, in the cells that are its own.
func TestGlyphs(t *testing.T) {
	for _, tc := range []struct {
		text string
		wide bool
	}{
		{"a", false},
		{"é", false},
		{"e\u0301", false},
		{"Ж", false},
		{"א", false},
		{"ก", false},
		{"世", true},
		{"한", true},
		{"カ", true},
		{"😀", true},
		{"🚀", true},
		{"✅", true},
		{"🇩🇪", true},
		{"👩‍💻", true},
		{"⏺", false},
		{"⎿", false},
		{"❯", false},
		{"⠋", false},
		{"\U0001F9FF", true},
		{"\u0D85", false},
		{"\U00013000", false},
	} {
		img := shot(t, rows(tc.text+"|"))
		second := 0
		if tc.wide {
			second = 1
			if ink(img, 1, 0) == 0 {
				t.Errorf("%s has no right half", tc.text)
			}
		}
		if ink(img, 0, 0) == 0 || ink(img, second+1, 0) == 0 || ink(img, second+2, 0) != 0 {
			t.Errorf("%s isn't in its cells", tc.text)
		}
	}
}

func TestCursor(t *testing.T) {
	s := rows("ab")
	s.CursorX, s.CursorVisible = 2, true
	if n := count(shot(t, s), 2, 0, defaultFG); n != whole {
		t.Errorf("the cursor covers %d pixels, want %d", n, whole)
	}
	s.CursorVisible = false
	if n := ink(shot(t, s), 2, 0); n != 0 {
		t.Errorf("the hidden cursor covers %d pixels", n)
	}
}

// Huge panes are cut, at the right and above.
func TestHugePane(t *testing.T) {
	var r []string
	for range 5000 {
		r = append(r, strings.Repeat("\x1b[31mx", 2000))
	}
	r[4999] = "█"
	s := sessions.Screen{Width: 2000, Height: 5000, Rows: r, CursorX: 1, CursorY: 4999, CursorVisible: true}
	img, cut := newRenderer(t).Image(s)
	want := image.Pt(MaxColumns*cellWidth+2*margin, MaxRows*cellHeight+2*margin)
	if !cut || img.Bounds().Size() != want {
		t.Errorf("it's %v large (cut: %v), want %v", img.Bounds().Size(), cut, want)
	}
	if count(img, 0, MaxRows-1, defaultFG) != whole || count(img, 1, MaxRows-1, defaultFG) != whole {
		t.Error("the last row or the cursor isn't in the picture")
	}
	for _, s := range []sessions.Screen{{}, {Width: -1, Height: -1}, {Width: 3, Rows: []string{"", strings.Repeat("世", 9)}, CursorX: 99, CursorY: -3, CursorVisible: true}} {
		if img, cut := newRenderer(t).Image(s); cut || img.Bounds().Empty() {
			t.Errorf("%+v is %v large (cut: %v)", s, img.Bounds(), cut)
		}
	}
}

// The same screen is the same file. With many colours it's one without a palette.
func TestSameScreenSameFile(t *testing.T) {
	var gradient strings.Builder
	for i := range 300 {
		fmt.Fprintf(&gradient, "\x1b[48;2;%d;%d;9m ", i%256, i/2)
	}
	for _, s := range []sessions.Screen{
		rows("\x1b[1;31mfoo\x1b[0m 世界 🚀 ╭─╮"),
		{Width: 300, Height: 1, Rows: []string{gradient.String()}},
	} {
		a, _, err := newRenderer(t).PNG(s)
		if err != nil {
			t.Fatal(err)
		}
		b, _, err := newRenderer(t).PNG(s)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Error("two files of one screen are different")
		}
	}
	if got := at(shot(t, sessions.Screen{Width: 300, Height: 1, Rows: []string{gradient.String()}}), margin+299*cellWidth, margin); got != (rgb{43, 149, 9}) {
		t.Errorf("the last colour is %v", got)
	}
}

// A picture made of characters, of more colours than a canvas has numbers, shows each of
// them about as it is.
func TestManyColours(t *testing.T) {
	s := sessions.Screen{Width: MaxColumns, Height: MaxRows}
	colour := func(x, y int) rgb { return rgb{uint8(x), uint8(y), uint8(x * y)} }
	for y := range s.Height {
		var b strings.Builder
		for x := range s.Width {
			c := colour(x, y)
			fmt.Fprintf(&b, "\x1b[38;2;%d;%d;%d;48;2;%d;%d;%dm▄", c.r, c.g, c.b, c.b, c.r, c.g)
		}
		s.Rows = append(s.Rows, b.String())
	}
	img, _ := newRenderer(t).Image(s)
	for _, p := range []image.Point{{0, 0}, {299, 0}, {150, 100}, {3, 199}, {299, 199}} {
		got, want := at(img, margin+p.X*cellWidth, margin+p.Y*cellHeight+cellHeight-1), colour(p.X, p.Y)
		if got.r&^7 != want.r&^7 || got.g&^7 != want.g&^7 || got.b&^7 != want.b&^7 {
			t.Errorf("cell %v is %v, want %v", p, got, want)
		}
	}
}

func FuzzScreen(f *testing.F) {
	for _, s := range []string{"", "\x1b[1;31mhi\x1b[0m", "世e\u0301🇩🇪👩‍💻\t┼", "\xff\x1b[38;2;1;2;3", "\u0301\u200d"} {
		f.Add(s, 10, 3, 1)
	}
	r := newRenderer(f)
	f.Fuzz(func(t *testing.T, row string, width, x, y int) {
		s := sessions.Screen{Width: width % 400, Height: 2, Rows: []string{row, row}, CursorX: x, CursorY: y, CursorVisible: true}
		if img, _ := r.Image(s); img.Bounds().Empty() {
			t.Error("no picture")
		}
	})
}
