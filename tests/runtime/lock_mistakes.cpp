// Mistakes that clang must find: `make lint` compiles this file with clang's -verify, which fails if one of them goes
// unnoticed, or if there is any warning not announced here.
#include "idgen/mutex.hpp"

void call_the_host() IDGEN_RUNS_HOST_CODE;

class Account {
 public:
  void reads_what_the_lock_guards() {
    balance_ += 1;  // expected-warning {{requires holding mutex 'mutex_'}}
  }
  void calls_what_expects_the_lock() {
    add(1);  // expected-warning {{requires holding mutex 'mutex_'}} expected-warning {{requires holding}}
  }
  void calls_the_host_under_a_lock() {
    const idgen::MutexLock lock(mutex_);
    call_the_host();  // expected-warning {{cannot call function 'call_the_host' while lock of ours 'any_lock' is held}}
  }
  void calls_the_host_where_its_caller_holds_a_lock() IDGEN_REQUIRES(mutex_) {
    call_the_host();  // expected-warning {{cannot call function 'call_the_host' while lock of ours 'any_lock' is held}}
  }
  void takes_a_second_lock() {
    const idgen::MutexLock lock(mutex_);
    const idgen::MutexLock second(other_);  // expected-warning {{acquiring mutex 'any_lock' that is already held}}
  }
  void keeps_a_lock_that_it_tried() {
    if (mutex_.try_lock()) balance_ = 0;
  }  // expected-warning 2 {{is not held on every path}}

  void does_all_of_it_right() {
    idgen::MutexLock lock(mutex_);
    add(1);
    lock.unlock();
    call_the_host();
    lock.lock();
    add(1);
  }
  void tries_it_right() {
    if (!mutex_.try_lock()) return call_the_host();
    const idgen::MutexLock lock(mutex_, std::adopt_lock);
    add(1);
  }

 private:
  void add(int amount) IDGEN_REQUIRES(mutex_) { balance_ += amount; }

  idgen::Mutex mutex_;
  idgen::Mutex other_;
  int balance_ IDGEN_GUARDED_BY(mutex_) = 0;
};
