// What the job did, as it is written: marks, names, kernels, iterations and what was known of them.
#include <rubato/mark_layout.h>

#include <algorithm>

#include "base/text.h"
#include "record/writer_impl.h"

namespace rubato::record {
namespace {

// These come at the pace of the work; the others at the pace of people and epochs, and are not to be lost
// among them.
bool frequent(std::uint32_t kind) {
  switch (kind) {
    case RUBATO_MARK_ITERATION_BEGIN:
    case RUBATO_MARK_ITERATION_END:
    case RUBATO_MARK_PHASE_BEGIN:
    case RUBATO_MARK_PHASE_END:
    case RUBATO_MARK_LAYER_BEGIN:
    case RUBATO_MARK_LAYER_END:
      return true;
    default:
      return false;
  }
}

// SQLite has no unsigned integers: they keep their bits.
std::int64_t bits(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

}  // namespace

void Writer::Impl::flush_progress(bool all) {
  for (const auto& [id, text] : names.take_changed()) write(put_name, bits(id), text);
  for (MarkQuota* quota : {&frequent_marks, &other_marks})
    if (const auto dropped = quota->take_dropped(all))
      write(insert_gap, dropped->begin, dropped->end, std::nullopt,
            cat(dropped->marks, " marks were left out: more than a thousand a second came"), std::nullopt);
  if (kernels.empty() || failure) return;
  const TimePoint origin = kernels.front().begin;
  TimePoint end = origin;
  for (const KernelRecord& kernel : kernels) end = std::max(end, kernel.end);
  const auto blob = kernel_encoder.encode(kernels);
  if (blob)
    write(insert_kernels, kKernelChunkLayout, origin, end, static_cast<std::int64_t>(kernels.size()), *blob);
  else
    fail_with(blob.error());
  kernels.clear();
}

void Writer::mark(const Mark& m) {
  Impl& w = *impl_;
  if (m.kind == RUBATO_MARK_NAME) return w.names.add(m);
  if (!(frequent(m.kind) ? w.frequent_marks : w.other_marks).admit(m.at)) return;
  w.write(w.insert_mark, m.at, bits(m.kind), bits(m.flags), bits(m.id), m.pid, m.tid, m.rank,
          bits(m.detail[0]), bits(m.detail[1]), bits(m.detail[2]), bits(m.detail[3]));
}

void Writer::kernel(const KernelRecord& kernel) {
  if (!impl_->failure) impl_->kernels.push_back(kernel);
}

void Writer::kernel_cycle(const KernelCycle& c) {
  impl_->write(impl_->insert_cycle, c.begin, c.end, c.pid, bits(c.lost));
}

void Writer::iteration(const Iteration& i) {
  impl_->write(impl_->insert_iteration, i.index, i.begin, i.end, name_of(i.source));
}

void Writer::statement(const IterationStatement& s) {
  const IterationEstimate& e = s.estimate;
  const auto launches = e.launches ? std::optional(bits(*e.launches)) : std::nullopt;
  impl_->write(impl_->insert_statement, e.at, impl_->device_row(s.gpu), name_of(e.source), e.periodic ? 1 : 0,
               e.period, name_of(e.relation), e.confidence, e.half_width, e.drift_per_minute, launches, e.why,
               s.used ? 1 : 0, s.check);
}

void Writer::rate(const RateStatement& s) {
  const ProgressRate& r = s.rate;
  impl_->write(impl_->insert_rate, r.begin, r.end, impl_->device_row(s.gpu), name_of(r.kind), r.per_second,
               r.half_width, r.confidence, r.why);
}

void Writer::shift(const ShiftNoticed& s) {
  const Shift& c = s.shift;
  impl_->write(impl_->insert_shift, c.at, c.noticed, impl_->device(s.gpu).id, c.what, c.from, c.to, c.unit,
               c.why);
}

void Writer::features(const FeatureWindow& window) {
  Impl& w = *impl_;
  const std::int64_t id = w.next_feature_window++;
  w.write(w.insert_feature_window, id, w.device(window.gpu).id, window.provider, window.features.begin,
          window.features.end, window.setting, window.why);
  for (std::size_t i = 0; i < kFeatureCount; ++i)
    if (const auto value = window.features.values[i]) w.write(w.insert_feature, id, kFeatureNames[i], *value);
}

}  // namespace rubato::record
