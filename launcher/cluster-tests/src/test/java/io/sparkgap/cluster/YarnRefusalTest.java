package io.sparkgap.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.cluster.Sparkgap.Result;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.junit.jupiter.api.Test;

/** What is never submitted, and clusters that cannot be asked. */
class YarnRefusalTest extends OnYarn {
  @Test
  void whatCanNeverBeIsRefusedBeforeAnythingIsSubmitted() throws Exception {
    int submitted = applications();

    assertRefused(List.of("--pes=8", "--gpus-per-pe=1"), "room is for 4", "--pes 4 or less");
    assertRefused(
        List.of("--pes=3", "--gpus-per-pe=1", "--conf=spark.executor.resource.gpu.amount=2"),
        "3 executors of 768 MiB, 1 core, 2 GPUs",
        "--pes 2 or less; the nodes' GPUs are the limit");
    assertRefused(
        List.of("--pes=1", "--conf=spark.executor.resource.gpu.amount=3"),
        "an executor needs a container of 768 MiB, 1 core, 3 GPUs",
        "fewer GPUs for each, 2 or less");
    assertRefused(
        List.of("--pes=1", "--conf=spark.yarn.executor.resource.acme.com/card.amount=1"),
        "YARN knows of no resource type acme.com/card",
        "yarn.resource-types=acme.com/card");
    assertRefused(
        List.of("--pes=2", "--executor-memory=8g"),
        "an executor needs a container of 8448 MiB",
        "--executor-memory smaller by 4352 MiB");
    assertRefused(
        List.of("--pes=2", "--queue=nowhere"),
        "this cluster has no queue 'nowhere'",
        "--queue with one of those that it has: root.default, root.narrow");
    assertRefused(
        List.of("--pes=2", "--queue=stopped"),
        "the queue root.stopped is stopped",
        "yarn.scheduler.capacity.root.stopped.state=RUNNING");
    assertRefused(
        List.of("--pes=2", "--node-label=fast"),
        "this cluster has no node label 'fast'",
        "leave --node-label out");
    assertThat(applications()).isEqualTo(submitted);
  }

  @Test
  void aClusterThatCannotBeReachedIsNamedWithWhatToCheck() throws Exception {
    String[] submit = {"submit", "--master=yarn", "--pes=2", application.toString()};

    Result nowhere = new Sparkgap(folder, Map.of()).run(submit);
    assertThat(nowhere.exitCode()).isEqualTo(7);
    assertThat(nowhere.err())
        .contains(
            "it is not known where YARN is: neither HADOOP_CONF_DIR nor YARN_CONF_DIR is set");

    Sparkgap empty = sparkgap.with("HADOOP_CONF_DIR", folder.toString());
    Result without = empty.run(submit);
    assertThat(without.exitCode()).isEqualTo(7);
    assertThat(without.err()).contains("there is no yarn-site.xml in HADOOP_CONF_DIR=" + folder);

    Result silent =
        sparkgap.run(
            "submit",
            "--master=yarn",
            "--pes=2",
            "--conf=spark.hadoop.yarn.resourcemanager.address=localhost:1",
            application.toString());
    assertThat(silent.exitCode()).isEqualTo(7);
    assertThat(silent.err())
        .contains(
            "the resource manager of YARN does not answer at localhost:1",
            "yarn.resourcemanager.address of the settings",
            "Connection refused");

    Result unknown = sparkgap.run("status", "application_1_0001");
    assertThat(unknown.exitCode()).isEqualTo(7);
    assertThat(unknown.err())
        .contains("application_1_0001", "`sparkgap status` lists the applications that there are");
  }

  /** As far as a secured cluster goes without a key distribution centre: nobody has a ticket. */
  @Test
  void aSecuredClusterWantsATicketOrAKeytab() throws Exception {
    Result noTicket = secured("java.security.krb5.realm=TEST", List.of());
    assertThat(noTicket.exitCode()).isEqualTo(7);
    assertThat(noTicket.err())
        .contains("this cluster wants a Kerberos ticket", "has none: run kinit", "spark.kerberos");

    Path keytab = folder.resolve("none.keytab");
    Result noKeytab =
        secured(
            "java.security.krb5.realm=TEST",
            List.of(
                "--conf=spark.kerberos.principal=ada@TEST",
                "--conf=spark.kerberos.keytab=" + keytab));
    assertThat(noKeytab.exitCode()).isEqualTo(7);
    assertThat(noKeytab.err())
        .contains("Kerberos gave no ticket for ada@TEST by " + keytab + ": there is no");

    Path empty = Files.createFile(folder.resolve("krb5.conf"));
    Result noRealm = secured("java.security.krb5.conf=" + empty, List.of());
    assertThat(noRealm.exitCode()).isEqualTo(7);
    assertThat(noRealm.err()).contains("this machine is not set up for Kerberos", "/etc/krb5.conf");
  }

  private Result secured(String property, List<String> options) throws Exception {
    List<String> words = new ArrayList<>(List.of("submit", "--master=yarn", "--pes=2"));
    words.addAll(options);
    words.add("--conf=spark.hadoop.hadoop.security.authentication=kerberos");
    words.add(application.toString());
    return sparkgap
        .with("KRB5CCNAME", folder.resolve("no-tickets").toString())
        .with("JDK_JAVA_OPTIONS", "-D" + property + " -Djava.security.krb5.kdc=localhost")
        .run(words.toArray(String[]::new));
  }

  private void assertRefused(List<String> options, String why, String remedy) throws Exception {
    List<String> words = new ArrayList<>(List.of("submit", "--master=yarn"));
    words.addAll(options);
    words.addAll(application(2, "sum"));
    Result result = sparkgap.run(words.toArray(String[]::new));
    assertThat(result.exitCode()).as(result.err()).isEqualTo(3);
    assertThat(result.err()).contains("nothing was submitted", why, "-> ", remedy);
  }

  private static int applications() throws Exception {
    try (YarnClient client = cluster.client()) {
      return client.getApplications().size();
    }
  }
}
