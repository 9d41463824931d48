package discordtest_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/internal/memnet"
)

// The intents that the tests ask for.
const (
	guilds   = 1 << 0
	messages = 1 << 9
	content  = 1 << 15
	all      = guilds | messages | content
)

// onGateway runs a test with a world that's served.
func onGateway(t *testing.T, opts discordtest.Options, test func(w *world, network *memnet.Network)) {
	t.Helper()
	inBubble(t, opts, func(w *world) {
		network, stop := w.serve()
		defer stop()
		test(w, network)
	})
}

func TestCloseCodes(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(x *wire)
		want int
	}{
		"an unknown opcode":  {func(x *wire) { x.say(99, nil) }, 4001},
		"no JSON":            {func(x *wire) { x.put("{") }, 4002},
		"too long":           {func(x *wire) { x.say(1, strings.Repeat("x", 4097)) }, 4002},
		"data of no sort":    {func(x *wire) { x.say(2, 7) }, 4002},
		"too early":          {func(x *wire) { x.say(3, args{}) }, 4003},
		"a wrong token":      {func(x *wire) { x.say(2, args{"token": "x", "intents": 1}) }, 4004},
		"a token to resume":  {func(x *wire) { x.say(6, args{"token": "x", "session_id": "x", "seq": 1}) }, 4004},
		"a shard of its own": {func(x *wire) { x.say(2, args{"token": x.Token(), "intents": 1, "shard": []int{1, 1}}) }, 4010},
		"no intents":         {func(x *wire) { x.say(2, args{"token": x.Token()}) }, 4013},
		"unknown intents":    {func(x *wire) { x.say(2, args{"token": x.Token(), "intents": 1 << 30}) }, 4013},
		"the members":        {func(x *wire) { x.say(2, args{"token": x.Token(), "intents": 1 << 1}) }, 4014},
		"the content":        {func(x *wire) { x.say(2, args{"token": x.Token(), "intents": content}) }, 4014},
		"twice": {func(x *wire) {
			x.say(2, args{"token": x.Token(), "intents": 1})
			x.until("READY")
			x.say(2, args{"token": x.Token(), "intents": 1})
		}, 4005},
	} {
		t.Run(name, func(t *testing.T) {
			onGateway(t, discordtest.Options{NoContentIntent: true}, func(w *world, network *memnet.Network) {
				x := w.dial(network, "?v=9&encoding=json")
				if p := x.next(); p.Op != 10 {
					w.Fatalf("instead of HELLO came %+v", p)
				}
				c.do(x)
				p := x.next()
				for p.Name != "" {
					p = x.next()
				}
				if list := w.Refusals(); p.Closed != c.want || len(list) != 1 || list[0].Code != c.want || list[0].Call != "gateway" {
					w.Errorf("closed with %d, want %d; refusals %+v", p.Closed, c.want, list)
				}
				ok(w, x.conn.Close())
			})
		})
	}
	onGateway(t, discordtest.Options{}, func(w *world, network *memnet.Network) {
		for _, query := range []string{"", "?v=8"} {
			x := w.dial(network, query)
			if p := x.next(); p.Closed != 4012 {
				w.Errorf("%q: %+v", query, p)
			}
			ok(w, x.conn.Close())
		}
	})
}

func TestIntentsAreHonoured(t *testing.T) {
	onGateway(t, discordtest.Options{}, func(w *world, network *memnet.Network) {
		deaf, blind, full := w.dial(network, "?v=9"), w.dial(network, "?v=9"), w.dial(network, "?v=10")
		deaf.identify(guilds)
		time.Sleep(6 * time.Second)
		blind.identify(messages)
		time.Sleep(6 * time.Second)
		full.identify(all)
		w.must(put, "/applications/"+w.Bot().ID+"/commands", []args{{"name": "stop", "description": "x"}})
		hidden := w.house.TextChannel("hidden")
		hidden.Deny(discordtest.ViewChannel)
		said(w)(w.ada.Say(hidden.ID, "not for the bot"))
		said(w)(w.ada.Say(w.text, "secret"))
		said(w)(w.ada.Say(w.text, "<@"+w.Bot().ID+"> hi"))
		said(w)(w.ada.Command(w.text, "stop", nil))
		heard := func(x *wire) (list []string) {
			for {
				p := x.next()
				switch p.Name {
				case "MESSAGE_CREATE":
					list = append(list, p.str("content"))
				case "INTERACTION_CREATE":
					return append(list, "interaction")
				}
			}
		}
		for x, want := range map[*wire]string{deaf: "interaction", blind: "|<@ID> hi|interaction", full: "secret|<@ID> hi|interaction"} {
			if got := strings.Join(heard(x), "|"); got != strings.ReplaceAll(want, "ID", w.Bot().ID) {
				w.Errorf("heard %q, want %q", got, want)
			}
			ok(w, x.conn.Close())
		}
	})
}

