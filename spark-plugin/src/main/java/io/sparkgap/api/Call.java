package io.sparkgap.api;

/** The calls that a communicator's one thread can be in, by the name that users wrote. */
enum Call {
  ALLOCATE("allocate", "Allocate before the recording."),
  FREE("SymmetricBuffer.close", "Close it when no step uses it any more."),
  COPY("SymmetricBuffer.read or write", "Copy before a run or after it."),
  ALL_REDUCE(Collective.ALL_REDUCE.text()),
  REDUCE_SCATTER(Collective.REDUCE_SCATTER.text()),
  ALL_GATHER(Collective.ALL_GATHER.text()),
  BROADCAST(Collective.BROADCAST.text()),
  REDUCE(Collective.REDUCE.text()),
  ALL_TO_ALL(Collective.ALL_TO_ALL.text()),
  ALL_TO_ALLV(Collective.ALL_TO_ALLV.text()),
  BARRIER(Collective.BARRIER.text()),
  ROW_EXCHANGE("rowExchange", "Make it before the recording."),
  DISPATCH("dispatch"),
  COMBINE("combine"),
  EXCHANGE_ROWS("exchangeRows"),
  SYNCHRONIZE("synchronize", "Nothing is under way: wait after a run."),
  PUT("put"),
  GET("get"),
  PUT_SIGNAL("putSignal"),
  SIGNAL("signal"),
  WAIT_SIGNAL("waitSignal"),
  FETCH_ADD(
      "fetchAdd", "What it returns is not known yet: signal adds as well, with SignalOp.ADD."),
  STREAM("stream"),
  SET_STREAM("setStream", "Set it before the recording, or before a run."),
  DEVICE_WORLD("deviceWorld"),
  DEVICE_BUFFER("SymmetricBuffer.deviceBuffer"),
  EVENT("a call of an event", "Record one before a run or after it."),
  ROUTE("route"),
  EXPLAIN("explain"),
  HOLD_TO("holdTo"),
  TUNING_KEY("tuningKey"),
  RECORD("record", "End this recording first."),
  RUN_STEP("Step.run", "Record its calls again."),
  CLOSE_STEP("Step.close"),
  CLOSE("close", "End the recording first.");

  private static final Call[] ALL = values();

  final String text;

  /** What to do where a step is recorded, which this cannot be part of; null if it can. */
  final String instead;

  Call(String text) {
    this(text, null);
  }

  Call(String text, String instead) {
    this.text = text;
    this.instead = instead;
  }

  static String text(int ordinal) {
    return ALL[ordinal].text;
  }
}
