// Bytes from a terminal as keys. Sequences may come in pieces; what is none is swallowed to its end.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rubato::cli::top {

enum class Key {
  character,  // a printable ASCII character, or a control character below 0x20
  escape,
  up,
  down,
  left,
  right,
  home,
  end,
  page_up,
  page_down,
  back_tab,
  f1,
};

struct KeyPress {
  Key key = Key::character;
  char character = 0;  // of Key::character
  bool operator==(const KeyPress&) const = default;
};

class KeyReader {
 public:
  /// Appends the keys that `bytes` complete.
  void read(std::string_view bytes, std::vector<KeyPress>& keys);
  /// True while a sequence has begun: Escape alone looks the same until a moment went by.
  [[nodiscard]] bool waits() const { return state_ != State::ground; }
  /// Nothing followed: what stands there was Escape alone, or a sequence cut short.
  void nothing_followed(std::vector<KeyPress>& keys);

 private:
  enum class State { ground, escape, control_sequence, single_shift };

  void in_ground(char byte, std::vector<KeyPress>& keys);
  [[nodiscard]] std::optional<KeyPress> key_of(char final) const;

  State state_ = State::ground;
  std::string parameters_;  // of a control sequence
};

}  // namespace rubato::cli::top
