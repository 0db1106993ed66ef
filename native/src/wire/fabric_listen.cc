// How a FabricWire comes about: provider, listener, domain.
#include <netinet/in.h>

#include <cerrno>
#include <cstring>

#include "base/random.h"
#include "wire/address.h"
#include "wire/fabric_wire.h"

namespace sparkgap {
namespace {

constexpr uint64_t kCompletions = 8192;

bool is_taken(int error) { return error == -FI_EADDRINUSE || error == -EADDRINUSE; }

std::string provider_of(const std::string& kind) {
  // auto is tcp: verbs has not been run, so nobody gets it unasked.
  if (kind.empty() || kind == "auto" || kind == "tcp") return "tcp";
  if (kind == "verbs") return "verbs";
  fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "there is no wire \"%s\": spark.sparkgap.wire is auto, tcp or verbs",
       kind.c_str());
}

}  // namespace

std::unique_ptr<Wire> Wire::listen(const WireOptions& options, WireSink* sink) {
  return std::make_unique<FabricWire>(options, sink);
}

void probe_wire(const char* kind, const char* address, const char* ports, const char* library, Text& found) {
  class Deaf final : public WireSink {
    void on_signal(int32_t, const WireSignal&) override {}
    void on_left(int32_t) override {}
  } sink;
  const auto text_or_empty = [](const char* text) { return text == nullptr ? std::string() : std::string(text); };
  WireOptions options;
  options.pes = 1;
  options.kind = text_or_empty(kind);
  options.address = text_or_empty(address);
  options.ports = text_or_empty(ports);
  options.library = text_or_empty(library);
  found.add("%s", Wire::listen(options, &sink)->describe());
}

FabricWire::FabricWire(const WireOptions& options, WireSink* sink)
    : options_(options),
      sink_(sink),
      library_(options.library, options.kind == "verbs"),
      peers_(static_cast<size_t>(options.pes)) {
  const std::string address = own_address(options_.address);
  listen_on(address);
  open_domain();
  fill_randomly(&contact_.nonce, sizeof contact_.nonce);
  description_ = "libfabric " + library_.version() + " (" + library_.path() + "), " + info_->fabric_attr->prov_name +
                 " on " + address;
}

FabricInfo FabricWire::find_provider(const std::string& address, int32_t port) const {
  const std::string provider = provider_of(options_.kind);
  const FabricInfo hints = library_.duplicate(nullptr);
  if (hints == nullptr) fail(SPARKGAP_INTERNAL, kNoPe, "libfabric has no memory");
  hints->caps = FI_MSG | FI_RMA;
  hints->addr_format = address.find(':') == std::string::npos ? FI_SOCKADDR_IN : FI_SOCKADDR_IN6;
  hints->ep_attr->type = FI_EP_MSG;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
  hints->tx_attr->msg_order = FI_ORDER_WAW | FI_ORDER_SAS;
  hints->fabric_attr->prov_name = strdup(provider.c_str());
  // Where the provider leaves the keys to us they are random; verbs gives them itself.
  if (provider == "verbs") {
    hints->mode = FI_RX_CQ_DATA;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
  }
  struct fi_info* found = nullptr;
  const std::string service = std::to_string(port);
  const int error =
      library_.get_info(address.c_str(), service.c_str(), FI_SOURCE | FI_NUMERICHOST, hints.get(), &found);
  if (error == 0 && found != nullptr) return library_.own(found);
  fail(SPARKGAP_UNAVAILABLE, kNoPe, "libfabric %s (%s) has no %s for address %s: %s. spark.sparkgap.wire names another",
       library_.version().c_str(), library_.path().c_str(), provider.c_str(), address.c_str(), text_of(error));
}

