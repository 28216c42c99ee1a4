// Which file systems keep the promises that SQLite and our locks need.
//
// By a list of those known to be good, not of those known to be bad: an acknowledged commit is only as good as fsync,
// and a lock only as good as the machines that see it. A new cluster file system must not be trusted just because it is
// unknown.
#pragma once

#include <cstdint>
#include <string>

namespace idgen {

enum class FileSystemKind {
  local,
  refused,    // locks or fsync may mean nothing to other machines, or this is unknown
  memory,     // gone at a restart of the machine
  container,  // gone with the container
};

struct FileSystemVerdict {
  FileSystemKind kind;
  const char* name;  // "NFS"; "" for one that is not listed
};

// magic: statfs.f_type, of which 32 bits count. Values: linux/magic.h and the file systems' own sources.
inline FileSystemVerdict classify_file_system(std::uint64_t magic) noexcept {
  using enum FileSystemKind;
  switch (static_cast<std::uint32_t>(magic)) {
    // On a disk of this machine: only the kernel that keeps the locks writes to it.
    case 0x0000EF51:
    case 0x0000EF53:
      return {local, "ext"};
    case 0x58465342:
      return {local, "XFS"};
    case 0x9123683E:
      return {local, "btrfs"};
    case 0xCA451A4E:
      return {local, "bcachefs"};
    case 0x2FC12FC1:
      return {local, "ZFS"};
    case 0xF2F52010:
      return {local, "F2FS"};
    case 0x3153464A:
      return {local, "JFS"};
    case 0x52654973:
      return {local, "ReiserFS"};
    case 0x52345362:
      return {local, "Reiser4"};
    case 0x00003434:
      return {local, "NILFS"};
    case 0x24051905:
      return {local, "UBIFS"};
    case 0x000072B6:
      return {local, "JFFS2"};
    case 0x00004D44:
      return {local, "FAT"};
    case 0x2011BAB0:
      return {local, "exFAT"};
    case 0x7366746E:
      return {local, "NTFS"};  // the kernel's own ntfs3
    case 0x01021994:
      return {memory, "tmpfs"};
    case 0x858458F6:
      return {memory, "ramfs"};
    case 0x794C7630:
      return {container, "overlayfs"};
    case 0x61756673:
      return {container, "aufs"};
    // Known, for the message.
    case 0x00006969:
      return {refused, "NFS"};
    case 0x0000517B:
      return {refused, "SMB"};
    case 0xFF534D42:
      return {refused, "CIFS"};
    case 0xFE534D42:
      return {refused, "SMB2"};
    // sshfs, virtiofs, GlusterFS, MooseFS, Quobyte, JuiceFS, gcsfuse, the shared folders of Docker Desktop: the kernel
    // cannot tell.
    case 0x65735546:
      return {refused, "FUSE"};
    case 0x01021997:
      return {refused, "9P"};
    case 0x5346414F:
    case 0x6B414653:
      return {refused, "AFS"};
    case 0x73757245:
      return {refused, "Coda"};
    case 0x0000564C:
      return {refused, "NCP"};
    case 0x00C36400:
      return {refused, "Ceph"};
    case 0x0BD00BD0:
      return {refused, "Lustre"};
    case 0x47504653:
      return {refused, "GPFS"};
    case 0x19830326:
      return {refused, "BeeGFS"};
    case 0x7461636F:
      return {refused, "OCFS2"};
    case 0x01161970:
      return {refused, "GFS2"};
    case 0x20030528:
      return {refused, "OrangeFS"};
    case 0xAAD7AAEA:
      return {refused, "PanFS"};
    case 0xBEEFDEAD:
      return {refused, "StorNext"};
    case 0x013111A8:
      return {refused, "IBRIX"};
    case 0x61636673:
      return {refused, "ACFS"};
    case 0xA501FCF5:
      return {refused, "VxFS"};  // also a cluster's, with the same number
    case 0x786F4256:
      return {refused, "a VirtualBox shared folder"};
    case 0xBACBACBC:
      return {refused, "a VMware shared folder"};
    case 0x7C7C6673:
      return {refused, "a Parallels shared folder"};
    case 0x53464846:
      return {refused, "a drive of the first Windows Subsystem for Linux"};
    case 0x0000F15F:
      return {refused, "eCryptfs"};  // is on another one, which the kernel does not name
    default:
      return {refused, ""};
  }
}

FileSystemVerdict file_system_of(const std::string& path);
// Throws Error{store_unsafe}: "SUBJECT lies on NFS, where file locks and fsync are not reliable, ADVICE".
void check_locks_work(const std::string& path, const std::string& subject, const std::string& advice);

}  // namespace idgen
