// What the kernel calls this machine's CPU.
#ifndef SPARKGAP_PROVIDER_HOST_CPU_NAME_H
#define SPARKGAP_PROVIDER_HOST_CPU_NAME_H

#include <string>

namespace sparkgap {

// "Intel(R) Xeon(R) Processor": the model of the first in /proc/cpuinfo; "" if it does not say. Read once in a process:
// the kernel asks every CPU for its clock meanwhile.
const std::string& cpu_name();

}  // namespace sparkgap

#endif  // SPARKGAP_PROVIDER_HOST_CPU_NAME_H
