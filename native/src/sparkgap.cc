// Placeholder replaced by the native core.
#include "sparkgap/sparkgap.h"
int32_t sparkgap_abi_version(void) { return 0; }
const char* sparkgap_version(void) { return ""; }
sparkgap_status sparkgap_world_create(const sparkgap_world_options* , sparkgap_world** ) { return 0; }
sparkgap_status sparkgap_world_id(sparkgap_world* , uint8_t* ) { return 0; }
sparkgap_status sparkgap_world_connect(sparkgap_world* , const uint8_t* ) { return 0; }
sparkgap_status sparkgap_world_abort(sparkgap_world* , const char* ) { return 0; }
sparkgap_status sparkgap_world_health(sparkgap_world* ) { return 0; }
void sparkgap_world_destroy(sparkgap_world* ) {}
const char* sparkgap_last_error(const sparkgap_world* ) { return ""; }
int32_t sparkgap_last_error_pe(const sparkgap_world* ) { return 0; }
const char* sparkgap_world_describe(sparkgap_world* ) { return ""; }
sparkgap_status sparkgap_allocate(sparkgap_world* , uint64_t , sparkgap_buffer** ) { return 0; }
sparkgap_status sparkgap_free(sparkgap_world* , sparkgap_buffer* ) { return 0; }
void* sparkgap_buffer_address(const sparkgap_buffer* ) { return nullptr; }
uint64_t sparkgap_buffer_bytes(const sparkgap_buffer* ) { return 0; }
void* sparkgap_buffer_peer_address(const sparkgap_buffer* , int32_t ) { return nullptr; }
sparkgap_status sparkgap_put(sparkgap_world* , sparkgap_buffer* , uint64_t , const void* ,
                             uint64_t , int32_t ) { return 0; }
sparkgap_status sparkgap_get(sparkgap_world* , void* , sparkgap_buffer* , uint64_t ,
                             uint64_t , int32_t ) { return 0; }
sparkgap_status sparkgap_put_signal(sparkgap_world* , sparkgap_buffer* , uint64_t , const void* ,
                                    uint64_t , sparkgap_buffer* , uint64_t , int64_t ,
                                    int32_t , int32_t ) { return 0; }
sparkgap_status sparkgap_signal(sparkgap_world* , sparkgap_buffer* , uint64_t , int64_t ,
                                int32_t , int32_t ) { return 0; }
sparkgap_status sparkgap_wait_signal(sparkgap_world* , sparkgap_buffer* , uint64_t ,
                                     int32_t , int64_t , int64_t* ) { return 0; }
sparkgap_status sparkgap_fetch_add(sparkgap_world* , sparkgap_buffer* , uint64_t , int64_t ,
                                   int32_t , int64_t* ) { return 0; }
sparkgap_status sparkgap_all_reduce(sparkgap_world* , const void* , void* , uint64_t , int32_t ,
                                    int32_t ) { return 0; }
sparkgap_status sparkgap_reduce_scatter(sparkgap_world* , const void* , void* , uint64_t ,
                                        int32_t , int32_t ) { return 0; }
sparkgap_status sparkgap_all_gather(sparkgap_world* , const void* , void* , uint64_t ,
                                    int32_t ) { return 0; }
sparkgap_status sparkgap_broadcast(sparkgap_world* , const void* , void* , uint64_t , int32_t ,
                                   int32_t ) { return 0; }
sparkgap_status sparkgap_reduce(sparkgap_world* , const void* , void* , uint64_t , int32_t ,
                                int32_t , int32_t ) { return 0; }
sparkgap_status sparkgap_all_to_all(sparkgap_world* , const void* , void* , uint64_t ,
                                    int32_t ) { return 0; }
sparkgap_status sparkgap_all_to_allv(sparkgap_world* , const void* , const uint64_t* ,
                                     const uint64_t* , void* , const uint64_t* ,
                                     const uint64_t* , int32_t ) { return 0; }
sparkgap_status sparkgap_barrier(sparkgap_world* ) { return 0; }
sparkgap_status sparkgap_synchronize(sparkgap_world* ) { return 0; }
const char* sparkgap_route(sparkgap_world* , int32_t , uint64_t , int32_t ) { return ""; }
sparkgap_status sparkgap_world_set_algorithm(sparkgap_world* , int32_t , const char* ) { return 0; }
