package secret

import (
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// TLS is the configuration of a connection whose two ends have the secret: TLS 1.3,
// in which each signs with the key that is derived from it, and takes no peer that
// signs with another. There is no name, no authority and no date in it that could
// be wrong.
//
// A client's handshake ends before the server has seen its proof: what the server
// thinks of it, the client learns when it first reads.
func (s Secret) TLS(server bool) *tls.Config {
	key := ed25519.NewKeyFromSeed(s.tlsSeed())
	cert, err := certificate(key)
	c := &tls.Config{
		MinVersion: tls.VersionTLS13, MaxVersion: tls.VersionTLS13,
		InsecureSkipVerify:     true, // of names and authorities; VerifyConnection sees to the key
		SessionTicketsDisabled: true,
		VerifyConnection: func(state tls.ConnectionState) error {
			if err != nil {
				return err
			}
			return s.checkPeer(state, key.Public().(ed25519.PublicKey))
		},
	}
	if err == nil {
		c.Certificates = []tls.Certificate{cert}
	}
	if server {
		c.ClientAuth = tls.RequireAnyClientCert
	}
	return c
}

func (s Secret) tlsSeed() []byte {
	seed := s.Derive("tls")
	return seed[:]
}

// checkPeer looks at the key with which the peer has signed this handshake.
func (s Secret) checkPeer(state tls.ConnectionState, want ed25519.PublicKey) error {
	if s.None() {
		return ErrNone
	}
	if len(state.PeerCertificates) != 1 {
		return fmt.Errorf("%w: %d certificates, expected 1", ErrDiffers, len(state.PeerCertificates))
	}
	if got, ok := state.PeerCertificates[0].PublicKey.(ed25519.PublicKey); !ok || !got.Equal(want) {
		return ErrDiffers
	}
	return nil
}

// certificate is the wrapping that TLS wants around a public key. Nobody reads the
// rest of it.
func certificate(key ed25519.PrivateKey) (tls.Certificate, error) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "verbena"},
		NotBefore:    time.Unix(0, 0),
		NotAfter:     time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(nil, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, errors.Join(errors.New("secret: no certificate"), err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
