#include "cli/top/keys.h"

namespace rubato::cli::top {
namespace {

constexpr char kEscape = 0x1b;
// No key sends more; what is longer is swallowed without being kept.
constexpr std::size_t kMostParameters = 16;

bool is_final(char byte) {
  return byte >= 0x40 && byte <= 0x7e;
}

// "5~" and the like (VT220); a modifier behind a semicolon changes nothing here.
std::optional<Key> numbered(std::string_view parameters) {
  const std::string_view number = parameters.substr(0, parameters.find(';'));
  if (number == "1" || number == "7") return Key::home;
  if (number == "4" || number == "8") return Key::end;
  if (number == "5") return Key::page_up;
  if (number == "6") return Key::page_down;
  if (number == "11") return Key::f1;
  return std::nullopt;
}

std::optional<Key> lettered(char final) {
  switch (final) {
    case 'A':
      return Key::up;
    case 'B':
      return Key::down;
    case 'C':
      return Key::right;
    case 'D':
      return Key::left;
    case 'H':
      return Key::home;
    case 'F':
      return Key::end;
    case 'P':
      return Key::f1;
    case 'Z':
      return Key::back_tab;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<KeyPress> KeyReader::key_of(char final) const {
  const std::optional<Key> key = final == '~' ? numbered(parameters_) : lettered(final);
  return key ? std::optional(KeyPress{*key, 0}) : std::nullopt;
}

void KeyReader::in_ground(char byte, std::vector<KeyPress>& keys) {
  if (byte == kEscape)
    state_ = State::escape;
  else if (static_cast<unsigned char>(byte) < 0x7f)
    keys.push_back({Key::character, byte});
  else if (byte == 0x7f)
    keys.push_back({Key::character, '\b'});
  // Letters beyond ASCII do nothing here.
}

void KeyReader::read(std::string_view bytes, std::vector<KeyPress>& keys) {
  for (const char byte : bytes) {
    switch (state_) {
      case State::ground:
        in_ground(byte, keys);
        break;
      case State::escape:
        parameters_.clear();
        if (byte == '[') {
          state_ = State::control_sequence;
        } else if (byte == 'O') {
          state_ = State::single_shift;
        } else {
          keys.push_back({Key::escape, 0});
          state_ = State::ground;
          in_ground(byte, keys);
        }
        break;
      case State::control_sequence:
      case State::single_shift:
        if (byte == kEscape) {
          state_ = State::escape;  // the one before was cut short
        } else if (is_final(byte)) {
          if (const auto key = key_of(byte)) keys.push_back(*key);
          state_ = State::ground;
        } else if (parameters_.size() < kMostParameters) {
          parameters_ += byte;
        }
        break;
    }
  }
}

void KeyReader::nothing_followed(std::vector<KeyPress>& keys) {
  if (state_ == State::escape) keys.push_back({Key::escape, 0});
  state_ = State::ground;
}

}  // namespace rubato::cli::top
