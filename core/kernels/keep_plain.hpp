// Keeping and dealing of entries without vector instructions of their own. Included inside the namespace of
// an instruction set, behind body.hpp.

std::uint32_t keep_narrow(const std::uint32_t *list, std::uint32_t n, const std::uint8_t *flag,
                          std::uint32_t *to) {
    return scalar_keep(list, 0, n, flag, to, 0);
}
std::uint32_t keep_wide(const std::uint64_t *list, std::uint32_t n, const std::uint8_t *flag,
                        std::uint64_t *to) {
    return scalar_keep(list, 0, n, flag, to, 0);
}
Dealt deal_narrow(std::uint32_t *list, std::uint32_t n, const std::uint8_t *flag, const std::uint32_t *guest,
                  std::uint32_t *right) {
    return scalar_deal(list, 0, n, flag, guest, right, {});
}
Dealt deal_wide(std::uint64_t *list, std::uint32_t n, const std::uint8_t *flag, const std::uint32_t *guest,
                std::uint64_t *right) {
    return scalar_deal(list, 0, n, flag, guest, right, {});
}
