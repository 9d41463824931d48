// Package screenshot draws a pane's visible screen as a PNG, for chats.
//
// A screen becomes a grid of cells (grid.go); each cell is filled and its glyph
// drawn over it (draw.go). Glyphs come from, in this order:
//
//  1. code, for what has to join its neighbours: lines of boxes (box.go), blocks
//     and braille (block.go);
//  2. DejaVu Sans Mono, smooth, upright and bold; slanted for italics (outline.go);
//  3. a bitmap font that has the other scripts of the basic plane, Chinese, Japanese
//     and Korean above all (bitmap.go);
//  4. code, for emoji: discs, squares, faces, flags by their letters (emoji.go);
//  5. a box with the character's number, so that nothing is silently left out.
//
// The same screen is always the same file: nothing depends on fonts of the system,
// on time, or on order of maps.
package screenshot
