#include "engine/report/run_costs.h"

#include "engine/job/quantity.h"

namespace forebay {
namespace {

constexpr double kSecondsPerHour = 3600;
constexpr double kGigabyte = 1e9;

double per_million(double sum, std::uint64_t rows) {
  return rows > 0 ? sum * 1e6 / static_cast<double>(rows) : 0;
}

/// Three digits, however small: prices of a row are tiny.
std::string three_digits(double number) {
  return printed(number >= 1000 ? "%.0f" : "%.3g", number);
}

using Method = EnergyUse::Method;

std::string estimate() {
  return "estimated: " + format_number(kWattsPerCpu, 0) + " W for a busy CPU";
}

std::string how_known(const EnergyUse& energy) {
  std::string text =
      energy.cpu_method == Method::kRapl ? "RAPL: all of this machine's sockets" : estimate();
  if (energy.gpu_joules) text += "; GPUs by NVML";
  if (energy.worker_method == Method::kNone) return text;
  return text + "; of it workers " + three_digits(energy.worker_joules) + " J, " +
         (energy.worker_method == Method::kRapl ? "RAPL: their machines' sockets" : estimate());
}

}  // namespace

RunMoney money_of(const RunUse& use, const PriceSpec& prices) {
  return {.cpus = prices.cpu_hour * use.cpus * use.seconds / kSecondsPerHour,
          .bytes = prices.gigabyte * static_cast<double>(use.bytes) / kGigabyte,
          .requests = prices.request * static_cast<double>(use.requests)};
}

JsonObject to_json(const EnergyUse& energy) {
  JsonObject json;
  json.add("joules", energy.joules()).add("method", name_of(energy.method()));
  const bool has_workers = energy.worker_method != Method::kNone;
  if (energy.gpu_joules || has_workers) {
    json.add("cpu_joules", energy.cpu_joules).add("cpu_method", name_of(energy.cpu_method));
  }
  if (energy.gpu_joules) json.add("gpu_joules", *energy.gpu_joules);
  if (has_workers) {
    json.add("worker_joules", energy.worker_joules)
        .add("worker_method", name_of(energy.worker_method));
  }
  return json;
}

JsonObject to_json(const RunMoney& money, std::uint64_t rows) {
  return JsonObject()
      .add("total", money.total())
      .add("cpus", money.cpus)
      .add("bytes", money.bytes)
      .add("requests", money.requests)
      .add("per_million_rows", per_million(money.total(), rows));
}

std::string describe_energy(const EnergyUse& energy, std::uint64_t rows) {
  if (energy.method() == Method::kNone || rows == 0) return "";
  return "energy: " + three_digits(per_million(energy.joules(), rows)) + " J per million rows (" +
         how_known(energy) + "), " + three_digits(energy.joules()) + " J in all";
}

std::string describe_money(const RunMoney& money, std::uint64_t rows) {
  return "money: " + three_digits(per_million(money.total(), rows)) + " per million rows, " +
         three_digits(money.total()) + " in all: CPUs " + three_digits(money.cpus) + ", bytes " +
         three_digits(money.bytes) + ", requests " + three_digits(money.requests);
}

}  // namespace forebay
