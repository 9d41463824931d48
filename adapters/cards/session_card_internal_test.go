package cards

import (
	"testing"

	"github.com/panebridge/panebridge/sessions"
)

// A card says what its session is, where, and what becomes of what's written there. Of a session
// that was adopted nobody knows what it was begun as.
func TestCardsSayWhatTheirSessionsAre(t *testing.T) {
	for want, s := range map[string]sessions.Session{
		"**demo** · the demo agent in /srv/x\n\nWrite here what it should do. /help says what else you can do.":                                     {Name: "demo", Agent: "demo", Owned: true, Cwd: "/srv/x"},
		"**sh** · a shell in /srv/x\n\nWrite a command here, and it's typed and run. /help says what else you can do.":                              {Name: "sh", Owned: true, Cwd: "/srv/x"},
		"**py** · python3 in /srv/x\n\nWhat you write here is typed into it. /help says what else you can do.":                                      {Name: "py", Program: "python3", Owned: true, Cwd: "/srv/x"},
		"**old** · a session that was there before panebridge, in /srv/x\n\nWhat you write here is typed into it. /help says what else you can do.": {Name: "old", Cwd: "/srv/x"},
	} {
		if got := sessionCardText(s, s.Cwd); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}