func TestGuildCreateShowsWhatTheBotSees(t *testing.T) {
	onGateway(t, discordtest.Options{}, func(w *world, network *memnet.Network) {
		w.house.TextChannel("hidden").Deny(discordtest.ViewChannel)
		open, shut := w.thread("open"), w.thread("shut")
		ok(w, w.ada.Archive(shut))
		x := w.dial(network, "?v=9")
		x.identify(guilds)
		data := string(x.until("GUILD_CREATE").Data)
		if !strings.Contains(data, open) || !strings.Contains(data, w.forum) || strings.Contains(data, shut) || strings.Contains(data, "hidden") {
			w.Errorf("the guild is %s", data)
		}
		late := w.thread("late")
		if p := x.until("THREAD_CREATE"); p.str("id") != late {
			w.Errorf("the thread is %s", p.Data)
		}
		ok(w, w.ada.Archive(late))
		x.until("THREAD_UPDATE")
		ok(w, w.ada.DeleteChannel(late))
		if p := x.until("THREAD_DELETE"); p.str("id") != late || p.str("parent_id") != w.text {
			w.Errorf("the deleted thread is %s", p.Data)
		}
		w.house.TextChannel("agents").Deny(discordtest.ViewChannel)
		x.until("CHANNEL_DELETE")
		w.house.Kick()
		x.until("GUILD_DELETE")
		ok(w, x.conn.Close())
	})
}

func TestResume(t *testing.T) {
	onGateway(t, discordtest.Options{Limits: generous()}, func(w *world, network *memnet.Network) {
		x := w.dial(network, "?v=9")
		id := x.identify(all)
		said(w)(w.ada.Say(w.text, "one"))
		seq := x.until("MESSAGE_CREATE").Seq
		w.DropGateways()
		if p := x.next(); p.Err == nil {
			w.Errorf("after the drop came %+v", p)
		}
		said(w)(w.ada.Say(w.text, "two"))
		said(w)(w.ada.Say(w.text, "three"))
		resume := func(session string, seq int) *wire {
			y := w.dial(network, "?v=9")
			y.next()
			y.say(6, args{"token": w.Token(), "session_id": session, "seq": seq})
			return y
		}
		y := resume(id, seq)
		two, three, resumed := y.next(), y.next(), y.next()
		if two.str("content") != "two" || two.Seq != seq+1 || three.str("content") != "three" || resumed.Name != "RESUMED" || resumed.Seq != seq+3 {
			w.Errorf("resumed with %+v, %+v, %+v", two, three, resumed)
		}
		// A client that lost more than it knows gets it again.
		z := resume(id, seq)
		if p := z.next(); p.str("content") != "two" {
			w.Errorf("resumed again with %+v", p)
		}
		if p := y.next(); p.Err == nil {
			w.Errorf("the old connection goes on with %+v", p)
		}
		ok(w, z.conn.Close())
		synctest.Wait()
		for name, c := range map[string]struct {
			session string
			seq     int
			wait    time.Duration
			closed  int
		}{
			"an unknown session": {session: "x"},
			"a wrong sequence":   {session: id, seq: 1000, closed: 4007},
		} {
			bad := resume(c.session, c.seq)
			p := bad.next()
			if c.closed != 0 && p.Closed != c.closed || c.closed == 0 && (p.Op != 9 || string(p.Data) != "false") {
				w.Errorf("%s: %+v", name, p)
			}
			ok(w, bad.conn.Close())
		}
	})
}

