package dev.extant.nio;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import org.apache.sshd.common.util.buffer.Buffer;
import org.apache.sshd.server.channel.ChannelSession;
import org.apache.sshd.server.command.Command;
import org.apache.sshd.sftp.SftpModuleProperties;
import org.apache.sshd.sftp.common.SftpConstants;
import org.apache.sshd.sftp.server.SftpSubsystem;
import org.apache.sshd.sftp.server.SftpSubsystemFactory;

/// MINA's SFTP subsystem with OpenSSH's extension `statvfs@openssh.com`, which it has not itself
/// and `df` needs, answered from the [FileStore].
final class StatVfsSubsystem extends SftpSubsystem {
  private static final String STATVFS = "statvfs@openssh.com";
  private static final int NAME_BYTES = 255;

  private StatVfsSubsystem(ChannelSession channel, SftpSubsystemFactory factory) {
    super(channel, factory);
  }

  static SftpSubsystemFactory factory() {
    return new SftpSubsystemFactory() {
      @Override
      public Command createSubsystem(ChannelSession channel) {
        SftpModuleProperties.OPENSSH_EXTENSIONS.set(
            channel.getSession(), STATVFS + "=2,hardlink@openssh.com=1,fsync@openssh.com=1");
        SftpSubsystem subsystem = new StatVfsSubsystem(channel, this);
        getRegisteredListeners().forEach(subsystem::addSftpEventListener);
        return subsystem;
      }
    };
  }

  @Override
  protected void executeExtendedCommand(Buffer buffer, int id, String extension)
      throws IOException {
    if (!extension.equals(STATVFS)) {
      super.executeExtendedCommand(buffer, id, extension);
      return;
    }
    FileStore store = Files.getFileStore(resolveFile(buffer.getString()));
    long block = store.getBlockSize();
    Buffer reply = prepareReply(buffer);
    reply.putByte((byte) SftpConstants.SSH_FXP_EXTENDED_REPLY);
    reply.putInt(id);
    long[] figures = {
      block,
      block,
      store.getTotalSpace() / block,
      store.getUnallocatedSpace() / block,
      store.getUsableSpace() / block,
      // Inodes, of which NIO knows nothing; the number of the file system; its flags.
      0,
      0,
      0,
      0,
      0,
      NAME_BYTES
    };
    for (long figure : figures) {
      reply.putLong(figure);
    }
    send(reply);
  }
}
