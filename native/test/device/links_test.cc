// How GPUs are said to be linked: by what NVML answers, where there is one, and alike on all PEs.
#include "engine/device/links.h"

#include <cstring>
#include <vector>

#include "cuda/nvml.h"
#include "sparkgap/sparkgap.h"
#include "support/check.h"

namespace sparkgap::test {
namespace {

constexpr const char* kFirst = "0000:01:00.0";
constexpr const char* kSecond = "0000:02:00.0";
constexpr const char* kThird = "0000:03:00.0";
constexpr const char* kFourth = "0000:04:00.0";

constexpr int32_t kShm = SPARKGAP_LINK_SHM;
constexpr int32_t kNvlink = SPARKGAP_LINK_NVLINK;
constexpr int32_t kPcie = SPARKGAP_LINK_PCIE;

void expect_link(int32_t actual, int32_t expected, const char* which) {
  expect(actual == expected, "%s: link %d, not %d", which, actual, expected);
}

void nvml_tells_nvlink_from_pci_express() {
  const Nvml nvml(SPARKGAP_FAKE_NVML);
  expect(nvml.driver_version() == "580.95.05", "driver \"%s\"", nvml.driver_version().c_str());
  expect_link(nvml.link(kFirst, kSecond), kNvlink, "1 and 2");
  expect_link(nvml.link(kThird, kFirst), kPcie, "3 and 1");
  expect_link(nvml.link(kFirst, kFourth), kShm, "1 and 4");
  expect_link(nvml.link(kFirst, "0000:05:00.0"), kShm, "1 and one that NVML does not know");
}

void nvml_tells_links_without_atomics() {
  const Nvml nvml(SPARKGAP_FAKE_NVML);
  expect(!nvml.lacks_atomics(kFirst, kSecond), "1 and 2 are linked by NVLink");
  expect(nvml.lacks_atomics(kThird, kFirst), "3 reaches 1 over PCI Express");
  expect(!nvml.lacks_atomics(kFirst, "0000:05:00.0"), "nothing is known of one that NVML does not know");
}

void without_nvml_nothing_is_claimed() {
  const Nvml nvml("libsparkgap-there-is-none.so.1");
  expect(nvml.driver_version().empty(), "driver \"%s\"", nvml.driver_version().c_str());
  expect_link(nvml.link(kFirst, kSecond), kShm, "1 and 2");
}

LinkRow row(const std::vector<int32_t>& links) {
  LinkRow made = {};
  for (size_t pe = 0; pe < links.size(); ++pe) made.to[pe] = links[pe];
  return made;
}

void all_pes_have_the_same_links_even_if_one_has_no_nvml() {
  // PE 1 knows nothing; PE 0 and PE 2 disagree.
  const Links links({row({kShm, kNvlink, kPcie}), row({kShm, kShm, kShm}), row({kNvlink, kPcie, kShm})});
  expect_link(links.between(0, 1), kNvlink, "0 and 1");
  expect_link(links.between(1, 0), kNvlink, "1 and 0");
  expect_link(links.between(1, 2), kPcie, "1 and 2");
  expect_link(links.between(2, 1), kPcie, "2 and 1");
  expect_link(links.between(0, 2), kPcie, "0 and 2");
  expect_link(links.between(2, 0), kPcie, "2 and 0");
  expect_link(links.between(1, 1), kShm, "1 and itself");
}

void expect_text(const Links& links, const char* expected) {
  char line[200];
  Text text(line, sizeof line);
  links.describe(text);
  expect(std::strcmp(line, expected) == 0, "\"%s\" instead of \"%s\"", line, expected);
}

void logs_name_every_link_that_there_is() {
  const Links mixed({row({kShm, kNvlink, kPcie}), row({kNvlink, kShm, kPcie}), row({kPcie, kPcie, kShm})});
  expect_text(mixed, ", linked by NVLink and PCI Express");
  expect(mixed.has(kNvlink) && mixed.has(kPcie) && !mixed.has(kShm), "a PE's link to itself does not count");
  expect_text(Links({row({kShm, kShm}), row({kShm, kShm})}), ", linked by shared memory");
  expect_text(Links({row({kShm})}), "");
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(
      argc, argv,
      {{"nvml_tells_nvlink_from_pci_express", nvml_tells_nvlink_from_pci_express},
       {"nvml_tells_links_without_atomics", nvml_tells_links_without_atomics},
       {"without_nvml_nothing_is_claimed", without_nvml_nothing_is_claimed},
       {"all_pes_have_the_same_links_even_if_one_has_no_nvml", all_pes_have_the_same_links_even_if_one_has_no_nvml},
       {"logs_name_every_link_that_there_is", logs_name_every_link_that_there_is}});
}
