// TLS for a connection made by hiredis, whose version in Debian 12 has none. OpenSSL uses hiredis's socket, with its
// time limits.
#pragma once

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cerrno>
#include <memory>
#include <new>
#include <string>

#include "idgen/status.hpp"

namespace idgen::module {

class Tls {
 public:
  // `ca_file` "": the system's certificates. Throws Error{store_permission} for a certificate that does not fit,
  // Error{store_unsafe} if the server does not speak TLS.
  Tls(const std::string& shown, int socket, const std::string& host, bool verify, const std::string& ca_file)
      : context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free), ssl_(nullptr, SSL_free) {
    if (!context_) throw std::bad_alloc();
    SSL_CTX_set_min_proto_version(context_.get(), TLS1_2_VERSION);
    const int known = ca_file.empty() ? SSL_CTX_set_default_verify_paths(context_.get())
                                      : SSL_CTX_load_verify_locations(context_.get(), ca_file.c_str(), nullptr);
    if (known != 1) throw Error(Status::value, "store = \"" + shown + "\": tls_ca = " + ca_file + ": " + reason());
    ssl_.reset(SSL_new(context_.get()));
    if (!ssl_ || SSL_set_fd(ssl_.get(), socket) != 1) throw std::bad_alloc();
    if (verify) {
      SSL_set_verify(ssl_.get(), SSL_VERIFY_PEER, nullptr);
      X509_VERIFY_PARAM* const wanted = SSL_get0_param(ssl_.get());
      if (X509_VERIFY_PARAM_set1_ip_asc(wanted, host.c_str()) != 1 &&
          X509_VERIFY_PARAM_set1_host(wanted, host.c_str(), host.size()) != 1) {
        throw std::bad_alloc();
      }
    }
    SSL_set_tlsext_host_name(ssl_.get(), host.c_str());
    const int done = uninterrupted([&] { return SSL_connect(ssl_.get()); });
    if (done == 1) return;
    if (const long verdict = SSL_get_verify_result(ssl_.get()); verify && verdict != X509_V_OK) {
      throw Error(Status::store_permission,
                  "cannot connect to " + shown + ": its certificate: " + X509_verify_cert_error_string(verdict));
    }
    const bool is_answered = SSL_get_error(ssl_.get(), done) == SSL_ERROR_SSL;
    throw Error(is_answered ? Status::store_unsafe : Status::store_unavailable,
                "cannot connect to " + shown + " by TLS: " + reason() + ". Does this port speak it?");
  }

  // False: the connection is broken, or the time is up; reason() says which.
  bool send(const char* data, std::size_t size) {
    std::size_t written = 0;  // all or nothing: partial writes are not enabled
    return uninterrupted([&] { return SSL_write_ex(ssl_.get(), data, size, &written); }) == 1;
  }
  // How many bytes were received; 0 as above.
  std::size_t receive(char* data, std::size_t size) {
    std::size_t got = 0;
    return uninterrupted([&] { return SSL_read_ex(ssl_.get(), data, size, &got); }) == 1 ? got : 0;
  }
  static std::string reason() {
    const unsigned long code = ERR_get_error();
    if (code == 0) return "the connection was closed, or no answer came in time";
    char text[256];
    ERR_error_string_n(code, text, sizeof text);
    return text;
  }

 private:
  // A signal of the host ends a read that has a time limit, whatever SA_RESTART says; OpenSSL must then be called
  // again.
  template <class Call>
  int uninterrupted(Call&& call) {
    for (;;) {
      ERR_clear_error();
      errno = 0;
      const int done = call();
      const bool interrupted = errno == EINTR;
      if (done == 1 || !interrupted) return done;
      const int why = SSL_get_error(ssl_.get(), done);
      if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) return done;
    }
  }

  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
};

}  // namespace idgen::module
