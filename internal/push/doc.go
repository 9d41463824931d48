// Package push notifies browsers that have no page open, by Web Push (RFC 8030): a browser names an
// endpoint of its maker's push service, and what's posted there wakes the page's service worker.
//
// For each subscription and session there's one alert at most that the device should show: the question
// that the session asks, else how its last turn or its program ended. The Pusher compares it with what
// the push service took last (Subscription, want), and sends what differs, the end of an alert too. So a
// restart, a failure or a quiet time loses nothing that still holds, and nothing is kept in a queue: what's
// out of date by then isn't sent at all.
//
// What leaves is masked as it is for chats, encrypted for the one browser (RFC 8291), signed by the daemon's
// key (VAPID, RFC 8292), and goes to public addresses only (Route).
// docs/adr/0044-a-push-that-needs-no-chat.md says why.
package push
