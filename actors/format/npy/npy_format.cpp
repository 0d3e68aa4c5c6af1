#include "actors/format/npy/npy_format.h"

#include <string>
#include <utility>

#include "actors/format/npy/npy_decoder.h"
#include "actors/format/npy/npy_file.h"
#include "actors/format/npy/trio.h"
#include "actors/format/npy/wanted.h"

namespace forebay {
namespace {

class NpyFormat final : public UnitFormat {
 public:
  explicit NpyFormat(npy::Wanted wanted) : wanted_(std::move(wanted)) {}

  const Schema& schema() const override { return wanted_.choice.schema; }

  // The wanted columns decide which arrays are read, and so how many rows a unit has.
  std::string index_settings() const override {
    std::string text;
    for (const std::string& name : wanted_.names) text += name + '\n';
    text += std::to_string(wanted_.first_sparse()) + '\n' + std::to_string(wanted_.weight()) +
            '\n' + std::to_string(wanted_.first_extra()) + '\n';
    for (const ExtraColumn& extra : wanted_.choice.schema.extra) {
      text += extra.kind == ExtraColumn::Kind::kFloat64 ? 'f' : 'i';
    }
    return text;
  }

  Result<std::unique_ptr<UnitFile>> open(const InputFile& file) const override {
    auto trio = npy::read_trio(file);
    if (!trio) return pass(trio);
    auto columns = npy::find_wanted(wanted_, *trio);
    if (!columns) return pass(columns);
    return std::make_unique<npy::NpyFile>(wanted_, std::move(*trio), std::move(*columns));
  }

  Decoded decode(const RawSplit& raw, const DecodeOptions& options,
                 BufferPool& pool) const override {
    return npy::decode_units(raw, options, wanted_, pool);
  }

 private:
  const npy::Wanted wanted_;
};

}  // namespace

Result<std::unique_ptr<UnitFormat>> open_npy(const DatasetSpec&, const ColumnSpec& columns,
                                             const InputFile& first) {
  auto trio = npy::read_trio(first);
  if (!trio) return pass(trio);
  auto wanted = npy::choose_wanted(columns, *trio);
  if (!wanted) return pass(wanted);
  return std::make_unique<NpyFormat>(std::move(*wanted));
}

}  // namespace forebay
