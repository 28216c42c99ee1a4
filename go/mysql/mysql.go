// Package mysql is imported for its effect: a program that imports it opens stores with a URL mysql:// or mariadb://
// without idgen's module for MySQL, and so without a client library of MariaDB or MySQL. The connections go over
// go-sql-driver/mysql, which is written in Go.
//
//	import (
//		"github.com/idgen/idgen/go"
//		_ "github.com/idgen/idgen/go/mysql"
//	)
//
//	orders, err := idgen.New(ctx, idgen.WithKind("segment"), idgen.WithTag("orders"),
//		idgen.WithStore("mysql://app:secret@db.example/ids?tls=verify&tls_ca=/etc/db/ca.pem"))
//
// A module that is there is used first.
//
// # Settings
//
// The URL has the settings of the module: user_env, password_env, password_file, tls, tls_ca, socket and accept_loss.
// The user, the password and the certificates in the file tls_ca are read again for each connection. With tls=verify,
// the certificate must be for the host in the URL, even if the connection uses socket. idgen refuses these with
// [idgen.ErrUnsupported]: auth, statements and tls_fingerprint, several hosts, and a segment.schema other than idgen.
//
// # Errors
//
// The statuses are those of the module. A file tls_ca without a certificate, and a server's certificate that is not
// accepted, are [idgen.ErrStorePermission]. A server without TLS, where the URL requires it, is [idgen.ErrStoreUnsafe].
// What the driver returned is in the error: errors.As finds a *mysql.MySQLError.
package mysql

import (
	"crypto/tls"
	"crypto/x509"
	"database/sql/driver"
	"errors"
	"net"
	"os"

	"github.com/go-sql-driver/mysql"
	"github.com/idgen/idgen/go"
)

func init() { idgen.SetSQLConnector(idgen.MySQL, connector) }

func connector(a idgen.SQLAddress) (driver.Connector, error) {
	config := mysql.NewConfig()
	config.User, config.Passwd, config.DBName = a.User, a.Password, a.Database
	config.Net, config.Addr = "tcp", net.JoinHostPort(a.Host, a.Port)
	if a.Socket != "" {
		config.Net, config.Addr = "unix", a.Socket
	}
	config.Timeout, config.ReadTimeout, config.WriteTimeout = a.Timeout, a.Timeout, a.Timeout
	config.Params = map[string]string{"autocommit": "true"}
	config.InterpolateParams = true // one round trip for a statement, where preparing it takes three
	if a.TLS == "off" {
		return mysql.NewConnector(config)
	}
	trusted, err := authorities(a.Authorities)
	if err != nil {
		message := "tls_ca = '" + a.Authorities + "': " + err.Error()
		return nil, &idgen.Error{Status: idgen.ErrStorePermission, Message: message}
	}
	config.TLS = &tls.Config{ServerName: a.Host, RootCAs: trusted, InsecureSkipVerify: a.TLS != "verify"}
	config.AllowFallbackToPlaintext = a.TLS == "prefer"
	if a.TLS == "verify-ca" {
		config.TLS.VerifyConnection = func(state tls.ConnectionState) error { return verifyIssuer(state, trusted) }
	}
	return mysql.NewConnector(config)
}

// authorities are the certificates of a file, or nil, the system's.
func authorities(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	found := x509.NewCertPool()
	if !found.AppendCertsFromPEM(text) {
		return nil, errors.New("there is no certificate in the file")
	}
	return found, nil
}

// verifyIssuer accepts a certificate for any name. crypto/tls can only verify a name too, or nothing.
func verifyIssuer(state tls.ConnectionState, trusted *x509.CertPool) error {
	between := x509.NewCertPool()
	for _, certificate := range state.PeerCertificates[1:] {
		between.AddCert(certificate)
	}
	_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: trusted, Intermediates: between})
	return err
}
