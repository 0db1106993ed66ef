package io.sparkgap.bootstrap;

import java.util.ArrayList;
import java.util.List;

/**
 * What an executor can make worlds with: its device, how others reach it, and what it found out
 * about the providers that the application allows, best first. Thread-safe.
 */
public final class Capabilities {
  private final Device device;
  private final Reach reach;
  private List<Offer> offers;

  /**
   * @param offers in order of preference; several mean that the driver chooses
   */
  public Capabilities(Device device, Reach reach, List<Offer> offers) {
    this.device = device;
    this.reach = reach;
    this.offers = List.copyOf(offers);
  }

  /** An executor without a GPU. */
  public static Capabilities ofHost(Reach reach) {
    return new Capabilities(Device.HOST_MEMORY, reach, List.of(Offer.OF_HOST));
  }

  public Device device() {
    return device;
  }

  public Reach reach() {
    return reach;
  }

  public synchronized List<Offer> offers() {
    return offers;
  }

  /** What was thought usable turned out not to be: the next stage gets the next provider. */
  synchronized void withdraw(String provider, String why) {
    List<Offer> remaining = new ArrayList<>();
    for (Offer offer : offers) {
      remaining.add(offer.provider().equals(provider) ? Offer.not(provider, why) : offer);
    }
    offers = List.copyOf(remaining);
  }
}
