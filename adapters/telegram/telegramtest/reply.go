package telegramtest

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// reply is the frame of every answer
// (core.telegram.org/bots/api#making-requests).
type reply struct {
	OK          bool             `json:"ok"`
	Result      any              `json:"result,omitempty"`
	ErrorCode   int              `json:"error_code,omitempty"`
	Description string           `json:"description,omitempty"`
	Parameters  *replyParameters `json:"parameters,omitempty"`
}

type replyParameters struct {
	MigrateToChatID int64 `json:"migrate_to_chat_id,omitempty"`
	RetryAfter      int   `json:"retry_after,omitempty"`
}

func writeResult(w http.ResponseWriter, result any) {
	writeJSON(w, http.StatusOK, reply{OK: true, Result: result})
}

func writeRefusal(w http.ResponseWriter, r *refusal) {
	answer := reply{ErrorCode: r.code, Description: r.text}
	if r.retryAfter > 0 || r.migrateTo != 0 {
		seconds := int(r.retryAfter.Seconds())
		answer.Parameters = &replyParameters{MigrateToChatID: r.migrateTo, RetryAfter: seconds}
		if seconds > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(seconds))
		}
	}
	writeJSON(w, r.code, answer)
}

func writeJSON(w http.ResponseWriter, status int, answer any) {
	body, err := json.Marshal(answer)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A client that's gone is none of the stand-in's business.
	_, _ = w.Write(body)
}
