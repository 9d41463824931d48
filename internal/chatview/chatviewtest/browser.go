// Package chatviewtest opens a page in a browser and looks at it.
package chatviewtest

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/browsertest"
)

// Token is what a page is opened with.
const Token = "s3cret"

// Page is a page in a browser, which its test fails for if the console complains.
type Page struct{ *browsertest.Browser }

// Open opens a page, which was made with Token, in a browser of that size.
func Open(t *testing.T, page http.Handler, width, height int) *Page {
	t.Helper()
	server := httptest.NewServer(page)
	t.Cleanup(server.Close)
	p := &Page{browsertest.New(t, width, height)}
	p.AwayAtTimes()
	p.Ignore("favicon")
	p.Do(chromedp.Navigate(server.URL + "/?token=" + Token))
	return p
}

// Eval returns the value of a JavaScript expression.
func Eval[T any](p *Page, expression string) T {
	p.Helper()
	return browsertest.Eval[T](p.Browser, expression)
}

// Until waits for a JavaScript expression to be true.
func (p *Page) Until(expression string) {
	p.Helper()
	p.Browser.Until(expression, expression)
}

// Scheme has the page prefer "dark" or "light".
func (p *Page) Scheme(name string) {
	p.Helper()
	p.Do(browsertest.Scheme(name))
}

// Phone has the page be as narrow as on a phone, 390 pixels, and opens it again.
func (p *Page) Phone() {
	p.Helper()
	p.Do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile), chromedp.Reload())
}

// FitsPhone fails if the page is wider than that.
func (p *Page) FitsPhone() {
	p.Helper()
	if wide := Eval[int](p, `document.documentElement.scrollWidth`); wide > 390 {
		p.Errorf("the page is %d pixels wide on a phone of 390", wide)
	}
}
