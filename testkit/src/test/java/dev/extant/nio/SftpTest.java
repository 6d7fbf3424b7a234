package dev.extant.nio;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.Extant;
import dev.extant.mkfs.MkfsOptions;
import dev.extant.testkit.Oracles;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.VolumeStatistics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.sshd.common.file.virtualfs.VirtualFileSystemFactory;
import org.apache.sshd.server.SshServer;
import org.apache.sshd.server.auth.pubkey.AcceptAllPublickeyAuthenticator;
import org.apache.sshd.server.keyprovider.SimpleGeneratorHostKeyProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// OpenSSH's `sftp` against Apache MINA SSHD over our provider, which is how an independent program
/// uses it. Afterwards e2fsck finds nothing.
@Timeout(120)
class SftpTest {
  @TempDir private Path folder;
  private Path key;
  private Path image;
  private Extant mount;
  private SshServer server;

  @BeforeEach
  void serve() throws IOException {
    Oracles.require("sftp", "ssh-keygen", "e2fsck");
    key = folder.resolve("key");
    Oracles.run("ssh-keygen", "-q", "-t", "ecdsa", "-N", "", "-f", key).expect(0);
    image = folder.resolve("fs.img");
    Extant.mkfs(image, 32L << 20, MkfsOptions.builder().build());
    mount = Extant.open(image, MountOptions.defaults());
    server = SshServer.setUpDefaultServer();
    server.setHost("127.0.0.1");
    server.setKeyPairProvider(new SimpleGeneratorHostKeyProvider());
    server.setPublickeyAuthenticator(AcceptAllPublickeyAuthenticator.INSTANCE);
    server.setSubsystemFactories(List.of(StatVfsSubsystem.factory()));
    server.setFileSystemFactory(new VirtualFileSystemFactory(inside("/")));
    server.start();
  }

  @AfterEach
  void closeAndCheck() throws IOException {
    server.stop(true);
    mount.close();
    Oracles.run("e2fsck", "-fn", image).expect(0);
  }

  private Path inside(String path) {
    return mount.fileSystem().getPath(path);
  }

  private Oracles.Result sftp(String... commands) throws IOException {
    Path batch = Files.write(folder.resolve("batch"), List.of(commands));
    return Oracles.run(
        "sftp",
        "-q",
        "-b",
        batch,
        "-P",
        server.getPort(),
        "-F",
        "/dev/null",
        "-i",
        key,
        "-o",
        "StrictHostKeyChecking=no",
        "-o",
        "UserKnownHostsFile=/dev/null",
        "-o",
        "BatchMode=yes",
        "user@127.0.0.1");
  }

  @Test
  void whatSftpCanDo() throws IOException {
    byte[] content = new byte[1_500_000];
    new Random(22).nextBytes(content);
    Path local = Files.write(folder.resolve("local"), content);
    Path back = folder.resolve("back");
    String listing =
        sftp(
                "mkdir /inbox",
                "put " + local + " /inbox/first",
                "rename /inbox/first /inbox/second",
                "chmod 640 /inbox/second",
                "symlink second /inbox/link",
                "ln /inbox/second /inbox/hard",
                "get /inbox/link " + back,
                "mkdir /empty",
                "rmdir /empty",
                "ls -l /inbox")
            .expect(0)
            .output();
    assertThat(Files.readAllBytes(back)).isEqualTo(content);
    assertThat(Files.readAllBytes(inside("/inbox/second"))).isEqualTo(content);
    assertThat(listing).containsPattern("(?m)^-rw-r-----   2 0 +0 +1500000 .* second$");
    assertThat(listing).containsPattern("(?m)^lrwxrwxrwx   1 .* link$");
    assertThat(Files.readSymbolicLink(inside("/inbox/link")).toString()).isEqualTo("second");
    assertThat(Files.getAttribute(inside("/inbox/hard"), "unix:nlink")).isEqualTo(2);
    assertThat(inside("/inbox/first")).doesNotExist();
    assertThat(inside("/empty")).doesNotExist();
    assertThat(
            PosixFilePermissions.toString(Files.getPosixFilePermissions(inside("/inbox/second"))))
        .isEqualTo("rw-r-----");
    sftp("rm /inbox/second", "rm /inbox/link", "rm /inbox/hard", "rmdir /inbox").expect(0);
    assertThat(inside("/inbox")).doesNotExist();
  }

  @Test
  void transfersGoOnWhereTheyStopped() throws IOException {
    byte[] content = new byte[700_000];
    new Random(23).nextBytes(content);
    Path local = Files.write(folder.resolve("local"), content);
    Files.write(inside("/file"), Arrays.copyOf(content, 123_456));
    sftp("reput " + local + " /file").expect(0);
    assertThat(Files.readAllBytes(inside("/file"))).isEqualTo(content);
    Files.write(inside("/file"), Arrays.copyOf(content, 400_000));
    sftp("put -a " + local + " /file").expect(0);
    assertThat(Files.readAllBytes(inside("/file"))).isEqualTo(content);
    Path back = Files.write(folder.resolve("back"), Arrays.copyOf(content, 5));
    sftp("reget /file " + back).expect(0);
    assertThat(Files.readAllBytes(back)).isEqualTo(content);
  }

  @Test
  void figuresOfSpace() throws IOException {
    VolumeStatistics space = mount.statistics().space();
    String output = sftp("df /").expect(0).output();
    long unit = space.blockSizeBytes() / 1024;
    assertThat(output).contains(" " + space.totalBlocks() * unit + " ");
    assertThat(output).contains(" " + space.availableBlocks() * unit + " ");
  }

  @Test
  void whatCannotBeIsRefused() throws IOException {
    Files.createDirectories(inside("/full/x"));
    for (String command : List.of("rm /missing", "rmdir /full", "get /missing", "mkdir /full")) {
      Oracles.Result result = sftp(command);
      assertThat(result.exitCode()).as(command).isNotZero();
    }
    assertThat(inside("/full/x")).isDirectory();
  }

  @Test
  void wholeTrees() throws IOException {
    Path tree = Files.createDirectories(folder.resolve("tree/a/b"));
    for (int i = 0; i < 50; i++) {
      Files.writeString(tree.resolve("file " + i + " ä"), "content " + i);
    }
    Path back = Files.createDirectory(folder.resolve("back"));
    sftp("put -rp " + folder.resolve("tree") + " /", "get -r /tree " + back).expect(0);
    for (int i = 0; i < 50; i++) {
      assertThat(inside("/tree/a/b/file " + i + " ä")).hasContent("content " + i);
      assertThat(back.resolve("tree/a/b/file " + i + " ä")).hasContent("content " + i);
    }
  }
}
