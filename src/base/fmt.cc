// {fmt} compiled once: with its header-only mode every file that formats would compile all of it, seconds a file. Debian has no static
// library of it, and the runtime that is loaded into users' programs must not need a shared one.
#ifndef FMT_HEADER_ONLY   // older versions: cmake/lanescope.cmake
#include <fmt/format-inl.h>

namespace fmt {
using namespace detail;   // versions differ on what belongs there

// What the headers leave to the library.
template auto detail::thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto detail::decimal_point_impl<char>(locale_ref) -> char;
template auto detail::dragonbox::to_decimal<float>(float) noexcept -> dragonbox::decimal_fp<float>;
template auto detail::dragonbox::to_decimal<double>(double) noexcept -> dragonbox::decimal_fp<double>;
#if FMT_VERSION >= 100000 && FMT_VERSION < 120000
template void detail::vformat_to<char>(buffer<char>&, string_view, vformat_args<char>::type, locale_ref);
#endif

}  // namespace fmt
#endif
