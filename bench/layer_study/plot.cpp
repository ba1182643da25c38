#include "layer_study/plot.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"

namespace rubato::layer_study {
namespace {

constexpr double kWidth = 300;  // of a panel's frame
constexpr double kHeight = 170;
constexpr double kLeft = 62;
constexpr double kTop = 52;
constexpr double kAcross = kWidth + kLeft + 20;
constexpr double kDown = kHeight + 78;
// Okabe and Ito: told apart by readers who do not see all colours; dashes tell the lines apart in print.
constexpr std::array kColours = {"#0072b2", "#d55e00", "#009e73", "#000000", "#cc79a7", "#e69f00"};
constexpr std::array kDashes = {"", "7 3", "2 3", "9 3 2 3", "4 2", "1 2"};

std::string xy(double value) {
  return number(value, 1);
}

std::string text(double x, double y, const std::string& words, std::string_view more = {}) {
  return cat("<text x=\"", xy(x), "\" y=\"", xy(y), "\"", more, ">", words, "</text>\n");
}

std::string line(double x1, double y1, double x2, double y2, std::string_view style) {
  return cat("<line x1=\"", xy(x1), "\" y1=\"", xy(y1), "\" x2=\"", xy(x2), "\" y2=\"", xy(y2), "\" ", style,
             "/>\n");
}

std::string power_of_ten(double seconds) {
  if (seconds < 0.9e-3) return cat(number(seconds * 1e6, 0), " µs");
  if (seconds < 0.9) return cat(number(seconds * 1e3, 0), " ms");
  return cat(number(seconds, 0), " s");
}

class Frame {
 public:
  Frame(const Plot& plot, std::size_t index)
      : plot_(plot),
        left_(kLeft + kAcross * static_cast<double>(index % 2)),
        top_(kTop + kDown * std::floor(static_cast<double>(index) / 2)) {}

  double x(Seconds at) const {
    const double first = std::log10(plot_.x.front().value());
    const double last = std::log10(plot_.x.back().value());
    return left_ + kWidth * (std::log10(at.value()) - first) / (last - first);
  }
  double y(double value) const {
    const double inside = std::clamp(value, plot_.low, plot_.high);
    return top_ + kHeight * (plot_.high - inside) / (plot_.high - plot_.low);
  }

  std::string axes(const std::string& title) const {
    std::string out = cat("<rect x=\"", xy(left_), "\" y=\"", xy(top_), "\" width=\"", xy(kWidth),
                          "\" height=\"", xy(kHeight), "\" fill=\"none\" stroke=\"#222\"/>\n");
    out += text(left_, top_ - 8, title, " font-weight=\"bold\"");
    const auto steps = static_cast<int>(std::floor((plot_.high - plot_.low) / plot_.step + 1e-9));
    for (int step = 0; step <= steps; ++step) {
      const double value = plot_.low + step * plot_.step;
      out += line(left_, y(value), left_ + kWidth, y(value),
                  std::abs(value) < 1e-9 ? "stroke=\"#222\"" : "stroke=\"#ddd\"");
      out += text(left_ - 6, y(value) + 4, cat(number(value * 100, 1), " %"), " text-anchor=\"end\"");
    }
    const double first = std::ceil(std::log10(plot_.x.front().value()) - 1e-9);
    for (double power = first; std::pow(10, power) <= plot_.x.back().value() * 1.001; ++power) {
      const double at = x(Seconds(std::pow(10, power)));
      out += line(at, top_ + kHeight, at, top_ + kHeight + 4, "stroke=\"#222\"");
      out += text(at, top_ + kHeight + 17, power_of_ten(std::pow(10, power)), " text-anchor=\"middle\"");
    }
    out += text(left_ + kWidth / 2, top_ + kHeight + 34, plot_.x_title, " text-anchor=\"middle\"");
    const double middle = top_ + kHeight / 2;
    out +=
        text(left_ - 48, middle, plot_.y_title,
             cat(" text-anchor=\"middle\" transform=\"rotate(-90 ", xy(left_ - 48), " ", xy(middle), ")\""));
    if (plot_.mark) {
      const double at = x(plot_.mark->first);
      out += line(at, top_, at, top_ + kHeight, "stroke=\"#666\" stroke-dasharray=\"3 3\"");
      out += text(at - 4, top_ + 12, plot_.mark->second, " text-anchor=\"end\" fill=\"#444\"");
    }
    return out;
  }

  std::string curve(const Curve& curve, std::size_t colour) const {
    std::string path;
    bool down = false;
    for (std::size_t i = 0; i < curve.y.size(); ++i) {
      if (curve.y[i]) path += cat(down ? "L" : "M", xy(x(plot_.x[i])), " ", xy(y(*curve.y[i])));
      down = curve.y[i].has_value();
    }
    return cat("<path d=\"", path, "\" fill=\"none\" stroke-width=\"2\" stroke=\"", kColours[colour],
               "\" stroke-dasharray=\"", kDashes[colour], "\"/>\n");
  }

 private:
  const Plot& plot_;
  double left_;
  double top_;
};

std::string legend(const std::vector<Curve>& curves) {
  std::string out;
  double at = kLeft;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const std::size_t colour = i % kColours.size();
    out += line(at, 16, at + 26, 16,
                cat("stroke-width=\"2\" stroke=\"", kColours[colour], "\" stroke-dasharray=\"",
                    kDashes[colour], "\""));
    out += text(at + 31, 20, curves[i].name);
    at += 50 + 7.0 * static_cast<double>(curves[i].name.size());
  }
  return out;
}

}  // namespace

std::string svg_of(const Plot& plot) {
  const double width = kAcross * 2;
  const double height = kTop - 14 + kDown * std::ceil(static_cast<double>(plot.panels.size()) / 2);
  std::string out = cat("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", xy(width), "\" height=\"",
                        xy(height), "\" viewBox=\"0 0 ", xy(width), " ", xy(height),
                        "\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#111\">\n<rect width=\"100%\" "
                        "height=\"100%\" fill=\"#fff\"/>\n");
  if (!plot.panels.empty()) out += legend(plot.panels.front().curves);
  for (std::size_t i = 0; i < plot.panels.size(); ++i) {
    const Frame frame(plot, i);
    out += frame.axes(plot.panels[i].title);
    for (std::size_t c = 0; c < plot.panels[i].curves.size(); ++c)
      out += frame.curve(plot.panels[i].curves[c], c % kColours.size());
  }
  return out + "</svg>\n";
}

}  // namespace rubato::layer_study
