#include "trainer/embedding/look_ahead.h"

#include <utility>

#include "core/base/thread/start_thread.h"
#include "trainer/spec.h"

namespace forebay {
namespace {

/// The most prepared batches; the memory of each is counted in model_bytes().
constexpr std::size_t kMostReady = kMostExpectedBatches;

}  // namespace

LookAhead::~LookAhead() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void LookAhead::prefetch(std::shared_ptr<const Batch> batch) {
  if (batch == nullptr) return forget();
  {
    const std::lock_guard lock(mutex_);
    expected_.push_back({std::move(batch), ++turns_});
    if (!thread_.joinable()) thread_ = start_thread("looking ahead", [this] { run(); });
  }
  changed_.notify_all();
}

void LookAhead::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock,
                  [this] { return stop_ || (!expected_.empty() && ready_.size() < kMostReady); });
    if (stop_) return;
    preparing_ = std::move(expected_.front());
    expected_.pop_front();
    const Expected batch = preparing_;
    lock.unlock();
    Prepared prepared = prepare(batch);
    lock.lock();
    preparing_ = {};
    ready_.push_back(std::move(prepared));
    changed_.notify_all();
  }
}

LookAhead::Prepared LookAhead::prepare(const Expected& expected) {
  const Batch& batch = *expected.batch;
  Prepared prepared{&batch, batch.number, expected.turn, spare(), {}};
  prepared.status = find(batch, *prepared.rows);
  if (prepared.status && storage_.looks_ahead()) {
    prepared.status = place(*prepared.rows, expected.turn);
  }
  return prepared;
}

Status LookAhead::place(BatchRows& rows, std::uint64_t turn) {
  while (true) {
    std::uint64_t before = 0;
    std::uint64_t given_back = 0;
    bool lent = false;
    {
      const std::lock_guard storage(storage_mutex_);
      {
        const std::lock_guard lock(mutex_);
        before = finished_;
        given_back = given_back_;
        lent = lent_;
      }
      if (before >= turn) return fail(Code::kUnavailable, "the batch was passed over");
      storage_.finish(before);
      Status status = storage_.prepare(rows, turn);
      note_tiers();
      const bool waits = !status && status.error().code == Code::kOverloaded;
      // If no earlier batch can free slots, this batch alone is too large.
      if (!waits || (before + 1 >= turn && !lent)) return status;
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stop_ || finished_ > before || given_back_ > given_back; });
    if (stop_) return fail(Code::kUnavailable, "looking ahead was stopped");
  }
}

std::unique_ptr<BatchRows> LookAhead::spare() {
  const std::lock_guard lock(mutex_);
  if (spares_.empty()) return std::make_unique<BatchRows>();
  auto rows = std::move(spares_.back());
  spares_.pop_back();
  return rows;
}

std::uint64_t LookAhead::turn_of(const Batch& batch) const {
  for (const Prepared& prepared : ready_) {
    if (prepared.batch == &batch && prepared.number == batch.number) return prepared.turn;
  }
  if (preparing_.batch.get() == &batch) return preparing_.turn;
  for (const Expected& expected : expected_) {
    if (expected.batch.get() == &batch) return expected.turn;
  }
  return 0;
}

void LookAhead::pass_over(std::uint64_t turn) {
  while (!ready_.empty() && ready_.front().turn < turn) {
    spares_.push_back(std::move(ready_.front().rows));
    ready_.pop_front();
  }
  while (!expected_.empty() && expected_.front().turn < turn) expected_.pop_front();
  finished_ = std::max(finished_, turn - 1);
  changed_.notify_all();
}

Result<const BatchRows*> LookAhead::begin(const Batch& batch, TableStorage::Use use) {
  if (use == TableStorage::Use::kScore) return borrow(batch, use);
  std::unique_lock lock(mutex_);
  const std::uint64_t turn = turn_of(batch);
  if (turn == 0) {
    lock.unlock();
    auto rows = borrow(batch, use);
    if (!rows) return rows;
    lock.lock();
    lookups_.all += (*rows)->lookups;
    lookups_.ready += (*rows)->lookups - (*rows)->fetched_lookups;
    return rows;
  }
  pass_over(turn);
  const bool prepared = !ready_.empty() && ready_.front().turn == turn;
  const std::uint64_t to_come = prepared ? storage_.awaited(turn) : 0;
  changed_.wait(lock, [&] {
    pass_over(turn);
    return !ready_.empty() && ready_.front().turn == turn;
  });
  now_ = std::move(ready_.front());
  ready_.pop_front();
  changed_.notify_all();
  lock.unlock();
  if (now_.status) now_.status = complete(*now_.rows, turn);
  lock.lock();
  if (!now_.status) {
    Status failed = std::move(now_.status);
    now_ = {};
    return pass(failed);
  }
  const std::uint64_t lookups = now_.rows->lookups;
  lookups_.all += lookups;
  lookups_.ready += lookups - (prepared ? to_come : now_.rows->fetched_lookups);
  return now_.rows.get();
}

/// Does the part of the preparation that was left to the step.
Status LookAhead::complete(BatchRows& rows, std::uint64_t turn) {
  if (storage_.looks_ahead()) return storage_.await(turn);
  const std::lock_guard storage(storage_mutex_);
  storage_.finish(turn - 1);
  Status status = storage_.prepare(rows, turn);
  note_tiers();
  return status;
}

void LookAhead::note_tiers() {
  std::vector<TableTiers> now = storage_.tiers();
  const std::lock_guard lock(mutex_);
  tiers_ = std::move(now);
}

void LookAhead::end() {
  if (now_.turn == 0) return give_back();
  {
    const std::lock_guard lock(mutex_);
    finished_ = std::max(finished_, now_.turn);
    spares_.push_back(std::move(now_.rows));
    now_ = {};
  }
  changed_.notify_all();
}

Result<const BatchRows*> LookAhead::borrow(const Batch& batch, TableStorage::Use use) {
  const std::uint64_t done = finished();
  const std::lock_guard storage(storage_mutex_);
  storage_.finish(done);
  if (auto status = find(batch, borrowed_); !status) return pass(status);
  if (auto status = storage_.borrow(borrowed_, use); !status) return pass(status);
  note_tiers();
  const std::lock_guard lock(mutex_);
  lent_ = true;
  return &borrowed_;
}

void LookAhead::give_back() {
  {
    const std::lock_guard storage(storage_mutex_);
    storage_.give_back(borrowed_);
    const std::lock_guard lock(mutex_);
    lent_ = false;
    ++given_back_;
  }
  changed_.notify_all();
}

void LookAhead::forget() {
  std::unique_lock lock(mutex_);
  pass_over(turns_ + 1);
  changed_.wait(lock, [this] { return preparing_.turn == 0; });
  pass_over(turns_ + 1);
}

}  // namespace forebay
