#!/usr/bin/env bash
# Packs Spark and a Java runtime into one archive, for a GPU host that has neither and reaches no registry.
#
#   pack.sh OUT_DIR      writes OUT_DIR/spark-kit.tar.xz (about 60 MB), which holds jre/ and spark/jars/
#
# Needs here: Maven, a JDK with jmods, unzip, xz. Takes some minutes.
# Left out to stay small: natives of other platforms, RocksDB, ICU, ZooKeeper and Curator, HDFS, YARN, Hadoop's Kerberos and
# HTTP clients. So the kit has no event log on RocksDB, no HA master, no HDFS and no Kerberos.
set -euo pipefail
out=$(mkdir -p "${1:?usage: pack.sh OUT_DIR}" && cd "$1" && pwd)
pom=$(cd "$(dirname "$0")/../.." && pwd)/pom.xml
property() { sed -n "s|.*<$1>\(.*\)</$1>.*|\1|p" "$pom"; }
spark=$(property spark.version)
scala=$(property scala.binary.version)
work=$(mktemp -d "$out/packing.XXXXXX")
trap 'rm -rf "$work"' EXIT
java_home=${JAVA_HOME:-$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")}
cat > "$work/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>kit</groupId><artifactId>kit</artifactId><version>1</version><dependencies><dependency>
<groupId>org.apache.spark</groupId><artifactId>spark-core_$scala</artifactId><version>$spark</version>
</dependency></dependencies></project>
POM
mvn -q -B -f "$work/pom.xml" "org.apache.maven.plugins:maven-dependency-plugin:$(property maven-dependency-plugin.version):copy-dependencies" \
  -DoutputDirectory="$work/jars"
cd "$work/jars"
rm -f rocksdbjni-* icu4j-* ./*quic* ./*osx* ./*windows* ./*aarch* ./*riscv64* curator-* zookeeper-* zookeeper-jute-* \
      tink-* commons-math3-* leveldbjni-* javassist-*
mkdir -p "$work/kit/spark/jars"
for jar in *.jar; do  # repacked without compression: the archive's own compression does far better on the whole
  name=${jar%.jar}; mkdir "$work/x"; cd "$work/x"; unzip -qo "$work/jars/$jar"
  rm -rf META-INF/maven META-INF/versions/*/module-info.class module-info.class
  case $name in
    hadoop-client-runtime*) (cd org/apache/hadoop/shaded && rm -rf org/apache/{curator,kerby,avro,http,zookeeper} \
        com/{nimbusds,jcraft} org/{jline,xbill,eclipse}) ;;
    hadoop-client-api*) rm -rf org/apache/hadoop/{hdfs,yarn,mapreduce/v2} ;;
    zstd-jni*|lz4-java*|snappy-java*) find . -type f \( -name '*.so' -o -name '*.dylib' -o -name '*.dll' -o -name '*.jnilib' -o -name '*.a' \) \
        ! -ipath '*linux/amd64/*' ! -path '*/Linux/x86_64/*' -delete ;;
  esac
  "$java_home/bin/jar" -c -f "$work/kit/spark/jars/$jar" -0 -M . ; cd "$work"; rm -rf "$work/x"
done
touch "$work/kit/spark/RELEASE"
modules=java.base,java.compiler,java.desktop,java.instrument,java.logging,java.management,java.naming,java.rmi,java.scripting
modules+=,java.security.jgss,java.security.sasl,java.sql,java.xml,jdk.attach,jdk.crypto.ec,jdk.incubator.vector,jdk.jcmd,jdk.jfr
modules+=,jdk.management,jdk.net,jdk.security.auth,jdk.security.jgss,jdk.unsupported,jdk.zipfs
"$java_home/bin/jlink" --add-modules $modules --strip-debug --no-header-files --no-man-pages --compress=0 --output "$work/kit/jre"
find "$work/kit/jre" -name '*.so' -exec strip --strip-unneeded {} +
rm -f "$work"/kit/jre/lib/lib{awt_xawt,awt_headless,fontmanager,javajpeg,lcms,mlib_image,splashscreen,jsound,freetype}.so
tar c -C "$work/kit" . | xz -T0 -9 > "$out/spark-kit.tar.xz"
ls -l "$out/spark-kit.tar.xz"
