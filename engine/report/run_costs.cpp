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

std::string how_known(const EnergyUse& energy) {
  const std::string cpus =
      energy.cpu_method == EnergyUse::Method::kRapl
          ? "RAPL: all of this machine's sockets"
          : "estimated: " + format_number(kWattsPerCpu, 0) + " W for a busy CPU";
  return energy.gpu_joules ? cpus + "; GPUs by NVML" : cpus;
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
  if (energy.gpu_joules) {
    json.add("cpu_joules", energy.cpu_joules).add("cpu_method", name_of(energy.cpu_method));
    json.add("gpu_joules", *energy.gpu_joules);
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
  if (energy.method() == EnergyUse::Method::kNone || rows == 0) return "";
  return "energy: " + three_digits(per_million(energy.joules(), rows)) + " J per million rows (" +
         how_known(energy) + "), " + three_digits(energy.joules()) + " J in all";
}

std::string describe_money(const RunMoney& money, std::uint64_t rows) {
  return "money: " + three_digits(per_million(money.total(), rows)) + " per million rows, " +
         three_digits(money.total()) + " in all: CPUs " + three_digits(money.cpus) + ", bytes " +
         three_digits(money.bytes) + ", requests " + three_digits(money.requests);
}

}  // namespace forebay
