// Which file systems keep what SQLite was promised. Pure: a statfs() magic number in, a verdict out.
#pragma once

#include <cstdint>

namespace idgen {

enum class FileSystemKind {
  local,
  network,    // locks or fsync may mean nothing to other machines: refused
  memory,     // gone at a restart of the machine
  container,  // gone with the container
};

struct FileSystemVerdict {
  FileSystemKind kind;
  const char* name;  // "NFS"; "" for a local one
};

// magic: statfs.f_type, of which 32 bits count. Values: linux/magic.h and the file systems' own sources.
inline FileSystemVerdict classify_file_system(std::uint64_t magic) noexcept {
  switch (static_cast<std::uint32_t>(magic)) {
    case 0x00006969:
      return {FileSystemKind::network, "NFS"};
    case 0x0000517B:
      return {FileSystemKind::network, "SMB"};
    case 0xFF534D42:
      return {FileSystemKind::network, "CIFS"};
    case 0xFE534D42:
      return {FileSystemKind::network, "SMB2"};
    case 0x65735546:
      return {FileSystemKind::network, "FUSE"};  // sshfs, gcsfuse, virtiofs and others: the kernel cannot tell
    case 0x01021997:
      return {FileSystemKind::network, "9P"};
    case 0x5346414F:
      return {FileSystemKind::network, "AFS"};
    case 0x6B414653:
      return {FileSystemKind::network, "AFS"};
    case 0x73757245:
      return {FileSystemKind::network, "Coda"};
    case 0x0000564C:
      return {FileSystemKind::network, "NCP"};
    case 0x00C36400:
      return {FileSystemKind::network, "Ceph"};
    case 0x0BD00BD0:
      return {FileSystemKind::network, "Lustre"};
    case 0x47504653:
      return {FileSystemKind::network, "GPFS"};
    case 0x786F4256:
      return {FileSystemKind::network, "a VirtualBox shared folder"};
    case 0xBACBACBC:
      return {FileSystemKind::network, "a VMware shared folder"};
    case 0x01021994:
      return {FileSystemKind::memory, "tmpfs"};
    case 0x858458F6:
      return {FileSystemKind::memory, "ramfs"};
    case 0x794C7630:
      return {FileSystemKind::container, "overlayfs"};
    default:
      return {FileSystemKind::local, ""};
  }
}

}  // namespace idgen
