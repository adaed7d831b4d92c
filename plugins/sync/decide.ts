/** Content of a file, identified by both of its hashes. */
export interface Content {
  sha1: string
  /** MD5; null if it could not be computed. */
  content_hash: string | null
}

/** Current or former content of the server. */
export interface StoredContent extends Content {
  /** Time when the content became current on the server, in milliseconds since 1970. */
  updated_at: number
}

/** A file as a device lists it. */
export interface DeviceFile {
  /** SHA-1 or MD5, distinguished by length; null if the device sends none. */
  hash: string | null
  /** Time of the last change, in milliseconds since 1970. */
  changed_at: number
}

/** The newest content of the server for the same file or slot. */
export interface ServerFile extends StoredContent {
  /** For a conflict copy: id of the original file. */
  conflict_of: number | null
}

/** Everything that is known about one file or slot of one device. */
export interface SyncState {
  /** Null if the device did not list the file. */
  device: DeviceFile | null
  server: ServerFile | null
  /** The content that this device and the server last agreed on. */
  base: StoredContent | null
  /** Former content of the server that equals the device's file; null if there is none. */
  former: StoredContent | null
  /** True if the server has no file because its owner deleted it there. */
  is_deleted: boolean
  /** True if the device's file equals the deleted content. */
  is_deleted_content: boolean
  /** True if content of the server is missing from its disk. */
  is_missing: boolean
  /** True if the device's file equals the missing content. */
  is_missing_content: boolean
  /** True if the owner disabled the sync of this file on this device. */
  is_untracked: boolean
  /** Time when this device last sent or received the server's file. */
  last_synced_at: number | null
  /** True if files that were removed on the device are offered again. */
  restores_unlisted: boolean
}

/** Clients that do not understand `delete` get a no-op instead. */
export const ACTIONS = ['upload', 'download', 'conflict', 'noop', 'delete'] as const
export type Action = typeof ACTIONS[number]

export interface Decision {
  action: Action
  reason: string
  /** The new base of both sides; null if it does not change. */
  newBase: StoredContent | null
}

const SHA1_LENGTH = 40

const toDecision = (action: Action, reason: string, newBase: StoredContent | null = null): Decision =>
  ({ action, reason, newBase })

/** True if the hash of a device can be compared with this content. */
const isComparable = (hash: string, content: Content): boolean =>
  hash.length === SHA1_LENGTH || content.content_hash !== null

/** True if a lowercase hash belongs to this content. */
export const isHashOf = (hash: string, { sha1, content_hash: md5 }: Content): boolean =>
  hash === (hash.length === SHA1_LENGTH ? sha1 : md5)

const isSameContent = (a: Content, other: Content): boolean =>
  a.sha1 === other.sha1 || (a.content_hash !== null && a.content_hash === other.content_hash)

function decideUnlisted (server: ServerFile, state: SyncState): Decision {
  const { base, restores_unlisted: restores, is_untracked: isUntracked } = state
  if (isUntracked) return toDecision('noop', 'Not tracked on this device')
  if (base === null) return toDecision('download', 'New on the server')
  if (!isSameContent(server, base)) return toDecision('download', 'Changed on the server')
  return restores ? toDecision('download', 'Restored to the device') : toDecision('noop', 'Removed on the device')
}

function decideAbsent ({ hash }: DeviceFile, state: SyncState): Decision {
  const { base, is_deleted: isDeleted, is_deleted_content: isDeletedContent } = state
  const isBaseContent = hash !== null && base !== null && isHashOf(hash, base)
  if (!isDeleted) {
    // No trace means that the owner deleted the file long ago: missing files and files beyond a history limit leave
    // traces.
    return isBaseContent && !state.is_missing && state.former === null
      ? toDecision('noop', 'Deleted on the server, longer ago than it stores deleted files')
      : toDecision('upload', 'Not on the server')
  }
  return isDeletedContent || isBaseContent
    ? toDecision('delete', 'Deleted on the server')
    : toDecision('upload', 'Deleted on the server, but changed on the device afterwards')
}

/** Decides for devices without hashes. Modification times are only as reliable as the clocks. */
function decideByClock (device: DeviceFile, server: ServerFile, last: number | null): Decision {
  const [changed, updated] = [device.changed_at, server.updated_at]
  if (last !== null) {
    if (changed > last && updated > last) return toDecision('conflict', 'Both were changed since the last sync')
    if (changed > last) return toDecision('upload', 'Changed on the device since the last sync')
    if (updated > last) return toDecision('download', 'Changed on the server since the last sync')
    return toDecision('noop', 'Neither was changed since the last sync')
  }
  if (changed > updated) return toDecision('upload', 'The file on the device is newer')
  if (updated > changed) return toDecision('download', 'The file on the server is newer')
  return server.content_hash === null
    ? toDecision('noop', 'Both have the same time')
    : toDecision('conflict', 'Both have the same time, but their contents cannot be compared')
}

function decideByContent (hash: string, server: ServerFile, state: SyncState): Decision {
  const { base, former, is_missing_content: isMissing } = state
  if (isHashOf(hash, server)) return toDecision('noop', 'Both are the same', server)
  if (base !== null) {
    const isServers = isSameContent(server, base)
    const isDevices = isHashOf(hash, base)
    // A device may compute hashes in another way; only the base then stores its hash.
    if (isServers && isDevices) return toDecision('noop', 'Neither was changed')
    // The device got the former content from the server, confirmed or not. The owner went back to older content since.
    if (isServers && former !== null && former.updated_at > base.updated_at && !isMissing) {
      return toDecision('download', 'The device has a newer version, which the server replaced by an older one', former)
    }
    // A hash without a counterpart cannot prove that the file changed.
    if (isServers && isComparable(hash, server)) return toDecision('upload', 'Changed on the device')
    if (isDevices && !isMissing) return toDecision('download', 'Changed on the server')
  }
  if (former !== null && !isMissing) return toDecision('download', 'The device has an older version', former)
  // A conflict copy does not create another copy: the server stores its former content as a version.
  return server.conflict_of !== null
    ? toDecision('upload', 'Changed on both; this is already a conflict copy')
    : toDecision('conflict', 'Changed on both')
}

/**
 * Decides the action for one file or slot. If the device sends a hash, the decision compares contents with the base. No
 * side loses the only copy of any content: an upload turns the server's content into a version, and a download replaces
 * only content that the server has or had.
 */
export function decide (state: SyncState): Decision {
  const { device, server } = state
  if (device === null) return server === null ? toDecision('noop', 'On neither side') : decideUnlisted(server, state)
  if (server === null) return decideAbsent(device, state)
  if (state.is_untracked) return toDecision('noop', 'Not tracked on this device')
  return device.hash === null
    ? decideByClock(device, server, state.last_synced_at)
    : decideByContent(device.hash, server, state)
}

/** Allowed directions of transfers. */
export type Direction = 'pull' | 'push' | 'both'

/** Limits a decision to the direction that the device allows. */
export function limitDirection (decision: Decision, direction: Direction): Decision {
  const { action } = decision
  // A conflict stays a conflict for a receiving device, because a download would destroy the only copy of its file.
  if (direction === 'pull' && action === 'upload') return toDecision('noop', 'This device only receives')
  if (direction === 'push') {
    if (action === 'download' || action === 'delete') return toDecision('noop', 'This device only sends')
    if (action === 'conflict') return { ...decision, action: 'upload' }
  }
  return decision
}
