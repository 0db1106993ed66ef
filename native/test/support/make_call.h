// A collective by its function of the C interface.
#ifndef SPARKGAP_TEST_SUPPORT_MAKE_CALL_H
#define SPARKGAP_TEST_SUPPORT_MAKE_CALL_H

#include "description/call.h"
#include "sparkgap/sparkgap.h"

namespace sparkgap::test {

sparkgap_status make_call(sparkgap_world* world, const CollectiveCall& call);

}  // namespace sparkgap::test
#endif  // SPARKGAP_TEST_SUPPORT_MAKE_CALL_H
