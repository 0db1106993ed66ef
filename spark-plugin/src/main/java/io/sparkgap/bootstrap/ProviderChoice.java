package io.sparkgap.bootstrap;

import io.sparkgap.bootstrap.Message.Register;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Which provider a stage attempt gets: the first that all its executors can have. A pure function
 * of what they offer.
 *
 * @param provider empty if there is none
 * @param reason what was found, and why nothing better was taken; empty if there was no choice
 * @param refusal why there is none; empty if there is one
 */
record ProviderChoice(String provider, String reason, String refusal) {
  private static final int MOST_NODES_NAMED = 8;

  /** Where a provider is one of several, its faults lead to the next; else they are the end. */
  static ProviderChoice of(StageAttempt stage, List<Register> members, boolean deviceShared) {
    Register first = members.get(0);
    List<String> wanted = providers(first);
    for (Register each : members) {
      if (!providers(each).equals(wanted)) {
        return refuse(
            "the executors of stage %s have different settings of spark.sparkgap.provider: %s offers"
                    .formatted(stage, place(first))
                + " %s, %s offers %s"
                    .formatted(
                        String.join(", ", wanted),
                        place(each),
                        String.join(", ", providers(each))));
      }
    }
    Map<String, List<String>> passedOver = new LinkedHashMap<>();
    for (String provider : wanted) {
      String fault = fault(stage, provider, members, deviceShared);
      if (fault.isEmpty()) {
        String clash = Offer.isOnGpu(provider) ? clash(stage, members, deviceShared) : "";
        return clash.isEmpty()
            ? new ProviderChoice(provider, reason(provider, first, passedOver), "")
            : refuse(clash);
      }
      passedOver.computeIfAbsent(fault, key -> new ArrayList<>()).add(provider);
    }
    // The last resort first: what is wrong with it is what most can mend.
    Map<String, List<String>> lastFirst = new LinkedHashMap<>();
    List<String> faults = new ArrayList<>(passedOver.keySet());
    Collections.reverse(faults);
    faults.forEach(fault -> lastFirst.put(fault, passedOver.get(fault)));
    return refuse("no provider can serve the PEs of stage " + stage + ": " + text(lastFirst));
  }

  private static ProviderChoice refuse(String why) {
    return new ProviderChoice("", "", why);
  }

  private static String reason(
      String provider, Register first, Map<String, List<String>> passedOver) {
    String found = offer(first, provider).detail();
    if (passedOver.isEmpty()) {
      return found;
    }
    String because = text(passedOver);
    return found.isEmpty() ? because : found + "; " + because;
  }

  /** For example "not nvshmem or nccl, because ...", from reasons to the providers they are for. */
  private static String text(Map<String, List<String>> passedOver) {
    return passedOver.entrySet().stream()
        .map(each -> "not " + String.join(" or ", each.getValue()) + ", because " + each.getKey())
        .collect(Collectors.joining("; "));
  }

  /** Why the provider cannot serve these executors, or the empty text. */
  private static String fault(
      StageAttempt stage, String provider, List<Register> members, boolean deviceShared) {
    for (Register each : members) {
      Offer offer = offer(each, provider);
      if (!offer.usable()) {
        return place(each) + ": " + offer.detail();
      }
    }
    String apart = apart(stage, provider, members);
    if (!apart.isEmpty()) {
      return apart;
    }
    if (provider.equals(Offer.NVSHMEM)) {
      return isolation(stage, members);
    }
    if (provider.equals(Offer.NCCL) && deviceShared) {
      return pair(members, member -> member.node() + " " + member.device().uuid())
          .map(
              pair ->
                  pair.described()
                      + ", and NCCL takes one PE a GPU, whatever spark.sparkgap.device.shared says."
                      + " Set spark.sparkgap.provider=nvshmem, or use as many PEs as GPUs")
          .orElse("");
    }
    return "";
  }

