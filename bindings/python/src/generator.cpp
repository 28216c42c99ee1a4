// The hot path. next() and iteration do not go through pybind11's dispatcher: they are a PyMethodDef and a tp_iternext
// put on pybind11's class, so that a call costs what a call of the bare C API costs. Everything rare is bound in the
// usual way.
//
// The GIL is kept for idgen_try_next, which never waits, and released around all calls that may wait for a store, a
// clock or a lock of the core. It is released around stats and describe too: they take a lock that a thread may hold
// while it waits for the GIL in a Python clock.
#include "generator.hpp"

#include <idgen/admin.h>
#include <idgen/testing.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "buffers.hpp"
#include "config.hpp"
#include "gil.hpp"
#include "owners.hpp"
#include "pattern.hpp"
#include "self.hpp"

namespace idgen_python {
namespace {

// Up to this size a batch is drawn id by id under the GIL. Above it, releasing the GIL pays off.
constexpr std::size_t kSmallBatch = 64;

// Ctrl-C ends a wait: the core polls this.
int is_interrupted(void* without_gil) { return static_cast<WithoutGil*>(without_gil)->check_signals(); }

// A signal handler may raise even if the call has just succeeded.
void throw_if_interrupted() {
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
}

class Generator {
 public:
  Generator(idgen_t* raw, const Config& config, std::unique_ptr<Layout> layout, std::shared_ptr<TextPattern> pattern)
      : raw_(raw),
        name_(config.get("name")),
        kind_(config.get("kind")),
        wait_max_(config.get("wait_max")),
        layout_(std::move(layout)),
        pattern_(std::move(pattern)),
        callables_(config.callables()) {}
  ~Generator() {
    const WithoutGil may_wait_for_the_store;
    idgen_destroy(raw_);
  }
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  idgen_t* raw() const { return raw_; }
  const std::string& name() const { return name_; }
  const std::string& kind() const { return kind_; }
  const std::string& wait_max() const { return wait_max_; }
  const py::dict& async_waits() const { return async_waits_; }
  const Layout& layout() const { return *layout_; }
  const std::shared_ptr<TextPattern>& pattern() const { return pattern_; }
  bool closed() const { return closed_; }

  // Throws what a signal handler raises. What the store does not take back is a line in the log, not a failure.
  void close() {
    CallError error;
    idgen_status_t status = IDGEN_OK;
    {
      WithoutGil wait;
      closed_ = true;
      status = idgen_close_wait(raw_, is_interrupted, &wait, &error);
    }
    throw_if_interrupted();
    check(status, error);
  }
  // For the garbage collector: nobody is left to tell.
  void close_silently() {
    const WithoutGil may_wait_for_the_store;
    closed_ = true;
    static_cast<void>(idgen_close(raw_, nullptr));
  }

  int traverse(visitproc visit, void* arg) const {
    for (const auto& callable : callables_) {
      if (const int stop = callable->traverse(visit, arg); stop != 0) return stop;
    }
    Py_VISIT(async_waits_.ptr());
    return 0;
  }
  void drop_callables() {
    for (const auto& callable : callables_) callable->drop();
  }

 private:
  idgen_t* raw_;
  std::string name_;
  std::string kind_;
  std::string wait_max_;
  std::unique_ptr<Layout> layout_;
  std::shared_ptr<TextPattern> pattern_;
  Callables callables_;
  py::dict async_waits_;  // of _async.py: event loop -> the wait that its tasks share
  std::atomic<bool> closed_{false};
};

// A flag that ends a wait on another thread, for asyncio.
class CancelToken {
 public:
  void cancel() { cancelled_ = true; }
  static int is_cancelled(void* context) { return static_cast<CancelToken*>(context)->cancelled_ ? 1 : 0; }

