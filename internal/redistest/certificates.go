package redistest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Certificates are those of a server that speaks TLS, and of a client of it, as files in
// PEM.
type Certificates struct {
	CA             string
	Server, Client Pair

	pool *x509.CertPool
}

// Pair is a certificate and its key.
type Pair struct{ Cert, Key string }

// NewCertificates makes certificates for 127.0.0.1, by an authority of their own, in dir.
func NewCertificates(dir string) (*Certificates, error) {
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, authority, authority, key.Public(), key)
	if err != nil {
		return nil, err
	}
	c := &Certificates{CA: filepath.Join(dir, "ca.pem"), pool: x509.NewCertPool()}
	if authority, err = x509.ParseCertificate(der); err != nil {
		return nil, err
	}
	c.pool.AddCert(authority)
	errs := writePEM(c.CA, "CERTIFICATE", der)
	for i, to := range []*Pair{&c.Server, &c.Client} {
		name := []string{"server", "client"}[i]
		to.Cert, to.Key = filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".key")
		errs = errors.Join(errs, to.issue(int64(i+2), name, authority, key))
	}
	return c, errs
}

// issue makes the pair.
func (p *Pair) issue(serial int64, name string, authority *x509.Certificate, by *ecdsa.PrivateKey) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		NotBefore: authority.NotBefore, NotAfter: authority.NotAfter,
	}, authority, key.Public(), by)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	return errors.Join(err, writePEM(p.Cert, "CERTIFICATE", der), writePEM(p.Key, "PRIVATE KEY", secret))
}

func writePEM(path, kind string, der []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}

// client is how a client trusts, and shows itself.
func (c *Certificates) client() *tls.Config {
	t := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.pool}
	if pair, err := tls.LoadX509KeyPair(c.Client.Cert, c.Client.Key); err == nil {
		t.Certificates = []tls.Certificate{pair}
	}
	return t
}
