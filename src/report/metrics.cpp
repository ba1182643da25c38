#include "report/metrics.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace rubato::report {
namespace {

constexpr std::string_view kTotal = "_total";
constexpr std::string_view kInfo = "_info";

// Length of the UTF-8 character that begins here, 0 where none does (RFC 3629, section 4).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xC2 && first < 0xE0 ? 2 : first >= 0xE0 && first < 0xF0 ? 3 : 4;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  // Overlong forms, surrogates, and what lies beyond Unicode.
  const unsigned char second = byte(1);
  if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
      (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F))
    return 0;
  return length;
}

std::string escaped(std::string_view text, bool quotes) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (text.front() == '\\')
      out += "\\\\";
    else if (text.front() == '\n')
      out += "\\n";
    else if (text.front() == '"' && quotes)
      out += "\\\"";
    else if (length == 0)
      out += '?';
    else
      out += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  return out;
}

// The last digits of a computed double are noise. A year at 700 W in millijoules has fourteen.
std::string fourteen_digits(double value) {
  std::array<char, 40> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 14);
  return {text.data(), end.ptr};
}

void add_head(std::string& out, const MetricFamily& family, MetricsFormat format) {
  const bool open = format == MetricsFormat::open_metrics;
  std::string_view name = family.name;
  std::string_view type = family.type == MetricType::counter     ? "counter"
                          : family.type == MetricType::histogram ? "histogram"
                                                                 : "gauge";
  if (open && family.type == MetricType::counter) name.remove_suffix(kTotal.size());
  if (open && family.type == MetricType::info) {
    name.remove_suffix(kInfo.size());
    type = "info";
  }
  out += cat("# HELP ", name, " ", escaped(family.help, open), "\n", "# TYPE ", name, " ", type, "\n");
  if (open && !family.unit.empty()) out += cat("# UNIT ", name, " ", family.unit, "\n");
}

void add_sample(std::string& out, std::string_view name, const MetricSample& sample) {
  out += cat(name, sample.suffix);
  std::string_view before = "{";
  for (const auto& [label, value] : sample.labels) {
    out += cat(before, label, "=\"", escaped(value, true), "\"");
    before = ",";
  }
  if (!sample.labels.empty()) out += '}';
  out += cat(" ", fourteen_digits(sample.value), "\n");
}

}  // namespace

MetricsFormat metrics_format_for(std::string_view accept) {
  return accept.find("application/openmetrics-text") == std::string_view::npos
             ? MetricsFormat::prometheus_text
             : MetricsFormat::open_metrics;
}

std::string_view content_type(MetricsFormat format) {
  return format == MetricsFormat::open_metrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                               : "text/plain; version=0.0.4; charset=utf-8";
}

std::string render_metrics(std::span<const MetricFamily> families, MetricsFormat format) {
  std::string out;
  for (const MetricFamily& family : families) {
    bool first = true;
    for (const MetricSample& sample : family.samples) {
      if (!std::isfinite(sample.value)) continue;
      if (std::exchange(first, false)) add_head(out, family, format);
      add_sample(out, family.name, sample);
    }
  }
  if (format == MetricsFormat::open_metrics) out += "# EOF\n";
  return out;
}

}  // namespace rubato::report
