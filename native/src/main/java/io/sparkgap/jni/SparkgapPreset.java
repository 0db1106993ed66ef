package io.sparkgap.jni;

import io.sparkgap.javacpp.annotation.Platform;
import io.sparkgap.javacpp.annotation.Properties;
import io.sparkgap.javacpp.tools.Info;
import io.sparkgap.javacpp.tools.InfoMap;
import io.sparkgap.javacpp.tools.InfoMapper;

/**
 * Tells JavaCPP how to turn the headers of {@code sparkgap.h} into {@code
 * io.sparkgap.jni.SparkgapNative}. It does not follow an include: each header is named here.
 */
@Properties(
    value =
        @Platform(
            include = {
              "sparkgap/types.h",
              "sparkgap/devices.h",
              "sparkgap/world.h",
              "sparkgap/streams.h",
              "sparkgap/kernels.h",
              "sparkgap/memory.h",
              "sparkgap/collectives.h",
              "sparkgap/steps.h",
              "sparkgap/routes.h",
              "sparkgap/rows.h"
            },
            link = "sparkgap"),
    target = "io.sparkgap.jni",
    global = "io.sparkgap.jni.SparkgapNative")
public class SparkgapPreset implements InfoMapper {
  @Override
  public void map(InfoMap infoMap) {
    infoMap
        .put(new Info("sparkgap_world").pointerTypes("WorldHandle"))
        .put(new Info("sparkgap_buffer").pointerTypes("BufferHandle"))
        .put(new Info("sparkgap_event").pointerTypes("EventHandle"))
        .put(new Info("sparkgap_step").pointerTypes("StepHandle"))
        .put(new Info("sparkgap_world_options").pointerTypes("WorldOptions"))
        .put(new Info("sparkgap_device_info").pointerTypes("DeviceInfo"))
        .put(new Info("sparkgap_tuning_row").pointerTypes("TuningRow"))
        .put(new Info("sparkgap_tuning_time").pointerTypes("TuningTime"))
        .put(new Info("sparkgap_tuning_table").pointerTypes("TuningTable"))
        .put(new Info("sparkgap_explanation").pointerTypes("RouteExplanation"))
        .put(new Info("sparkgap_rows_shape").pointerTypes("RowsShape"))
        .put(new Info("sparkgap_rows_layout").pointerTypes("RowsLayout"))
        .put(new Info("sparkgap_counter").pointerTypes("Counter"))
        .put(new Info("sparkgap_device_world").cast().pointerTypes("Pointer"))
        .put(new Info("sparkgap_device_buffer").cast().pointerTypes("Pointer"))
        .put(new Info("sparkgap_status").cast().valueTypes("int"));
  }
}
