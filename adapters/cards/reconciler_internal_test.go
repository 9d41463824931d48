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

// keptCards is a store that drops what it's told to, and has what was put into it last.
type keptCards struct {
	Store
	last *StandingCard
}

func (keptCards) DropStandingCard(context.Context, Spot) error { return nil }

func (k keptCards) PutStandingCard(ctx context.Context, s StandingCard) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	*k.last = s
	return nil
}

// A card whose answer comes while everything ends, when the reconciler has ended already, is known to stand: the next start
// doesn't post it again.
func TestACardThatIsPostedAtTheEndStands(t *testing.T) {
	at := Spot{KindSession, "a", adapters.Target{Adapter: "t", Chat: "1"}}
	var kept StandingCard
	k := &Clerk{Options: Options{Log: slog.New(slog.DiscardHandler), Store: keptCards{last: &kept}}}
	k.replies, k.reconciler = newReplies(k), newReconciler(k)
	k.reconciler.cards = map[Spot]*card{at: {StandingCard: StandingCard{Spot: at, Begun: true}, waits: true}}
	k.reconciler.leaveWord(func() {
		k.reconciler.sent = append(k.reconciler.sent, sentCard{wanted: Wanted{Spot: at, Shows: "stands"}, message: "7"})
	})
	k.Finish(t.Context())
	checkKept(t, kept, at)
}

// So is one whose answer came when the reconciler was just told to end.
func TestACardIsKeptThoughTheEndHasBegun(t *testing.T) {
	at := Spot{KindSession, "a", adapters.Target{Adapter: "t", Chat: "1"}}
	var kept StandingCard
	r := newReconciler(&Clerk{Options: Options{Log: slog.New(slog.DiscardHandler), Store: keptCards{last: &kept}}})
	r.cards = map[Spot]*card{at: {StandingCard: StandingCard{Spot: at, Begun: true}, waits: true}}
	r.sent = []sentCard{{wanted: Wanted{Spot: at, Shows: "stands"}, message: "7"}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r.takeSent(ctx, time.Now())
	checkKept(t, kept, at)
}

func checkKept(t *testing.T, kept StandingCard, at Spot) {
	t.Helper()
	if want := (StandingCard{Spot: at, Message: "7", Shows: "stands"}); kept != want {
		t.Errorf("kept is %+v, want %+v", kept, want)
	}
}

// What's wanted once and is refused for a day doesn't count as being there.
func TestACardThatIsGivenUpDoesNotStand(t *testing.T) {
	for _, c := range []struct {
		refused error
		tries   int
		want    string
	}{{nil, 0, "stood"}, {nil, triesOnce, "stood"}, {errors.New("no rights"), triesOnce - 1, ""}, {errors.New("no rights"), triesOnce, "given up"}} {
		said := ""
		say := func(what string) func(context.Context) error {
			return func(context.Context) error { said += what; return nil }
		}
		at := Spot{KindExhibit, "a", adapters.Target{Adapter: "t", Chat: "1"}}
		r := newReconciler(&Clerk{Options: Options{Log: slog.New(slog.DiscardHandler), Store: keptCards{}}}, &theseCards{})
		one := &card{StandingCard: StandingCard{Spot: at, Begun: true}, retries: retries{tries: c.tries}}
		r.cards = map[Spot]*card{at: one}
		r.confirmCard(t.Context(), one, sentCard{wanted: Wanted{Spot: at, Once: true, Stood: say("stood"), GivenUp: say("given up")}, err: c.refused}, time.Now())
		if said != c.want {
			t.Errorf("refused: %v, after %d tries: %q, want %q", c.refused, c.tries, said, c.want)
		}
	}
}
