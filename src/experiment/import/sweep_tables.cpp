// rubato's own sweep tables, one of each workload, as the one table that a model is trained on.
#include "base/text.h"
#include "core/sweep_table_csv.h"
#include "experiment/import/collect.h"

namespace rubato::experiment {

Status read_rubato_sweep(const ForeignFile& file, const ImportWishes& wishes, Collect& into) {
  auto table = parse_sweep_table(file.text, file.name);
  if (!table) return fail(table.error());
  for (const std::string& comment : table->comments) into.comment(cat(stem(file.name), ": ", comment));
  for (std::size_t i = 0; i < table->rows.size(); ++i) {
    SweepRow row = table->rows[i];
    if (wishes.gpu) row.gpu = *wishes.gpu;
    if (wishes.workload) row.workload = row.group = *wishes.workload;
    if (const Status added = into.add(std::move(row), file.name, table->origin.lines[i]); !added)
      return added;
  }
  return {};
}

}  // namespace rubato::experiment
