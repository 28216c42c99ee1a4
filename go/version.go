package idgen

// Version of this package and of the core it is built with.
const Version = "0.1.0"
