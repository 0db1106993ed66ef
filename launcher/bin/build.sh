# Sourced by bin/sparkgap: looks for the tools, and builds with Maven behind a line of progress.

# One line that says what is missing and what brings it.
missing_tool() { # TOOL WHY DEBIAN-PACKAGE FEDORA-PACKAGE
  echo "sparkgap: $1 $2." >&2
  echo "  Debian, Ubuntu: apt-get install $3      Fedora, RHEL: dnf install $4" >&2
  exit 1
}

at_least() { # VERSION MINIMUM
  [[ $(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1) == "$2" ]]
}

# Of a JDK's file `release` where it has one: starting a JVM to ask it takes as long as the command itself.
java_version() { # JAVA
  local program release
  program=$(readlink -f "$(command -v "$1")") || true
  release=${program%/bin/java}/release
  if [[ -f $release ]]; then
    sed -n 's/^JAVA_VERSION="\([0-9.]*\).*/\1/p' "$release"
  else
    "$1" -version 2>&1 | sed -n 's/.* version "\([0-9.]*\).*/\1/p'
  fi
}

require_java() { # JAVA
  local version
  version=$(java_version "$1") || true
  [[ -n $version ]] || missing_tool Java "was not found ($1)" openjdk-17-jdk-headless java-17-openjdk-devel
  at_least "$version" 17 ||
    missing_tool Java "is $version, but 17 or later is needed ($1)" openjdk-17-jdk-headless java-17-openjdk-devel
}

require_tools() { # HOME
  local java=${JAVA_HOME:+$JAVA_HOME/bin/}java javac=${JAVA_HOME:+$JAVA_HOME/bin/}javac version minimum
  require_java "$java"
  command -v "$javac" >/dev/null ||
    missing_tool "a Java compiler" "was not found ($javac): a JDK is needed, not only a JRE" \
      openjdk-17-jdk-headless java-17-openjdk-devel
  command -v mvn >/dev/null || missing_tool Maven "was not found (mvn)" maven maven
  command -v g++ >/dev/null || missing_tool "a C++ compiler" "was not found (g++)" g++ gcc-c++
  command -v make >/dev/null || missing_tool make "was not found" make make
  command -v cmake >/dev/null || missing_tool CMake "was not found (cmake)" cmake cmake
  minimum=$(sed -n 's/cmake_minimum_required(VERSION \([0-9.]*\).*/\1/p' "$1/native/CMakeLists.txt")
  version=$(cmake --version | sed -n '1s/[^0-9]*//p')
  at_least "$version" "$minimum" || missing_tool CMake \
    "is $version, but $minimum or later is needed; if your distribution has none, pip has" cmake cmake
  command -v python3 >/dev/null || missing_tool Python "was not found (python3)" "python3 python3-pip" "python3 python3-pip"
  python3 -m pip --version >/dev/null 2>&1 ||
    missing_tool pip "was not found (python3 -m pip), which downloads libfabric" python3-pip python3-pip
}

build_is_current() { # HOME
  local built=$1/launcher/target/built
  [[ -f $built ]] || return 1
  [[ -z $(find "$1"/pom.xml "$1"/*/pom.xml "$1"/launcher/spark-home/pom.xml "$1"/native/CMakeLists.txt \
    "$1"/native/{include,src} "$1"/{spark-plugin,examples,launcher,launcher/spark-home}/src \
    -not -path '*/src/test/*' -newer "$built" -print -quit) ]]
}

# What Maven is at, from its log.
build_stage() { # LOG
  local module files
  module=$(sed -nE 's/^\[INFO\] Building (.*[^ ]) +[^ ]+ +(\[[0-9/]+\])$/\2 \1/p' "$1" | tail -n 1)
  files=$(grep -c '^Downloaded\|^\[INFO\] Downloaded' "$1" || true)
  echo "${module:-reading the project}$([[ $files == 0 ]] || echo ", $files files downloaded")"
}

build_if_needed() { # HOME
  local home=$1 log=$1/launcher/target/build.log maven stage shown='' status=0
  build_is_current "$home" && return
  require_tools "$home"
  mkdir -p "$home/launcher/target"
  echo "Building Sparkgap with Maven; the first time it downloads Spark, which takes a few minutes." >&2
  # A process group of its own, so that Ctrl-C ends the compilers as well.
  set -m
  (cd "$home" && exec mvn -B package -pl launcher -am -DskipTests -Dnative.tests=OFF) >"$log" 2>&1 </dev/null &
  maven=$!
  set +m
  trap 'kill -- "-$maven" 2>/dev/null; exit 130' INT TERM
  while kill -0 "$maven" 2>/dev/null; do
    stage=$(build_stage "$log")
    if [[ -t 2 ]]; then
      printf '\r\033[2K  %s, %s s' "$stage" "$SECONDS" >&2
    elif [[ ${stage%%,*} != "$shown" ]]; then
      shown=${stage%%,*}
      echo "  $shown" >&2
    fi
    sleep 0.3
  done
  wait "$maven" || status=$?
  trap - INT TERM
  [[ ! -t 2 ]] || printf '\r\033[2K' >&2
  if [[ $status != 0 ]]; then
    echo "sparkgap: the build failed:" >&2
    grep -E '^\[ERROR\] .|error:' "$log" | grep -vE 'Help 1|full stack trace|full debug|correcting the problems|mvn <args>' |
      head -n 12 | cut -c 1-300 | sed 's/^/  /' >&2 || true
    echo "  all of it: $log" >&2
    exit 1
  fi
  echo "Built in $SECONDS s." >&2
}
