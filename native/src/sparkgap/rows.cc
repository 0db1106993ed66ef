// The C functions that exchange rows.
#include "world/rows.h"

#include "sparkgap/guarded.h"

using namespace sparkgap;

sparkgap_status sparkgap_rows_layout_of(sparkgap_world* world, const sparkgap_rows_shape* shape,
                                        sparkgap_rows_layout* layout) {
  return guarded_call(world, [&] {
    if (layout == nullptr) fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "layout is null");
    *layout = {};
    const RowsPlan plan = plan_rows(*world, shape);
    layout->bytes = plan.bytes;
    layout->counts = plan.counts_at;
    layout->received = plan.received_at;
    layout->scales = plan.scales_at;
    layout->weights = plan.weights_at;
    layout->results = plan.results_at;
    layout->first_expert = plan.first_expert(world->pe());
    layout->local_experts = plan.first_expert(world->pe() + 1) - layout->first_expert;
  });
}

sparkgap_status sparkgap_dispatch(sparkgap_world* world, sparkgap_buffer* buffer, const sparkgap_rows_shape* shape,
                                  const void* in, const int32_t* indices, const float* weights, uint64_t rows) {
  return guarded_call(world, [&] {
    world->rows(checked_rows_call(*world, SPARKGAP_DISPATCH, buffer, shape, in, indices, weights, nullptr, rows));
  });
}

sparkgap_status sparkgap_combine(sparkgap_world* world, sparkgap_buffer* buffer, const sparkgap_rows_shape* shape,
                                 const float* weights, void* out, uint64_t rows) {
  return guarded_call(world, [&] {
    world->rows(checked_rows_call(*world, SPARKGAP_COMBINE, buffer, shape, nullptr, nullptr, weights, out, rows));
  });
}

sparkgap_status sparkgap_exchange_rows(sparkgap_world* world, sparkgap_buffer* buffer, const sparkgap_rows_shape* shape,
                                       const void* in, const int32_t* destinations, uint64_t rows) {
  return guarded_call(world, [&] {
    world->rows(
        checked_rows_call(*world, SPARKGAP_EXCHANGE_ROWS, buffer, shape, in, destinations, nullptr, nullptr, rows));
  });
}
