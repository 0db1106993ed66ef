package io.sparkgap.failure;

import io.sparkgap.api.Communicator;
import io.sparkgap.api.DataType;
import io.sparkgap.api.ReduceOp;
import io.sparkgap.api.SymmetricBuffer;

/** Calls of which PE 1 makes another one than the other PEs. */
enum Mismatch {
  SIZES("allReduce float32 x 100 SUM", "allReduce float32 x 101 SUM") {
    @Override
    void call(Communicator pe, SymmetricBuffer data, boolean other) {
      pe.allReduce(data, data, other ? 101 : 100, DataType.FLOAT32, ReduceOp.SUM);
    }
  },
  SIZES_OF_OTHER_ALGORITHMS("allReduce float32 x 100 SUM", "allReduce float32 x 1000000 SUM") {
    @Override
    void call(Communicator pe, SymmetricBuffer data, boolean other) {
      pe.allReduce(data, data, other ? 1_000_000 : 100, DataType.FLOAT32, ReduceOp.SUM);
    }
  },
  TYPES("allReduce float32 x 100 SUM", "allReduce int32 x 100 SUM") {
    @Override
    void call(Communicator pe, SymmetricBuffer data, boolean other) {
      pe.allReduce(data, data, 100, other ? DataType.INT32 : DataType.FLOAT32, ReduceOp.SUM);
    }
  },
  OPERATIONS("allReduce float32 x 100 SUM", "allReduce float32 x 100 MAX") {
    @Override
    void call(Communicator pe, SymmetricBuffer data, boolean other) {
      pe.allReduce(data, data, 100, DataType.FLOAT32, other ? ReduceOp.MAX : ReduceOp.SUM);
    }
  },
  COLLECTIVES("broadcast float32 x 100 from PE 0", "barrier") {
    @Override
    void call(Communicator pe, SymmetricBuffer data, boolean other) {
      if (other) {
        pe.barrier();
      } else {
        pe.broadcast(data, data, 100, DataType.FLOAT32, 0);
      }
    }
  },
  ROOTS("broadcast float32 x 100 from PE 0", "broadcast float32 x 100 from PE 1") {
    @Override
    void call(Communicator pe, SymmetricBuffer data, boolean other) {
      pe.broadcast(data, data, 100, DataType.FLOAT32, other ? 1 : 0);
    }
  };

  /** How errors name the two calls. */
  final String usual;

  final String others;

  Mismatch(String usual, String others) {
    this.usual = usual;
    this.others = others;
  }

  abstract void call(Communicator pe, SymmetricBuffer data, boolean other);

  /** The calls, in a buffer that would hold either, and then one that waits for all. */
  final void call(Communicator pe) {
    SymmetricBuffer data = pe.allocate(DataType.FLOAT32, 1_000_000);
    call(pe, data, pe.pe() == 1);
    pe.barrier();
  }
}