void FabricWire::listen_on(const std::string& address) {
  const PortRange ports = parse_ports(options_.ports);
  // Worlds that are made at the same time begin at different ports.
  uint32_t start = 0;
  fill_randomly(&start, sizeof start);
  const uint32_t number = static_cast<uint32_t>(ports.last - ports.first + 1);
  int error = 0;
  for (uint32_t i = 0; i < number; ++i) {
    info_ = find_provider(address, ports.first + static_cast<int32_t>((start + i) % number));
    if (fabric_ == nullptr) {
      fid_fabric* fabric = nullptr;
      check(library_.functions().fabric(info_->fabric_attr, &fabric, nullptr), "fabric");
      fabric_.reset(fabric);
      fi_eq_attr wait_attributes = {};
      wait_attributes.wait_obj = FI_WAIT_FD;
      fid_eq* queue = nullptr;
      check(fi_eq_open(fabric_.get(), &wait_attributes, &queue, nullptr), "event queue");
      events_.reset(queue);
      if (fi_control(&queue->fid, FI_GETWAIT, &descriptor_) != 0) descriptor_ = -1;
      fi_eq_attr attributes = {};
      attributes.wait_obj = FI_WAIT_NONE;
      check(fi_eq_open(fabric_.get(), &attributes, &queue, nullptr), "event queue");
      requests_.reset(queue);
    }
    fid_pep* listener = nullptr;
    error = fi_passive_ep(fabric_.get(), info_.get(), &listener, nullptr);
    if (error == 0) {
      listener_.reset(listener);
      check(fi_pep_bind(listener, &requests_->fid, 0), "listener");
      error = fi_listen(listener);
    }
    if (error == 0) break;
    listener_.reset();
    if (!is_taken(error)) break;
  }
  if (error != 0) fail_to_listen(address, error);
  size_t bytes = sizeof contact_.address;
  check(fi_getname(&listener_->fid, contact_.address, &bytes), "address of the listener");
  contact_.address_bytes = static_cast<uint32_t>(bytes);
}

void FabricWire::fail_to_listen(const std::string& address, int error) const {
  if (is_taken(error)) {
    fail(
        SPARKGAP_UNAVAILABLE, kNoPe,
        "all ports of %s on %s are taken. A PE needs one while its world is made: make spark.sparkgap.wire.ports wider",
        options_.ports.c_str(), address.c_str());
  }
  fail(SPARKGAP_UNAVAILABLE, kNoPe, "cannot listen on %s%s%s: %s. spark.sparkgap.wire.address and .ports say where",
       address.c_str(), options_.ports.empty() ? "" : ", ports ", options_.ports.c_str(), text_of(error));
}

void FabricWire::open_domain() {
  fid_domain* domain = nullptr;
  check(fi_domain(fabric_.get(), info_.get(), &domain, nullptr), "domain");
  domain_.reset(domain);
  fi_cq_attr attributes = {};
  attributes.format = FI_CQ_FORMAT_DATA;
  attributes.wait_obj = FI_WAIT_NONE;
  attributes.size = kCompletions;
  fid_cq* completions = nullptr;
  check(fi_cq_open(domain_.get(), &attributes, &completions, nullptr), "completion queue");
  completions_.reset(completions);
  is_rdma_ = std::strstr(info_->fabric_attr->prov_name, "verbs") != nullptr;
  carries_check_ = info_->domain_attr->cq_data_size >= sizeof(uint64_t);
  needs_receives_ = (info_->mode & FI_RX_CQ_DATA) != 0 || (info_->rx_attr->mode & FI_RX_CQ_DATA) != 0;
  inject_bytes_ = info_->tx_attr->inject_size;
  staged_bytes_ = is_rdma_ ? 0 : kStageBytes;
}

WireMemory FabricWire::expose(void* address, uint64_t bytes) {
  uint64_t wanted = 0;
  fill_randomly(&wanted, sizeof wanted);
  fid_mr* region = nullptr;
  lock_.lock();
  const int error = fi_mr_reg(domain_.get(), address, bytes, FI_REMOTE_WRITE | FI_REMOTE_READ | FI_WRITE | FI_READ, 0,
                              wanted, 0, &region, nullptr);
  WireMemory memory;
  if (error == 0) {
    memory.key = fi_mr_key(region);
    memory.base = (info_->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0 ? reinterpret_cast<uint64_t>(address) : 0;
    memory.bytes = bytes;
    exposed_[memory.key] = {static_cast<const uint8_t*>(address), bytes, FabricObject<fid_mr>(region)};
  }
  lock_.unlock();
  check(error, "memory");
  return memory;
}

void FabricWire::withdraw(const WireMemory& memory) {
  lock_.lock();
  exposed_.erase(memory.key);
  lock_.unlock();
}

void FabricWire::check(int error, const char* what) const {
  if (error == 0) return;
  fail(SPARKGAP_UNAVAILABLE, kNoPe, "libfabric %s (%s) gave no %s for the wire: %s", library_.version().c_str(),
       library_.path().c_str(), what, text_of(error));
}

}  // namespace sparkgap
