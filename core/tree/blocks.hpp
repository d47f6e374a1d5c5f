// A list that grows by small blocks.
#pragma once

#include <bit>
#include <cstddef>
#include <memory>
#include <vector>

namespace hornbeam {

/// Entries stay where they are, and no room is held beyond one block: a vector that doubles holds up to three
/// times what is in it while it moves. For plain values.
template <class T> class Blocks {
  public:
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T &operator[](std::size_t i) { return blocks_[i / length][i % length]; }
    const T &operator[](std::size_t i) const { return blocks_[i / length][i % length]; }
    void push_back(const T &value) {
        if (size_ % length == 0) blocks_.push_back(std::make_unique_for_overwrite<T[]>(length));
        blocks_.back()[size_ % length] = value;
        ++size_;
    }
    /// Puts the entries of another list, from one of them on, behind these.
    void append(const Blocks &other, std::size_t from = 0) {
        for (std::size_t i = from; i < other.size(); ++i) push_back(other[i]);
    }

  private:
    static constexpr std::size_t bytes = 512;
    static constexpr std::size_t length = std::bit_floor(bytes / sizeof(T));
    std::vector<std::unique_ptr<T[]>> blocks_;
    std::size_t size_ = 0;
};

} // namespace hornbeam
