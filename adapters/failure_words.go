package adapters

import "strconv"

// FailureWords says of a call that failed what wasn't done and why: "make the topic: the bot may not
// manage topics (400)". Without a deed, which names what people see of it, it has the call's own name:
// "call getUpdates: 502: Bad Gateway". code is the platform's, or HTTP's; 0: there's none.
func FailureWords(deed, call, why string, code int) string {
	switch {
	case deed != "" && code == 0:
		return deed + ": " + why
	case deed != "":
		return deed + ": " + why + " (" + strconv.Itoa(code) + ")"
	case code == 0:
		return "call " + call + ": " + why
	}
	return "call " + call + ": " + strconv.Itoa(code) + ": " + why
}