  /** PEs on several nodes need a wire, by which those on GPUs, too, find and watch each other. */
  private static String apart(StageAttempt stage, String provider, List<Register> members) {
    Map<String, Register> nodes = new LinkedHashMap<>();
    members.forEach(each -> nodes.putIfAbsent(each.member().node(), each));
    if (nodes.size() == 1) {
      return "";
    }
    String several =
        "the PEs of stage %s are on %s nodes (%s)"
            .formatted(
                stage,
                nodes.size(),
                nodes.values().stream()
                        .limit(MOST_NODES_NAMED)
                        .map(ProviderChoice::place)
                        .collect(Collectors.joining(", "))
                    + (nodes.size() > MOST_NODES_NAMED ? ", ..." : ""));
    if (provider.equals(Offer.NVSHMEM)) {
      return several
          + ", and NVSHMEM's are on one: between nodes it needs RDMA cards. Use"
          + " spark.sparkgap.provider=nccl, or executors of one host";
    }
    return members.stream()
        .filter(each -> !each.reach().wired())
        .findFirst()
        .map(each -> several + ", but " + place(each) + " has no wire: " + each.reach().detail())
        .orElse("");
  }

  /**
   * Processes that see all GPUs of their host give each a number of its own. Where two GPUs have
   * the same number, each process sees some only, and NVSHMEM has no way between them.
   */
  private static String isolation(StageAttempt stage, List<Register> members) {
    Map<String, Register> byNumber = new HashMap<>();
    for (Register each : members) {
      Device device = each.member().device();
      Register other = byNumber.putIfAbsent(each.member().host() + " " + device.ordinal(), each);
      if (other != null && !other.member().device().uuid().equals(device.uuid())) {
        return "the GPUs of stage %s cannot see each other: for %s GPU %s is %s, for %s it is %s."
                .formatted(
                    stage,
                    place(other),
                    device.ordinal(),
                    other.member().device().uuid(),
                    place(each),
                    device.uuid())
            + " Each executor must see all GPUs of the PEs: turn the isolation of the cluster"
            + " manager off, or give CUDA_VISIBLE_DEVICES the same value everywhere, or unset it";
      }
    }
    return "";
  }

  /** Why these PEs cannot be on these GPUs, or the empty text. */
  private static String clash(StageAttempt stage, List<Register> members, boolean deviceShared) {
    Optional<Pair> inOneExecutor = pair(members, Member::executorId);
    if (inOneExecutor.isPresent()) {
      return "partitions %s and %s of stage %s are both in %s, but a PE on a GPU has an executor of"
              .formatted(
                  inOneExecutor.get().first.member().partition(),
                  inOneExecutor.get().second.member().partition(),
                  stage,
                  place(inOneExecutor.get().first))
          + " its own. Set spark.executor.resource.gpu.amount=1 and"
          + " spark.task.resource.gpu.amount=1, or spark.sparkgap.provider=host";
    }
    return deviceShared
        ? ""
        : onOneGpu(members)
            .map(
                pair ->
                    pair.described()
                        + ". Give each executor a GPU of its own (YARN does so with GPU scheduling"
                        + " only) and use as many PEs as GPUs, or set"
                        + " spark.sparkgap.device.shared=true where NVIDIA's MPS runs")
            .orElse("");
  }

  private record Pair(Register first, Register second) {
    String described() {
      return "%s and %s are on the same GPU, %s"
          .formatted(place(first), place(second), second.member().device());
    }
  }

  private static Optional<Pair> onOneGpu(List<Register> members) {
    return pair(members, member -> member.device().uuid());
  }

  /** The first two that are alike. */
  private static Optional<Pair> pair(List<Register> members, Function<Member, String> key) {
    Map<String, Register> seen = new HashMap<>();
    for (Register each : members) {
      Register other = seen.putIfAbsent(key.apply(each.member()), each);
      if (other != null) {
        return Optional.of(new Pair(other, each));
      }
    }
    return Optional.empty();
  }

  private static Offer offer(Register member, String provider) {
    return member.offers().stream()
        .filter(offer -> offer.provider().equals(provider))
        .findFirst()
        .orElseThrow();
  }

  private static List<String> providers(Register member) {
    return member.offers().stream().map(Offer::provider).toList();
  }

  private static String place(Register member) {
    return member.member().place();
  }
}