func TestSessionsEnd(t *testing.T) {
	for name, leave := range map[string]func(w *world, x *wire){
		"away too long": func(_ *world, x *wire) {
			ok(x, x.conn.Close())
			time.Sleep(3*time.Minute + time.Second)
		},
		"a goodbye": func(_ *world, x *wire) {
			_, err := x.conn.Write([]byte{0x88, 0x82, 0, 0, 0, 0, 1000 >> 8, 1000 & 0xff})
			ok(x, err)
			ok(x, x.conn.Close())
		},
		"forgotten": func(w *world, x *wire) {
			w.ForgetSessions()
			w.DropGateways()
			x.next()
		},
		"no heartbeat": func(w *world, x *wire) {
			time.Sleep(62 * time.Second)
			if p := x.next(); p.Closed != 4009 {
				w.Errorf("without heartbeats came %+v", p)
			}
			ok(w, x.conn.Close())
		},
		"invalidated": func(w *world, x *wire) {
			w.InvalidateSessions(false)
			if p := x.next(); p.Op != 9 || string(p.Data) != "false" {
				w.Errorf("came %+v", p)
			}
			ok(w, x.conn.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			onGateway(t, discordtest.Options{}, func(w *world, network *memnet.Network) {
				x := w.dial(network, "?v=9")
				id := x.identify(messages)
				synctest.Wait()
				leave(w, x)
				synctest.Wait()
				y := w.dial(network, "?v=9")
				y.next()
				y.say(6, args{"token": w.Token(), "session_id": id, "seq": 1})
				if p := y.next(); p.Op != 9 || string(p.Data) != "false" || w.Resumes() != 0 {
					w.Errorf("resumed with %+v", p)
				}
				// The same connection may begin a new session.
				time.Sleep(5 * time.Second)
				y.say(2, args{"token": w.Token(), "intents": messages})
				y.until("READY")
				ok(w, y.conn.Close())
			})
		})
	}
}

func TestSilence(t *testing.T) {
	onGateway(t, discordtest.Options{}, func(w *world, network *memnet.Network) {
		x := w.dial(network, "?v=9")
		id := x.identify(messages)
		x.say(1, nil)
		if p := x.next(); p.Op != 11 {
			w.Errorf("a heartbeat is answered with %+v", p)
		}
		w.SilenceGateways()
		x.say(1, 1)
		said(w)(w.ada.Say(w.text, "unheard"))
		ok(w, x.conn.SetReadDeadline(time.Now().Add(10*time.Minute)))
		if p := x.next(); p.Err == nil || p.Err == io.EOF { //nolint:errorlint // what the pipe says as it is
			w.Errorf("a silent gateway says %+v", p)
		}
		y := w.dial(network, "?v=9")
		y.next()
		y.say(6, args{"token": w.Token(), "session_id": id, "seq": 1})
		if p := y.until("MESSAGE_CREATE"); w.Gateways() != 1 {
			w.Errorf("resumed with %+v, %d gateways", p, w.Gateways())
		}
		y.until("RESUMED")
		ok(w, y.conn.Close())
		ok(w, x.conn.Close())
	})
}

func TestOpcodesThatSendBotsAway(t *testing.T) {
	onGateway(t, discordtest.Options{}, func(w *world, network *memnet.Network) {
		x := w.dial(network, "?v=9")
		id := x.identify(messages)
		synctest.Wait()
		w.ReconnectGateways()
		if p := x.next(); p.Op != 7 {
			w.Errorf("asked to reconnect by %+v", p)
		}
		w.InvalidateSessions(true)
		if p := x.next(); p.Op != 9 || string(p.Data) != "true" {
			w.Errorf("invalidated by %+v", p)
		}
		y := w.dial(network, "?v=9")
		y.next()
		y.say(6, args{"token": w.Token(), "session_id": id, "seq": 1})
		y.until("RESUMED")
		w.CloseGateways(4000, "Unknown error.")
		if p := y.next(); p.Closed != 4000 {
			w.Errorf("closed with %+v", p)
		}
		ok(w, x.conn.Close())
		ok(w, y.conn.Close())
		if n := len(w.Refusals()); n != 0 {
			w.Errorf("%d refusals for what the test asked for", n)
		}
	})
}

