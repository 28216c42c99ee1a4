//go:build idgen_system

package idgen_test

import _ "github.com/mattn/go-sqlite3" // the driver of databases in tests, which nothing else imports here

// What libidgen says of the second [[range]] of a file, if that has a key "until".
const unknownKey = "line 16: 'until' is not a key of [[range]]"