 private:
  std::atomic<bool> cancelled_{false};
};

// NULL if there is none: the core then answers with its own error for a NULL handle.
idgen_t* raw_of(PyObject* self) noexcept {
  const auto* generator = value_of<Generator>(self);
  return generator != nullptr ? generator->raw() : nullptr;
}

// For methods bound by pybind11: the error for a NULL handle is the core's here too.
Generator& checked_generator(const py::object& self) {
  if (py::isinstance<Generator>(self) && value_of<Generator>(self.ptr()) == nullptr) {
    CallError error;
    std::uint64_t id = 0;
    throw_error(idgen_next(nullptr, &id, &error), error);
  }
  return checked<Generator>(self);
}

// Asks without the GIL; a signal handler may end it.
idgen_status_t ask(idgen_t* raw, idgen_draw_t& draw, CallError* error) {
  WithoutGil wait;
  draw.cancelled = is_interrupted;
  draw.ctx = &wait;
  return idgen_draw(raw, &draw, error);
}

template <typename Id>
idgen_draw_t request(Id* ids, std::size_t n) {
  idgen_draw_t draw = IDGEN_DRAW_INIT;
  draw.n = n;
  if constexpr (std::is_same_v<Id, idgen_wide_id_t>) {
    draw.wide_ids = ids;
  } else {
    draw.ids = ids;
  }
  return draw;
}

// Draws the ids from *written on up to n, and waits if it must. False with a status, or with an exception set by a
// signal handler; *written is right in either case.
bool draw_rest(idgen_t* raw, std::uint64_t* ids, std::size_t n, std::size_t* written, CallError* error,
               idgen_status_t* status) {
  idgen_draw_t draw = request(ids + *written, n - *written);
  *status = ask(raw, draw, error);
  *written += draw.written;
  return *status == IDGEN_OK && PyErr_Occurred() == nullptr;
}

// The same of all n.
bool draw(idgen_t* raw, std::uint64_t* ids, std::size_t n, std::size_t* written, CallError* error,
          idgen_status_t* status) {
  *written = 0;
  if (n < kSmallBatch) {
    while (*written < n && idgen_try_next(raw, ids + *written) == IDGEN_OK) ++*written;
    if (*written == n && n != 0) return true;
  }
  return draw_rest(raw, ids, n, written, error, status);
}

// After an idgen_try_next that gave nothing. It has been to the lock of the core's slow path, and one more would find
// there what it found: the next to go is a call that waits.
PyObject* next_slow(idgen_t* raw) noexcept {
  std::uint64_t id = 0;
  std::size_t written = 0;
  CallError error;
  idgen_status_t status = IDGEN_OK;
  if (draw_rest(raw, &id, 1, &written, &error, &status)) return PyLong_FromUnsignedLongLong(id);
  if (PyErr_Occurred() == nullptr) set_error(status, error);
  return nullptr;
}

// next() and __next__.
PyObject* next_fast(PyObject* self) noexcept {
  idgen_t* raw = raw_of(self);
  std::uint64_t id = 0;
  if (idgen_try_next(raw, &id) == IDGEN_OK) [[likely]]
    return PyLong_FromUnsignedLongLong(id);
  return next_slow(raw);
}

PyObject* next_method(PyObject* self, PyObject*) noexcept { return next_fast(self); }

PyObject* try_next_method(PyObject* self, PyObject*) noexcept {
  idgen_t* raw = raw_of(self);
  std::uint64_t id = 0;
  const idgen_status_t status = idgen_try_next(raw, &id);
  if (status == IDGEN_OK) [[likely]]
    return PyLong_FromUnsignedLongLong(id);
  if (status == IDGEN_E_WOULD_BLOCK) Py_RETURN_NONE;
  return next_slow(raw);  // closed, forked: it has the full message or, in a child, a new segment
}

// What next_text_method cannot do by itself. Waits, but notices no signal before it returns.
[[gnu::cold]] PyObject* next_text_of_core(idgen_t* raw) noexcept {
  char text[kMostTextBytes];
  std::size_t size = sizeof text;
  CallError error;
  idgen_status_t status = IDGEN_OK;
  {
    const WithoutGil wait;
    status = idgen_next_text(raw, text, &size, &error);
  }
  if (status == IDGEN_OK) return decoded_text(text, size);
  set_error(status, error);
  return nullptr;
}

// Not idgen_next_text itself: like next(), this keeps the GIL if there is an id at once, and Ctrl-C ends a wait. What
// went wrong is then for idgen_next_text to say: closed, for example, or no room in the pattern for the digits of an
// id. That id is lost, as it would have been there, and so is the next.
PyObject* next_text_method(PyObject* self, PyObject*) noexcept {
  idgen_t* const raw = raw_of(self);
  std::uint64_t id = 0;
  idgen_status_t status = idgen_try_next(raw, &id);
  if (status == IDGEN_E_WOULD_BLOCK) [[unlikely]] {
    std::size_t written = 0;
    CallError error;
    if (!draw_rest(raw, &id, 1, &written, &error, &status)) {
      if (PyErr_Occurred() == nullptr) set_error(status, error);
      return nullptr;
    }
  }
  char text[kMostTextBytes];
  std::size_t size = sizeof text;
  const idgen_wide_id_t wide = narrow_id(id);
  if (status == IDGEN_OK) {
    status = idgen_pattern_format(value_of<Generator>(self)->pattern()->raw(), &wide, text, &size, nullptr);
  }
  return status == IDGEN_OK ? decoded_text(text, size) : next_text_of_core(raw);
}

PyObject* fill_method(PyObject* self, PyObject* target) noexcept {
  return guarded([&]() -> PyObject* {
    IdBuffer buffer;
    if (!buffer.open(target)) return nullptr;
    std::size_t written = 0;
    CallError error;
    idgen_status_t status = IDGEN_OK;
    if (buffer.size() == 0) return PyLong_FromSize_t(0);
    if (draw(raw_of(self), buffer.ids(), buffer.size(), &written, &error, &status)) return PyLong_FromSize_t(written);
    if (PyErr_Occurred() == nullptr) set_error(status, error, written);
    return nullptr;
  });
}

std::size_t batch_size(PyObject* number) {
  const auto index = py::reinterpret_steal<py::object>(PyNumber_Index(number));
  if (!index) throw py::error_already_set();
  const Py_ssize_t n = PyLong_AsSsize_t(index.ptr());
  constexpr Py_ssize_t kMost = PY_SSIZE_T_MAX / static_cast<Py_ssize_t>(sizeof(std::uint64_t));
  if (n < 0 || n > kMost) {
    PyErr_Clear();
    throw_error(IDGEN_E_ARGUMENT, "a batch of " + std::string(py::repr(index)) + " ids cannot be made; allowed: 0 to " +
                                      std::to_string(kMost));
  }
  return static_cast<std::size_t>(n);
}

// A new array of n ids; draw(ids, n, &written, &error, &status) is draw() above, or the like.
template <typename Draw>
PyObject* drawn_array(PyObject* self, std::size_t n, Draw&& draw) {
  const auto* generator = value_of<Generator>(self);
  IdArray array(n, generator != nullptr && generator->layout().info().is_unsigned != 0);
  if (n == 0) return array.take().release().ptr();
  std::size_t written = 0;
  CallError error;
  idgen_status_t status = IDGEN_OK;
  if (draw(array.ids(), n, &written, &error, &status)) return array.take().release().ptr();
  if (PyErr_Occurred() != nullptr) return nullptr;
  // The ids before the failure are real and nobody else will get them: they travel with the exception.
  const py::object exception = make_exception(status, error, written);
  exception.attr("ids") = array.take()[py::slice(0, static_cast<py::ssize_t>(written), 1)];
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  return nullptr;
}

PyObject* next_batch_method(PyObject* self, PyObject* number) noexcept {
  return guarded([&]() -> PyObject* {
    return drawn_array(self, batch_size(number), [&](auto... to) { return draw(raw_of(self), to...); });
  });
}

// A failure leaves the array of what was drawn in the exception, as for next_batch.
PyObject* next_list_method(PyObject* self, PyObject* number) noexcept {
  const auto array = py::reinterpret_steal<py::object>(next_batch_method(self, number));
  return array ? PyObject_CallMethod(array.ptr(), "tolist", nullptr) : nullptr;
}

// ---- ids that have an owner

PyObject* next_for_method(PyObject* self, PyObject* object) noexcept {
  Owner owner;
  if (!owner.assign(object)) return nullptr;
  idgen_t* const raw = raw_of(self);
  std::uint64_t id = 0;
  if (idgen_try_next_for(raw, owner.data(), owner.size(), &id) == IDGEN_OK) [[likely]]
    return PyLong_FromUnsignedLongLong(id);
  CallError error;
  const idgen_owner_t one = owner.raw();  // whose object the caller holds
  idgen_draw_t draw = request(&id, 1);
  draw.owners = &one;
  draw.owner_count = 1;
  const idgen_status_t status = ask(raw, draw, &error);
  if (PyErr_Occurred() != nullptr) return nullptr;
  if (status == IDGEN_OK) return PyLong_FromUnsignedLongLong(id);
  set_error(status, error);
  return nullptr;
}

// Draws into `ids` for the owners. False with a status, or with an exception set by a signal handler.
template <typename Id>
bool draw_for_each(idgen_t* raw, const Owners& owners, Id* ids, std::size_t n, std::size_t* written, CallError* error,
                   idgen_status_t* status) {
  const std::vector<idgen_owner_t> views = owners.raw();
  idgen_draw_t draw = request(ids, n);
  if (owners.is_integers()) {
    draw.int_owners = owners.integers().data();
  } else {
    draw.owners = views.data();
  }
  draw.owner_count = n;
  *status = ask(raw, draw, error);
  *written = draw.written;
  return *status == IDGEN_OK && PyErr_Occurred() == nullptr;
}

py::object next_batch_for(const py::object& self, const py::object& owner, const py::object& number) {
  const Generator& generator = checked_generator(self);
  Owner one;
  if (!one.assign(owner.ptr())) throw py::error_already_set();
  const idgen_owner_t raw = one.raw();
  PyObject* const made = drawn_array(
      self.ptr(), batch_size(number.ptr()),
      [&](std::uint64_t* ids, std::size_t n, std::size_t* written, CallError* error, idgen_status_t* status) {
        idgen_draw_t draw = request(ids, n);
        draw.owners = &raw;
        draw.owner_count = 1;
        *status = ask(generator.raw(), draw, error);
        *written = draw.written;
        return *status == IDGEN_OK && PyErr_Occurred() == nullptr;
      });
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(made);
}

py::object next_for_each(const py::object& self, const py::object& iterable) {
  const Generator& generator = checked_generator(self);
  const Owners owners(iterable);
  PyObject* const made =
      drawn_array(self.ptr(), owners.size(), [&](auto... to) { return draw_for_each(generator.raw(), owners, to...); });
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(made);
}

// A list of bytes; those before a failure are in the exception's `ids`.
template <typename Draw>
py::list wide_list(std::size_t n, Draw&& draw) {
  std::vector<idgen_wide_id_t> ids(n);
  std::size_t written = 0;
  CallError error;
  idgen_status_t status = IDGEN_OK;
  const bool is_done = n == 0 || draw(ids.data(), n, &written, &error, &status);
  py::list made;
  for (std::size_t i = 0; i < written; ++i) made.append(wide_object(ids[i]));
  if (is_done) return made;
  throw_if_interrupted();
  const py::object exception = make_exception(status, error, written);
  exception.attr("ids") = made;
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw py::error_already_set();
}

py::list next_wide_for_each(const py::object& self, const py::object& iterable) {
  const Generator& generator = checked_generator(self);
  const Owners owners(iterable);
  return wide_list(owners.size(), [&](auto... to) { return draw_for_each(generator.raw(), owners, to...); });
}

py::object next_wide_for(const py::object& self, const py::object& owner) {
  return next_wide_for_each(self, py::make_tuple(owner))[0];
}

// Garbage collection: a clock, a store or a log may refer to the generator that calls it (`self.ids =
// Generator(log=self.log)`). A generator in such a cycle is closed first, while these are intact, and then releases
// them. Later calls from the core find nothing.
int traverse_type(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  const auto* generator = value_of<Generator>(self);
  return generator != nullptr ? generator->traverse(visit, arg) : 0;
}

void finalize_garbage(PyObject* self) {
  auto* generator = value_of<Generator>(self);
  if (generator != nullptr) generator->close_silently();
}

int clear_garbage(PyObject* self) {
  auto* generator = value_of<Generator>(self);
  if (generator != nullptr) generator->drop_callables();
  return 0;
}

PyMethodDef hot_methods[] = {
    {"next", next_method, METH_NOARGS,
     "next($self, /)\n--\n\n"
     "One id, an int. May block, up to wait_max: for the next tick, for a clock that was set back, for the store. "
     "Ctrl-C ends the\n"
     "wait. Any number of threads may call at once.\n\n"
     "Raises ClosedError, ForkedError, ExhaustedError, OverloadedError, ClockError, StoreError."},
    {"try_next", try_next_method, METH_NOARGS,
     "try_next($self, /)\n--\n\n"
     "One id, or None if there is none without waiting. Never blocks. Raises as next."},
    {"next_text", next_text_method, METH_NOARGS,
     "next_text($self, /)\n--\n\n"
     "One id as text: as the property `pattern` has it, without one in decimal. text_pattern reads it back. May block "
     "as next does.\n\n"
     "Raises as next; ExhaustedError also for an id of more digits than the pattern holds, which is lost."},
    {"next_batch", next_batch_method, METH_O,
     "next_batch($self, n, /)\n--\n\n"
     "n ids in an array.array, increasing with order='strict': of type 'q' (int64), or 'Q' (uint64) for a layout that "
     "uses the top\n"
     "bit (is_unsigned). numpy.asarray(batch) shares its memory. May block as next does.\n\n"
     "Raises as next; the ids drawn before the failure are in the exception's `ids`. ArgumentError if n is negative."},
    {"next_list", next_list_method, METH_O,
     "next_list($self, n, /)\n--\n\n"
     "n ids in a list of int, for json, a database driver, or whatever else takes no array. May block as next does.\n\n"
     "Raises as next_batch, with an array of the ids drawn before the failure in the exception's `ids`."},
    {"next_for", next_for_method, METH_O,
     "next_for($self, owner, /)\n--\n\n"
     "One id for an owner (int, str or bytes), where the layout has a gene: kind='business', or layout='order'. An int "
     "is the owner\n"
     "that its decimal text is. May block as next does.\n\n"
     "Raises as next; InvalidValueError for an empty owner, UnsupportedError if ids have no owner or 16 bytes."},
    {"fill", fill_method, METH_O,
     "fill($self, buffer, /)\n--\n\n"
     "Fills a writable, contiguous buffer of 8-byte integers (array('q'), numpy, memoryview, shared memory) with ids, "
     "without a copy,\n"
     "and returns their number. Signed or not: the same 64 bits. May block as next does.\n\n"
     "Raises InvalidBufferError for any other object, before an id is drawn. Otherwise as next: then the first "
     "`written` items (an\n"
     "attribute of the exception) are ids."},
};

std::unique_ptr<Generator> make_generator(const Config& config) {
  idgen_t* raw = nullptr;
  CallError error;
  idgen_status_t status = IDGEN_OK;
  {
    WithoutGil wait;
    status = idgen_create_wait(config.raw(), &raw, is_interrupted, &wait, &error);
  }
  struct Destroy {
    void operator()(idgen_t* generator) const {
      const WithoutGil may_wait_for_the_store;
      idgen_destroy(generator);
    }
  };
  std::unique_ptr<idgen_t, Destroy> owned(raw);
  throw_if_interrupted();
  check(status, error);
  idgen_layout_t* layout = nullptr;
  check(idgen_layout_of(raw, &layout, &error), error);
  auto owned_layout = std::make_unique<Layout>(layout);
  auto generator = std::make_unique<Generator>(raw, config, std::move(owned_layout), pattern_of(config));
  static_cast<void>(owned.release());
  return generator;
}

std::unique_ptr<Generator> create(const py::kwargs& properties) {
  Config config;
  config.set(properties);
  return make_generator(config);
}

std::unique_ptr<Generator> open(const py::object& toml_path, const std::string& name, const py::kwargs& overrides) {
  if (name.find('\0') != std::string::npos) throw_error(IDGEN_E_ARGUMENT, "a generator's name has no NUL characters");
  Config config;
  config.load(toml_path, name);
  config.set(overrides);
  return make_generator(config);
}

py::object next_block(const py::object& self, const py::object& want) {
  const Generator& generator = checked_generator(self);
  const std::uint64_t wanted = id_bits(want);
  idgen_draw_t draw = IDGEN_DRAW_INIT;
  draw.flags = IDGEN_DRAW_BLOCK;
  draw.n = wanted;
  CallError error;
  const idgen_status_t status = ask(generator.raw(), draw, &error);
  throw_if_interrupted();
  check(status, error);
  return module_named("idgen._types").attr("Block")(draw.first, draw.written, draw.stride);
}

py::object next_until(const py::object& self, const py::object& token_object) {
  const Generator& generator = checked_generator(self);
  auto& token = checked<CancelToken>(token_object);
  std::uint64_t id = 0;
  idgen_draw_t draw = request(&id, 1);
  draw.cancelled = CancelToken::is_cancelled;
  draw.ctx = &token;
  CallError error;
  idgen_status_t status = IDGEN_OK;
  {
    const WithoutGil waits;
    status = idgen_draw(generator.raw(), &draw, &error);
  }
  check(status, error);
  return py::int_(id);
}

py::object decode(const py::object& self, const py::object& id) {
  const Generator& generator = checked_generator(self);
  idgen_parts_t parts = IDGEN_PARTS_INIT;
  CallError error;
  if (idgen_wide_id_t wide; wide_from(id, wide)) {
    check(idgen_decode_wide(generator.raw(), &wide, &parts, &error), error);
    return generator.layout().parts_object(id, parts);
  }
  const std::uint64_t bits = id_bits(id);
  check(idgen_decode(generator.raw(), bits, &parts, &error), error);
  return generator.layout().parts_object(py::int_(bits), parts);
}

std::unique_ptr<Layout> layout_of(const py::object& self) {
  idgen_layout_t* layout = nullptr;
  CallError error;
  check(idgen_layout_of(checked_generator(self).raw(), &layout, &error), error);
  return std::make_unique<Layout>(layout);
}

py::str describe(const py::object& self) {
  const Generator& generator = checked_generator(self);
  return text_object(read_text([&](char* buffer, std::size_t* size, idgen_error_t* error) {
    const WithoutGil takes_a_lock;
    return idgen_describe(generator.raw(), buffer, size, error);
  }));
}

py::object stats(const py::object& self) {
  const Generator& generator = checked_generator(self);
  idgen_stats_t counts = IDGEN_STATS_INIT;
  CallError error;
  idgen_status_t status = IDGEN_OK;
  {
    const WithoutGil takes_a_lock;
    status = idgen_stats(generator.raw(), &counts, &error);
  }
  check(status, error);
  const bool failed = counts.last_failure != IDGEN_OK;
  const auto known = [](std::uint64_t left) {
    return left == UINT64_MAX ? py::object(py::none()) : py::object(py::int_(left));
  };
  return module_named("idgen._types")
      .attr("Stats")(counts.handles, counts.granted, counts.remaining, counts.refills, counts.refill_failures,
                     counts.refill_ns_max, counts.waits, counts.wait_ns, counts.store_waits, counts.clock_back_events,
                     counts.forks, counts.lead_ms, counts.issued, counts.rate, counts.stock_seconds,
                     counts.breaker_redis, counts.breaker_database, counts.buffer_stock,
                     idgen_status_name(counts.stopped),
                     failed ? py::object(py::str(idgen_status_name(counts.last_failure))) : py::none(),
                     failed ? py::object(py::int_(counts.last_failure_unix_ms)) : py::none(), counts.redis_failures,
                     counts.database_failures, known(counts.layout_left), known(counts.tag_left),
                     failed ? py::object(text_object(counts.last_error)) : py::none(), counts.issued_ids);
}

py::str metrics(const py::iterable& generators) {
  const py::list kept(generators);  // alive while the core reads them
  std::vector<const idgen_t*> handles;
  for (const py::handle generator : kept) {
    handles.push_back(checked_generator(py::reinterpret_borrow<py::object>(generator)).raw());
  }
  return text_object(read_text([&](char* buffer, std::size_t* size, idgen_error_t* error) {
    const WithoutGil takes_a_lock;
    return idgen_metrics(handles.data(), handles.size(), buffer, size, error);
  }));
}

py::str represent(const py::object& self) {
  const auto* generator = value_of<Generator>(self.ptr());
  if (generator == nullptr) return "<idgen.Generator, not initialised>";
  return text_object("<idgen.Generator " + read_text([&](char* buffer, std::size_t* size, idgen_error_t* error) {
                       return idgen_summary(generator->raw(), buffer, size, error);
                     }) +
                     ">");
}

// idgen_test_fail_next or idgen_test_fail_after.
template <auto Function>
void tell(const py::object& self, std::int64_t number, std::int32_t status, std::uint64_t cause) {
  CallError error;
  check(Function(checked_generator(self).raw(), number, status, cause, &error), error);
}

void recover(const py::object& self) {
  CallError error;
  check(idgen_test_recover(checked_generator(self).raw(), &error), error);
}

py::object refuse_pickle(const py::object&, const py::args&) {
  throw py::type_error(
      "a Generator cannot be pickled or copied: it owns a reservation in this process. Make one in each process, for "
      "example by "
      "idgen.open(toml_path, name) in the worker's initializer");
}

}  // namespace

void bind_generator(py::module_& module) {
  py::class_<CancelToken>(module, "CancelToken", py::is_final(), "Ends a wait on another thread. Internal.")
      .def(py::init<>())
      .def("cancel", [](const py::object& self) { checked<CancelToken>(self).cancel(); });

  py::class_<Generator> type(
      module, "Generator", py::is_final(), py::custom_type_setup([](PyHeapTypeObject* heap_type) {
        PyTypeObject& made = heap_type->ht_type;
        made.tp_iter = PyObject_SelfIter;
        made.tp_iternext = next_fast;
        made.tp_flags |= Py_TPFLAGS_HAVE_GC;
        made.tp_traverse = traverse_type;
        made.tp_finalize = finalize_garbage;
        made.tp_clear = clear_garbage;
      }),
      "Generator(**properties)\n\n"
      "Makes ids. Every property is a keyword, `_` for `.`: kind='segment', segment_step=1000, store_create=True "
      "(idgen.properties()\n"
      "lists all). Values may be str, bool, int, float, datetime (epoch), timedelta (durations), path; None leaves the "
      "default.\n"
      "clock: callable that returns ns since 1970-01-01 UTC, for tests; if it has a method sleep_ns(ns), waiting uses "
      "that.\n"
      "store: also an object with the methods of idgen.Store, such as idgen.sql.SqlStore.\n"
      "log: callable(level, message) with the levels of the logging module: log=logging.getLogger('idgen').log.\n\n"
      "Opens the store and takes the first reservation; may block, up to wait_max; Ctrl-C ends the wait. Any number of "
      "threads may use\n"
      "a generator. A forked child draws its own reservation or gets ForkedError, depending on on_fork.\n\n"
      "Raises ConfigError, WorkerBusyError, ClockError, StoreError.");
  for (PyMethodDef& method : hot_methods) {
    PyObject* descriptor = PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(type.ptr()), &method);
    if (descriptor == nullptr) throw py::error_already_set();
    type.attr(method.ml_name) = py::reinterpret_steal<py::object>(descriptor);
  }
  type.def(py::init(&create))
      .def("next_batch_for", &next_batch_for, py::arg("owner"), py::arg("n"), py::pos_only(),
           "next_batch_for(owner, n) -> array\n\n"
           "n ids for one owner, rising, as next_batch makes them. Raises as next_for; the ids drawn before the\n"
           "failure are in the exception's `ids`.")
      .def("next_for_each", &next_for_each, py::arg("owners"), py::pos_only(),
           "next_for_each(owners) -> array\n\n"
           "One id for each of several owners (an iterable of int, str and bytes; numpy arrays of integers too).\n"
           "Raises as next_batch_for.")
      .def("next_wide_for", &next_wide_for, py::arg("owner"), py::pos_only(),
           "next_wide_for(owner) -> bytes\n\n"
           "One id of 8 or 16 bytes, big-endian: 16 with layout='business128', or with on_full='widen' once 8 are\n"
           "used up. Its length tells them apart, not its value. Raises as next_for.")
      .def("next_wide_for_each", &next_wide_for_each, py::arg("owners"), py::pos_only(),
           "next_wide_for_each(owners) -> list[bytes]\n\nOne such id for each of several owners.")
      .def("next_block", &next_block, py::arg("want"), py::pos_only(),
           "next_block(want) -> Block\n\n"
           "A run of at most `want` ids that the caller counts off by itself. Those it does not use are lost. May\n"
           "block as next does. Raises as next.")
      .def(
          "next_async",
          [](const py::object& self) {
            checked_generator(self);
            return module_named("idgen._async").attr("next_async")(self);
          },
          "next_async() -> Awaitable[int]\n\n"
          "await generator.next_async(): one id for asyncio. Returns at once if it can; otherwise it waits, up to\n"
          "wait_max, without blocking the loop: one thread of the loop's default executor waits for all tasks.\n"
          "Cancelling a task ends its wait. Raises as next.")
      .def(
          "__aiter__",
          [](const py::object& self) {
            checked_generator(self);
            return module_named("idgen._async").attr("iterate")(self);
          },
          "async for id in generator: endless ids, as next_async; other tasks get their turn in between.")
      .def("_next_until", &next_until, py::arg("token"), py::pos_only(),
           "next, until the token is cancelled. Internal.")
      .def("decode", &decode, py::arg("id"), py::pos_only(),
           "decode(id) -> Parts\n\nSplits an id by this generator's layout: an int, or bytes of 8 or 16. Works after "
           "close too. Raises InvalidValueError.")
      .def(
          "decode_array",
          [](const py::object& self, const py::object& ids) {
            return module_named("idgen._arrays").attr("decode_array")(layout_of(self), ids);
          },
          py::arg("ids"), py::pos_only(),
          "decode_array(ids) -> dict[str, numpy.ndarray]\n\nA column of ids as columns of fields; see "
          "Layout.decode_array.")
      .def("describe", &describe,
           "describe() -> str\n\nWhat this configuration protects against and what not, one item per line.")
      .def("stats", &stats, "stats() -> Stats\n\nCounts of this process.")
      .def(
          "close", [](const py::object& self) { checked_generator(self).close(); },
          "close() -> None\n\n"
          "Stops the generator and gives the unused rest back to the store. Waiting and later calls raise\n"
          "ClosedError. What the store does not take back is never issued by anyone: that is a line in the log,\n"
          "not an error. Idempotent. May block on the store. Ctrl-C ends the wait: the generator is closed all\n"
          "the same, and the rest is given back in the background.")
      .def_property_readonly(
          "_wait_max", [](const py::object& self) { return checked_generator(self).wait_max(); },
          "The property wait_max, as text. Internal.")
      .def_property_readonly(
          "_async_waits", [](const py::object& self) { return checked_generator(self).async_waits(); },
          "The waits of event loops. Internal.")
      .def_property_readonly("layout", &layout_of, "The generator's Layout.")
      .def_property_readonly(
          "text_pattern", [](const py::object& self) { return checked_generator(self).pattern(); },
          "The TextPattern by which next_text writes ids. Works after close too.")
      .def_property_readonly(
          "name", [](const py::object& self) { return text_object(checked_generator(self).name()); },
          "The property name.")
      .def_property_readonly(
          "kind", [](const py::object& self) { return checked_generator(self).kind(); },
          "'snowflake', 'segment', 'business' or 'serial'.")
      .def_property_readonly(
          "closed", [](const py::object& self) { return checked_generator(self).closed(); },
          "True once close was called.")
      .def("__enter__",
           [](const py::object& self) {
             checked_generator(self);
             return self;
           })
      .def("__exit__", [](const py::object& self, const py::args&) { checked_generator(self).close(); })
      .def("__repr__", &represent)
      .def("__reduce__", &refuse_pickle)
      .def("__reduce_ex__", &refuse_pickle);

  type.attr("__module__") = "idgen";
  module.def(
      "metrics", &metrics, py::arg("generators"),
      "metrics(generators) -> str\n\n"
      "The figures of generators, closed ones too, in the Prometheus text format 0.0.4: metrics idgen_*,\n"
      "labels name, namespace, kind and process. Generators that share a worker's state count once; different ones\n"
      "with the same labels become one sample.");
  module.def("_fail_next", &tell<idgen_test_fail_next>, "Internal.");
  module.def("_fail_after", &tell<idgen_test_fail_after>, "Internal.");
  module.def("_recover", &recover, "Internal.");
  module.def("open", &open, py::arg("toml_path"), py::arg("name"), py::pos_only(),
             "open(toml_path, name, /, **overrides) -> Generator\n\n"
             "A generator from the table [name] of a TOML file; keywords, as for Generator, override it. A relative\n"
             "store path starts from the file's folder. Variables such as IDGEN_ORDERS_STORE override the file; with\n"
             "None instead of a path they are all there is. May block. Raises ConfigFileError, and as Generator.");
}

}  // namespace idgen_python
