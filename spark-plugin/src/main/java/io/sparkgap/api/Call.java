package io.sparkgap.api;

/** The calls that a communicator's one thread can be in, by the name that users wrote. */
enum Call {
  ALLOCATE("allocate"),
  FREE("SymmetricBuffer.close"),
  COPY("SymmetricBuffer.read or write"),
  ALL_REDUCE("allReduce"),
  REDUCE_SCATTER("reduceScatter"),
  ALL_GATHER("allGather"),
  BROADCAST("broadcast"),
  REDUCE("reduce"),
  ALL_TO_ALL("allToAll"),
  ALL_TO_ALLV("allToAllv"),
  BARRIER("barrier"),
  SYNCHRONIZE("synchronize"),
  PUT("put"),
  GET("get"),
  PUT_SIGNAL("putSignal"),
  SIGNAL("signal"),
  WAIT_SIGNAL("waitSignal"),
  FETCH_ADD("fetchAdd"),
  STREAM("stream"),
  SET_STREAM("setStream"),
  EVENT("a call of an event"),
  ROUTE("route"),
  HOLD_TO("holdTo"),
  CLOSE("close");

  private static final Call[] ALL = values();

  final String text;

  Call(String text) {
    this.text = text;
  }

  static String text(int ordinal) {
    return ALL[ordinal].text;
  }
}
