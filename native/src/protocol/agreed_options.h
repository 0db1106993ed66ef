// What all PEs of a world were made with alike: compared when they connect.
#ifndef SPARKGAP_PROTOCOL_AGREED_OPTIONS_H
#define SPARKGAP_PROTOCOL_AGREED_OPTIONS_H

#include "base/error.h"
#include "protocol/call.h"
#include "protocol/layout.h"

namespace sparkgap {

// MISMATCH, with what both PEs have, if they differ; else SPARKGAP_OK.
Failure compare_options(const NamedPe& own, const AgreedOptions& mine, const NamedPe& other,
                        const AgreedOptions& theirs);

}  // namespace sparkgap

#endif  // SPARKGAP_PROTOCOL_AGREED_OPTIONS_H
