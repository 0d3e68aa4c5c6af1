// Reads a job's batches and adds up their labels; see README.md.

#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <system_error>
#include <thread>

#include <forebay/loader.h>
#include <semaphore.h>

namespace {

using forebay::Loader;
using forebay::LoaderError;

constexpr int kFailed = 1;
constexpr int kRefused = 2;
constexpr auto kUsage =
    "usage: loader JOB [--set KEY=VALUE]... [--max-batches N] [--state FILE] [--resume FILE]";

void say(const std::string& message) { std::fputs(("loader: " + message + "\n").c_str(), stderr); }

int fail(const LoaderError& error) {
  say(error.message);
  return error.code == LoaderError::Code::kConfig ? kRefused : kFailed;
}

struct Arguments {
  std::string job;
  std::string state;  // path of the file to write; "": not written
  Loader::Options options;
};

/// Stores `--option value`, or returns a description of the error.
std::string read_option(const std::string& option, const std::string& value, Arguments& to) {
  if (option == "--set") {
    to.options.set.push_back(value);
  } else if (option == "--state") {
    to.state = value;
  } else if (option == "--max-batches") {
    const char* end = value.data() + value.size();
    const auto read = std::from_chars(value.data(), end, to.options.max_batches);
    if (read.ec != std::errc() || read.ptr != end) return option + " " + value + ": not a number";
  } else if (option == "--resume") {
    std::ifstream file(value);
    to.options.resume.assign(std::istreambuf_iterator<char>(file), {});
    if (to.options.resume.empty()) return option + " " + value + ": cannot be read, or is empty";
  } else {
    return kUsage;
  }
  return "";
}

std::string read_arguments(int count, char** words, Arguments& to) {
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word.starts_with("--")) {
      if (++i == count) return kUsage;
      if (auto wrong = read_option(word, words[i], to); !wrong.empty()) return wrong;
    } else if (to.job.empty()) {
      to.job = word;
    } else {
      return kUsage;
    }
  }
  return to.job.empty() ? kUsage : "";
}

/// Writes a file completely or not at all.
bool write_file(const std::string& path, const std::string& text) {
  const std::string part = path + ".part";
  std::ofstream file(part);
  file << text << std::flush;
  std::error_code error;
  if (file) std::filesystem::rename(part, path, error);
  return file && !error;
}

std::atomic<int> g_signal = 0;        // SIGINT or SIGTERM, after it arrived
std::atomic<bool> g_reading = false;  // there is a stream to end
sem_t g_came;

/// Ends the process at once if there is no stream to end, and at a second signal.
void on_signal(int number) {
  if (g_signal.exchange(number) != 0 || !g_reading) std::_Exit(128 + number);
  sem_post(&g_came);
}

/// Starts a thread that ends the loader's stream after a signal, since a signal handler may not.
std::jthread stop_at_signal(Loader& loader) {
  g_reading = true;
  return std::jthread([&loader](const std::stop_token& done) {
    const std::stop_callback wake(done, [] { sem_post(&g_came); });
    while (sem_wait(&g_came) != 0) continue;
    if (g_signal != 0) loader.stop();
  });
}

int run(const Arguments& arguments) {
  auto loader = Loader::open(arguments.job, arguments.options);
  if (!loader) return fail(loader.error());
  const auto stopping = stop_at_signal(*loader);
  double label_sum = 0;
  while (true) {
    const auto batch = loader->next();
    if (!batch) return fail(batch.error());
    if (!*batch) break;
    const auto labels = (*batch)->labels();
    label_sum = std::accumulate(labels.begin(), labels.end(), label_sum);
  }
  if (!arguments.state.empty() && !write_file(arguments.state, loader->state())) {
    say("--state " + arguments.state + ": cannot be written");
    return kFailed;
  }
  const auto stats = loader->stats();
  const auto digest = loader->position().order_digest;
  std::printf(
      "{\"rows\": %ju, \"batches\": %ju, \"order_digest\": \"%s\", \"loss_free_sum\": %.17g}\n",
      std::uintmax_t{stats.rows}, std::uintmax_t{stats.batches}, digest.c_str(), label_sum);
  return g_signal == 0 ? 0 : 128 + g_signal;
}

}  // namespace

int main(int count, char** words) {
  Arguments arguments;
  arguments.options.on_message = say;
  if (const auto wrong = read_arguments(count, words, arguments); !wrong.empty()) {
    say(wrong);
    return kRefused;
  }
  sem_init(&g_came, 0, 0);
  for (const int number : {SIGINT, SIGTERM}) std::signal(number, on_signal);
  return run(arguments);
}
