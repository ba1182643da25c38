#include "analyse/scope_channels.h"

#include <algorithm>
#include <string_view>

namespace rubato::analyse {
namespace {

using Channels = std::vector<std::size_t>;

// "rapl" of "rapl:all".
std::string_view kind_of(const record::ChannelInfo& info) {
  return std::string_view(info.meter).substr(0, info.meter.find(':'));
}

bool read_twice(const record::ChannelInfo& a, const record::ChannelInfo& b) {
  return a.meter != b.meter && a.channel.name == b.channel.name && a.channel.place == b.channel.place;
}

}  // namespace

Channels channels_of(const record::RunRecord& run, Scope scope) {
  const auto info = [&](std::size_t channel) -> const record::ChannelInfo& {
    return run.channels[channel].info;
  };
  std::vector<Channels> kinds;
  for (std::size_t i = 0; i < run.channels.size(); ++i) {
    if (info(i).channel.scope != scope) continue;
    const auto mine = std::ranges::find_if(
        kinds, [&](const Channels& kind) { return kind_of(info(kind.front())) == kind_of(info(i)); });
    if (mine == kinds.end())
      kinds.push_back({i});
    else if (std::ranges::none_of(*mine, [&](std::size_t other) { return read_twice(info(i), info(other)); }))
      mine->push_back(i);
  }
  const auto most = std::ranges::max_element(kinds, {}, &Channels::size);
  return most == kinds.end() ? Channels{} : *most;
}

}  // namespace rubato::analyse
