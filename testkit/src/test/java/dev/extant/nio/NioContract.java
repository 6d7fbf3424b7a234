package dev.extant.nio;

/// What every file system of NIO does, as far as Extant promises it; a subclass names one.
///
/// It runs on the JDK's default provider too, which shows that the contract is NIO's and not ours.
abstract class NioContract
    implements NioPathContract,
        NioNamespaceContract,
        NioChannelContract,
        NioTransferContract,
        NioAttributeContract,
        NioDirectoryContract,
        NioSecureDirectoryContract,
        NioUserAttributeContract,
        NioAsynchronousContract,
        NioLockContract,
        NioFilesContract,
        NioThreadsContract {}
