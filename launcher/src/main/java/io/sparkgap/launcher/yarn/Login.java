package io.sparkgap.launcher.yarn;

import io.sparkgap.launcher.LauncherException;
import io.sparkgap.launcher.cluster.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;

/** Who is asking, where the cluster wants to know by Kerberos. */
final class Login {
  private static final String PRINCIPAL = "spark.kerberos.principal";
  private static final String KEYTAB = "spark.kerberos.keytab";

  private Login() {}

  /** By the keytab that Spark would use, or the ticket that this user has. */
  static void ifNeeded(Configuration configuration, Map<String, String> settings)
      throws LauncherException {
    try {
      UserGroupInformation.setConfiguration(configuration);
    } catch (IllegalArgumentException e) {
      throw new LauncherException(
          ExitCode.UNREACHABLE,
          "this cluster wants a Kerberos ticket (hadoop.security.authentication=kerberos), and this"
              + " machine is not set up for Kerberos: "
              + Causes.innermost(e)
              + ". /etc/krb5.conf has to name the realm and its servers",
          e);
    }
    if (!UserGroupInformation.isSecurityEnabled()) {
      return;
    }
    String principal = settings.get(PRINCIPAL);
    String keytab = settings.get(KEYTAB);
    try {
      if (principal != null && keytab != null) {
        UserGroupInformation.loginUserFromKeytab(principal, keytab);
      } else if (!UserGroupInformation.getLoginUser().hasKerberosCredentials()) {
        throw new LauncherException(
            ExitCode.UNREACHABLE,
            "this cluster wants a Kerberos ticket (hadoop.security.authentication=kerberos), and "
                + UserGroupInformation.getLoginUser().getUserName()
                + " has none: run kinit, or give --conf "
                + PRINCIPAL
                + "=... --conf "
                + KEYTAB
                + "=...");
      }
    } catch (IOException e) {
      throw new LauncherException(
          ExitCode.UNREACHABLE,
          "Kerberos gave no ticket%s: %s"
              .formatted(
                  principal == null ? "" : " for " + principal + " by " + keytab,
                  keytab != null && Files.notExists(Path.of(keytab))
                      ? "there is no such file"
                      : Causes.innermost(e)),
          e);
    }
  }
}