func TestGatewayLimits(t *testing.T) {
	onGateway(t, discordtest.Options{}, func(w *world, network *memnet.Network) {
		x := w.dial(network, "?v=9")
		x.identify(messages)
		y := w.dial(network, "?v=9")
		y.next()
		y.say(2, args{"token": w.Token(), "intents": messages})
		if p := y.next(); p.Op != 9 || string(p.Data) != "false" || len(w.Refusals()) != 1 {
			w.Errorf("an IDENTIFY too soon: %+v, %+v", p, w.Refusals())
		}
		for range 119 {
			x.say(1, nil)
			if p := x.next(); p.Op != 11 {
				w.Fatalf("a heartbeat is answered with %+v", p)
			}
		}
		x.say(1, nil)
		if p := x.next(); p.Closed != 4008 {
			w.Errorf("the 121st in a minute: %+v", p)
		}
		ok(w, x.conn.Close())
		ok(w, y.conn.Close())
	})
	day := discordtest.Limits{IdentifyDay: discordtest.Window{Calls: 1, Per: 24 * time.Hour}}
	onGateway(t, discordtest.Options{Limits: day}, func(w *world, network *memnet.Network) {
		x := w.dial(network, "?v=9")
		x.identify(messages)
		if a := w.call(get, "/gateway/bot", nil); !strings.Contains(string(a.body), `"remaining":0`) {
			w.Errorf("the gateway says %s", a.body)
		}
		y := w.dial(network, "?v=9")
		y.next()
		y.say(2, args{"token": w.Token(), "intents": messages})
		if p, q := y.next(), x.next(); p.Closed != 4004 || q.Closed != 4004 {
			w.Errorf("one IDENTIFY too many: %+v, %+v", p, q)
		}
		w.refused(get, "/users/@me", nil, 401, 0, "Unauthorized") // the token is worthless
		ok(w, x.conn.Close())
		ok(w, y.conn.Close())
	})
}

func TestGatewaysThatNeverSpeak(t *testing.T) {
	onGateway(t, discordtest.Options{}, func(w *world, network *memnet.Network) {
		for _, hello := range []bool{false, true} {
			w.MuteGateways(1, hello)
			x := w.dial(network, "?v=9")
			if hello && x.next().Op != 10 {
				w.Error("HELLO didn't come")
			}
			x.say(2, args{"token": w.Token(), "intents": messages})
			ok(w, x.conn.SetReadDeadline(time.Now().Add(10*time.Minute)))
			if p := x.next(); p.Err == nil || p.Err == io.EOF { //nolint:errorlint // what the pipe says as it is
				w.Errorf("a mute gateway says %+v", p)
			}
			ok(w, x.conn.Close())
		}
		x := w.dial(network, "?v=9")
		x.identify(messages)
		w.ResetToken()
		if p := x.next(); p.Closed != 4004 {
			w.Errorf("after a new token came %+v", p)
		}
		w.refused(get, "/users/@me", nil, 401, 0, "Unauthorized")
		ok(w, x.conn.Close())
		w.RefuseGateways(1)
		conn, err := network.Dial(context.Background(), "", "")
		ok(w, err)
		_, err = io.WriteString(conn, "GET /gateway?v=9 HTTP/1.1\r\nHost: x\r\n\r\n")
		ok(w, err)
		line := make([]byte, len("HTTP/1.1 503"))
		_, err = io.ReadFull(conn, line)
		ok(w, err)
		if string(line) != "HTTP/1.1 503" {
			w.Errorf("a refused gateway says %q", line)
		}
		ok(w, conn.Close())
	})
}

func TestBulkDeleteIsOneEvent(t *testing.T) {
	onGateway(t, discordtest.Options{Limits: generous()}, func(w *world, network *memnet.Network) {
		one, two := w.send(w.text, "one"), said(t)(w.ada.Say(w.text, "two"))
		x := w.dial(network, "?v=9")
		x.identify(messages)
		w.must(post, "/channels/"+w.text+"/messages/bulk-delete", args{"messages": []string{one, two, "7"}})
		if p := x.next(); p.Name != "MESSAGE_DELETE_BULK" || !strings.Contains(string(p.Data), `["`+one+`","`+two+`"]`) || len(w.Messages(w.text)) != 0 {
			w.Errorf("came %+v, %s", p, p.Data)
		}
		ok(w, x.conn.Close())
	})
}
