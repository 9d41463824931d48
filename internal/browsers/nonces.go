package browsers

// maxNonces bounds what's kept of one browser: 40 requests a second for as long as a
// signature is good. A page makes about two a second, and more while somebody types.
const maxNonces = 40 * 2 * windowSeconds

// nonces are those of one browser's requests, so that none is taken twice. They're kept
// in two generations, each as long as a signature is good.
type nonces struct {
	turned   int64 // when the younger generation began, in seconds of Doorkeeper.seconds
	now, old map[string]struct{}
}

// add notes a nonce; taken says that it was there already, full that there's no room.
func (n *nonces) add(at int64, nonce string) (taken, full bool) {
	if at-n.turned > 2*windowSeconds || n.now == nil {
		n.old, n.now = n.now, map[string]struct{}{}
		if at-n.turned > 4*windowSeconds {
			n.old = nil
		}
		n.turned = at
	}
	if _, taken = n.now[nonce]; !taken {
		_, taken = n.old[nonce]
	}
	if taken || len(n.now) >= maxNonces {
		return taken, !taken
	}
	n.now[nonce] = struct{}{}
	return false, false
}
