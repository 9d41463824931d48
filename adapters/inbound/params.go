package inbound

import (
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/intake"
)

// paramsOf are a command's parameters.
func paramsOf(command string) []intake.Param {
	session := intake.Param{Name: paramSession, Help: "Its name, if it isn't the one of this place", Offers: true}
	named := intake.Param{Name: paramSession, Help: "Its name", Required: true, Offers: true}
	views := []string{"stream", "final", "screen"}
	switch command {
	case "new":
		return []intake.Param{
			{Name: paramAgent, Help: "The agent to start; none: the one that was started last", Offers: true},
			{Name: paramFolder, Help: "Where it works; none: you're asked", Offers: true},
		}
	case resumeWord:
		return []intake.Param{
			{Name: paramAgent, Help: "The agent; none: the one of this place's session", Offers: true},
			{Name: paramFolder, Help: "Where it works; none: where this place's session does", Offers: true},
		}
	case "screen":
		return []intake.Param{session, {Name: "as", Help: "As text, in place of a picture", Choices: []string{"text"}}}
	case "keys":
		return []intake.Param{session, {Name: "keys", Help: "Their names: Up Enter C-c; none: a keyboard"}}
	case "history":
		return []intake.Param{session, {Name: "lines", Help: "How many"}}
	case "search":
		return []intake.Param{{Name: "text", Help: "What to look for", Required: true}}
	case "send":
		return []intake.Param{session, {Name: "file", Help: "Its path in the session's folder", Required: true}}
	case "view":
		return []intake.Param{session, {Name: "view", Help: "What this place shows", Required: true, Choices: views}}
	case "mute":
		return []intake.Param{session, {Name: "when", Help: "For how long or when: 1h, 22:00-07:00, off"}}
	case "bind":
		return []intake.Param{
			named,
			{Name: "view", Help: "What this place shows", Choices: views},
			{Name: "input", Help: "Whether what's written here is typed", Choices: []string{"input on", "input off"}},
		}
	case "mail":
		return []intake.Param{{Name: "to", Help: "A session's name, or the id of what you answer"}, {Name: "text", Help: "What to say"}}
	case "fleet":
		return []intake.Param{{Name: "name", Help: "One fleet alone"}}
	case "pair":
		return []intake.Param{{Name: "code", Help: "The code that you were given; or, to make one, the role it gives"}}
	case "access":
		return []intake.Param{
			{Name: "change", Help: "What to do; nothing: list who may do what", Choices: []string{"grant", "revoke"}},
			{Name: "person", Help: "telegram:123 or discord:456"},
			{Name: "role", Help: "What to give", Choices: []string{string(access.Viewer), string(access.Operator), string(access.Approver), string(access.Admin)}},
		}
	case "stop", "esc", "close", "unbind", "reopen", "restart":
		return []intake.Param{session}
	default:
		return nil
	}
}

const (
	paramSession = "session"
	paramAgent   = "agent"
	paramFolder  = "folder"
)
