package pushtest

import (
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Service is a push service.
type Service struct {
	Origin  string        // "https://push.example", as browsers are told
	MaxBody int           // bytes; 0: 4096
	Ahead   time.Duration // of the sender's clock

	mu      sync.Mutex
	devices map[string]*Device // by the paths of their endpoints
	bad     []Answer           // to the next requests
}

// Answer is what the service answers on a bad day.
type Answer struct {
	Status     int // 0: nothing, until the sender gives up
	RetryAfter string
	Location   string
	Taken      bool          // the message was taken all the same
	After      time.Duration // until it's answered
}

// Message is what a device got.
type Message struct {
	At                      time.Time
	Text                    string
	Topic, Urgency, Subject string
	TTL                     time.Duration
	Sure                    bool // the sender was told that it was taken
}

// Device is a browser's subscription.
type Device struct {
	Endpoint, Key, Auth string // as the browser hands them on

	appKey string
	own    *ecdh.PrivateKey
	auth   []byte
	s      *Service
	status int // of each answer from now on, as the endpoint is forgotten; 0: it's known
	away   bool
	hangs  bool
	waits  []Message // while it's away, one of each topic
	got    []Message
	taken  []Message      // got, and what waits or was replaced
	closed map[string]int // by session: what was got before that is closed
	asked  int
}

// Subscribe makes a device's subscription for a sender's key.
func (s *Service) Subscribe(appKey string) *Device {
	own, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		panic(err) // the system has no randomness
	}
	auth := make([]byte, 16)
	_, _ = rand.Read(auth) // documented never to fail
	path := "/push/" + rand.Text()
	d := &Device{
		Endpoint: s.Origin + path, Key: base64.RawURLEncoding.EncodeToString(own.PublicKey().Bytes()), Auth: base64.RawURLEncoding.EncodeToString(auth),
		appKey: appKey, own: own, auth: auth, s: s,
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.devices == nil {
		s.devices = map[string]*Device{}
	}
	s.devices[path] = d
	return d
}

// Break has the next requests be answered so.
func (s *Service) Break(answers ...Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bad = append(s.bad, answers...)
}

// Recover ends what Break has begun.
func (s *Service) Recover() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bad = nil
}

// Forget has the service answer 404 or 410 from now on.
func (d *Device) Forget(status int) {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	d.status = status
}

// SetAway has the device be out of reach, or get what waits.
func (d *Device) SetAway(away bool) {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	d.away = away
	if !away {
		d.got = append(d.got, d.waits...)
		d.waits = nil
	}
}

// SetHangs has the service leave requests for the device without an answer, until the sender gives up.
func (d *Device) SetHangs(hangs bool) {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	d.hangs = hangs
}

// Messages are what the device got, in order.
func (d *Device) Messages() []Message {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	return slices.Clone(d.got)
}

// Taken are the messages that the service took for the device, in order.
func (d *Device) Taken() []Message {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	return slices.Clone(d.taken)
}

// Asked is how many requests came for the device.
func (d *Device) Asked() int {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	return d.asked
}

var (
	topics    = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)
	urgencies = regexp.MustCompile(`^(very-low|low|normal|high)$`)
)

// maxTTL is FCM's.
const maxTTL = 28 * 24 * time.Hour

// ServeHTTP takes a message, or refuses it.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return // the sender has gone
	}
	s.mu.Lock()
	d, a := s.devices[r.URL.Path], Answer{Status: http.StatusCreated, Taken: true}
	hangs := false
	if d != nil {
		d.asked++
		hangs = d.hangs
	}
	if len(s.bad) > 0 {
		a, s.bad = s.bad[0], s.bad[1:]
	}
	most := s.MaxBody
	s.mu.Unlock()
	if most == 0 {
		most = 4096
	}
	if d == nil {
		http.Error(w, "no such subscription", http.StatusNotFound)
		return
	}
	if hangs {
		<-r.Context().Done()
		return
	}
	m, status, why := d.read(r, body, most)
	switch {
	case status != 0:
		http.Error(w, why, status)
		return
	case a.Taken:
		m.Sure = a.Status/100 == 2 && a.After == 0 // else the sender may have ended before
		d.take(m)
	}
	time.Sleep(a.After)
	if a.Status == 0 {
		<-r.Context().Done()
		return
	}
	if a.RetryAfter != "" {
		w.Header().Set("Retry-After", a.RetryAfter)
	}
	if a.Location != "" {
		w.Header().Set("Location", a.Location)
	}
	if a.Status == http.StatusCreated {
		w.Header().Set("Location", s.Origin+"/message/"+rand.Text())
	}
	w.WriteHeader(a.Status)
}

// read checks a request as the strictest service does. status is 0 if it's good.
func (d *Device) read(r *http.Request, body []byte, maxBody int) (m Message, status int, why string) {
	d.s.mu.Lock()
	gone := d.status
	d.s.mu.Unlock()
	m = Message{At: time.Now(), Topic: r.Header.Get("Topic"), Urgency: r.Header.Get("Urgency")}
	subject, err := checkVAPID(r.Header.Get("Authorization"), d.appKey, d.s.Origin, m.At.Add(d.s.Ahead))
	ttl, noTTL := strconv.Atoi(r.Header.Get("TTL"))
	m.TTL, m.Subject = time.Duration(ttl)*time.Second, subject
	switch {
	case r.Method != http.MethodPost:
		return m, http.StatusMethodNotAllowed, "a message is posted"
	case gone != 0:
		return m, gone, "the subscription is over"
	case err != nil:
		return m, http.StatusForbidden, "BadJwtToken: " + err.Error()
	case len(body) > maxBody:
		return m, http.StatusRequestEntityTooLarge, fmt.Sprintf("PayloadTooLarge: %d bytes", len(body))
	case noTTL != nil || ttl < 0 || m.TTL > maxTTL:
		return m, http.StatusBadRequest, "TTL: " + r.Header.Get("TTL")
	case m.Topic != "" && !topics.MatchString(m.Topic):
		return m, http.StatusBadRequest, "BadWebPushTopic: " + m.Topic
	case m.Urgency != "" && !urgencies.MatchString(m.Urgency):
		return m, http.StatusBadRequest, "Urgency: " + m.Urgency
	case r.Header.Get("Content-Encoding") != "aes128gcm":
		return m, http.StatusBadRequest, "Content-Encoding: " + r.Header.Get("Content-Encoding")
	}
	text, err := Open(body, d.own, d.auth)
	if err != nil { // a service can't read it; its device can't either
		return m, http.StatusBadRequest, err.Error()
	}
	m.Text = string(text)
	return m, 0, ""
}

func (d *Device) take(m Message) {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	d.taken = append(d.taken, m)
	if !d.away {
		d.got = append(d.got, m)
		return
	}
	d.waits = slices.DeleteFunc(d.waits, func(w Message) bool { return m.Topic != "" && w.Topic == m.Topic })
	if m.TTL > 0 {
		d.waits = append(d.waits, m)
	}
}

// Certificate makes one for a name or an address, with what trusts it.
func Certificate(name string) (tls.Certificate, *x509.CertPool, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(365 * 24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	if ip := net.ParseIP(name); ip != nil {
		form.IPAddresses = []net.IP{ip}
	} else {
		form.DNSNames = []string{name}
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	roots := x509.NewCertPool()
	roots.AddCert(made)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots, nil
}
