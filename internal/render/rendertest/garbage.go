package rendertest

import (
	"math/rand/v2"
	"strings"
)

// Garbage returns a document that's made of pieces of Markdown in any order.
func Garbage(seeds []uint64) string { return document(seeds, (*Words).piece) }

// Links returns a document of links whose texts are whatever there is, and parts of such.
func Links(seeds []uint64) string { return document(seeds, (*Words).partOfLink) }

func document(seeds []uint64, piece func(*Words) string) string {
	var b strings.Builder
	w := &Words{}
	for _, seed := range seeds {
		w.Rand = rand.New(rand.NewPCG(seed, 1))
		for range w.Rand.IntN(30) {
			b.WriteString(piece(w))
		}
	}
	return b.String()
}

func (w *Words) partOfLink() string {
	switch w.Rand.IntN(6) {
	case 0:
		return w.pick("[", "[", "![", "[ ", "**[", "[`")
	case 1:
		return w.pick("](https://a.b/"+w.Mark()+")", "](./"+w.Mark()+")", "](https://a.b/c '"+w.Mark()+"')", "](\nhttps://a.b/"+w.Mark()+")", "][αβ]", "\n[αβ]: https://a.b/"+w.Mark()+"\n")
	case 2:
		return w.pick("["+w.blank()+"](https://a.b/"+w.Mark()+")", "!["+w.blank()+"](https://a.b/"+w.Mark()+")", "[a.b/"+w.Mark()+"](https://a.b/"+w.Mark()+")")
	case 3:
		return w.blank()
	case 4:
		return w.Word()
	default:
		return w.piece()
	}
}

// blank is a text that shows nothing, or hardly anything, however it's written.
func (w *Words) blank() string {
	return w.pick("", " ", "&nbsp;", "&#8203;", "&#x200b;", "\u200d", "\u00a0", "&amp;", "&#10240;", "\\ ", "\\!", "`` ` ``", "` `", "**&nbsp;**", "&shy;", "&bogus;", "<b>", "&#x30a;", "&zwj;&nbsp;")
}

// piece returns a piece of Markdown. Labels of references are of Greek letters, which
// aren't marks, because they need not be shown.
func (w *Words) piece() string {
	switch w.Rand.IntN(6) {
	case 0, 1:
		return w.Word()
	case 2:
		return w.pick(" ", " ", "\n", "\n", "\n\n", "  \n", "\t", "    ", "\\\n", "\u00a0")
	case 3:
		return w.pick("*", "**", "_", "__", "***", "~", "~~", "`", "``", "[", "]", "(", ")", "<", ">", "|", "\\", "&", "#", ":", "!", "\"", "@", "$", "-", "=", "\u200d", "\u0301")
	case 4:
		return w.pick("\n> ", "\n- ", "\n* ", "\n1. ", "\n12) ", "\n- [ ] ", "\n- [x] ", "\n# ", "\n### ", "\n===\n", "\n---\n", "\n***\n",
			"\n```\n", "\n```go\n", "\n~~~\n", "\n```go "+w.Word()+"\n", "\n|-|-|\n", "\n| :-: | --: |\n", "| ", " | ", " |\n|", "\n    ", "\n  ", "\n<div>\n", "\n</div>\n", "\n<!-- ", " -->\n",
			"\n[αβ]: https://a.b/"+w.Mark()+"\n", "\n[γ]:\n/"+w.Mark()+"\n'"+w.Mark()+"'\n", "\n[δ]: <"+w.Mark()+">\n")
	default:
		return w.pick("**"+w.Word()+"**", "*"+w.Word()+"*", "~~"+w.Word()+"~~", "`"+w.Word()+"`", "``"+w.Word()+"`"+w.Word()+"``",
			"["+w.Word()+"](https://a.b/"+w.Mark()+")", "["+w.Word()+"](./"+w.Mark()+")", "["+w.Word()+"](\nhttps://a.b/"+w.Mark()+")", "["+w.Word()+"](https://a.b/c\n\""+w.Mark()+"\")",
			"](https://a.b/"+w.Mark()+")", "["+w.Word()+"][αβ]", "["+w.Word()+"][α\nβ]", "[αβ]", "[γ]", "[δ][]", "!["+w.Word()+"](https://a.b/"+w.Mark()+".png)", "![](https://a.b/"+w.Mark()+")", "[](x"+w.Mark()+")", "![αβ]",
			"<https://a.b/"+w.Mark()+">", "https://a.b/"+w.Mark()+"?q=1", "www.a.b/"+w.Mark(), "me@a.b", "@name", "@types/"+w.Mark(), "<b title='"+w.Mark()+"'>", "</b>", "<br>", "&amp;", "&#38;", "&lt;", "&nbsp;", "&bogus;",
			"tg://user?id=1", "[x](tg://user?id="+w.Mark()+")", "http://a.b/@name/"+w.Mark())
	}
}
