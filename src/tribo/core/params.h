#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tribo/math/small.h"

namespace tribo {

/// Interval a number must lie in.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = true;   ///< low itself is excluded
  bool high_open = true;  ///< high itself is excluded

  bool contains(double value) const {
    return (low_open ? value > low : value >= low) && (high_open ? value < high : value <= high);
  }
  /// "a number > 0", "a number in (-1, 0.5)", "a number in [0, 1]", "a number"; `noun` stands for "a number".
  std::string text(const char* noun = "a number") const;
};
inline Range anything() { return {}; }
inline Range above(double low) { return {.low = low}; }
inline Range at_least(double low) { return {.low = low, .low_open = false}; }
inline Range between(double low, double high) { return {.low = low, .high = high}; }  ///< open at both ends
inline Range within(double low, double high) {                                        ///< closed at both ends
  return {.low = low, .high = high, .low_open = false, .high_open = false};
}

/// One allowed word of a choice, with what it means.
struct Choice {
  const char* name;
  const char* doc;
};

class ParamReader;

/// One of several things of a kind (a law, a shape, an object type), with the call that reads its parameters.
struct Alternative {
  const char* name;
  const char* doc;
  std::function<void(ParamReader&)> read;
  const char* shorthand = nullptr;  ///< the parameter that a bare value stands for: {"box": [1, 2, 3]} is its `size`
};

/// Everything of one kind. The name titles its part of the schema and the manual.
struct Alternatives {
  const char* name;
  std::vector<Alternative> all;
  bool required = true;  ///< false: the key may be left out where it is asked for by `one_of`
};

/// How a model, shape, object or the scene itself asks for its parameters. The same calls serve four ends: reading
/// and checking a scene, filling in its defaults, the JSON Schema, and the reference manual, so that a parameter is
/// described exactly once, where it is used. While describing, there is no input and every call answers with
/// the fallback or some value in range.
///
/// A wrong or missing value is recorded as a finding and answered with a value in range, so that one pass finds every
/// mistake; keys nobody asked for are findings too.
class ParamReader {
 public:
  virtual ~ParamReader() = default;

  /// Required when `fallback` is empty. `unit` is SI, "1" for a pure number.
  virtual double number(const char* key, const char* unit, const Range& range, const char* doc,
                        std::optional<double> fallback = {}) = 0;
  virtual std::int64_t integer(const char* key, const Range& range, const char* doc,
                               std::optional<std::int64_t> fallback = {}) = 0;
  virtual bool flag(const char* key, const char* doc, bool fallback) = 0;
  virtual std::string text(const char* key, const char* doc, std::optional<std::string> fallback = {}) = 0;
  virtual std::string choice(const char* key, const std::vector<Choice>& allowed, const char* doc,
                             std::optional<std::string> fallback = {}) = 0;
  /// Any number of different words out of `allowed`; none when absent.
  virtual std::vector<std::string> choices(const char* key, const std::vector<Choice>& allowed, const char* doc) = 0;
  /// Three numbers; in a two-dimensional scene two are enough and the third is 0.
  virtual Vec<double, 3> vector(const char* key, const char* unit, const Range& each, const char* doc,
                                std::optional<Vec<double, 3>> fallback = {}) = 0;
  /// An object of any content, as JSON text; "{}" when absent.
  virtual std::string verbatim(const char* key, const char* doc) = 0;

  /// A number or vector that may be left open: nothing when the key is absent.
  std::optional<double> open_number(const char* key, const char* unit, const Range& range, const char* doc);
  std::optional<Vec<double, 3>> open_vector(const char* key, const char* unit, const Range& each, const char* doc);

  /// The folder of the file that is read, where relative paths begin; empty for the current one.
  virtual std::string directory() const { return ""; }
  /// Of the scene that is read, for defaults that go by it; 0 when it is not known [m].
  virtual double grid_spacing() const { return 0; }

  virtual bool has(const char* key) const = 0;  ///< false while describing
  virtual bool describing() const = 0;          ///< there is no input: every branch should be asked for

  /// A nested object; when absent and not required, `read` still runs, on an empty one, so that defaults appear.
  virtual void object(const char* key, const char* doc, bool required,
                      const std::function<void(ParamReader&)>& read) = 0;
  /// An array of objects; describing runs `read` once. False when what is there cannot be read as one.
  virtual bool list(const char* key, const char* doc, bool required,
                    const std::function<void(ParamReader&, const std::string& index)>& read) = 0;
  /// Objects by name, `{name: {...}}`, in the order of the file; otherwise as `list`.
  virtual bool named_list(const char* key, const char* doc, bool required,
                          const std::function<void(ParamReader&, const std::string& name)>& read) = 0;

  /// An object with exactly one key, the name of an alternative: `"shape": {"sphere": {"radius": 1}}`.
  virtual void one_of(const char* key, const Alternatives& alternatives, const char* doc) = 0;
  /// A word that decides which parameters stand beside it: `"model": "fixed_corotated"`. Always required. The
  /// alternative reads through this same reader.
  virtual void tag(const char* key, const Alternatives& alternatives, const char* doc) = 0;

  /// A mistake that a single range cannot express, e.g. two keys that contradict each other. Points at `key`. Ignored
  /// when the value of `key` was already found wrong: what stands in for it says nothing about the scene.
  virtual void complain(const char* key, const std::string& message) = 0;
};

}  // namespace tribo
