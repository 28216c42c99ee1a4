// TLS for a connection made by hiredis, whose version in Debian 12 has none. OpenSSL reads and writes memory; the wire
// has the deadline.
#pragma once

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>
#include <new>
#include <string>

#include "idgen/status.hpp"
#include "store/url_parameters.hpp"
#include "wire.hpp"

namespace idgen::module {

class Tls {
 public:
  // Throws Error{store_permission} for a certificate that does not fit, Error{store_unsafe} if the server does not
  // speak TLS.
  Tls(const std::string& shown, Wire& wire, const std::string& host, const TlsTerms& terms)
      : wire_(wire), context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free), ssl_(nullptr, SSL_free) {
    if (!context_) throw std::bad_alloc();
    SSL_CTX_set_min_proto_version(context_.get(), TLS1_2_VERSION);
    const int known = terms.ca.empty() ? SSL_CTX_set_default_verify_paths(context_.get())
                                       : SSL_CTX_load_verify_locations(context_.get(), terms.ca.c_str(), nullptr);
    if (known != 1) throw Error(Status::value, "store = \"" + shown + "\": tls_ca = " + terms.ca + ": " + reason());
    ssl_.reset(SSL_new(context_.get()));
    received_ = BIO_new(BIO_s_mem());
    to_send_ = BIO_new(BIO_s_mem());
    if (!ssl_ || !received_ || !to_send_) {
      BIO_free(received_);
      BIO_free(to_send_);
      throw std::bad_alloc();
    }
    SSL_set_bio(ssl_.get(), received_, to_send_);  // which frees them
    if (terms.is_verified()) SSL_set_verify(ssl_.get(), SSL_VERIFY_PEER, nullptr);
    if (terms.is_name_verified()) {
      X509_VERIFY_PARAM* const wanted = SSL_get0_param(ssl_.get());
      if (X509_VERIFY_PARAM_set1_ip_asc(wanted, host.c_str()) != 1 &&
          X509_VERIFY_PARAM_set1_host(wanted, host.c_str(), host.size()) != 1) {
        throw std::bad_alloc();
      }
    }
    SSL_set_tlsext_host_name(ssl_.get(), host.c_str());
    const int done = carried([&] { return SSL_connect(ssl_.get()); });
    if (done == 1) return;
    if (const long verdict = SSL_get_verify_result(ssl_.get()); terms.is_verified() && verdict != X509_V_OK) {
      const bool differs = verdict == X509_V_ERR_HOSTNAME_MISMATCH || verdict == X509_V_ERR_IP_ADDRESS_MISMATCH;
      throw Error(Status::store_permission, "cannot connect to " + shown +
                                                ": its certificate: " + X509_verify_cert_error_string(verdict) +
                                                (differs ? terms.if_name_differs() : ""));
    }
    const bool is_answered = SSL_get_error(ssl_.get(), done) == SSL_ERROR_SSL;
    throw Error(is_answered ? Status::store_unsafe : Status::store_unavailable,
                "cannot connect to " + shown + " by TLS: " + reason() + ". Does this port speak it?");
  }

  // False: the connection is broken, or the time is up; reason() says which.
  bool send(const char* data, std::size_t size) {
    std::size_t written = 0;  // all or nothing: partial writes are not enabled
    return carried([&] { return SSL_write_ex(ssl_.get(), data, size, &written); }) == 1;
  }
  // How many bytes were received; 0 as above.
  std::size_t receive(char* data, std::size_t size) {
    std::size_t got = 0;
    return carried([&] { return SSL_read_ex(ssl_.get(), data, size, &got); }) == 1 ? got : 0;
  }
  std::string reason() const {
    const unsigned long code = ERR_get_error();
    if (code == 0) return wire_.reason();
    char text[256];
    ERR_error_string_n(code, text, sizeof text);
    return text;
  }

 private:
  // Calls OpenSSL until it has what it wants, and carries the bytes between its memory and the wire.
  template <class Call>
  int carried(Call&& call) {
    char part[4096];
    for (;;) {
      ERR_clear_error();
      const int done = call();
      const int why = done == 1 ? SSL_ERROR_NONE : SSL_get_error(ssl_.get(), done);
      for (int size; (size = BIO_read(to_send_, part, sizeof part)) > 0;) {
        if (!wire_.send(part, static_cast<std::size_t>(size))) return 0;
      }
      if (why != SSL_ERROR_WANT_READ) return done;
      const std::size_t got = wire_.receive(part, sizeof part);
      if (got == 0) return done;
      if (BIO_write(received_, part, static_cast<int>(got)) != static_cast<int>(got)) throw std::bad_alloc();
    }
  }

  Wire& wire_;
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
  BIO* received_ = nullptr;  // by the wire, for OpenSSL to read
  BIO* to_send_ = nullptr;
};

}  // namespace idgen::module
