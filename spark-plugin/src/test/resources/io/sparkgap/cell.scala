import io.sparkgap.Sparkgap
import io.sparkgap.api.{Communicator, DataType, ReduceOp}
import org.apache.spark.api.java.JavaSparkContext
val rate = 0.5
val jsc = JavaSparkContext.fromSparkContext(sc)
val large = new Array[Byte](60 << 20)
val notSerializable = new Object
val sums = Sparkgap.run(jsc, 2, (c: Communicator) => { val a = Array(rate * (c.pe + 1)); c.allReduce(a); a(0) })
val numbered = Sparkgap.run(sc, 2, (c: Communicator) => rate + c.pe)
val rows = sc.parallelize(1 to 10, 2).map(_.toDouble)
val totals = Sparkgap.run(rows, (c: Communicator, mine: java.util.Iterator[Double]) => {
  var sum = 0.0
  while (mine.hasNext) sum += mine.next() * rate
  val total = Array(sum)
  c.allReduce(total)
  java.util.Collections.singletonList(total(0)).iterator
})
val stepped = Sparkgap.run(sc, 2, (c: Communicator) => {
  val word = c.allocate(DataType.INT32, 1)
  val step = c.record(calls => calls.allReduce(word, word, 1, DataType.INT32, ReduceOp.SUM))
  val one = Array(1)
  word.write(0, one, 0, 1)
  step.run()
  step.run()
  word.read(0, one, 0, 1)
  one(0)
})
val wrong = try {
  Sparkgap.run(sc, 2, (c: Communicator) => jsc.sc.hashCode + c.pe)
  "ran"
} catch { case e: Exception => e.getMessage }
println(s"\nOf the cell: $sums $numbered $totals $stepped $wrong")
