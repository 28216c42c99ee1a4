#include "workers/node.hpp"

#include <algorithm>
#include <charconv>

#include "idgen/runtime.hpp"
#include "idgen/text.hpp"

namespace idgen {
namespace {

struct FoundNumber {
  std::uint64_t value = 0;
  std::string origin;  // "the ordinal of the pod 'web-7'"
};

// Digits alone, without a leading zero: "07" may be somebody's octal.
std::optional<std::uint64_t> parse_ordinal(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = !text.empty() && error == std::errc() && end == text.data() + text.size();
  return is_whole && (text == "0" || text.front() != '0') ? std::optional(value) : std::nullopt;
}

FoundNumber number_in_variable(Runtime& runtime, const std::string& source, const std::string& name,
                               const std::string& range) {
  const std::string wanted = "worker_source = " + source + " reads the environment variable " + in_quotes(name);
  const std::optional<std::string> text = runtime.environment(name);
  if (!text) {
    throw Error(
        Status::value,
        concat({wanted, " (worker_env), which this process does not have; set it to a number, allowed: ", range}));
  }
  const std::optional<std::uint64_t> value = parse_ordinal(*text);
  if (!value)
    throw Error(Status::value, concat({wanted, ": ", in_quotes(*text), " is not a number; allowed: ", range}));
  return {*value, "the environment variable " + in_quotes(name)};
}

bool has_digit(std::string_view text) { return text.find_first_of("0123456789") != std::string_view::npos; }

// "ip-10-0-1-17", as clouds name the machines of a cluster.
bool ends_in_address(std::string_view name) {
  for (int part = 0; part < 4; ++part) {
    const std::size_t hyphen = name.rfind('-');
    if (parse_ordinal(name.substr(hyphen + 1)).value_or(256) > 255) return false;
    if (hyphen == std::string_view::npos) return part == 3;
    name.remove_suffix(name.size() - hyphen);
  }
  return true;
}

// "web-7": 7. Other pods' names end in five random letters and digits, which may all be digits.
std::optional<std::uint64_t> ordinal_of_pod(std::string_view name) {
  constexpr std::size_t kMostDigits = 4;
  const std::size_t hyphen = name.rfind('-');
  if (hyphen == std::string_view::npos || hyphen == 0 || ends_in_address(name)) return std::nullopt;
  const std::string_view number = name.substr(hyphen + 1);
  return number.size() > kMostDigits ? std::nullopt : parse_ordinal(number);
}

[[noreturn, gnu::noinline]] void refuse_ordinal(const std::string& name, std::string_view why,
                                                const std::string& range) {
  throw Error(Status::value,
              concat({"worker_source = ordinal: ", name, why, "; allowed: ", range,
                      ". Set the variable POD_NAME to the name of the StatefulSet's pod (metadata.name), "
                      "give worker_env a variable that holds its index (the label "
                      "apps.kubernetes.io/pod-index), or choose another worker_source"}));
}

// The name of the pod, where the pod says it. Its host's name is the pod's too, unless the pod shares the network of
// its node: then it is the node's. Nodes may be called node-7, too, and another cluster's store may have a node-7: so
// without the pod's word the number is taken only where the store tells whether another host has it.
FoundNumber number_of_pod(const Config& config, Runtime& runtime, const std::string& range) {
  const std::string pod = runtime.environment("POD_NAME").value_or("");
  const std::string whole = pod.empty() ? runtime.host_name() : pod;
  const std::string_view name = pod.empty() ? std::string_view(whole).substr(0, whole.find('.')) : whole;
  const std::string shown = (pod.empty() ? "the host name " : "the pod ") + in_quotes(whole);
  const std::optional<std::uint64_t> ordinal = ordinal_of_pod(name);
  if (!ordinal && !(pod.empty() && ends_in_address(name)))
    refuse_ordinal(shown, " does not end in a hyphen and an ordinal, as a StatefulSet's pods do ('web-0')", range);
  if (pod.empty()) {
    if (!ordinal || has_digit(name.substr(0, name.rfind('-'))))
      refuse_ordinal(shown, " has several numbers, as the names of machines have", range);
    if (!config.store && is_local_store(config.get("store")))
      refuse_ordinal(shown,
                     " may be that of a node (hostNetwork: true), and the store is this host's own, so nothing would "
                     "notice a process of another host with the same number",
                     range);
  }
  return {*ordinal, "the ordinal of " + shown};
}

FoundNumber number_at_hand(const Config& config, NumberSource source, const std::string& range) {
  Runtime& runtime = config.runtime ? *config.runtime : system_runtime();
  const std::string& variable = config.get("worker_env");
  if (!variable.empty()) return number_in_variable(runtime, config.get("worker_source"), variable, range);
  if (source == NumberSource::ordinal) return number_of_pod(config, runtime, range);
  throw Error(Status::value,
              "worker_source = env needs worker_env: the name of the environment variable that holds "
              "this process's number");
}

}  // namespace

Node node_of(const Config& config, const Layout& layout, bool may_be_typed) {
  Node node;
  node.bits = layout.fixed_bits();
  node.source = static_cast<NumberSource>(config.choice("worker_source"));
  const bool is_at_hand = node.source == NumberSource::ordinal || node.source == NumberSource::env;
  std::string field_that_is_auto;
  for (const Field& field : layout.fields()) {
    if (std::find(std::begin(kNodeFields), std::end(kNodeFields), field.kind) == std::end(kNodeFields)) continue;
    const std::string name(field_name(field.kind));
    const std::uint64_t largest = (std::uint64_t{1} << field.bits) - 1;
    const std::string range = "0 to " + std::to_string(largest) + " (layout '" + layout.text() + "')";
    if (config.get(name).empty()) {
      throw Error(Status::value,
                  concat({name, " is not set; allowed: auto, or ", range,
                          ". Every generator of a namespace needs its own; auto leases one from the store, "
                          "or asks what worker_source names"}));
    }
    const bool is_auto = config.get(name) == kAuto;
    if (is_auto && !field_that_is_auto.empty()) {
      throw Error(Status::value, concat({name, " = auto, and ", field_that_is_auto,
                                         " is too: one field of the node can be auto. Give the other one a number"}));
    }
    if (is_auto) field_that_is_auto = name;
    const bool is_leased = is_auto && !is_at_hand;
    if (node.leased) node.leased->shift += field.bits;
    if (is_leased) {
      node.leased = LeasedField{.base = 0, .shift = 0, .bits = field.bits, .name = name};
      node.leased_shift = field.shift;
    }
    std::uint64_t value = 0;
    std::string shown = in_quotes(config.get(name));
    if (is_auto && is_at_hand) {
      const FoundNumber found = number_at_hand(config, node.source, range);
      value = found.value;
      node.origin = found.origin;
      shown = std::to_string(value) + ", " + found.origin + ",";
    } else if (!is_auto) {
      value = config.integer(name);
    }
    if (value > largest)
      throw Error(Status::value, concat({name, " = ", shown, " does not fit its field; allowed: ", range}));
    node.bits |= value << field.shift;
    node.number = node.number << field.bits | value;
    node.bits_wide += field.bits;
    node.text += (node.text.empty() ? "" : " ") + (is_leased ? "a leased " + name : name + " " + std::to_string(value));
  }
  for (const FieldKind kind : kNodeFields) {
    const std::string name(field_name(kind));
    if (!config.get(name).empty() && !layout.find(kind)) {
      throw Error(Status::value, concat({name, " = '", config.get(name), "', but layout '", layout.text(),
                                         "' has no such field; remove it, or choose a layout "
                                         "with one"}));
    }
  }
  if (node.source != NumberSource::store && field_that_is_auto.empty() && !may_be_typed) {
    throw Error(Status::value,
                concat({"worker_source = ", config.get("worker_source"),
                        ", but no field of the node is auto; set worker = auto, or remove worker_source"}));
  }
  if (node.text.empty()) node.text = "the only worker";  // the layout has no node fields
  if (node.leased) node.leased->base = node.number;
  return node;
}

}  // namespace idgen
