// Documents and tables that lie in files, as HTML pages: what `sweep`, `model validate` and `lab run`
// answered with --json, and sweep tables.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "report/html_page.h"

namespace rubato::cli {

enum class PageSource { record, document, table };

/// By the file's first bytes: a run record, JSON, else a sweep table.
[[nodiscard]] Result<PageSource> page_source(const std::filesystem::path& file);

/// invalid_argument where the file is no JSON, or of a schema no page is made for (what names those that
/// are).
[[nodiscard]] Status write_document_page(const std::filesystem::path& file, const std::string& version,
                                         report::Sink& to);
/// The same of the document itself; `name`: in the title and in errors.
[[nodiscard]] Status write_document_page(std::string_view document, const std::string& name,
                                         const std::string& version, report::Sink& to);
[[nodiscard]] Status write_table_page(const std::filesystem::path& file, const std::string& version,
                                      report::Sink& to);

}  // namespace rubato::cli
