// The digits of each encoding, in ASCII order, so that texts of equal length sort like numbers.
#pragma once

namespace idgen {

inline constexpr char kHexDigits[] = "0123456789abcdef";
inline constexpr char kCrockfordDigits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
inline constexpr char kBase58Digits[] = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
inline constexpr char kBase62Digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

}  // namespace idgen
