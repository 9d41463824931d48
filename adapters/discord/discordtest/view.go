package discordtest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/panebridge/panebridge/internal/chatview"
)

// view is the stand-in as its page shows it.
type view struct{ s *Server }

var _ chatview.World = view{}

// NewView returns a page that shows the stand-in's channels and threads as a phone would;
// see chatview.New.
func NewView(s *Server, token string) http.Handler { return chatview.New(view{s}, token) }

// Changed implements chatview.World.
func (v view) Changed() <-chan struct{} { return v.s.Changed() }

// Do implements chatview.World. What's said that begins with "/" is a command.
func (v view) Do(what string, d chatview.Deed) error {
	at := channelIn(d.Place)
	p, err := v.personIn(d.Person, at)
	if err != nil {
		return err
	}
	if strings.HasSuffix(what, "-topic") {
		return p.doThread(what, d)
	}
	switch what {
	case "say":
		if strings.HasPrefix(d.Text, "/") && !strings.HasPrefix(d.Text, "//") {
			return p.commandLine(at, d.Text[1:])
		}
		_, err = p.Send(at, Post{Text: d.Text, ReplyTo: d.Message})
	case "edit":
		err = p.Edit(d.Message, d.Text)
	case "press":
		_, err = p.Press(d.Message, d.Text)
	case "choose":
		_, err = p.Select(d.Message, d.Text, d.Values...)
	case "react":
		err = p.React(d.Message, d.Text)
	case "delete":
		err = p.Delete(d.Message)
	default:
		err = errors.New("nobody can do that here")
	}
	return err
}

// doThread does something to a thread, or begins one.
func (p *Person) doThread(what string, d chatview.Deed) error {
	if what == "create-topic" {
		_, err := p.CreateThread(d.Chat, d.Text)
		if c, _ := p.s.Channel(d.Chat); c.Kind == KindForum {
			_, err = p.CreatePost(d.Chat, d.Text, d.Text)
		}
		return err
	}
	at := channelIn(d.Place)
	switch what {
	case "rename-topic":
		return p.Rename(at, d.Text)
	case "close-topic":
		return p.Archive(at)
	case "reopen-topic":
		return p.Unarchive(at)
	case "delete-topic":
		return p.DeleteChannel(at)
	}
	return errors.New("nobody can do that here")
}

// commandLine sends a command with its options as words in their order, of which the last
// takes what's left. A phone has a field for each.
func (p *Person) commandLine(channel, line string) error {
	name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	defer p.s.lock()()
	in, err := p.visible(channel)
	if err != nil {
		return err
	}
	command := p.s.command(in.guildID(), name)
	if command == nil {
		command = p.s.command("", name)
	}
	if command == nil {
		return fmt.Errorf("there's no command /%s here", name)
	}
	options := map[string]any{}
	for i, o := range command.Options {
		word := strings.TrimSpace(rest)
		if i < len(command.Options)-1 {
			word, rest, _ = strings.Cut(word, " ")
		}
		if word == "" {
			break
		}
		options[o.Name] = word
		if n, err := strconv.Atoi(word); err == nil && (o.Type == OptionInteger || o.Type == OptionNumber) {
			options[o.Name] = n
		} else if b, err := strconv.ParseBool(word); err == nil && o.Type == OptionBoolean {
			options[o.Name] = b
		}
	}
	_, err = p.command(channel, name, options, "", nil)
	return err
}

// SendFile implements chatview.World.
func (v view) SendFile(person string, at chatview.Place, name string, content []byte) error {
	to := channelIn(at)
	p, err := v.personIn(person, to)
	if err == nil {
		_, err = p.Attach(to, "", Upload{Name: name, Content: content})
	}
	return err
}

// File implements chatview.World. An address is an attachment's path.
func (v view) File(address string) (content []byte, picture, ok bool) {
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	f := v.s.files["/"+address]
	if f == nil {
		return nil, false, false
	}
	return f.Content, f.isPicture(), true
}

func (f *File) isPicture() bool { return strings.HasPrefix(f.MIME, "image/") }

// personIn returns somebody by id, if there's also such a channel.
func (v view) personIn(id, channel string) (*Person, error) {
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	i := slices.IndexFunc(v.s.people, func(p *Person) bool { return p.ID == id })
	switch {
	case i < 0:
		return nil, fmt.Errorf("there's no person %s", id)
	case v.s.channels[channel] == nil:
		return nil, fmt.Errorf("there's no channel %s", channel)
	}
	return v.s.people[i], nil
}

// channelIn is the channel that a place is: threads are channels.
func channelIn(at chatview.Place) string {
	if at.Thread != chatview.NoThread && at.Thread != "" {
		return at.Thread
	}
	return at.Chat
}
