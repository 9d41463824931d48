package cards

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// theseCards are a kind that wants what it's told to.
type theseCards struct{ wanted []Wanted }

func (k *theseCards) wantedCards(context.Context, time.Time) ([]Wanted, time.Time, error) {
	return k.wanted, time.Time{}, nil
}

// Of the cards that a chat refuses for one reason one is tried for all: another, when that one
// isn't wanted any more, as its session has ended.
func TestARefusedCardThatNobodyWantsHoldsNoneBack(t *testing.T) {
	play := func(ends int) (tried int) {
		want := func(id string) Wanted {
			return Wanted{
				Spot:    Spot{KindSession, id, adapters.Target{Adapter: "t", Chat: "1", Thread: id}},
				Session: sessions.ID(id), Class: qos.Interactive, Shows: "stands",
				Post: func(context.Context) (adapters.Post, error) {
					tried++
					return adapters.Post{}, errors.New("no rights")
				},
			}
		}
		kind := &theseCards{[]Wanted{want("a"), want("b"), want("c")}}
		r := newReconciler(&Clerk{Options: Options{Log: slog.New(slog.DiscardHandler)}}, kind)
		r.cards = map[Spot]*card{}
		began := time.Now()
		for second := range 600 {
			if second == ends {
				kind.wanted = kind.wanted[1:]
			}
			r.runRound(t.Context(), began.Add(time.Duration(second)*time.Second))
		}
		return tried
	}
	all := play(600)
	for _, ends := range []int{3, 40, 200} {
		if n := play(ends); n < 10 || n < all/2 {
			t.Errorf("where one isn't wanted any more after %d s, the chat is tried %d times in ten minutes; else %d times", ends, n, all)
		}
	}
}
