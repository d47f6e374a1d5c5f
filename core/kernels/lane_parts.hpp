// Numbers of all lanes in vectors of the machine's own width: compilers take wider ones apart badly. Included
// inside the namespace of an instruction set, behind `vector_bytes`, any_bit() and sign_bits().

constexpr std::size_t lane_parts = sizeof(LaneInts) / vector_bytes;
typedef std::int32_t IntPart __attribute__((vector_size(vector_bytes)));
typedef float FloatPart __attribute__((vector_size(vector_bytes)));

template <class Part> struct Parts {
    Part part[lane_parts];
};
typedef Parts<IntPart> Ints;
typedef Parts<FloatPart> Floats;

template <class A, class F> inline auto on_parts(const Parts<A> &a, F f) {
    Parts<decltype(f(a.part[0]))> to;
    for (std::size_t i = 0; i < lane_parts; ++i) to.part[i] = f(a.part[i]);
    return to;
}
template <class A, class B, class F> inline auto on_parts(const Parts<A> &a, const Parts<B> &b, F f) {
    Parts<decltype(f(a.part[0], b.part[0]))> to;
    for (std::size_t i = 0; i < lane_parts; ++i) to.part[i] = f(a.part[i], b.part[i]);
    return to;
}

template <class P> inline Parts<P> operator+(const Parts<P> &a, const Parts<P> &b) {
    return on_parts(a, b, [](P x, P y) { return x + y; });
}
template <class P> inline Parts<P> operator-(const Parts<P> &a, const Parts<P> &b) {
    return on_parts(a, b, [](P x, P y) { return x - y; });
}
template <class P> inline Parts<P> operator*(const Parts<P> &a, const Parts<P> &b) {
    return on_parts(a, b, [](P x, P y) { return x * y; });
}
inline Floats operator/(const Floats &a, const Floats &b) {
    return on_parts(a, b, [](FloatPart x, FloatPart y) { return x / y; });
}
inline Ints operator&(const Ints &a, const Ints &b) {
    return on_parts(a, b, [](IntPart x, IntPart y) { return x & y; });
}
inline Ints operator|(const Ints &a, const Ints &b) {
    return on_parts(a, b, [](IntPart x, IntPart y) { return x | y; });
}
template <class P> inline Ints operator>(const Parts<P> &a, const Parts<P> &b) {
    return on_parts(a, b, [](P x, P y) -> IntPart { return x > y; });
}
template <class P> inline Ints operator>=(const Parts<P> &a, const Parts<P> &b) {
    return on_parts(a, b, [](P x, P y) -> IntPart { return x >= y; });
}
inline Ints operator!=(const Ints &a, const Ints &b) {
    return on_parts(a, b, [](IntPart x, IntPart y) -> IntPart { return x != y; });
}
template <class P> inline Parts<P> &operator+=(Parts<P> &a, const Parts<P> &b) { return a = a + b; }
template <class P> inline Parts<P> &operator-=(Parts<P> &a, const Parts<P> &b) { return a = a - b; }

inline Ints ints(std::int32_t x) {
    Ints to;
    for (IntPart &p : to.part) p = IntPart{} + x;
    return to;
}
inline Floats floats(float x) {
    Floats to;
    for (FloatPart &p : to.part) p = FloatPart{} + x;
    return to;
}
inline Ints operator+(const Ints &a, std::int32_t x) { return a + ints(x); }
inline Ints operator-(const Ints &a, std::int32_t x) { return a - ints(x); }
inline Floats operator*(const Floats &a, float x) { return a * floats(x); }
inline Ints half(const Ints &a) {
    return on_parts(a, [](IntPart x) { return x >> 1; });
}

template <class P> inline Parts<P> choose(const Ints &which, const Parts<P> &a, const Parts<P> &b) {
    Parts<P> to;
    for (std::size_t i = 0; i < lane_parts; ++i) to.part[i] = which.part[i] ? a.part[i] : b.part[i];
    return to;
}
inline Ints larger(const Ints &a, const Ints &b) { return choose(a > b, a, b); }
inline Ints smaller(const Ints &a, const Ints &b) { return choose(a > b, b, a); }
inline Floats to_floats(const Ints &a) {
    return on_parts(a, [](IntPart x) { return __builtin_convertvector(x, FloatPart); });
}
/// Towards 0.
inline Ints to_ints(const Floats &a) {
    return on_parts(a, [](FloatPart x) { return __builtin_convertvector(x, IntPart); });
}

inline Ints read(const LaneInts &from) {
    Ints to;
    __builtin_memcpy(&to, &from, sizeof(to));
    return to;
}
inline Floats read(const LaneFloats &from) {
    Floats to;
    __builtin_memcpy(&to, &from, sizeof(to));
    return to;
}
inline void write(const Ints &from, LaneInts &to) { __builtin_memcpy(&to, &from, sizeof(from)); }
inline void write(const Floats &from, LaneFloats &to) { __builtin_memcpy(&to, &from, sizeof(from)); }

/// Of a comparison: whether it is true of some lane, and a bit for each lane.
inline bool any(const Ints &lanes) {
    IntPart all = lanes.part[0];
    for (std::size_t i = 1; i < lane_parts; ++i) all |= lanes.part[i];
    return any_bit(all);
}
inline unsigned bits(const Ints &lanes) {
    unsigned to = 0;
    for (std::size_t i = 0; i < lane_parts; ++i) to |= sign_bits(lanes.part[i]) << i * (vector_bytes / 4);
    return to;
}

template <std::size_t... At>
inline IntPart look_up_part(const std::int32_t *table, IntPart at, std::index_sequence<At...>) {
    return IntPart{table[at[At]]...};
}
inline Ints look_up(const std::int32_t *table, const Ints &at) {
    return on_parts(at, [table](IntPart x) {
        return look_up_part(table, x, std::make_index_sequence<vector_bytes / 4>());
    });
}
