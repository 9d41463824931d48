package pushtest_test

import (
	"crypto/ecdh"
	"encoding/base64"
	"testing"

	"github.com/panebridge/panebridge/internal/push/pushtest"
)

// The stand-in reads the example of RFC 8291, appendix A.
func TestTheExampleOfTheRFCIsRead(t *testing.T) {
	decode := func(text string) []byte {
		b, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	own, err := ecdh.P256().NewPrivateKey(decode("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"))
	if err != nil {
		t.Fatal(err)
	}
	body := decode("DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN")
	text, err := pushtest.Open(body, own, decode("BTBZMqHH6r4Tts7J_aSIgg"))
	if err != nil || string(text) != "When I grow up, I want to be a watermelon" {
		t.Errorf("%q, %v", text, err)
	}
	body[len(body)-1] ^= 1
	if text, err := pushtest.Open(body, own, decode("BTBZMqHH6r4Tts7J_aSIgg")); err == nil {
		t.Errorf("what was changed is read: %q", text)
	}
}
